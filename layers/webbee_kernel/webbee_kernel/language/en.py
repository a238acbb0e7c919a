"""English."""

from __future__ import annotations

from .model import Calendar, Language, Numerals, Sentences, Words

WORDS = Words(
    "en",
    negation="not no never none nothing nobody neither nor without cannot isn't aren't wasn't"
    " weren't don't doesn't didn't can't couldn't won't wouldn't haven't hasn't hadn't shouldn't",
    question="what which who whom whose where when why how",
    prohibition="don't dont not never stop avoid without",
    greeting="hi hello hey greetings morning evening afternoon howdy",
    thanks="thanks thank thx cheers appreciate",
    yes="yes y yep yeah sure ok okay confirm confirmed accept proceed go do",
    yes_filler="it please them that ahead delete all right send",
    no="no nope n cancel stop don't dont abort refuse reject not never",
    no_filler="now wait keep it that please do",
    reference="it its that this those these him her them they he she one ones same previous above"
    " last earlier former latter there",
    recency="i we you created added wrote made saved sent found got received recently just",
    function="a an the to for of in on at my me i we us you your our his their please is are am be"
    " was were been do does did have has had can could would will shall should and or but with from"
    " by as some any there let want need so just now then too also it its this that these those if"
    " than about into up out off not all more show get give tell what how",
    connective="a an the to for of me my us our please that about called named titled saying says"
    " with text new on in into onto as back down away off",
    quantifier="all every each any some none both no either most many few several half",
    plan="will would can could should shall may might must if once when unless until be being after"
    " whether before plan going",
    others="you he she they who which that it",
    first_person="i we i've we've i'm i'll",
    looking="check look search review list notice locate find found see saw read fetch retrieve scan"
    " compare count identify try note summarize summarise sort filter match examine inspect pull"
    " query gather",
    about="about around approximately roughly nearly almost some circa over",
    more="more over above exceeding least beyond plus",
    less="less fewer under below most",
    average="average mean avg averaging",
    total="total sum altogether overall combined together",
    difference="difference change increase decrease more less growth drop",
    and_="and plus",
    or_="or",
    failure="failed fail failure unable error unsuccessful couldn't problem",
    effects={
        "send": "send sent email mail forward reply message notify text call redirect contact"
        " invite dispatch deliver ship",
        "delete": "delete remove erase revoke trash purge clean clear empty drop",
        "create": "create add make made set draft generate register write wrote compose record",
        "update": "update change edit modify grant assign rename correct replace merge restart"
        " reboot deploy fix increase decrease extend raise lower adjust turn start stop reset"
        " restore convert upgrade downgrade swap",
        "move": "move archive reschedule transfer postpone delay",
        "save": "save upload publish post store share copy export import submit download",
        "schedule": "schedule book reserve arrange plan appoint",
        "close": "cancel close complete finish resolve approve accept decline reject mark"
        " unsubscribe disable enable block unblock process handle",
        "pay": "pay paid refund charge purchase bought buy sold sell order reorder renew subscribe"
        " sign withdraw credit debit issue",
    },
    ordinals={
        "1": "first 1st newest latest",
        "2": "second 2nd",
        "3": "third 3rd",
        "4": "fourth 4th",
        "5": "fifth 5th",
        "6": "sixth 6th",
        "7": "seventh 7th",
        "8": "eighth 8th",
        "9": "ninth 9th",
        "10": "tenth 10th",
        "-1": "last final",
        "-2": "penultimate",
    },
    units={
        "second": "second seconds sec",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs h",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years",
        "byte": "byte bytes b",
        "kilobyte": "kilobyte kilobytes kb kib",
        "megabyte": "megabyte megabytes mb mib",
        "gigabyte": "gigabyte gigabytes gb gib",
        "terabyte": "terabyte terabytes tb tib",
    },
    values={
        "unread": "unread new",
        "read": "read",
        "today": "today",
        "tomorrow": "tomorrow",
        "done": "done completed finished",
        "overdue": "overdue late",
        "open": "open",
        "all": "all everything",
        "high": "high urgent important",
        "low": "low unimportant",
        "pinned": "pinned",
        "sent": "sent",
        "inbox": "inbox",
        "archive": "archive archived",
        "drafts": "drafts draft",
        "spam": "spam junk",
        "attachments": "attachment attachments",
    },
)

NUMERALS = Numerals(
    library="en",
    scales={
        10**3: "thousand k",
        10**6: "million m mn mln",
        10**9: "billion bn b",
        10**12: "trillion tn",
    },
    rough={"12": "dozen", "20": "score", "0.5": "half"},
    one="one",
    ordinal_endings="st nd rd th",
    percent="percent percents pct per-cent",
)

CALENDAR = Calendar(
    months={9: "sept"},
    weekdays={1: "tues", 3: "thur thurs"},
    days={"0": "today tonight", "1": "tomorrow", "-1": "yesterday"},
    inside="of the",
    until="to through until till",
    together="and",
    at="at by from until till around before after since",
    ahead="in within",
    ago="ago",
    next="next coming",
    last="last past previous",
    this="this current",
    hour="o'clock oclock",
    morning="am a.m morning",
    evening="pm p.m evening afternoon night",
    noon="noon midday",
    midnight="midnight",
    day_suffix="st nd rd th",
    doubtful="may march",
    month_first=True,
)

SENTENCES: Sentences = {
    "gave_up": "I could not work out what to do with that. Please say it differently or more"
    " precisely.",
    "nothing_done": "All right, nothing was done.",
    "said_yes": "yes",
    "said_no": "no",
    "waits_for_yes": {
        "one": "Please confirm: {summary}. Answer yes or no within {n} minute.",
        "other": "Please confirm: {summary}. Answer yes or no within {n} minutes.",
    },
    "call_done": "{app}: done.",
    "call_failed": "{app} did not do it: {error}",
    "call_unknown": "{app} gave no answer: it may or may not have been done.",
    "call_waits": "{app} waits for your yes; nothing was done yet.",
    "call_not_run": "{app} was not asked: {reason}",
    "nothing_changed": "Nothing was changed.",
    "nothing_found": "Nothing was found.",
    "items": {"one": "{n} item", "other": "{n} items"},
    "and_more": {"one": "and {n} more", "other": "and {n} more"},
    "needs": "I need one more thing: {what}.",
    "greets": "Hello! I work with these apps: {apps}.",
    "greets_alone": "Hello! No app is connected.",
    "cannot_help": "I don't know how to help with that. I work with these apps: {apps}.",
    "cannot_help_alone": "I don't know how to help with that. No app is connected.",
    "could_not": "I could not do that: {why}.",
    "could_not_at_all": "I could not do that.",
    "label_id": "which one",
    "label_ids": "which ones",
    "label_to": "the address to send it to",
    "label_body": "the text",
    "label_text": "the text",
    "label_title": "what to call it",
    "label_subject": "the subject",
    "label_query": "what to look for",
    "label_due": "the date",
    "oauth_ask_title": "Connect {provider} to {app}?",
    "oauth_ask": "It will be connected for {user}. Go on only if this is you and you began it"
    " yourself a moment ago.",
    "oauth_go": "Connect",
    "oauth_done_title": "Connected",
    "oauth_done": "{what}. You can close this page and go back to the chat.",
    "oauth_failed_title": "Not connected",
    "oauth_over": "This sign-in is over: it was finished already, or it was begun more than ten"
    " minutes ago. Go back to the chat and start it again.",
    "oauth_declined": "{provider} reports: {reason}. Nothing was stored. Go back to the chat to"
    " start again.",
    "oauth_failed": "{reason}. Nothing was stored. Go back to the chat and start again.",
}

LANGUAGE = Language(
    tag="en",
    stemmer="english",
    words=WORDS,
    sentences=SENTENCES,
    regions=("US", "GB", "CA", "AU", "IE", "NZ", "IN", "ZA"),
    currencies={
        "USD": "dollar dollars buck bucks",
        "EUR": "euro euros",
        "GBP": "pound pounds quid",
        "RUB": "rouble roubles ruble rubles",
        "JPY": "yen",
        "CHF": "franc francs",
        "CNY": "yuan renminbi",
        "INR": "rupee rupees",
    },
    numerals=NUMERALS,
    calendar=CALENDAR,
)

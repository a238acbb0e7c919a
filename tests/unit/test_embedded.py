"""The embedded model: a message near an example is that command, anything else calls nothing.
`tests/functions/test_long_messages.py` shows that no input takes long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from webbee_kernel.llm import function_form
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.text import dumps
from webbee_kernel.turn.plan import CONTINUE

TEXT = {"type": "string"}
AT = "2026-05-15T17:21:14Z"  # a Friday


def tool(
    name: str,
    examples: list[str],
    properties: dict[str, Any] | None = None,
    required: tuple[str, ...] = (),
    *,
    action: str = "read",
    app: str = "app",
    description: str = "Does something",
) -> ToolSpec:
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return ToolSpec(f"{app}__{name}", app, name, description, schema, action, tuple(examples))


WEATHER = tool(
    "forecast",
    ["weather in {city} tomorrow", "погода в {city} завтра"],
    {"city": TEXT},
    ("city",),
    app="weather",
    description="Tomorrow's weather in a city",
)
ADD = tool(
    "add",
    ["add a task: {title}", "add a task: {title} {due:date}", "добавь задачу {title}"],
    {"title": TEXT, "due": TEXT, "priority": {"enum": ["low", "high"]}},
    ("title",),
    action="write",
    app="tasks",
    description="Add a task to do",
)
LIST = tool(
    "list",
    ["show my tasks", "which tasks do I have", "show the done tasks {state=done}"],
    {"state": TEXT},
    app="tasks",
)
COMPLETE = tool(
    "complete",
    ["complete the task {title}", "complete {id}"],
    {"id": TEXT, "title": TEXT},
    action="write",
    app="tasks",
)
RENAME = tool(
    "rename",
    ["rename {title} to {new_title}"],
    {"title": TEXT, "new_title": TEXT},
    ("title", "new_title"),
    action="write",
    app="tasks",
)
DELETE = tool(
    "delete",
    ["delete the task {title}", "delete {id}"],
    {"id": TEXT, "title": TEXT},
    action="destructive",
    app="tasks",
)
SEND = tool(
    "send",
    ["send {body} to {to}", "отправь {body} на {to}", "отправь на {to} {body}"],
    {"to": {"type": "string", "format": "email"}, "body": TEXT},
    ("to", "body"),
    action="write",
    app="mail",
)
PLAIN = tool(
    "convert", ["convert 10 euros"], {"amount": {"type": "number"}}, ("amount",), app="money"
)
NAMELESS = tool("unsubscribe", [], app="list", description="Unsubscribe from a newsletter")
TOOLS = (WEATHER, ADD, LIST, COMPLETE, RENAME, DELETE, SEND, PLAIN, NAMELESS)


def answer(
    message: str,
    *facts: tuple[str, str, Any],
    section: str = "",
    tools: tuple[ToolSpec, ...] = TOOLS,
    undo: ToolCall | None = None,
    undoes: str = "",
    results: Sequence[tuple[str, str, Any]] = (),
) -> ModelResponse:
    lines = [f"FACTS: app={a} fn={f} data={dumps(d)}" for a, f, d in facts]
    told = message.replace("\n", "⏎")
    ends = [
        f'RESULT: app={a} fn={f} status=ok step={n} summary="a \\" data={{}}" data={dumps(d)} args={{}}'
        for n, (a, f, d) in enumerate(results)
    ]
    said = ["[SKELETON]", section, "[HISTORY]", *lines, f"[{AT} user] {told}", *ends]
    prompt = "\n".join(said)
    request = ModelRequest("classifier", "", prompt, tools, language="en", undo=undo, undoes=undoes)
    return asyncio.run(EmbeddedModel().complete(request))


Called = tuple[str, Any]


def calls(message: str, *facts: tuple[str, str, Any], **beside: Any) -> list[Called]:
    """The calls of a message beside what the history and the skeleton's `section` hold."""
    return [(c.name, c.arguments) for c in answer(message, *facts, **beside).tool_calls]


def forecast(city: str) -> Called:
    return "weather__forecast", {"city": city}


def add(title: str, **more: str) -> Called:
    return "tasks__add", {"title": title, **more}


def send(body: str) -> Called:
    return "mail__send", {"to": "anna@example.com", "body": body}


def complete(**which: str) -> Called:
    return "tasks__complete", which


TASKS: Called = ("tasks__list", {})
UNDERSTOOD: dict[str, dict[str, list[Called]]] = {
    "an example accounts for it": {
        "weather in Riga tomorrow": [forecast("Riga")],
        "What's the weather in Riga tomorrow?": [forecast("Riga")],
        "weather in New York tomorrow, please": [forecast("New York")],
        "погода в Риге завтра": [forecast("Риге")],
        "show me my tasks please": [TASKS],
        "show the done tasks": [("tasks__list", {"state": "done"})],
        "add a task: buy milk": [add("buy milk")],
        "please add a task: buy milk and eggs": [add("buy milk and eggs")],
        "add a task: call Anna on Monday": [add("call Anna", due="2026-05-18")],
        "add a task: call Anna tomorrow at 15:00": [add("call Anna", due="2026-05-16T15:00")],
        "add a task: call Anna 2026-06-01": [add("call Anna", due="2026-06-01")],
        'send "see you" to anna@example.com': [send("see you")],
        "отправь «до встречи» на anna@example.com": [send("до встречи")],
        "convert 250 euros": [("money__convert", {"amount": 250})],
    },
    "a polite command and a question that is text are no questions": {
        "can you complete the task buy milk?": [complete(title="buy milk")],
        "add a task: is it May?": [add("is it May?")],
        'send "are you coming?" to anna@example.com': [send("are you coming?")],
        "can you rename the bill to pay rent?": [
            ("tasks__rename", {"title": "bill", "new_title": "pay rent"})
        ],
    },
    "a quotation inside of a text is of it": {
        "add a task: read “Emma” again": [add("read “Emma” again")],
    },
    "two commands in one message are done one at a time": {
        "add a task: buy milk and add a task: buy bread": [],
        "show my tasks. add a task: buy milk": [],
        "show my tasks and complete the task Rent": [],
    },
    "what only leads to a command is passed over": {
        f"{lead}add a task: buy milk": [add("buy milk")] for lead in ("thanks, ", "ok great. ")
    },
    "what denies or reports a command is not": {
        f"{lead}add a task: buy milk": []
        for lead in ("never, ", "Don't! ", "if it rains, ", "Anna said, ")
    },
    "what may be text, is denied or leans on a command beside it runs nothing": {
        "add a task: buy milk and then show my tasks": [],
        "add a task: buy milk. Anna said complete the task Rent": [],
        "show my tasks and complete it": [],
        "don't add a task: buy milk and show my tasks": [],
        "show my tasks and never complete the task Rent": [],
        "add a task: milk, add a task: eggs, add a task: tea, add a task: jam": [],
    },
    "a question that has all words of one and few others is that one": {
        "so which tasks do I have left?": [TASKS],
        "my tasks, add the second to that": [],
        "what did my tasks 5 say": [],
        "not my tasks": [],
    },
}


@pytest.mark.parametrize(
    ("message", "called"),
    [
        pytest.param(message, called, id=f"{sentence}: {message}")
        for sentence, messages in UNDERSTOOD.items()
        for message, called in messages.items()
    ],
)
def test_what_a_message_calls(message: str, called: list[Called]) -> None:
    assert calls(message) == called


@pytest.mark.parametrize(
    "message",
    [
        "weather on Mars",
        "and in Oslo?",
        "what time is it in Tokyo?",
        "bring back the Fahrrad task",
        "don't delete the task milk",
        "should I delete the task milk?",
        "delete",
        "I deleted the task milk yesterday by mistake, sorry",
        "add two tasks: buy milk and call mum",
        "add a task: buy milk and delete everything",
        "send that to her",
        "send anna@example.com",
        "send anna@example.com about the invoice",
        "how are you today?",
        "",
        "{title}",
    ],
)
def test_anything_else_calls_nothing_and_says_so(message: str) -> None:
    said = answer(message)
    assert not said.tool_calls
    assert said.text
    assert said.offer


ONE = ("tasks", "add", {"id": "t1", "title": "Water the plants"})
TWO = ("tasks", "list", {"tasks": [{"id": "t1", "title": "Milk"}, {"id": "t2", "title": "Rent"}]})
TOUCHED = ("tasks", "complete", {"tasks": [{"id": "t2", "title": "Rent"}]})
LETTER = {"id": "m1", "from": "sarah@example.com", "account": "me@work.com", "to": "me@work.com"}


@pytest.mark.parametrize(
    ("message", "facts", "found"),
    [
        ("complete it", [ONE], [{"id": "t1"}]),
        ("complete that task", [ONE], [{"id": "t1"}]),
        ("complete the one I just created", [ONE], [{"id": "t1"}]),
        ("complete the second one", [TWO], [{"id": "t2"}]),
        ("complete the last task", [TWO], [{"id": "t2"}]),
        ("complete the rent task", [TWO], [{"id": "t2"}]),
        ("complete t1", [TWO], [{"id": "t1"}]),
        ("complete it", [ONE, ("tasks", "find", {"count": 0, "tasks": []})], []),
        ("complete all tasks", [ONE], []),
        ("complete the first one", [TWO, TOUCHED], [{"id": "t1"}]),
    ],
)
def test_what_points_back_is_the_one_record_that_was_shown_last(
    message: str, facts: list[tuple[str, str, Any]], found: list[dict[str, str]]
) -> None:
    assert calls(message, *facts) == [("tasks__complete", one) for one in found]


LOOK = (*TOOLS, CONTINUE)


@pytest.mark.parametrize("message", ["complete the rent task", "complete the second task"])
def test_what_nobody_was_shown_is_looked_for_in_the_list_of_its_app(message: str) -> None:
    looked = calls(message, tools=LOOK)
    assert looked == [TASKS, (CONTINUE.name, {})]
    assert calls(message, tools=LOOK, results=[TWO]) == [complete(id="t2")]


def test_a_list_that_was_looked_through_runs_nothing_that_it_does_not_hold() -> None:
    for results in ([ONE], [TWO, TWO], [("tasks", "find", TWO[2])]):  # of no list, twice, another
        assert not calls("complete the rent task", tools=LOOK, results=results)
    rents = {"tasks": [{"id": "t1", "title": "Rent May"}, {"id": "t2", "title": "Rent June"}]}
    asked = answer("complete the rent task", tools=LOOK, results=[("tasks", "list", rents)])
    assert not asked.tool_calls and dumps(asked.offer).count('"Rent ') == 2


TAKE = replace(DELETE, examples=(*DELETE.examples, "take {title} off my list"))
TAKEN = (*(t for t in LOOK if t is not DELETE), TAKE)
LISTED = "tasks", "list"
LETTERS = ("mail", "inbox", {"mails": [{"id": "m1", "subject": "Plan"}]})


@pytest.mark.parametrize(
    ("message", "rows", "said"),
    [
        ("take the rent off my list", ["Milk", "Rent"], ""),
        ("take the dentist thing off my list", ["Milk", "Call the dentist"],
         "Nothing here is called “dentist thing”. Which one do you mean: 1. Call the dentist?"),
        ("delete the task unicorn", ["Milk", "Rent"],
         "Nothing here is called “unicorn”. Which one do you mean: 1. Milk; 2. Rent?"),
        ("delete the task unicorn", [], "Nothing here is called “unicorn”."),
        ("delete the task rent", ["Rent May", "Rent June"],
         "Which one do you mean: 1. Rent May; 2. Rent June?"),
    ],
)  # fmt: skip
def test_what_is_destroyed_is_found_in_its_apps_list_before_anybody_is_asked_for_a_yes(
    message: str, rows: list[str], said: str
) -> None:
    assert calls(message, tools=TAKEN) == [TASKS, (CONTINUE.name, {})]
    assert calls(message, LETTERS, tools=TAKEN) == [TASKS, (CONTINUE.name, {})]
    listed = {"tasks": [{"id": f"t{n}", "title": title} for n, title in enumerate(rows)]}
    asked = answer(message, tools=TAKEN, results=[(*LISTED, listed)])
    assert [(c.name, c.arguments) for c in asked.tool_calls] == (
        [] if said else [("tasks__delete", {"id": "t1"})]
    )
    assert asked.text == said


def test_of_a_list_that_is_not_whole_nothing_is_said_to_be_missing() -> None:
    """A count above its rows, or a name that is hidden from a model."""
    more = (*LISTED, {"count": 70, **TWO[2]})
    assert calls("delete the task unicorn", tools=TAKEN, results=[more]) == [
        ("tasks__delete", {"title": "unicorn"})
    ]
    hidden = (*LISTED, {"tasks": [{"id": "t1", "title": "Call <NAME_1>"}]})
    called = replace(COMPLETE, examples=("complete the task from {id}", "complete {id}"))
    asked = answer("complete the task from Ann", tools=(called, LIST, CONTINUE), results=[hidden])
    assert asked.text == "Which one do you mean: 1. Call <NAME_1>?"


ANSWER = tool(
    "reply",
    ["reply to {id}: {body}", "reply {body}"],
    {"id": TEXT, "body": TEXT},
    ("id", "body"),
    action="write",
    app="mail",
)
INBOX = tool("inbox", ["show my mail"], app="mail")


def test_an_id_that_is_needed_is_looked_for_or_asked_for_and_never_a_field() -> None:
    tools = (ANSWER, INBOX, CONTINUE)
    assert calls("reply to Sarah: the plan looks good", tools=tools)[0] == ("mail__inbox", {})
    letters = {"mails": [{"id": "m1", "subject": "Plan"}, {"id": "m2", "subject": "Lunch"}]}
    asked = answer(
        "reply to Sarah: the plan looks good", tools=tools, results=[("mail", "inbox", letters)]
    )
    pressed = [
        n["props"]["on_click"]["message"] for n in nodes(asked.offer) if n["type"] == "Button"
    ]
    assert pressed == ["reply to m1: the plan looks good", "reply to m2: the plan looks good"]
    asked = answer("reply I agree", tools=tools)
    assert asked.text.endswith("Have me show it first: show my mail")
    assert "Form" not in dumps(asked.offer)
    form = answer("reply I agree", tools=(ANSWER,))  # nothing shows any
    assert "Form" in dumps(form.offer)
    beside = form_of("send a mail about it to someone", SEND)
    assert beside.keys() == {"to", "body"}
    assert "id" not in form_of("yesterday complete the task of the rent", COMPLETE)


def test_a_number_may_have_the_words_beside_it_that_its_description_has() -> None:
    people = {"type": "integer", "description": "How many people share it"}
    split = tool("split", ["split {sum} between {n}"], {"sum": {"type": "number"}, "n": people})
    assert calls("split 90 between 4 people", tools=(split,)) == [
        ("app__split", {"sum": 90, "n": 4})
    ]
    assert calls("split 90 between 4 cakes", tools=(split,)) == []


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("add it again for Monday", None),
        ("add the same task again for Monday", None),
        ("add me in an hour to stretch for Monday", None),
        ("add milk, no, bread for Monday", None),
        ("add rent on Friday for Monday", None),
        ("add the task for Monday", None),
        ("add the rent for Monday", "rent"),
        ("add bread, milk for Monday", "bread, milk"),
        ("ajoute la tâche l'eau", "l'eau"),
        ("ajoute la tâche appeler le plombier", "appeler le plombier"),
    ],
)
def test_a_title_neither_begins_with_a_small_word_nor_is_corrected_nor_holds_a_date(
    message: str, title: str | None
) -> None:
    examples = ("add {title} for {due:date}", "task {title}", "ajoute la tâche {title}")
    add = replace(ADD, examples=examples)
    found = [c.arguments["title"] for c in answer(message, tools=(add, LIST, COMPLETE)).tool_calls]
    assert found == ([title] if title else [])


def test_the_same_address_is_the_one_that_was_shown_last() -> None:
    message = "отправь на тот же адрес «статус по проекту»"
    found = calls(message, ("mail", "list", {"messages": [LETTER]}))
    assert found == [("mail__send", {"to": "sarah@example.com", "body": "статус по проекту"})]
    masked = {**LETTER, "from": "<EMAIL_1>"}
    assert calls(message, ("mail", "read", masked))[0][1]["to"] == "<EMAIL_1>"
    assert not calls(message)


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("add a task: milk, show my tasks", ["add a task: milk", "show my tasks"]),
        (
            "add a task: call Ann and send «hello» to ann@example.com",
            ["add a task: call Ann", "send «hello» to ann@example.com"],
        ),
    ],
)
def test_where_the_second_command_may_be_text_none_runs_and_each_is_offered(
    message: str, parts: list[str]
) -> None:
    said = answer(message, TWO)
    assert not said.tool_calls
    assert said.text == f"I do one thing at a time. Which one first: {'; '.join(parts)}?"
    assert [dumps(part) in dumps(said.offer) for part in parts] == [True] * len(parts)


DONE = replace(COMPLETE, examples=("{title} is done", "{title} done", "I did {title}"))


@pytest.mark.parametrize(
    "message",
    [
        "is Milk done?",
        "is Milk done",
        "Milk done?",
        "was Milk done? show me",
        "did I do Milk?",
        "I did nothing",
        "Milk is not done",
        'she said "Milk is done"',
    ],
)
def test_a_question_about_a_deed_and_what_is_denied_change_nothing(message: str) -> None:
    assert answer("Milk is done", TWO, tools=(DONE, LIST)).tool_calls
    assert not answer(message, TWO, tools=(DONE, LIST)).tool_calls


@pytest.mark.parametrize("message", ["no, leave it", "never mind", "don't do that"])
def test_a_message_that_takes_something_back_is_told_that_nothing_was_done(message: str) -> None:
    said = answer(message)
    assert not said.tool_calls
    assert said.text == "All right, nothing was done."


def test_an_id_that_was_shown_is_a_record_of_that_app_alone() -> None:
    drop = tool("drop", ["delete {id}"], {"id": TEXT}, ("id",), action="write", app="notes")
    shown = ("tasks", "list", {"tasks": [{"id": "t-7", "title": "Milk"}, {"id": "t-8"}]})
    [call] = answer("delete t-8", shown, tools=(drop, DELETE, LIST)).tool_calls
    assert (call.name, call.arguments) == ("tasks__delete", {"id": "t-8"})
    assert not answer("delete t-9", shown, tools=(drop, DELETE, LIST)).tool_calls


def test_an_app_that_asks_it_gets_the_first_sentences() -> None:
    request = ModelRequest("ai", "", "It rains. It pours!  The old man snores.")
    assert asyncio.run(EmbeddedModel().complete(request)).text == "It rains. It pours!"


def test_a_form_has_a_field_of_its_kind_for_each_parameter_and_speaks_as_its_author_does() -> None:
    address = {"type": "object", "properties": {"city": TEXT, "zip": {"type": "integer"}}}
    given = {
        "title": {**TEXT, "title": "Title"},
        "address": {"$ref": "#/$defs/Address"},
        "guests": {"type": "array", "items": TEXT},
        "pin": {"type": "string", "format": "password"},
        "due_at": {**TEXT, "title": "Due At"},
        "iban": {**TEXT, "title": "IBAN of the payee", "maxLength": 200},
        "body": {"type": "string", "maxLength": 5_000},
        "remark": {"type": "string", "x-directs": "content"},
    }
    book = tool("book", ["book a table: {title}"], given, ("title", "address"), action="write")
    book.input_schema["$defs"] = {"Address": address}
    fields = form_of("please book me a table: the corner", book)
    assert [(n["type"], n["props"]["label"]) for n in fields.values()] == [
        ("Input", "Title"),
        ("Fieldset", "Address"),
        ("ListInput", "Guests"),
        ("Password", "Pin"),
        ("Input", "Due at"),
        ("Input", "IBAN of the payee"),
        ("TextArea", "Body"),
        ("TextArea", "Remark"),
    ]
    inner = [n["props"]["param_name"] for n in fields["address"]["props"]["children"]]
    assert inner == ["city", "zip"]
    assert fields["guests"]["props"]["item"]["props"]["param_name"] == "value"


def test_a_form_names_common_fields_in_the_users_words_and_repeats_no_label_as_help() -> None:
    texts = {"title": "Title", "body": "What is written", "due_at": "due at"}
    add = tool("add", [], {name: {**TEXT, "description": text} for name, text in texts.items()})
    form = function_form.form_of(add, {}, "de").to_dict()
    fields = [node["props"] for node in nodes(form) if node["type"] != "Form"]
    assert [(p["label"], p.get("description", "")) for p in fields] == [
        ("Titel", ""),
        ("Inhalt", ""),  # no help in another language
        ("Due at", ""),
    ]


def form_of(message: str, *tools: ToolSpec) -> dict[str, dict[str, Any]]:
    """The fields of the form that is shown, by name."""
    [form] = [n for n in nodes(answer(message, tools=tools).offer) if n["type"] == "Form"]
    return {n["props"]["param_name"]: n for n in form["props"]["children"]}


def nodes(tree: Any) -> list[dict[str, Any]]:
    """Every node of a tree."""
    if isinstance(tree, list):
        return [n for item in tree for n in nodes(item)]
    if not isinstance(tree, dict):
        return []
    own = [tree] if "type" in tree and "props" in tree else []
    return own + [n for value in tree.values() for n in nodes(value)]


@pytest.mark.parametrize(
    "message",
    [
        "add a task: pay the rent by Monday",
        "neue Aufgabe: pay the rent bis Montag",
        "nueva tarea: pay the rent hasta el lunes",
        "nouvelle tâche : pay the rent jusqu'à lundi",
        "новая задача: pay the rent к понедельнику",
    ],
)
def test_a_word_that_leads_to_a_day_goes_with_it(message: str) -> None:
    heads = ["add a task", "neue Aufgabe", "nueva tarea", "nouvelle tâche", "новая задача"]
    examples = [f"{head}: {{title}}{due}" for head in heads for due in ("", " {due:date}")]
    add = replace(ADD, examples=tuple(examples))
    [call] = answer(message, tools=(add,)).tool_calls
    assert call.arguments == {"title": "pay the rent", "due": "2026-05-18"}


MADE = ("tasks", "add", {"id": "t7", "title": "Buy milk"})
UNDO = ToolCall("tasks__delete", {"id": "t7"})


@pytest.mark.parametrize(
    "message",
    ["undo", "Undo that, please!", "oops, that was a mistake, take it back", "отмени это",
     "mach das rückgängig", "Das war ein Versehen, bitte rückgängig machen",
     "Nein, mach das wieder rückgängig", "annule ça", "deshaz eso", "annulla",
     "oops, delete it again", "please take back that task", "undo the last thing",
     "delete the milk I just added", "nimm das mit der Milch zurück", "can you undo that?",
     "restore it", "change it back", "put it back on the list", "no, put the date back to what it was",
     "damn, I still need that, give it back", "stell es wieder her", "restaure ça", "восстанови"],
)  # fmt: skip
def test_what_was_just_made_is_taken_back_by_what_deletes_it(message: str) -> None:
    [call] = answer(message, MADE, undo=UNDO).tool_calls
    assert (call.name, call.arguments) == (UNDO.name, UNDO.arguments)


@pytest.mark.parametrize("message", ["undo the dishwasher", "don't undo that", "did you undo it?",
                                     "cancel the bread"])  # fmt: skip
def test_what_names_another_thing_denies_or_asks_takes_nothing_back(message: str) -> None:
    assert not answer(message, MADE, undo=UNDO).tool_calls


def test_what_is_not_understood_offers_to_take_back_what_was_just_made() -> None:
    """By a button that names the effect, before anything else."""
    told = {"undo": UNDO, "undoes": "Tasks – Add a task to do “Buy milk”"}
    said = answer("no, leave it on the old date", MADE, **told)
    assert "these: Undo that; " in said.text
    assert "Undo that" not in answer("no, leave it on the old date", MADE).text
    assert "Undo that" in answer("no, leave it on the old date", **told).text  # facts are forgotten
    assert "Undo that" not in answer("no, leave it on the old date", MADE, LETTERS, **told).text
    form = answer("send a mail about it to someone", MADE, **told)
    for offer in (said.offer, form.offer):
        first = next(n for n in nodes(offer) if n["type"] in ("Button", "Form"))["props"]
        assert first["label"] == "Undo that: Tasks – Add a task to do “Buy milk”"
        assert first["on_click"] == {"action": "send", "message": "Undo that"}


def fields_of(message: str, *tools: ToolSpec) -> dict[str, Any]:
    """What stands in the fields of the form that is shown, by name."""
    props = {name: n["props"] for name, n in form_of(message, *TOOLS, *tools).items()}
    return {name: p["value"] for name, p in props.items() if "value" in p}


def test_a_function_without_examples_is_found_by_words_that_its_app_alone_knows() -> None:
    """Its figure and its text stand in the form."""
    item = {"item": TEXT}
    amount = {**item, "amount": {"type": "integer"}}
    put = tool(
        "set_items", [], amount, ("item", "amount"), app="pantry", description="Set the pantry"
    )
    rice = {"item": "brown rice", "amount": 12}
    assert fields_of("set items brown rice 12", put) == rice


def test_what_only_its_app_knows_reads_what_needs_nothing() -> None:
    shelf = tool("list_items", [], app="pantry", description="What is in the pantry")
    for message in ("what is in the pantry?", "what's in the pantry"):
        assert calls(message, tools=(*TOOLS, shelf)) == [("pantry__list_items", {})]


def test_words_before_an_example_show_its_form() -> None:
    kept = {"km": {"type": "number"}, "place": TEXT}
    ride = tool("log", ["I rode {km} km to {place}"], kept, ("km",), action="write", app="rides")
    assert fields_of("yesterday I rode 25 km to Lisbon", ride) == {"km": 25, "place": "Lisbon"}


def test_a_day_leaves_no_hour_behind() -> None:
    day = {"title": TEXT, "due": TEXT}
    said = ["remind me {due:date} to {title}", "erinnere mich {due:date} {title}"]
    remind = tool("remind", said, day, ("title",), action="write", app="rides")
    [(_, given)] = calls("erinnere mich morgen an den Zahnarzt", tools=(remind,))
    assert given["title"] == "den Zahnarzt"
    assert calls("erinnere mich morgen um zehn an den Zahnarzt", tools=(remind,)) == []


@pytest.mark.parametrize("message", ["undo that", "take that back", "please take it back"])
def test_where_nothing_can_be_taken_back_it_says_so(message: str) -> None:
    verbs = ("take", "take", "jot", "pin", "drop", "find")
    jot = [tool(f"{n}", [f"{verb} a note {n}: {{text}}"], {"text": TEXT}, action="write", app="notes")
           for n, verb in enumerate(verbs)]  # fmt: skip
    sent = ("mail", "send", {"to": "ann@example.com", "sent": True})
    for facts in ((), (sent,)):
        said = answer(message, *facts, tools=(*TOOLS, *jot))
        assert said.text.startswith("There is nothing here that I can take back.")
    assert "take back" not in answer("was the meeting undone?").text


class OneParams(BaseModel):
    """One mail."""

    id: str


class LetterParams(BaseModel):
    to: str
    body: str


def test_a_masked_name_of_the_message_tells_the_record_and_the_address() -> None:
    ext = Extension("mail", display_name="Mail")
    chat = ChatExtension(ext)
    sent: list[Any] = []

    @chat.function("list_inbox", "List the mail", examples=["show my mail"])
    async def show(ctx: Context) -> ActionResult:
        people = (("m-1", "Anna Weber", "anna@x.com"), ("m-2", "Tom Hill", "tom@x.com"))
        rows = [{"id": i, "subject": "Hi", "from_name": n, "from": a} for i, n, a in people]
        return ActionResult.success({"mails": rows}, "2 mails")

    @chat.function(
        "archive", "Archive", action_type="write", examples=["archive the mail from {id}"]
    )
    async def archive(ctx: Context, params: OneParams) -> ActionResult:
        sent.append(params.id)
        return ActionResult.success({"id": params.id}, "done")

    @chat.function(
        "send",
        "Send a mail",
        action_type="write",
        examples=["write to {to:email} that {body}", "write to {to:email} {body}"],
    )
    async def send(ctx: Context, params: LetterParams) -> ActionResult:
        return ActionResult.success({"to": params.to}, "sent")

    def say(message: str) -> Any:
        return TestKernel([ext], model=EmbeddedModel()).chat(message).body

    say("archive the mail from Anna Weber")
    assert sent == ["m-1"]
    for said in ("that I am late", "lunch is at noon"):  # neither "Tom" nor "Tom Hill that I"
        card = say(f"write to Tom Hill {said}")["confirmation"]
        body = said.removeprefix("that ")
        assert card["calls"][0]["arguments"] == {"to": "tom@x.com", "body": body}
    told = say("write to Peter Pan that I am late")
    assert told["reply"].startswith("Nothing here is called “Peter Pan”.")
    assert "I am late" in [n["props"].get("value") for n in nodes(told["ui"])]


def test_a_question_that_nothing_answers_offers_the_searches_with_its_word_filled_in() -> None:
    mail = tool(
        "search", ["find the email about {text}"], {"text": TEXT}, ("text",), app="mail"
    )  # fmt: skip
    drawn = nodes(answer("what's my order number?", tools=(mail, LIST)).offer)
    actions = [n["props"]["on_click"] for n in drawn if "on_click" in n["props"]]
    assert {"action": "send", "message": "find the email about order"} in actions
    assert {"action": "find", "q": "order number"} in actions


READ_NOTE = tool("read", ["read {id}", "open the note {id}"], {"id": TEXT}, ("id",), app="notes")


@pytest.mark.parametrize(
    ("message", "called"),
    [
        ("what's the plumber's phone number?", 0),  # the note merely has a number
        ("where is the number of the plumber?", 0),
        ("what's the bank's number?", 1),
        ("do you know the number of the bank?", 1),
        ("what is the wifi password for guests?", 1),  # all of its name
    ],
)
def test_a_question_is_answered_by_the_record_that_holds_all_that_it_is_about(
    message: str, called: int
) -> None:
    titles = ("Phone number of the bank", "Wifi")
    rows = [{"id": f"n{n}", "title": title} for n, title in enumerate(titles)]
    said = answer(message, ("notes", "find", {"notes": rows}), tools=(READ_NOTE, LIST))
    assert len(said.tool_calls) == called
    assert called or said.text.startswith("Nothing that was shown here holds “plumber”.")


def test_choices_that_are_cut_say_how_many_more_there_are() -> None:
    rents = {"tasks": [{"id": f"t{n}", "title": f"Rent {n}"} for n in range(11)]}
    told = answer("complete the rent task", ("tasks", "list", rents)).text
    assert told.endswith("8. Rent 7; and 3 more?")


def test_a_name_in_another_case_is_the_name_and_a_longer_one_is_none() -> None:
    people = (("m1", "Иван Петров", "ivan@x.com"), ("m2", "Мария Иванова", "maria@x.com"))
    rows = [{"id": i, "subject": "Hi", "from_name": n, "from": a} for i, n, a in people]
    write = replace(SEND, examples=("напиши {to}, что {body}",))
    for named in ("Ивану", "Ивану Петрову", "Иван"):
        [call] = answer(
            f"напиши {named}, что черновик готов", ("mail", "list", {"mails": rows}), tools=(write,)
        ).tool_calls
        assert call.arguments == {"to": "ivan@x.com", "body": "черновик готов"}


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("please could you write to my boss that the draft is ready",
         {"body": "the draft is ready"}),
        ('send a mail to a@b.com with the text "It is done." and the subject "Draft"',
         {"to": "a@b.com", "body": "It is done.", "subject": "Draft"}),
        ("write to a@b.com, subject: Draft, that the text is done",
         {"to": "a@b.com", "body": "the text is done", "subject": "Draft"}),
        ('schreib an a@b.com mit dem Betreff "Entwurf" und dem Text "Ist fertig."',
         {"to": "a@b.com", "body": "Ist fertig.", "subject": "Entwurf"}),
    ],
)  # fmt: skip
def test_a_form_takes_each_text_by_the_name_of_its_field_and_without_what_leads_to_it(
    message: str, values: dict[str, str]
) -> None:
    fields = {"to": SEND.input_schema["properties"]["to"], "subject": TEXT, "body": TEXT}
    said = ["send a mail to {to} with the text {body}", "schreib an {to} mit dem Text {body}"]
    said.append("write to {to} that {body}")
    mail = tool("send", said, fields, ("to", "body"), action="write", app="mail")
    props = {name: n["props"] for name, n in form_of(message, mail).items()}
    assert {name: p["value"] for name, p in props.items() if p.get("value")} == values


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ("send a@b.com a message that the status comes tomorrow", "the status comes tomorrow"),
        ("send a@b.com the report that you wanted", "the report that you wanted"),
        ("send a@b.com that the status comes", "the status comes"),
    ],
)
def test_a_text_begins_behind_what_it_is_and_what_leads_to_it(message: str, body: str) -> None:
    said = ("send {to} {body}", "send a message to {to}", "send {to} that {body}")
    inbox = tool("inbox", ["show my messages"], app="mail")
    assert calls(message, tools=(replace(SEND, examples=said), inbox)) == [
        (SEND.name, {"to": "a@b.com", "body": body})
    ]


@pytest.mark.parametrize(
    ("message", "found"),
    [("show the mail from Ann", ["mail__search"]), ("show the mail from today", [])],
)
def test_a_day_is_nobodys_name(message: str, found: list[str]) -> None:
    search = tool("search", ["show the mail from {text}"], {"text": TEXT}, ("text",), app="mail")
    assert [name for name, _ in calls(message, tools=(search,))] == found


def test_what_stands_in_quotation_marks_is_deleted_by_that_name() -> None:
    drop = tool(
        "drop", ["delete the note {title}"], {"title": TEXT, "id": TEXT}, action="destructive"
    )
    known = tool("find", ["show my notes"])
    assert calls('delete the note "plumber"', tools=(drop, known, CONTINUE)) == [
        (drop.name, {"title": "plumber"})
    ]


def test_somebody_nobody_was_shown_is_looked_for_though_the_text_may_be_a_deed() -> None:
    write = replace(SEND, examples=("escribe a {to} que {body}",))
    deed = replace(COMPLETE, examples=("{title} está listo",))
    mail = tool("inbox", ["muéstrame mi correo"], app="mail")
    tools = (write, deed, LIST, mail, CONTINUE)
    looked = calls("escribe a Ivan que el borrador está listo", tools=tools)
    assert looked == [("mail__inbox", {}), (CONTINUE.name, {})]


def test_words_on_another_apps_records_take_nothing_back() -> None:
    mail = [
        tool(name, [f"{name} the mail {{id}}"], {"id": TEXT}, ("id",), action="write", app="mail")
        for name in ("archive", "move", "mark")
    ]
    told = answer("oops, I want that mail back", MADE, undo=UNDO, tools=(*TOOLS, *mail))
    assert not told.tool_calls and "Undo that" in told.text


def test_what_is_under_ones_own_name_is_shown_there() -> None:
    told = answer("export my data")
    assert {"action": "me"} in [n["props"].get("on_click") for n in nodes(told.offer)]
    assert told.text == "That is under your name, at the top of the page."


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ("a note saying buy milk for Anna", "buy milk for Anna"),
        ("make a note that says the door code is 4411", "the door code is 4411"),
        ("make a note with the text hello world", "hello world"),
        ('make a note with the text: "hello world"', "hello world"),
        ("note: he said saying no is hard", "he said saying no is hard"),
        ("запиши заметку о том, что ключи у соседа", "ключи у соседа"),
        ("заметка с текстом позвонить маме", "позвонить маме"),
        ("eine Notiz mit dem Inhalt Milch kaufen", "Milch kaufen"),
        ("une note avec le texte acheter du pain", "acheter du pain"),
        ("una nota que diga comprar leche", "comprar leche"),
    ],
)
def test_what_leads_to_a_text_is_no_part_of_it(message: str, body: str) -> None:
    said = ["note: {body}", "make a note: {body}", "заметка: {body}", "запиши заметку {body}"]
    said += ["Notiz: {body}", "note : {body}", "nota: {body}"]
    note = tool("write", said, {"body": TEXT}, ("body",), action="write", app="notes")
    assert calls(message, tools=(note,)) == [("notes__write", {"body": body})]


@pytest.mark.parametrize(
    ("message", "app"),
    [
        ("which books do I have?", "books"),
        ("how many books do I have?", "books"),
        ("do I have the book Dune?", "books"),
        ("show me all the books I own", "books"),
        ("which tasks do I have", "tasks"),
        ("do I have the flat and the book?", ""),
        ("don't show me books", ""),
        ("which lamps do I have?", ""),
    ],
)
def test_a_question_goes_to_the_app_that_calls_its_records_so(message: str, app: str) -> None:
    add_book = tool(
        "add", ["add the book {title}"], {"title": TEXT}, ("title",), app="books", action="write"
    )
    books = (tool("list", ["show my books"], app="books"), add_book)
    add_flat = tool(
        "add", ["add the flat {title}"], {"title": TEXT}, ("title",), app="flats", action="write"
    )
    flats = (tool("list", ["show my flats"], app="flats"), add_flat)
    found = calls(message, tools=(*books, *flats, LIST, ADD, COMPLETE, DELETE))
    assert found == ([(f"{app}__list", {})] if app else [])


@pytest.mark.parametrize(
    ("message", "zone"),
    [
        ("what time is it in Tokyo?", "Asia/Tokyo"),
        ("get current time in Europe/Berlin", "Europe/Berlin"),
        ("get current time", None),
    ],
)
def test_a_form_that_wants_a_time_zone_has_that_of_the_city(message: str, zone: str | None) -> None:
    said = "Get current time in a specific timezone"
    fields = {"timezone": TEXT}
    clock = tool("get_current_time", [], fields, ("timezone",), app="time", description=said)
    assert form_of(message, clock)["timezone"]["props"].get("value") == zone
    is_whole = answer(message, tools=(clock,)).text.startswith("Please fill this in")
    assert is_whole == (zone is None)


def test_a_bare_no_brings_no_form_and_a_question_offers_the_search_for_its_words() -> None:
    correct = tool("correct", ["no {title}"], {"title": TEXT}, action="write", app="tasks")
    said = answer("no", tools=(correct,))
    assert said.text == "All right, nothing was done."
    assert "Form" not in [n["type"] for n in nodes(said.offer)]
    search = tool("search", ["find the mail about {text}"], {"text": TEXT}, ("text",), app="mail")
    order = tool("order", ["show my order"], app="mail")
    labels = [
        n["props"]["label"]
        for n in nodes(answer("where is my order", tools=(search, order)).offer)
        if n["type"] == "Button"
    ]
    assert "find the mail about order" in labels

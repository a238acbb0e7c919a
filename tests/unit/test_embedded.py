"""The embedded model: a message near an example is that command, anything else calls nothing.
`tests/functions/test_long_messages.py` shows that no input takes long."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from webbee_kernel import language
from webbee_kernel.llm import function_form, offered_forms
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.embedded.prompt_reader import Fact, ParsedPrompt, Records
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolSpec, Undo
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.text import dumps, message_line
from webbee_kernel.turn.plan import CONTINUE

TEXT, NUMBER, EMAIL = {"type": "string"}, {"type": "number"}, {"type": "string", "format": "email"}
AT = "2026-05-15T17:21:14Z"  # a Friday


def tool(
    name: str,
    examples: Iterable[str] = (),
    texts: str = "",
    needs: str = "",
    *,
    action: str = "read",
    description: str = "Does something",
    **others: dict[str, Any],
) -> ToolSpec:
    """`app.function`, whose parameters are `texts` and some of other kinds."""
    app, _, function = name.partition(".")
    properties = {**dict.fromkeys(texts.split(), TEXT), **others}
    schema = {"type": "object", "properties": properties, "required": needs.split()}
    return ToolSpec(f"{app}__{function}", app, function, description, schema, action, (*examples,))


write = partial(tool, action="write")
WEATHER = tool(
    "weather.forecast",
    ["weather in {city} tomorrow", "погода в {city} завтра"],
    "city",
    "city",
    description="Tomorrow's weather in a city",
)
ADD = write(
    "tasks.add",
    ["add a task: {title}", "add a task: {title} {due:date}", "добавь задачу {title}"],
    "title due",
    "title",
    description="Add a task to do",
    priority={"enum": ["low", "high"]},
)
OF_TASKS = ["show my tasks", "which tasks do I have", "show the done tasks {state=done}"]
LIST = tool("tasks.list", OF_TASKS, "state")
COMPLETE = write("tasks.complete", ["complete the task {title}", "complete {id}"], "id title")
NAMES = "title new_title"
RENAME = write("tasks.rename", ["rename {title} to {new_title}"], NAMES, NAMES)
DELETING = ["delete the task {title}", "delete {id}"]
DELETE = tool("tasks.delete", DELETING, "id title", action="destructive")
IN_WORDS = ["send {body} to {to}", "отправь {body} на {to}", "отправь на {to} {body}"]
SEND = write("mail.send", IN_WORDS, needs="to body", to=EMAIL, body=TEXT)
PLAIN = tool("money.convert", ["convert 10 euros"], needs="amount", amount=NUMBER)
NAMELESS = tool("list.unsubscribe", description="Unsubscribe from a newsletter")
TOOLS = (WEATHER, ADD, LIST, COMPLETE, RENAME, DELETE, SEND, PLAIN, NAMELESS)
LOOK = (*TOOLS, CONTINUE)


def answer(
    message: str,
    *facts: tuple[str, str, Any],
    tools: tuple[ToolSpec, ...] = TOOLS,
    undo: tuple[Undo, ...] = (),
    waiting: tuple[tuple[str, Any], ...] = (),
    results: Sequence[tuple[str, str, Any]] = (),
    problems: Sequence[str] = (),
) -> ModelResponse:
    lines = [f"FACTS: app={a} fn={f} data={dumps(d)}" for a, f, d in facts]
    told, note = message_line(message)
    ends = [
        f'RESULT: app={a} fn={f} status=ok step={n} summary="a \\" data={{}}" data={dumps(d)} args={{}}'
        for n, (a, f, d) in enumerate(results)
    ]
    said = ["[SKELETON]", "[HISTORY]", *lines, note, f"[{AT} user] {told}", *ends, *problems]
    beside = {"language": "en", "undo": undo, "waiting": waiting}
    request = ModelRequest("classifier", "", "\n".join(said), tools, **beside)  # type: ignore[arg-type]
    return asyncio.run(EmbeddedModel().complete(request))


Called = tuple[str, Any]


def calls(message: str, *facts: tuple[str, str, Any], **beside: Any) -> list[Called]:
    """The calls of a message beside what the history holds."""
    return [(c.name, c.arguments) for c in answer(message, *facts, **beside).tool_calls]


def nodes(tree: Any) -> list[dict[str, Any]]:
    """Every node of a tree."""
    if isinstance(tree, list):
        return [n for item in tree for n in nodes(item)]
    if not isinstance(tree, dict):
        return []
    own = [tree] if "type" in tree and "props" in tree else []
    return own + [n for value in tree.values() for n in nodes(value)]


def pressed(said: ModelResponse) -> list[dict[str, Any]]:
    """What the buttons that are offered do."""
    return [n["props"]["on_click"] for n in nodes(said.offer) if "on_click" in n["props"]]


def form_of(message: str, *tools: ToolSpec) -> dict[str, dict[str, Any]]:
    """The fields of the form that is shown, by name."""
    [form] = [n for n in nodes(answer(message, tools=tools).offer) if n["type"] == "Form"]
    return {n["props"]["param_name"]: n for n in form["props"]["children"]}


def filled(said: ModelResponse) -> list[dict[str, Any]]:
    """What stands in the fields of each form that is shown, by name."""
    forms = [n["props"]["children"] for n in nodes(said.offer) if n["type"] == "Form"]
    return [{n["props"]["param_name"]: n["props"].get("value") for n in form} for form in forms]


# ---- what a message calls


def forecast(city: str) -> Called:
    return "weather__forecast", {"city": city}


def add(title: str, **more: str) -> Called:
    return "tasks__add", {"title": title, **more}


def send(body: str, to: str = "anna@example.com") -> Called:
    return "mail__send", {"to": to, "body": body}


def complete(**which: str) -> Called:
    return "tasks__complete", which


TASKS: Called = ("tasks__list", {})
LOOKS: Called = (CONTINUE.name, {})
UNDERSTOOD: dict[str, dict[str, list[Called]]] = {
    "an example accounts for it": {
        "What's the weather in Riga tomorrow?": [forecast("Riga")],
        "погода в Риге завтра": [forecast("Риге")],
        "add a task: call Anna tomorrow at 15:00": [add("call Anna", due="2026-05-16T15:00")],
        "отправь «до встречи» на anna@example.com": [send("до встречи")],
    },
    "a polite command and a question that is text are no questions": {
        "can you complete the task buy milk?": [complete(title="buy milk")],
        "add a task: is it May?": [add("is it May?")],
        'send "are you coming?" to anna@example.com': [send("are you coming?")],
        "can you rename the bill to pay rent?": [
            ("tasks__rename", {"title": "bill", "new_title": "pay rent"})
        ],
    },
    "a quotation in a text is of it": {"add a task: read “A” again": [add("read “A” again")]},
    "what only leads to a command is passed over": {
        f"{lead}add a task: buy milk": [add("buy milk")] for lead in ("thanks, ", "ok great. ")
    },
    "what denies or reports a command is not": {
        f"{lead}add a task: buy milk": []
        for lead in ("never, ", "Don't! ", "if it rains, ", "Anna said, ")
    },
    "what may be text, is denied or leans on a command beside it runs nothing": {
        "add a task: buy milk and then show my tasks": [],
        "show my tasks. add a task: buy milk": [],
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

ONE = ("tasks", "add", {"id": "t1", "title": "Water the plants"})
TWO = ("tasks", "list", {"tasks": [{"id": "t1", "title": "Milk"}, {"id": "t2", "title": "Rent"}]})
FOUND_NONE = ("tasks", "find", {"count": 0, "tasks": []})
SHOWN = ("tasks", "list", {"tasks": [{"id": "t-7", "title": "Milk"}, {"id": "t-8"}]})
TOUCHED = ("tasks", "complete", {"tasks": [{"id": "t2", "title": "Rent"}]})
LETTER = {"id": "m1", "from": "sarah@example.com", "account": "me@work.com", "to": "me@work.com"}
LETTERS = ("mail", "inbox", {"mails": [{"id": "m1", "subject": "Plan"}]})
PEOPLE = [("m1", "Иван Петров", "ivan@x.com"), ("m2", "Мария Иванова", "maria@x.com")]
FROM_PEOPLE = [{"id": i, "subject": "Hi", "from_name": n, "from": a} for i, n, a in PEOPLE]
MADE = ("tasks", "add", {"id": "t7", "title": "Buy milk"})
UNDO = Undo("tasks__delete", {"id": "t7"}, "Tasks – Add a task to do “Buy milk”")
UNDONE: Called = (UNDO.name, UNDO.arguments)
ALPHAS = Undo("tasks__delete", {"id": "t9"}, "Tasks – Add a task to do “alpha one”", 1)
RENT = "Tasks – Change a task “rent”"
EFFECTS = (Undo("tasks__rename", {"id": "t8", "due": "2026-05-16"}, RENT, 2), ALPHAS)
MOVED, ALPHA = [(u.name, u.arguments) for u in EFFECTS]
KAPPA = "Tasks – Delete a task “kappa”"
BACK = Undo("tasks__add", {"title": "kappa"}, KAPPA, 3, is_back=True, message="undo that")
ADDED: Called = (BACK.name, BACK.arguments)
IDS = {"type": "array", "items": {"type": "string"}}
MAILS = (
    tool("mail.inbox", ["show my mail"]),
    write("mail.mark", ["mark the mail {ids} as read", "mark {ids} as read"], needs="ids", ids=IDS),
    tool(
        "mail.delete",
        ["delete the mail {ids}", "delete {ids}"],
        needs="ids",
        action="destructive",
        ids=IDS,
    ),
    CONTINUE,
)
MARKING = (
    *(tool("mail.inbox", ["show my mail"]), tool("mail.open", ["open the mail {id}"], "id", "id")),
    write("mail.mark", ["mark {ids} as read"], needs="ids", ids=IDS),
    write("notes.mark", ["mark {id} as read"], "id", "id"),
    CONTINUE,
)
SENDERS = {"m1": "Ivan Petrov", "m2": "Sarah Chen", "m3": "Ivan Petrov"}
INBOX = (
    "mail",
    "inbox",
    {"mails": [{"id": i, "subject": f"Hi {i}", "from_name": n} for i, n in SENDERS.items()]},
)
SPLIT = tool(
    "app.split",
    ["split {sum} between {n}"],
    sum=NUMBER,
    n={"type": "integer", "description": "How many people share it"},
)
TITLED = ["add {title} for {due:date}", "task {title}", "ajoute la tâche {title}"]
DONE = replace(COMPLETE, examples=("{title} is done", "{title} done", "I did {title}"))
HEADS = ["add a task", "neue Aufgabe", "nueva tarea", "nouvelle tâche", "новая задача"]
BY_HEADS = [f"{head}: {{title}}{due}" for head in HEADS for due in ("", " {due:date}")]
REMIND = ["remind me {due:date} to {title}", "erinnere mich {due:date} {title}"]
SENDING = (
    "send {to} {body}",
    "send {to} a message that {body}",
    "send a message to {to}",
    "send {to} that {body}",
)
TO_SOMEBODY = replace(SEND, examples=SENDING)
NOTED = [
    *["note: {body}", "make a note: {body}", "запиши заметку {body}", "Notiz: {body}"],
    *["note : {body}", "nota: {body}"],
]
DROP = tool("notes.drop", ["delete the note {title}"], "title id", action="destructive")
LETTER_TO = write("mail.send", ["write to {to}: {body}"], needs="to body", to=EMAIL, body=TEXT)
BOOKS = (
    tool("books.list", ["show my books"]),
    write("books.add", ["add the book {title}"], "title", "title"),
    tool("flats.list", ["show my flats"]),
    write("flats.add", ["add the flat {title}"], "title", "title"),
)
SAID = ["rename {title} to {new_title}", "benenne {title} in {new_title} um"]
OF_A_NOTE = [
    "rename the note {title} to {new_title}",
    "benenne die Notiz {title} in {new_title} um",
]
RENAMING = (
    write("tasks.rename", SAID, "id title new_title", "new_title"),
    write("notes.rename", OF_A_NOTE, "id title new_title", "new_title"),
    *(tool("notes.find", ["show my notes", "zeig meine Notizen"]), LIST),
)
TO_ROUTER = ("rename that note to Router", "can you rename my note to Router?",
             "benenne die Notiz in Router um")  # fmt: skip
ROUTER: Called = ("notes__rename", {"id": "n1", "new_title": "Router"})
WIFI = ("notes", "read", {"id": "n1", "title": "Wifi"})
MILKS = [{"id": "t1", "title": "Milk"}, {"id": "t2", "title": "Milk for Bob"}]
TO_ANN = ("mail", "send", {"to": "ann@example.com"})
SEARCHING = ["find the email about {text}", "such nach {text}", "найди письмо про {text}",
             "cherche le mail sur {text}", "busca el correo sobre {text}"]  # fmt: skip
FINDS = tool("mail.search", SEARCHING, "text", "text")


def looked_for(text: str) -> list[Called]:
    return [(FINDS.name, {"text": text}), LOOKS]


def note(body: str) -> Called:
    return "notes__write", {"body": body}


BESIDE: dict[str, tuple[dict[str, Any], dict[str, list[Called]]]] = {
    "what points back is the one record that was shown last": ({"facts": [ONE]}, {
        **{f"complete {it}": [complete(id="t1")] for it in ("it", "that task")},
        "complete the one I just created": [complete(id="t1")],
        "complete all tasks": [],
    }),
    "what asks for everything is not the one that was shown last": (
        {"facts": [("mail", "read", {"id": "m1", "subject": "Plan"})], "tools": MAILS},
        {m: [] for m in ("erase everything", "delete it all", "mark everything as read")},
    ),
    "all of them are those of the list that was shown": ({"facts": [INBOX], "tools": MAILS}, {
        "delete them all": [("mail__delete", {"ids": ["m1", "m2", "m3"]})],
        "mark all as read": [("mail__inbox", {}), LOOKS],
    }),
    "and all of an app those of its whole list": ({"results": [INBOX], "tools": MAILS}, {
        "mark all mails as read": [("mail__mark", {"ids": ["m1", "m2", "m3"]})],
        "mark all mails from Ivan as read": [("mail__mark", {"ids": ["m1", "m3"]})],
        "delete all mails from Ivan": [("mail__delete", {"ids": ["m1", "m3"]})],
    }),
    "what an app calls its records says whose list is looked through": ({"tools": MARKING}, {
        "mark the mail from Tom as read": [("mail__inbox", {}), LOOKS],
    }),
    "or is told by its place or its name in the list": ({"facts": [TWO]}, {
        **{f"complete the {one}": [complete(id="t2")] for one in ("second one", "last task")},
        "complete the rent task": [complete(id="t2")],
        "complete t1": [complete(id="t1")],
    }),
    "an empty list points to nothing": ({"facts": [ONE, FOUND_NONE]}, {"complete it": []}),
    "what was touched is no list": (
        {"facts": [TWO, TOUCHED]},
        {"complete the first one": [complete(id="t1")]},
    ),
    "what nobody was shown is looked for in the list of its app": (
        {"tools": LOOK},
        {f"complete the {one} task": [TASKS, LOOKS] for one in ("rent", "second")},
    ),
    "and is the one that was found there": (
        {"tools": LOOK, "results": [TWO]},
        {f"complete the {one} task": [complete(id="t2")] for one in ("rent", "second")},
    ),
    **{
        f"{of} runs nothing that it does not hold": (
            {"tools": LOOK, "results": results},
            {"complete the rent task": []},
        )
        for of, results in {
            "a list of no list": [ONE],
            "one that was looked through twice": [TWO, TWO],
            "another one": [("tasks", "find", TWO[2])],
        }.items()
    },
    "a number may have the words beside it that its description has": ({"tools": [SPLIT]}, {
        "split 90 between 4 people": [("app__split", {"sum": 90, "n": 4})],
        "split 90 between 4 cakes": [],
    }),
    "a title neither begins with a small word nor is corrected nor holds a date": (
        {"tools": [replace(ADD, examples=TITLED), LIST, COMPLETE]}, {
        "add it again for Monday": [],
        "add milk, no, bread for Monday": [],
        "add rent on Friday for Monday": [],
        "add the task for Monday": [],
        "add the rent for Monday": [add("rent", due="2026-05-18")],
        "ajoute la tâche l'eau": [add("l'eau")],
    }),
    "the same address is the one that was shown last": (
        {"facts": [("mail", "list", {"messages": [LETTER]})]},
        {"отправь на тот же адрес «статус»": [send("статус", "sarah@example.com")]},
    ),
    "also where it is masked": (
        {"facts": [("mail", "read", {**LETTER, "from": "<EMAIL_1>"})]},
        {"отправь на тот же адрес «статус»": [send("статус", "<EMAIL_1>")]},
    ),
    "and where none was shown there is none": ({}, {"отправь на тот же адрес «статус»": []}),
    "a question about a deed and what is denied change nothing": (
        {"facts": [TWO], "tools": [DONE, LIST]}, {
        "Milk is done": [complete(id="t1")],
        "is Milk done?": [],
        "was Milk done? show me": [],
        "Milk is not done": [],
        'she said "Milk is done"': [],
    }),
    "an id that was shown is a record of that app alone": (
        {"facts": [SHOWN], "tools": [write("notes.drop", ["delete {id}"], "id", "id"), DELETE]},
        {"delete t-8": [("tasks__delete", {"id": "t-8"})], "delete t-9": []},
    ),
    "a word that leads to a day goes with it": ({"tools": [replace(ADD, examples=BY_HEADS)]}, {
        message: [add("pay the rent", due="2026-05-18")]
        for message in (
            "add a task: pay the rent by Monday",
            "neue Aufgabe: pay the rent bis Montag",
            "nueva tarea: pay the rent hasta el lunes",
            "nouvelle tâche : pay the rent jusqu'à lundi",
            "новая задача: pay the rent к понедельнику",
        )
    }),
    "what was just made is taken back by what deletes it": ({"facts": [MADE], "undo": (UNDO,)}, {
        message: [UNDONE]
        for message in (
            *("undo", "Undo that, please!", "oops, that was a mistake, take it back"),
            *("annulla", "nimm das mit der milk zurück", "Nein, mach das wieder rückgängig"),
            *("oops, delete it again", "can you undo that?", "delete the milk I just added"),
            "undo the last thing",
        )
    }),
    "what restores, names another thing, denies or asks takes nothing back": (
        {"facts": [MADE], "undo": (UNDO,)},
        {m: [] for m in (
            *("undo the dishwasher", "don't undo that", "did you undo it?", "cancel the bread"),
            *("undo the task pay the rent", "restore it", "restaure ça", "восстанови"),
        )},
    ),
    "what is taken back is the newest or is named; what is counted or numbered is asked for": ({"undo": EFFECTS}, {
        **{m: [MOVED] for m in ("undo", "undo the last change", "undo the latest", "undo pay the rent", "no, put the date back to what it was")},
        **{m: [ALPHA] for m in ("undo alpha one", "undo adding alpha")},
        **{m: [] for m in ("undo the first one", "undo both", "отмени последние две")},
        **{m: [] for m in ("undo the third one", "undo the last three", "undo pay the plumber")},
    }),
    "what took something back is brought back where it was newest": ({"undo": (BACK, ALPHAS)}, {
        **{m: [ADDED] for m in (
            *("restore it", "no, undo that", "нет, верни обратно", "non, remets-la"),
            "no, ponla de nuevo",
        )},
        "undo that": [ALPHA],
    }),
    "a record that had no id takes no undo along": (
        {"facts": [("tasks", "delete", {"plate": "K 1", "deleted": True})],
         "undo": (UNDO._replace(arguments={"id": "t7", "until": None}),)},
        {"undo that": [(UNDO.name, {"id": "t7", "until": None})]},
    ),
    "and also by undo where nothing else is left": ({"undo": (BACK,)}, {"undo that": [ADDED]}),
    "what has no way back, or no record any more, is not taken back": (
        {"facts": [("tasks", "delete", {"id": "t8", "deleted": True})]},
        {"undo that": []},
    ),
    "an effect whose record is gone is passed over": (
        {"facts": [("tasks", "delete", {"id": "t8", "deleted": True})], "undo": EFFECTS},
        {"undo that": [ALPHA]},
    ),
    "what only its app knows reads what needs nothing": (
        {"tools": [*TOOLS, tool("pantry.list_items", description="What is in the pantry")]}, {
        "what is in the pantry?": [("pantry__list_items", {})],
        "what's in the pantry": [("pantry__list_items", {})],
    }),
    "a day leaves no hour behind": ({"tools": [write("tasks.add", REMIND, "title due", "title")]}, {
        "erinnere mich morgen an den Zahnarzt": [add("den Zahnarzt", due="2026-05-16")],
        "erinnere mich morgen um zehn an den Zahnarzt": [],
    }),
    "a name in another case is the name and a longer one is none": (
        {
            "facts": [("mail", "list", {"mails": FROM_PEOPLE})],
            "tools": [replace(SEND, examples=("напиши {to}, что {body}",))],
        }, {
        f"напиши {named}, что черновик готов": [send("черновик готов", "ivan@x.com")]
        for named in ("Ивану", "Ивану Петрову", "Иван")
    }),
    "a text begins behind what it is and what leads to it": (
        {"tools": [TO_SOMEBODY, tool("mail.inbox", ["show my messages"])]}, {
        f"send a@b.com {told}": [send(body, "a@b.com")]
        for told, body in {
            "a message that the status comes tomorrow": "the status comes tomorrow",
            "that the status comes": "the status comes",
        }.items()
    }),
    "a day is nobody's name": (
        {"tools": [tool("mail.search", ["show the mail from {text}"], "text", "text")]}, {
        "show the mail from Ann": [("mail__search", {"text": "Ann"})],
        "show the mail from today": [],
    }),
    "what stands in quotation marks is deleted by that name": (
        {"tools": [DROP, tool("notes.find", ["show my notes"]), CONTINUE]},
        {f'delete the note "{name}"': [("notes__drop", {"title": name})]
         for name in ("plumber", "Lisbon: 14 May")},
    ),
    "somebody nobody was shown is looked for though the text may be a deed": (
        {
            "tools": [
                replace(SEND, examples=("escribe a {to} que {body}",)),
                replace(COMPLETE, examples=("{title} está listo",)),
                *(LIST, tool("mail.inbox", ["muéstrame mi correo"]), CONTINUE),
            ]
        },
        {"escribe a Ivan que el borrador está listo": [("mail__inbox", {}), LOOKS]},
    ),
    "an app's noun alone is its record that was shown last, a name one of any app": (
        {"facts": [WIFI, TWO], "tools": RENAMING},
        {message: [ROUTER] for message in (*TO_ROUTER, "rename Wifi to Router")},
    ),
    "and no other app's is called by that noun": (
        {"facts": [TWO], "tools": RENAMING},
        {message: [] for message in TO_ROUTER},
    ),
    "an exact title goes before a longer one that holds it": (
        {"facts": [("tasks", "list", {"tasks": MILKS})]}, {
        "complete the milk for Bob task": [complete(id="t2")],
        'delete the task "Milk"': [("tasks__delete", {"id": "t1"})],
    }),
    "her is the one person whom the newest result is about": (
        {"facts": [TO_ANN], "tools": [TO_SOMEBODY]}, {
        'send her "hi"': [send("hi", "ann@example.com")],
        "send her that I am late": [send("I am late", "ann@example.com")],
    }),
    "of several nobody": (
        {"facts": [("mail", "list", {"mails": FROM_PEOPLE})], "tools": [TO_SOMEBODY]},
        {'send her "hi"': []},
    ),
    "what is said of a thing, and what find leads to, is looked for": (
        {"tools": [FINDS, LIST, CONTINUE]}, {
        "what is the number of the order?": looked_for("number order"),
        "what's yesterday's order number?": looked_for("order number"),
        "wie war die Bestellnummer?": looked_for("Bestellnummer"),
        "какой был номер заказа?": looked_for("номер заказа"),
        "quel est le numéro de commande ?": looked_for("numéro commande"),
        "busca el número de pedido": looked_for("número pedido"),
        "what is the capital?": looked_for("capital"),
        "don't find the order number": [],
    }),
    "what leads to a text is no part of it": (
        {"tools": [write("notes.write", NOTED, "body", "body")]}, {
        "make a note that says the door code is 4411": [note("the door code is 4411")],
        'make a note with the text: "hello world"': [note("hello world")],
        "note: he said saying no is hard": [note("he said saying no is hard")],
        "запиши заметку о том, что ключи у соседа": [note("ключи у соседа")],
        "eine Notiz mit dem Inhalt Milch kaufen": [note("Milch kaufen")],
        "une note avec le texte acheter du pain": [note("acheter du pain")],
        "una nota que diga comprar leche": [note("comprar leche")],
    }),
    "the lines of a text are kept, and what a command is told by is read over them": (
        {"tools": [write("notes.write", NOTED, "body", "body"), LIST, ADD, LETTER_TO]}, {
        "note:\nfor x in y:\n    print(r'\\n')\n": [note("for x in y:\n    print(r'\\n')")],
        "note\nmilk: 2\nshow my tasks": [note("milk: 2\nshow my tasks")],
        **{f"write to anna@example.com{lead}Hi,\nare you: there?\n\nThanks": [
            send("Hi,\nare you: there?\n\nThanks")
        ] for lead in (": ", "\n", "\n\n")},
        "write to anna@example.com\nabout it": [],
        "write to anna@example.com\n\nLunch is at 12": [send("Lunch is at 12")],
        "show\nmy tasks": [TASKS],
        "add a task: buy milk\nand eggs": [add("buy milk and eggs")],
        "add a task: milk\nadd a task: eggs": [],
    }),
    "a question goes to the app that calls its records so": (
        {"tools": [*BOOKS, LIST, ADD, COMPLETE, DELETE]}, {
        "which books do I have?": [("books__list", {})],
        "do I have the book Dune?": [("books__list", {})],
        "do I have the flat and the book?": [],
        "don't show me books": [],
    }),
}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "beside", "called"),
    [
        pytest.param(message, beside, called, id=f"{sentence}: {message}")
        for sentence, (beside, messages) in [
            *((sentence, ({}, messages)) for sentence, messages in UNDERSTOOD.items()),
            *BESIDE.items(),
        ]
        for message, called in messages.items()
    ],
)
def test_what_a_message_calls(message: str, beside: dict[str, Any], called: list[Called]) -> None:
    facts = beside.get("facts", ())
    others = {name: given for name, given in beside.items() if name != "facts"}
    assert calls(message, *facts, **others) == called


NOTHING = """don't delete the task milk|should I delete the task milk?|delete|was the meeting undone?
    |I deleted the task milk yesterday by mistake, sorry
    |send anna@example.com|send anna@example.com about the invoice|{title}|"""


@pytest.mark.parametrize("message", [message.strip() for message in NOTHING.split("|")])
def test_anything_else_calls_nothing_and_says_so(message: str) -> None:
    said = answer(message)
    assert said.text and said.offer and not said.tool_calls
    assert "take back" not in said.text


# ---- what it asks back, offers and says


TAKEN = (
    *(t for t in LOOK if t is not DELETE),
    replace(DELETE, examples=(*DELETING, "take {title} off my list")),
)


def test_what_is_destroyed_is_found_in_its_apps_list_before_anybody_is_asked_for_a_yes() -> None:
    for message, rows, said in (
        ("take the rent off my list", ["Milk", "Rent"], ""),
        ("take the dentist thing off my list", ["Milk", "Call the dentist"],
         "Nothing here is called “dentist thing”. Which one do you mean: 1. Call the dentist?"),
        ("delete the task unicorn", ["Milk", "Rent"],
         "Nothing here is called “unicorn”. Which one do you mean: 1. Milk; 2. Rent?"),
        ("delete the task unicorn", [], "Nothing here is called “unicorn”."),
        ("delete the task rent", ["Rent May", "Rent June"],
         "Which one do you mean: 1. Rent May; 2. Rent June?"),
    ):  # fmt: skip
        assert calls(message, tools=TAKEN) == [TASKS, LOOKS]
        assert calls(message, LETTERS, tools=TAKEN) == [TASKS, LOOKS]
        listed = {"tasks": [{"id": f"t{n}", "title": title} for n, title in enumerate(rows)]}
        asked = answer(message, tools=TAKEN, results=[("tasks", "list", listed)])
        made = [] if said else [("tasks__delete", {"id": "t1"})]
        assert ([(c.name, c.arguments) for c in asked.tool_calls], asked.text) == (made, said)


def test_where_none_of_all_is_so_named_it_says_so_but_not_of_a_list_that_is_not_whole() -> None:
    """Of a count above its rows, or a name that is hidden from a model."""
    asked = answer("mark all mails from Tom as read", tools=MAILS, results=[INBOX])
    assert asked.text.startswith("Nothing here is called “all mails from Tom”.")
    more = ("tasks", "list", {"count": 70, **TWO[2]})
    found = calls("delete the task unicorn", tools=TAKEN, results=[more])
    assert found == [("tasks__delete", {"title": "unicorn"})]
    hidden = ("tasks", "list", {"tasks": [{"id": "t1", "title": "Call <NAME_1>"}]})
    called = replace(COMPLETE, examples=("complete the task from {id}", "complete {id}"))
    asked = answer("complete the task from Ann", tools=(called, LIST, CONTINUE), results=[hidden])
    assert asked.text == "Which one do you mean: 1. Call <NAME_1>?"
    own = [tool(f"{app}.list", [f"show {app}"]) for app in ("chores", "errands")]
    own += [write(f"{t.app_id}.end", ["finish off {title}"], "id title") for t in own]
    assert "?" in answer("finish off " + "very " * 6 + "old beans", tools=(*own, CONTINUE)).text


def test_an_id_that_is_needed_is_looked_for_or_asked_for_and_never_a_field() -> None:
    reply = write("mail.reply", ["reply to {id}: {body}", "reply {body}"], "id body", "id body")
    beside: dict[str, Any] = {"tools": (reply, tool("mail.inbox", ["show my mail"]), CONTINUE)}
    said = "reply to Sarah: the plan looks good"
    assert calls(said, **beside)[0] == ("mail__inbox", {})
    letters = {"mails": [{"id": "m1", "subject": "Plan"}, {"id": "m2", "subject": "Lunch"}]}
    asked = answer(said, **beside, results=[("mail", "inbox", letters)])
    told = [does["message"] for does in pressed(asked) if does["action"] == "send"]
    assert told == ["reply to “Plan”: the plan looks good", "reply to “Lunch”: the plan looks good"]
    letters["mails"][0]["subject"] = "Lunch"  # a name that tells two
    asked = answer(said, **beside, results=[("mail", "inbox", letters)])
    assert "reply to m1: the plan looks good" in [does.get("message") for does in pressed(asked)]
    asked = answer("reply I agree", **beside)
    assert asked.text.endswith("Have me show it first: show my mail")
    assert "Form" not in dumps(asked.offer)
    form = answer("reply I agree", tools=(reply,))  # nothing shows any
    assert "Form" in dumps(form.offer)
    assert form_of("send a mail about it to someone", SEND).keys() == {"to", "body"}
    assert "id" not in form_of("yesterday complete the task of the rent", COMPLETE)


def test_where_the_second_command_may_be_text_none_runs_and_each_is_offered() -> None:
    for first, between, second in (
        ("add a task: milk", ", ", "show my tasks"),
        ("add a task: call Ann", " and ", "send «hello» to ann@example.com"),
    ):
        said = answer(first + between + second, TWO)
        assert not said.tool_calls
        assert said.text == f"I do one thing at a time. Which one first: {first}; {second}?"
        assert all(dumps(part) in dumps(said.offer) for part in (first, second))


@pytest.mark.parametrize("message", ["no", "no, leave it", "never mind", "don't do that"])
def test_a_message_that_takes_something_back_is_told_that_nothing_was_done(message: str) -> None:
    tools = (write("tasks.correct", ["no {title}"], "title"),) if message == "no" else TOOLS
    said = answer(message, tools=tools)
    assert (said.tool_calls, said.text) == ((), "All right, nothing was done.")
    assert "Form" not in [n["type"] for n in nodes(said.offer)]


FRIENDLY = {
    "welcome": """thanks a lot!|ok|Perfect, thank you so much|bye|Danke dir|alles klar|merci beaucoup
        |спасибо большое|muchas gracias""",
    "": "yes|yes please|да|ja bitte|oui|sí",  # the kernel says that nothing was asked
}


@pytest.mark.parametrize("told", FRIENDLY)
def test_a_thanks_a_farewell_and_a_yes_to_nothing_get_a_friendly_word_and_no_offers(
    told: str,
) -> None:
    for message in map(str.strip, FRIENDLY[told].split("|")):
        said = answer(message)
        assert (said.tool_calls, said.offer) == ((), None), message
        assert said.text == (told and language.of(language.detect(message)).say(told))


def test_a_record_that_a_write_gives_another_id_is_known_by_that_alone() -> None:
    shown = Fact("mail", "inbox", {"mails": [LETTER | {"subject": "Plan"}]})
    there = Fact("mail", "file", {"mails": [{"id": "a7", "subject": "Plan"}]}, "", {"ids": ["m1"]})
    back = Fact("mail", "back", {"mails": [{"id": "m2", "subject": "Plan"}]}, "", {"ids": ["a7"]})
    facts, writes = [back, there, shown], {("mail", "file"), ("mail", "back")}
    [row] = Records(ParsedPrompt(facts=facts), writes).rows("mail")
    assert (row["id"], row["from"]) == ("m2", "sarah@example.com")
    assert len(Records(ParsedPrompt(facts=facts)).rows("mail")) == 3  # what was only read


HI = {"body": "Hi"}
MEETING = write("events.invite", ["invite {to}"], "note", to=EMAIL, day={**TEXT, "format": "date"})


def test_what_corrects_a_card_is_a_form_of_what_waits() -> None:
    for message, given, changed in (
        ("change the text to: I am ill", HI, {"body": "I am ill"}),
        ('no, write "I am ill"', HI, {"body": "I am ill"}),
        ("actually, send it to bob@example.com", HI, {"to": "bob@example.com", "body": "Hi"}),
        ("yes but say 2 oclock", HI, HI),
        ("wait, make that tomorrow", HI, HI),
        ("no, make it Monday", {"day": "2026-05-15"}, {"day": "2026-05-18"}),
        ("no, rather on Friday", HI, HI),
        ("no, say thank you instead", HI, HI),
        ("нет, лучше напиши спасибо за всё", HI, HI),
        ("no, make it six", {"body": "See you at five."}, {"body": "See you at six."}),
        ("nein, am Mittwoch", {"body": "Ich unterschreibe am Dienstag."},
         {"body": "Ich unterschreibe am Mittwoch."}),
        ("make it Wednesday", {"body": "I sign on Tuesday."}, {"body": "I sign on Wednesday."}),
        ("make it shorter", HI, HI),
        ("delete that task", HI, None),
        ("no", HI, None),
        ("show my tasks", HI, None),
        ("is it raining?", HI, None),
    ):  # fmt: skip
        waits, to = MEETING if "day" in given else SEND, {"to": "ann@example.com"}
        said = answer(message, waiting=((waits.name, {**to, **given}),), tools=(*TOOLS, MEETING))
        told = [{k: v for k, v in one.items() if k in ("to", *given)} for one in filled(said)]
        assert told == ([] if changed is None else [{**to, **changed}])


def test_an_app_that_asks_it_gets_the_first_sentences_and_who_asks_for_his_data_the_page() -> None:
    told = answer("export my data")
    assert {"action": "me"} in pressed(told)
    assert told.text == "That is under your name, at the top of the page."
    request = ModelRequest("ai", "", "It rains. It pours!  The old man snores.")
    assert asyncio.run(EmbeddedModel().complete(request)).text == "It rains. It pours!"


def test_what_is_not_understood_offers_to_take_back_what_was_just_made() -> None:
    """By a button that names the effect, before anything else."""
    told: dict[str, Any] = {"undo": (UNDO,)}
    message = "no, leave it on the old date"
    said = answer(message, MADE, **told)
    assert "these: Undo that; " in said.text
    assert "Undo that" in answer(message, **told).text  # facts are forgotten
    others = answer(message, MADE), answer(message, MADE, LETTERS, **told)
    assert not any("Undo that" in one.text for one in others)
    for one in (said, answer("send a mail about it to someone", MADE, **told)):
        first = next(n for n in nodes(one.offer) if n["type"] in ("Button", "Form"))["props"]
        assert first["label"] == "Undo that: Tasks – Add a task to do “Buy milk”"
        assert first["on_click"] == {"action": "send", "message": "Undo that"}


@pytest.mark.parametrize("facts", [(), (TO_ANN,)])
def test_where_nothing_can_be_taken_back_it_says_so(facts: Any) -> None:
    verbs = ("take", "jot", "pin", "drop", "find")
    jot = [write(f"notes.{verb}", [f"{verb} a note: {{text}}"], "text") for verb in verbs]
    for message in ("undo that", "please take it back"):
        said = answer(message, *facts, tools=(*TOOLS, *jot))
        assert said.text.startswith("Nothing of the last few messages can be taken back.")


def test_where_it_is_open_which_effect_is_meant_each_can_be_pressed_and_one_alone_not() -> None:
    asked = answer("undo the task pay the plumber", undo=EFFECTS)
    first, second = [does["message"] for does in pressed(asked) if does["action"] == "send"]
    asks = f"Which one do you mean: 1. {EFFECTS[0].what}; 2. {ALPHAS.what}?"
    assert asked.text == f"That cannot be undone: “pay the plumber”. {asks}"
    assert (calls(first, undo=EFFECTS), calls(second, undo=EFFECTS)) == ([MOVED], [ALPHA])
    asked = answer("undo the permit", undo=(ALPHAS,))
    assert f"Undo that: {ALPHAS.what}" in [d.get("message") for d in pressed(asked)]
    for message in ("restore the permit", "restore it", "recupera las tareas borradas"):
        said = answer(message, undo=(ALPHAS,))  # brings back, and deletes nothing
        assert "Which one" not in said.text
        assert not said.tool_calls and "taken back" not in said.text


def test_a_question_that_nothing_answers_offers_the_searches_with_its_word_filled_in() -> None:
    mail = tool("mail.search", ["find the email about {text}"], "text", "text")
    offered = pressed(answer("what's my order number?", tools=(mail, LIST)))
    assert {"action": "send", "message": "find the email about order number"} in offered
    assert {"action": "find", "q": "order number"} in offered
    order = tool("mail.order", ["show my order"])
    offered = pressed(answer("where is my order", tools=(mail, order)))
    assert {"action": "send", "message": "find the email about order"} in offered


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
def test_a_question_is_answered_by_the_record_that_holds_all(message: str, called: int) -> None:
    read = tool("notes.read", ["read {id}", "open the note {id}"], "id", "id")
    notes = [{"id": "n0", "title": "Phone number of the bank"}, {"id": "n1", "title": "Wifi"}]
    said = answer(message, ("notes", "find", {"notes": notes}), tools=(read, LIST))
    assert len(said.tool_calls) == called
    assert called or said.text.startswith("Nothing that I have at hand holds “plumber”.")


def test_the_one_record_that_searches_found_is_read_and_of_several_it_is_asked_which() -> None:
    reading = tool("mail.read", ["open {id}"], "id", "id")
    beside: dict[str, Any] = {"tools": (FINDS, reading, CONTINUE)}
    none = ("mail", "search", {"messages": []})
    [again, _] = calls("find the order number", **beside, results=[none])
    assert again[0] == "mail__search" and "pedido" in again[1]["text"].split()
    assert not calls("find the order number", **beside, results=[none, none])
    for rows, called in (([LETTER], [("mail__read", {"id": "m1"})]), (FROM_PEOPLE, [])):
        found = ("mail", "search", {"messages": rows})
        assert calls("find the order number", **beside, results=[found]) == called
    assert not calls("find the order", **beside, results=[found, ("mail", "read", LETTER)])
    rents = [{"id": f"t{n}", "title": f"Rent {n}"} for n in range(11)]
    told = answer("complete the rent task", ("tasks", "list", {"tasks": rents})).text
    assert told.endswith("8. Rent 7; and 3 more?")
    found = ("tasks", "list", {"tasks": rents[:2]})
    asked = answer("complete the rent task", tools=LOOK, results=[found])
    assert not asked.tool_calls and dumps(asked.offer).count('"Rent ') == 2


# ---- forms


def test_a_form_has_a_field_of_its_kind_for_each_parameter_and_speaks_as_its_author_does() -> None:
    address = {"type": "object", "properties": {"city": TEXT, "zip": {"type": "integer"}}}
    given: dict[str, tuple[str, str, dict[str, Any]]] = {
        "title": ("Input", "Title", {**TEXT, "title": "Title"}),
        "address": ("Fieldset", "Address", {"$ref": "#/$defs/Address"}),
        "guests": ("ListInput", "Guests", {"type": "array", "items": TEXT}),
        "pin": ("Password", "Pin", {"type": "string", "format": "password"}),
        "due_at": ("Input", "Due at", {**TEXT, "title": "Due At"}),
        "iban": ("Input", "IBAN of the payee", {"title": "IBAN of the payee", "maxLength": 200}),
        "body": ("TextArea", "Body", {"type": "string", "maxLength": 5_000}),
        "remark": ("TextArea", "Remark", {"type": "string", "x-directs": "content"}),
    }
    schemas = {name: schema for name, (*_, schema) in given.items()}
    book = write("app.book", ["book a table: {title}"], needs="title address", **schemas)
    book.input_schema["$defs"] = {"Address": address}
    fields = form_of("please book me a table: the corner", book)
    shown = {name: (n["type"], n["props"]["label"]) for name, n in fields.items()}
    assert shown == {name: (kind, label) for name, (kind, label, _) in given.items()}
    inner = [n["props"]["param_name"] for n in fields["address"]["props"]["children"]]
    assert inner == ["city", "zip"]
    assert fields["guests"]["props"]["item"]["props"]["param_name"] == "value"
    drawn: Any = {"type": "Form", "props": {"hint": "", "action": "x", "children": [1]}}
    for tree in (None, drawn, {"props": {"children": [drawn]}}, {"props": {"children": 1}}):
        assert offered_forms.forms_in(tree) == []  # an extension may draw anything
    lines = {"title": "a\n b", "iban": "a\n\nb", "body": "a\n b"}
    made = [function_form.form_of(t, lines, "en").to_dict() for t in (book, SEND)]
    told = [(n["type"], n["props"]["value"]) for n in nodes(made) if n["props"].get("value")]
    assert told == [("Input", "a b"), ("Input", "a b"), *[("TextArea", "a\n b")] * 2]


def test_a_form_tells_what_is_allowed_and_names_common_fields_in_the_users_words() -> None:
    level = {"type": "integer", "minimum": 1, "maximum": 5, "description": "Lumen, e.g. 3. Or 4."}
    color = {"enum": ["red", "blue"], "description": "Z. B. red"}
    lamp = write("app.dim", ["set the lamp to {level}"], "level", level=level, color=color)
    problems = ["[PROBLEMS]", "PROBLEM: app.dim level: too large"]
    asked = answer("set the lamp to 9", tools=(lamp,), problems=problems)
    assert asked.text.startswith("“Level”: at most 5. Please fill this in")
    form = function_form.form_of(lamp, {"level": 0, "color": "green"}, "en").to_dict()
    fields = [node["props"] for node in nodes(form) if "param_name" in node["props"]]
    told = ["“Level”: at least 1", "“Color”: one of red, blue"]
    assert [field["error"] for field in fields] == told
    assert [field.get("description", "") for field in fields] == ["Lumen, e.g. 3", "Z. B. red"]
    texts = {"title": "Title", "body": "What is written", "due_at": "due at"}
    add = tool("app.add", **{name: {**TEXT, "description": text} for name, text in texts.items()})
    form = function_form.form_of(add, {}, "de").to_dict()
    fields = [node["props"] for node in nodes(form) if node["type"] != "Form"]
    told = [(p["label"], p.get("description", "")) for p in fields]
    assert told == [("Titel", ""), ("Inhalt", ""), ("Due at", "")]  # no help in another language


FIELDS = {"to": EMAIL, "subject": TEXT, "body": TEXT}
MAILING = ["send a mail to {to} with the text {body}", "schreib an {to}"]
MAIL = write("mail.send", [*MAILING, "write to {to} that {body}"], needs="to body", **FIELDS)
RIDE = write("rides.log", ["I rode {km} km to {place}"], "place", "km", km=NUMBER)
PUT = tool(
    "pantry.set_items",
    texts="item",
    needs="item amount",
    description="Set the pantry",
    amount={"type": "integer"},
)


def test_a_form_takes_each_text_by_the_name_of_its_field_and_without_what_leads_to_it() -> None:
    for asked, message, values in (
        (MAIL, "please could you write to my boss that the draft is ready",
         {"body": "the draft is ready"}),
        (MAIL, 'send a mail to a@b.com with the text "It is done." and the subject "Draft"',
         {"to": "a@b.com", "body": "It is done.", "subject": "Draft"}),
        (MAIL, "write to a@b.com, subject: Draft, that the text is done",
         {"to": "a@b.com", "body": "the text is done", "subject": "Draft"}),
        (MAIL, 'schreib an a@b.com mit dem Betreff "Entwurf" und dem Text "Ist fertig."',
         {"to": "a@b.com", "body": "Ist fertig.", "subject": "Entwurf"}),
        # no text is made up and nobody guessed
        (TO_SOMEBODY, "send a@b.com the report that you wanted", {"to": "a@b.com"}),
        (TO_SOMEBODY, "send her the link too", {}),
        # words before an example
        (RIDE, "yesterday I rode 25 km to Lisbon", {"km": 25, "place": "Lisbon"}),
        # no examples, but words that its app alone knows
        (PUT, "set items brown rice 12", {"item": "brown rice", "amount": 12}),
    ):  # fmt: skip
        beside = () if asked in (MAIL, TO_SOMEBODY) else TOOLS
        [shown] = filled(answer(message, tools=(*beside, asked)))
        assert {name: value for name, value in shown.items() if value} == values


def test_a_function_without_examples_is_found_by_its_name_with_what_follows_in_its_form() -> None:
    said = "Get current time in a specific timezone"
    clock = tool("time.get_current_time", [], "timezone", "timezone", description=said)
    for message, zone in (
        ("what time is it in Tokyo?", None),  # asks, and tells no value
        ("get current time in Europe/Berlin", "Europe/Berlin"),
        ("get current time", None),
    ):
        assert form_of(message, clock)["timezone"]["props"].get("value") == zone
        is_whole = answer(message, tools=(clock,)).text.startswith("Please fill this in")
        assert is_whole == (message == "get current time")
    away = write("fridge.throw_away", [], "item", description="Throw an item away. It is gone.")
    for message in ("Fridge: throw away", "throw_away", "Throw away.", "throw an item away"):
        assert form_of(message, away)["item"]["props"].get("value") is None


# ---- names that are masked


def test_a_masked_name_of_the_message_tells_the_record_and_the_address() -> None:
    ext = Extension("mail", display_name="Mail")
    chat = ChatExtension(ext)
    sent: list[Any] = []
    writing = ["write to {to:email} that {body}", "write to {to:email} {body}"]

    @chat.function("list_inbox", "List the mail", examples=["show my mail"])
    async def show(ctx: Context) -> ActionResult:
        people = (("m-1", "Anna Weber", "anna@x.com"), ("m-2", "Tom Hill", "tom@x.com"))
        rows = [{"id": i, "subject": "Hi", "from_name": n, "from": a} for i, n, a in people]
        return ActionResult.success({"mails": rows}, "2 mails")

    @chat.function(
        "archive", "Archive", action_type="write", examples=["archive the mail from {id}"]
    )
    async def archive(ctx: Context, id: str) -> ActionResult:
        sent.append(id)
        return ActionResult.success({"id": id}, "done")

    @chat.function("send", "Send a mail", action_type="write", examples=writing)
    async def send(ctx: Context, to: str, body: str) -> ActionResult:
        return ActionResult.success({"to": to}, "sent")

    def say(message: str) -> Any:
        return TestKernel([ext], model=EmbeddedModel()).chat(message).body

    say("archive the mail from Anna Weber")
    assert sent == ["m-1"]
    card = say("write to Tom Hill that I am late")["confirmation"]
    assert card["calls"][0]["arguments"] == {"to": "tom@x.com", "body": "I am late"}
    form = say("write to Tom Hill lunch is at noon")["ui"]  # neither "Tom" nor "Tom Hill lunch"
    assert "tom@x.com" in [n["props"].get("value") for n in nodes(form)]
    told = say("write to Peter Pan that I am late")
    assert told["reply"].startswith("Nothing here is called “Peter Pan”.")
    assert "I am late" in [n["props"].get("value") for n in nodes(told["ui"])]


SENT = ("mail", "send", {"to": "ann@example.com", "subject": "Plan", "body": "It is ready."})
LONG_ONE = ("mail", "read", {"id": "m1", "subject": "Plan", "body": "It is…[900 chars]"})
OF_A_TITLE = ("notes", "write", {"id": "n1", "title": "The router is in the hall"})
TWO_MAILS = ("mail", "list", {"mails": [{"id": "m1", "body": "a"}, {"id": "m2", "body": "b"}]})
ON = [
    *("send {body} to {to}", "write to {to}", "forward {body} to {to}", "schick {body} an {to}"),
    *("отправь {body} на {to}", "envoie {body} à {to}"),
]
ONWARD = write("mail.send", ON, needs="to body", **FIELDS)


def test_what_is_sent_on_is_what_was_sent_or_shown_last() -> None:
    for message, fact, body in (
        ("send it to bob@example.com too", SENT, "It is ready."),
        ("schick es auch an bob@example.com", SENT, "It is ready."),
        ("отправь это и на bob@example.com", SENT, "It is ready."),
        ("envoie ça à bob@example.com", SENT, "It is ready."),
        ("send it to bob@example.com", OF_A_TITLE, "The router is in the hall"),
        ("send it to bob@example.com", LONG_ONE, None),  # never a part of a text
        ("send it to bob@example.com", TWO_MAILS, None),  # which one?
        ("write to bob@example.com", SENT, None),
        ("write to bob@example.com that the party is at nine", OF_A_TITLE, None),
    ):
        said = answer(message, fact, tools=(ONWARD,))  # type: ignore[arg-type]
        [values] = filled(said)
        assert (values["to"], values["body"]) == ("bob@example.com", body)

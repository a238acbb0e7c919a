"""The embedded model on the real catalogue: what it matches, fills, recalls, asks, declines and
narrates."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.extensions.registry import load_folder
from webbee_kernel.llm.offline import OfflineModel
from webbee_kernel.llm.offline.planning import meant
from webbee_kernel.llm.offline.replies import ask, shall_i, spelled, which_one
from webbee_kernel.llm.offline.schema import Argument
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ModelRole, ToolSpec
from webbee_kernel.llm.tools import tool_spec

ROOT = Path(__file__).parents[2]
CATALOGUE = load_folder(ROOT / "extensions").catalogue()
TOOLS = tuple(tool_spec(f) for f in CATALOGUE.functions(("mail", "notes", "tasks")))
UTTERANCES: dict[str, dict[str, list[str]]] = json.loads(
    (Path(__file__).parent / "offline_utterances.json").read_text("utf-8")
)
REMARKS = [
    (f"{language} {kind}", messages)
    for language, kinds in json.loads(
        (Path(__file__).parent / "offline_remarks.json").read_text("utf-8")
    ).items()
    for kind, messages in kinds.items()
]
ACTS = {f"{t.app_id}.{t.fn_name}": t.action_type for t in TOOLS}

SKELETON = "[SKELETON]\nNOTE: cached\n- tasks (cached ~28s ago): overdue_count=3, today_count=5"
INBOX = """[2026-05-15T17:21:04Z user ok apps=[mail]] показать письма за сегодня → отправил список с 8 непрочитанными
FACTS: app=mail fn=list_inbox data={"unread": 8, "messages": [{"id": "abc", "from": "sarah@example.com", "subject": "Q3 plan"}, \
{"id": "abd", "from": "bob@example.com", "subject": "Lunch"}]}"""
MASKED = """[2026-05-15T17:21:04Z user ok apps=[mail]] show my mail → 1 message
FACTS: app=mail fn=list_inbox data={"unread": 1, "messages": [{"id": "abc", "from": "<EMAIL_1>", "subject": "Q3 plan"}]}"""
ADDED = """[2026-05-15T17:21:09Z user ok apps=[tasks]] add task buy milk → Added the task "buy milk".
FACTS: app=tasks fn=add data={"id": "01JV3M", "title": "buy milk", "due": null, "state": "open"}"""
NOTES = """[2026-05-15T17:21:10Z user ok apps=[notes]] show my notes → You have 2 notes.
FACTS: app=notes fn=find data={"count": 2, "notes": [{"id": "n1", "title": "Поездка в Лиссабон"}, {"id": "n2", "title": "Standup"}]}"""


def respond(
    prompt: str,
    role: ModelRole = "classifier",
    tools: tuple[ToolSpec, ...] = TOOLS,
    language: str = "en",
) -> ModelResponse:
    return asyncio.run(
        OfflineModel().complete(
            ModelRequest(role=role, system="s", prompt=prompt, tools=tools, language=language)
        )
    )


def classify(message: str, *history: str, after: Iterable[str] = ()) -> ModelResponse:
    return respond(
        "\n".join(
            [SKELETON, "[HISTORY]", *history, f"[2026-05-15T17:21:14Z user] {message}", *after]
        )
    )


def called(message: str, *history: str, after: Iterable[str] = ()) -> list[tuple[str, Any]]:
    return [
        (c.name.replace("__", "."), c.arguments)
        for c in classify(message, *history, after=after).tool_calls
    ]


def matched(message: str) -> str:
    tool = meant(message, TOOLS)
    return f"{tool.app_id}.{tool.fn_name}" if tool else "none"


@pytest.mark.parametrize(
    ("part", "accuracy", "wrong"), [("tuned", 0.94, 0.03), ("unseen", 0.9, 0.02)]
)
def test_utterances_reach_their_function_and_misses_are_refusals(
    part: str, accuracy: float, wrong: float
) -> None:
    """`unseen` was written after the weights were set: 55 of 60 matched at first, every miss a
    refusal.

    Examples of the tasks and notes functions were added for three of those misses; no weight was
    changed.
    """
    outcomes = [
        (text, want, matched(text)) for want, texts in UTTERANCES[part].items() for text in texts
    ]
    missed = [o for o in outcomes if o[1] != o[2]]

    assert len(outcomes) >= 40
    assert 1 - len(missed) / len(outcomes) >= accuracy, missed
    assert sum(o[2] != "none" for o in missed) / len(outcomes) <= wrong, missed


@pytest.mark.parametrize("history", [(), "INBOX NOTES ADDED".split(), "ADDED NOTES INBOX".split()])
@pytest.mark.parametrize(("kind", "messages"), REMARKS)
def test_what_is_no_command_has_no_effect(
    kind: str, messages: list[str], history: Iterable[str]
) -> None:
    """220 questions, prohibitions and remarks in two languages, written by the model's author
    before it was tuned; each with nothing to point at, and with facts it could point at."""
    facts = {"INBOX": INBOX, "NOTES": NOTES, "ADDED": ADDED}
    acted = {m: called(m, *(facts[name] for name in history)) for m in messages}

    assert {m: c for m, c in acted.items() if any(ACTS[name] != "read" for name, _ in c)} == {}


@pytest.mark.parametrize("message", [text for part in UTTERANCES.values() for text in part["none"]])
def test_what_no_app_can_do_is_never_acted_upon(message: str) -> None:
    assert called(message) == []


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("add task buy milk tomorrow", ("tasks.add", {"title": "buy milk", "due": "2026-05-16"})),
        (
            "добавь задачу купить молоко завтра",
            ("tasks.add", {"title": "купить молоко", "due": "2026-05-16"}),
        ),
        (
            "remind me tomorrow to call mom",
            ("tasks.add", {"title": "call mom", "due": "2026-05-16"}),
        ),
        (
            "add a task to finish the report by 2026-06-01, high priority",
            ("tasks.add", {"title": "finish the report", "due": "2026-06-01", "priority": "high"}),
        ),
        (
            "создай срочную задачу «Продлить визу» на сегодня",
            ("tasks.add", {"title": "Продлить визу", "due": "2026-05-15", "priority": "high"}),
        ),
        ("put pay taxes on my to-do list", ("tasks.add", {"title": "pay taxes"})),
        ("покажи просроченные задачи", ("tasks.list_tasks", {"state": "overdue"})),
        ("show completed tasks", ("tasks.list_tasks", {"state": "done"})),
        ("mark buy milk as done", ("tasks.complete", {"title": "buy milk"})),
        ("удали задачу «купить молоко»", ("tasks.delete", {"title": "купить молоко"})),
        ("запиши, что Анна любит чай", ("notes.write", {"body": "Анна любит чай"})),
        ("note that I need new shoes", ("notes.write", {"body": "I need new shoes"})),
        (
            'make a note called "Standup" saying the demo moved',
            ("notes.write", {"body": "the demo moved", "title": "Standup"}),
        ),
        ("найди заметки про отпуск", ("notes.find", {"query": "отпуск"})),
        ("show my notes", ("notes.find", {})),
        ("открепи заметку про чай", ("notes.pin", {"title": "чай", "pinned": False})),
        (
            'send "hello there" to bob@example.com',
            ("mail.send", {"to": "bob@example.com", "body": "hello there"}),
        ),
        (
            "напиши письмо на bob@example.com, что я опаздываю",
            ("mail.send", {"to": "bob@example.com", "body": "я опаздываю"}),
        ),
        ("how many unread emails do I have?", ("mail.list_inbox", {"unread_only": True})),
        ("показать письма за сегодня", ("mail.list_inbox", {"today": True})),
        ("show the last 5 emails", ("mail.list_inbox", {"limit": 5})),
    ],
)
def test_arguments_come_from_the_message(message: str, call: tuple[str, dict[str, Any]]) -> None:
    assert called(message) == [call]


@pytest.mark.parametrize(
    ("message", "history", "call"),
    [
        (
            'отправь на тот же адрес "статус по проекту"',
            [INBOX],
            ("mail.send", {"to": "sarah@example.com", "body": "статус по проекту"}),
        ),
        (
            'send "ok" to the same address',
            [INBOX, NOTES],
            ("mail.send", {"to": "sarah@example.com", "body": "ok"}),
        ),
        (
            'send "ok" to the same address',
            [MASKED],
            ("mail.send", {"to": "<EMAIL_1>", "body": "ok"}),
        ),
        ('send "hi" to Bob', [INBOX], ("mail.send", {"to": "bob@example.com", "body": "hi"})),
        (
            'reply to the first one "thanks"',
            [INBOX],
            ("mail.reply", {"id": "abc", "body": "thanks"}),
        ),
        (
            "ответь на второе письмо «спасибо»",
            [INBOX, ADDED],
            ("mail.reply", {"id": "abd", "body": "спасибо"}),
        ),
        ("open the email from Bob", [INBOX], ("mail.read", {"id": "abd"})),
        ("read the last one", [INBOX], ("mail.read", {"id": "abd"})),
        ("delete the first two emails", [INBOX], ("mail.delete", {"ids": ["abc", "abd"]})),
        ("complete the one I just added", [NOTES, ADDED], ("tasks.complete", {"id": "01JV3M"})),
        ("заверши её", [NOTES, ADDED], ("tasks.complete", {"id": "01JV3M"})),
        (
            "удали задачу, которую я только что добавил",
            [ADDED, NOTES],
            ("tasks.delete", {"id": "01JV3M"}),
        ),
        ("удали первую заметку", [INBOX, NOTES], ("notes.delete", {"id": "n1"})),
        ("прочитай заметку о поездке", [NOTES], ("notes.read", {"id": "n1"})),
    ],
)
def test_references_are_resolved_from_the_facts(
    message: str, history: list[str], call: tuple[str, dict[str, Any]]
) -> None:
    assert called(message, *history) == [call]


@pytest.mark.parametrize(
    "message",
    [
        "actually make that Sunday",
        "add butter to my shopping note",
        "add to that note: the bathroom is green",
        "добавь в заметку про дачу, что насос в сарае",
        "добавь туда: и гостиницу",
        "напиши лапиной, что опоздаем",
        "напомни, что я просил",
        "remind me what I asked for",
        "new task from my boss: write everything again",
        "mark it as open again",
        "put it back on the list",
    ],
)
def test_what_may_be_about_something_there_is_makes_nothing_new(message: str) -> None:
    effects = {name for name, _ in called(message, ADDED) if ACTS[name] != "read"}

    assert effects <= {"tasks.update", "notes.append"}


@pytest.mark.parametrize(
    ("message", "titles"),
    [
        ("add these tasks: descale kettle, return drill", ["descale kettle", "return drill"]),
        ("добавь две задачи: купить хлеб и забрать плащ", ["купить хлеб", "забрать плащ"]),
        ("add a task: buy bread, milk and tea", ["buy bread, milk and tea"]),
    ],
)
def test_several_things_that_are_told_apart_are_several_calls(
    message: str, titles: list[str]
) -> None:
    assert [arguments["title"] for _, arguments in called(message)] == titles


def test_a_question_about_nothing_here_reads_nothing_that_was_shown() -> None:
    assert called("what's 17% of 240", INBOX, ADDED) == []


def test_what_was_just_done_is_the_last_reply() -> None:
    assert 'Added the task "buy milk"' in classify("what did I just do?", INBOX, ADDED).text


def test_a_title_is_found_over_a_slip_of_the_hand() -> None:
    assert called("open the note Stadnup", NOTES) == [("notes.read", {"id": "n2"})]


def test_the_newest_turn_goes_first() -> None:
    newer = INBOX.replace("sarah@", "zoe@")

    assert called('send "ok" to the same address', INBOX, newer) == [
        ("mail.send", {"to": "zoe@example.com", "body": "ok"})
    ]


@pytest.mark.parametrize(
    ("message", "history", "question"),
    [
        ("add a task", [], "I need one more thing: what to call it?"),
        ("добавь задачу", [], "Уточните, пожалуйста: как это назвать?"),
        ("complete it", [], "I need one more thing: which one?"),
        ("удали эту заметку", [NOTES], "Уточните, пожалуйста: о чём именно речь?"),
        ("delete the fifth note", [INBOX, NOTES], "I need one more thing: which one?"),
        ("open the email from Zed", [INBOX], "I need one more thing: which one?"),
        ("send an email saying hi", [], "I need one more thing: the address to send it to?"),
    ],
)
def test_what_is_missing_or_unclear_is_asked_for_not_invented(
    message: str, history: list[str], question: str
) -> None:
    response = classify(message, *history)

    assert (response.tool_calls, response.text) == ((), question)


WEATHER = ToolSpec(
    "w__at", "w", "at", "The weather", {}, "read", ("weather in Riga", "Wetter in Riga morgen")
)


@pytest.mark.parametrize(
    ("tag", "question"),
    [
        ("en", "I need one more thing: A zone (e.g. Asia/Tokyo, i.e. by its IANA name)?"),
        ("de", "Mir fehlt noch etwas: …? Sie können zum Beispiel sagen: “Wetter in Riga morgen”."),
        ("fr", "Il me manque encore : … ?"),
    ],
)
def test_what_is_missing_is_asked_for_by_its_whole_first_sentence_in_the_users_language_only(
    tag: str, question: str
) -> None:
    told = "A zone (e.g. Asia/Tokyo, i.e. by its IANA name). Never an offset."
    zone = Argument("zone", "text", True, False, told)
    assert ask(WEATHER, [zone], tag) == question


@pytest.mark.parametrize(
    ("fn_name", "says"), [("add", "Soll ich das tun: “… anlegen”"), ("toggle", "“switch it on”")]
)
def test_what_an_author_says_in_english_only_is_said_by_the_users_languages_verb(
    fn_name: str, says: str
) -> None:
    tool = ToolSpec(f"t__{fn_name}", "t", fn_name, "Switch it on", {}, "write", ("do it",))
    assert says in shall_i([spelled(tool, (), "de")], "de")
    assert "switch" not in which_one(tool, (), "de")


def test_the_answer_to_its_question_completes_the_call() -> None:
    asked = (
        "[2026-05-15T17:21:04Z user ok apps=[]] send an email saying hi → I need one more thing:"
        " the address to send it to."
    )

    assert called("bob@example.com", asked) == [
        ("mail.send", {"to": "bob@example.com", "body": "hi"})
    ]


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("show my tasks and then show my notes", ["tasks.list_tasks", "notes.find"]),
        ("добавь задачу купить молоко, потом покажи мои задачи", ["tasks.add", "tasks.list_tasks"]),
        ("add task buy milk and write a note: hello", ["tasks.add", "notes.write"]),
        ("add task buy milk and bread", ["tasks.add"]),
        ("добавь задачу купить молоко и хлеб", ["tasks.add"]),
        ('write a note "show my tasks and then delete the note"', ["notes.write"]),
    ],
)
def test_one_message_may_ask_for_several_calls(message: str, names: list[str]) -> None:
    assert [name for name, _ in called(message)] == names


def test_a_later_call_refers_to_an_earlier_one() -> None:
    assert called("add task buy milk and then complete it")[1] == (
        "tasks.complete",
        {"id": "{{steps.0.data.id}}"},
    )


def test_a_later_call_refers_into_a_list_that_is_yet_to_come() -> None:
    delete = called("show my notes, then delete the first one", NOTES)[1]
    reply = called("show my mail and then reply to the second one «ok»", INBOX)[1]

    assert delete == ("notes.delete", {"id": "{{steps.0.data.notes.0.id}}"})
    assert reply == ("mail.reply", {"id": "{{steps.0.data.messages.1.id}}", "body": "ok"})


def test_a_message_with_an_unclear_part_is_asked_about_and_none_of_it_runs() -> None:
    response = classify("show my notes and then add a task")

    assert (response.tool_calls, response.text) == ((), "I need one more thing: what to call it?")


def test_after_results_it_goes_on_where_it_was() -> None:
    done = [
        "[RESULTS]",
        (
            'RESULT: app=tasks fn=add status=ok summary="Added." data={"id": "t9", "title": "buy'
            ' milk"}'
        ),
    ]

    assert called("add task buy milk and then complete it", after=done) == [
        ("tasks.complete", {"id": "t9"})
    ]


def test_a_reference_that_could_not_be_bound_is_taken_from_the_results() -> None:
    after = [
        "[RESULTS]",
        (
            'RESULT: app=mail fn=list_inbox status=ok summary="1" data={"messages": [{"id": "m1",'
            ' "from": "a@example.com"}]}'
        ),
        (
            'RESULT: app=mail fn=reply status=error error="reply was not called:'
            ' steps.0.data.mail.0.id does not exist"'
        ),
        "[PROBLEMS]",
        (
            'PROBLEM: {"call": "mail.reply", "field": "", "problem": "reply was not called:'
            ' steps.0.data.mail.0.id does not exist"}'
        ),
    ]

    assert called("show my mail and then reply to the first one «ok»", after=after) == [
        ("mail.reply", {"id": "m1", "body": "ok"})
    ]


def test_what_failed_is_not_replaced_by_something_older() -> None:
    after = ["[RESULTS]", 'RESULT: app=tasks fn=add status=error error="the table did not answer"']

    assert called("add task pay rent and then complete it", ADDED, after=after) == []


def test_declining_names_the_apps_in_the_language_of_the_message() -> None:
    assert (
        classify("what's the weather on Mars?").text
        == "I don't know how to help with that. I work with these apps: mail, notes, tasks."
    )
    assert (
        classify("расскажи анекдот").text
        == "Не знаю, как с этим помочь. Я работаю с приложениями: mail, notes, tasks."
    )


def test_a_refused_optional_argument_is_dropped() -> None:
    problem = '{"call": "tasks.add", "field": "due", "problem": "no due date"}'

    assert called("add task buy milk tomorrow", after=["[PROBLEMS]", f"PROBLEM: {problem}"]) == [
        ("tasks.add", {"title": "buy milk"})
    ]


def test_a_number_moves_to_its_limit() -> None:
    problem = '{"call": "mail__list_inbox", "field": "limit", "problem": "too large", "limit": "3"}'

    assert called("show the last 5 emails", after=["[PROBLEMS]", f"PROBLEM: {problem}"]) == [
        ("mail.list_inbox", {"limit": 3})
    ]


def test_a_refused_required_argument_is_given_up_plainly() -> None:
    problem = '{"call": "tasks__add", "field": "title", "problem": "too long", "limit": "200"}'
    response = classify("add task buy milk", after=["[PROBLEMS]", f"PROBLEM: {problem}"])

    assert (response.tool_calls, response.text) == ((), "I could not do that: title: too long.")


def test_it_answers_the_same_every_time_and_ignores_what_it_cannot_read() -> None:
    noise = ["FACTS: app=mail fn=list_inbox data={broken", "not a line of the kernel"]

    assert classify("add task buy milk", INBOX, *noise) == classify(
        "add task buy milk", INBOX, *noise
    )


def test_without_apps_it_says_so() -> None:
    assert respond("[HISTORY]\n[2026-05-15T17:21:14Z user] show my mail", tools=()).text.endswith(
        "No app is connected."
    )


@pytest.mark.parametrize(
    "message",
    ["1 " * 4000, "«" * 8000, "a-" * 4000, "a@" * 4000, "add task a and " * 530, "from " * 1600],
)
@pytest.mark.timeout(60)
def test_a_hostile_message_ends(message: str) -> None:
    """A pattern that backtracks would run into the limit; what a message costs is `make bench`'s
    business."""
    classify(message, INBOX)


def test_the_narrator_says_the_summaries_and_the_items_and_nothing_else() -> None:
    prompt = """[MESSAGE]
show my tasks
[RESULTS]
RESULT: app=tasks fn=list_tasks status=ok summary="You have 2 open tasks." data={"count": 2, "tasks": [\
{"id": "t1", "title": "Buy milk", "due": "2026-05-16", "state": "open"}, {"id": "t2", "title": "Call Bob", "due": null, "state": "open"}]}
RESULT: app=mail fn=send status=error error="The server refused the message\""""

    assert respond(prompt, "narrator").text == "\n".join(
        [
            "You have 2 open tasks.",
            "- Buy milk — May 16, 2026 — open",
            "- Call Bob — open",
            "The server refused the message.",
        ]
    )


def test_the_narrator_shows_five_items_at_most_and_that_there_are_more() -> None:
    rows = json.dumps([{"title": f"note {n}"} for n in range(9)])
    prompt = (
        '[MESSAGE]\nnotes\n[RESULTS]\nRESULT: app=notes fn=find status=ok summary="9 notes"'
        f' data={{"notes": {rows}}}'
    )

    assert respond(prompt, "narrator").text.splitlines() == [
        "9 notes.",
        *(f"- note {n}" for n in range(5)),
        "- …",
    ]


def test_the_ai_role_returns_the_first_sentences() -> None:
    assert respond("One thing.  Another\nthing! A third.", "ai").text == "One thing. Another thing!"


def test_a_note_that_is_called_something_has_that_title() -> None:
    assert called("make a note called Packing: boots, torch, rain jacket") == [
        ("notes.write", {"title": "Packing", "body": "boots, torch, rain jacket"})
    ]


def test_what_stands_behind_that_is_told_whole() -> None:
    asked = classify("reply to the first one that I will be late", INBOX).text
    assert "“I will be late”" in asked

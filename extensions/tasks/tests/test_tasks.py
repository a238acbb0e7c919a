"""The tasks extension, as its author tests it."""

from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.testing import ExtensionHarness, TestKernel

FOLDER = Path(__file__).parents[1]
NOW = "2026-05-15T17:21:04Z"


@pytest.fixture
def tasks() -> ExtensionHarness:
    return ExtensionHarness(FOLDER, language="en", now=NOW)


@pytest.fixture
def busy(tasks: ExtensionHarness) -> ExtensionHarness:
    """Two overdue, one still due today, two within a week, one later, one without a date, one
    done."""
    for title, due in [
        ("Pay rent", "2026-05-01"),
        ("Stand-up", "2026-05-15T10:00"),
        ("Buy milk", "today"),
        ("Call Bob", "tomorrow"),
        ("Send report", "2026-05-22T09:00Z"),
        ("Plan trip", "2026-05-23"),
        ("Read book", ""),
        ("Old thing", "2026-05-02"),
    ]:
        tasks.call("add", title=title, due=due)
    tasks.call("complete", title="Old thing")
    return tasks


def titles(harness: ExtensionHarness, state: str) -> list[str]:
    return [t["title"] for t in harness.call("list_tasks", state=state).data["tasks"]]


def nodes(tree: Any, kind: str) -> list[dict[str, Any]]:
    if isinstance(tree, list):
        return [n for item in tree for n in nodes(item, kind)]
    if not isinstance(tree, dict):
        return []
    return ([tree] if tree.get("type") == kind else []) + [
        n for item in tree.values() for n in nodes(item, kind)
    ]


def test_an_added_task_can_be_completed_by_the_id_it_returned(tasks: ExtensionHarness) -> None:
    added = tasks.call("add", title="Buy milk", due="tomorrow")
    assert added.data == {
        "id": added.data["id"],
        "title": "Buy milk",
        "due": "2026-05-16",
        "state": "open",
    }
    assert added.summary == 'Added the task "Buy milk", due 2026-05-16.'
    assert added.refresh_panels == ["tasks"]

    still = tasks.call("reopen", id=added.data["id"])  # it was never done
    assert (still.undo, "open all the time" in still.summary) == (None, True)
    done = tasks.call("complete", id=added.data["id"])
    assert done.data["state"] == "done"
    assert titles(tasks, "done") == ["Buy milk"]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("today", "2026-05-15"),
        ("Завтра", "2026-05-16"),
        ("послезавтра", "2026-05-17"),
        ("tomorrow at 15:00", "2026-05-16T15:00:00Z"),
        ("завтра в 9:30", "2026-05-16T09:30:00Z"),
        ("Monday", "2026-05-18"),
        ("on friday at 9:30", "2026-05-22T09:30:00Z"),
        ("tomorrow at 10", "2026-05-16T10:00:00Z"),
        ("tomorrow at 10:30", "2026-05-16T10:30:00Z"),
        ("завтра в 10", "2026-05-16T10:00:00Z"),
        ("morgen um 10", "2026-05-16T10:00:00Z"),
        ("am Montag um 9 Uhr", "2026-05-18T09:00:00Z"),
        ("demain à 10h", "2026-05-16T10:00:00Z"),
        ("après-demain à 9h30", "2026-05-17T09:30:00Z"),
        ("aujourd’hui", "2026-05-15"),
        ("mañana a las 10", "2026-05-16T10:00:00Z"),
        ("pasado mañana", "2026-05-17"),
        ("в среду", "2026-05-20"),
        ("31.12.2026", "2026-12-31"),
        ("in 3 days", "2026-05-18"),
        ("day after tomorrow", "2026-05-17"),
        ("tomorrow at 5 in the evening", "2026-05-16T17:00:00Z"),
        ("no date", None),
        ("2026-06-01", "2026-06-01"),
        ("2026-06-01T15:00", "2026-06-01T15:00:00Z"),
        ("2026-06-01T15:00+03:00", "2026-06-01T12:00:00Z"),
        ("", None),
    ],
)
def test_due_dates_have_one_form(tasks: ExtensionHarness, said: str, stored: str | None) -> None:
    assert tasks.call("add", title="x", due=said).data["due"] == stored


@pytest.mark.parametrize(
    "due", ["someday", "2026-13-01", "tomorrow at 25", "monday 10", "0001-01-01T00:00+23:00"]
)
def test_an_unreadable_due_date_is_refused_with_what_is(tasks: ExtensionHarness, due: str) -> None:
    refused = tasks.call("add", title="x", due=due)
    assert refused.error_code == "VALIDATION_TYPE_ERROR"
    assert "2026-05-16" in str(refused.error)
    assert tasks.call("list_tasks").data["count"] == 0


@pytest.mark.parametrize(
    ("function", "params"),
    [
        *(("add", given) for given in ({}, {"title": " "}, {"title": "x" * 201})),
        ("add", {"title": "x", "priority": "extreme"}),
        *(("update", given) for given in ({"title": "Milk"}, {"due": "today"})),
        ("update", {"title": "Milk", "due": "someday"}),
        ("delete", {}),
    ],
)
def test_bad_arguments_never_reach_the_store(
    tasks: ExtensionHarness, function: str, params: dict[str, Any]
) -> None:
    before = tasks.call("add", title="Milk").data
    assert tasks.call(function, **params).error_code.startswith("VALIDATION_")
    assert tasks.call("list_tasks", state="all").data["tasks"] == [before]


@pytest.mark.parametrize(
    ("asked", "becomes", "told"),
    [
        ({"due": "monday"}, {"due": "2026-05-18"}, "due 2026-05-18"),
        ({"due": "none"}, {"due": None}, "without a due date"),
        ({"priority": "high"}, {"priority": "high"}, "urgent"),
        (
            {"new_title": "Tea", "due": "today"},
            {"title": "Tea", "due": "2026-05-15", "state": "today"},
            'due 2026-05-15, called "Tea"',
        ),
    ],
)
def test_a_changed_task_keeps_what_was_not_asked_for(
    tasks: ExtensionHarness, asked: dict[str, str], becomes: dict[str, Any], told: str
) -> None:
    before = tasks.call("add", title="Milk", due="tomorrow").data

    changed = tasks.call("update", title="milk", **asked)

    assert changed.data == {**before, **becomes}
    assert changed.summary == f'Changed the task "Milk": {told}.'
    assert changed.refresh_panels == ["tasks"]
    assert tasks.call("list_tasks").data["tasks"] == [changed.data]


@pytest.mark.parametrize("function", ["delete", "complete"])
def test_two_tasks_of_one_title_are_told_apart_by_when_they_are_due_and_not_changed(
    tasks: ExtensionHarness, function: str
) -> None:
    dues = ("2026-05-16", "2026-06-01")
    ids = [tasks.call("add", title="Buy milk", due=due).data["id"] for due in dues]
    refused = tasks.call(function, title="buy milk")
    assert refused.error_code == "AMBIGUOUS"
    told = [f'"Buy milk" (due {due}, id {i})' for due, i in zip(dues, ids, strict=True)]
    assert [one for one in told if one not in str(refused.error)] == []
    assert {task["id"] for task in refused.data["tasks"]} == set(ids)
    assert tasks.call("list_tasks").data["count"] == 2


def test_of_two_tasks_of_one_title_a_person_says_which() -> None:
    kernel = TestKernel([FOLDER], now=NOW)
    for message in ("add a task: milk", "add a task: milk tomorrow", "show my tasks"):
        kernel.chat(message)
    asked = kernel.chat("delete the task milk")
    assert "1. milk (2026-05-16); 2. milk" in asked.text
    first, _ = (
        button["props"]["on_click"]["message"]
        for button in asked.body["ui"]["props"]["children"][0]["props"]["children"]
    )
    assert kernel.chat(first).body["status"] == "confirmation"
    kernel.chat("yes")
    [left] = [line for line in kernel.chat("show my tasks").text.splitlines() if "milk" in line]
    assert "May" not in left


def test_lists_are_by_state_and_most_urgent_first(busy: ExtensionHarness) -> None:
    assert titles(busy, "overdue") == ["Pay rent", "Stand-up"]
    assert titles(busy, "today") == ["Buy milk"]
    assert titles(busy, "done") == ["Old thing"]
    assert titles(busy, "open") == [
        "Pay rent",
        "Stand-up",
        "Buy milk",
        "Call Bob",
        "Send report",
        "Plan trip",
        "Read book",
    ]
    assert len(titles(busy, "all")) == 8


def test_high_priority_goes_first_on_the_same_day(tasks: ExtensionHarness) -> None:
    tasks.call("add", title="a", due="today")
    tasks.call("add", title="b", due="today", priority="high")

    listed = tasks.call("list_tasks").data["tasks"]
    assert [t["title"] for t in listed] == ["b", "a"]
    assert listed[0]["priority"] == "high"
    assert "priority" not in listed[1]


def test_the_count_is_exact_where_the_list_is_capped(tasks: ExtensionHarness) -> None:
    for n in range(103):  # over the list's 50 and over the store's page of 100
        tasks.call("add", title=f"task {n}")

    data = tasks.call("list_tasks").data
    assert (data["count"], len(data["tasks"])) == (103, 50)
    assert tasks.skeleton("tasks")["open_count"] == 103


def test_the_clock_moves_tasks_between_states(tasks: ExtensionHarness) -> None:
    tasks.call("add", title="Buy milk", due="tomorrow")
    states = []
    for _ in range(3):
        states.append(tasks.call("list_tasks").data["tasks"][0]["state"])
        tasks.advance(24 * 3600)

    assert states == ["open", "today", "overdue"]


def test_a_title_is_found_in_any_case_or_by_words_no_other_task_has(busy: ExtensionHarness) -> None:
    assert busy.call("complete", title="call bob").ok
    assert busy.call("complete", title="milk").data["title"] == "Buy milk"
    busy.call("add", title="Купить Ёлку")
    assert busy.call("complete", title="купить елку").ok


@pytest.mark.parametrize("which", [{"id": "nope"}, {"title": "nope"}])
def test_what_is_not_there_is_not_found(tasks: ExtensionHarness, which: dict[str, str]) -> None:
    for function, more in (("complete", {}), ("delete", {}), ("update", {"due": "today"})):
        assert tasks.call(function, **which, **more).error_code == "NOT_FOUND"


def test_completing_twice_is_no_error_and_deleting_says_what_went(tasks: ExtensionHarness) -> None:
    task = tasks.call("add", title="Buy milk").data["id"]
    assert tasks.call("complete", id=task).summary == 'Completed the task "Buy milk".'
    assert tasks.call("complete", id=task).summary == 'The task "Buy milk" was done already.'
    assert tasks.call("delete", id=task).data == {"id": task, "title": "Buy milk", "deleted": True}
    assert tasks.call("list_tasks", state="all").data["count"] == 0


def test_the_skeleton_counts_every_open_task_once(busy: ExtensionHarness) -> None:
    section = {k: v for k, v in busy.skeleton("tasks").items() if not k.startswith("_")}

    five = section.pop("next_tasks")
    assert [t["title"] for t in five] == titles(busy, "open")[:5]
    assert list(section.items()) == [
        ("overdue_count", 2),
        ("today_count", 1),
        ("upcoming_7d_count", 2),
        ("open_count", 7),
    ]


def test_the_panel_groups_tasks_and_its_buttons_call_functions(busy: ExtensionHarness) -> None:
    tree = busy.panel("tasks")
    heads = [s["props"]["title"] for s in nodes(tree, "Section")]
    assert heads == ["Overdue (2)", "Today (1)", "Later (4)"]
    actions = nodes(tree, "ListItem")[0]["props"]["actions"]
    assert [a["on_click"]["function"] for a in actions] == ["complete", "delete"]
    assert busy.call("complete", **actions[0]["on_click"]["params"]).data["title"] == "Pay rent"
    assert nodes(tree, "Form")[0]["props"]["action"] == "add"
    empty = ExtensionHarness(FOLDER).panel("tasks")
    assert nodes(empty, "Empty")[0]["props"]["message"] == "No open tasks"


@pytest.mark.parametrize(
    ("count", "summary"),
    [
        (0, "У вас нет открытых задач."),
        (1, "У вас 1 открытая задача."),
        (3, "У вас 3 открытые задачи."),
        (11, "У вас 11 открытых задач."),
    ],
)
def test_russian_counts_take_the_right_plural(count: int, summary: str) -> None:
    tasks = ExtensionHarness(FOLDER, language="ru", now=NOW)
    for n in range(count):
        tasks.call("add", title=f"задача {n}")

    assert tasks.call("list_tasks").summary == summary


@pytest.mark.parametrize(
    ("language", "added", "listed", "form"),
    [
        (
            "de-DE",
            "Aufgabe „Milch“ hinzugefügt, fällig 2026-05-16.",
            "Sie haben 1 offene Aufgabe.",
            ["Später (1)", "Erledigt", "Löschen", "Hinzufügen"],
        ),
        (
            "it",
            'Added the task "Milch", due 2026-05-16.',
            "You have 1 open task.",
            ["Later (1)", "Done", "Delete", "Add"],
        ),
    ],
)
def test_summaries_and_the_panel_speak_the_users_language(
    language: str, added: str, listed: str, form: list[str]
) -> None:
    tasks = ExtensionHarness(FOLDER, language=language, now=NOW)
    assert tasks.call("add", title="Milch", due="2026-05-16").summary == added
    assert tasks.call("list_tasks").summary == listed
    tree = tasks.panel("tasks")
    assert form == [
        nodes(tree, "Section")[0]["props"]["title"],
        *(a["label"] for a in nodes(tree, "ListItem")[0]["props"]["actions"]),
        nodes(tree, "Form")[0]["props"]["submit_label"],
    ]


@pytest.mark.parametrize(
    ("said", "due"),
    [
        (["remind me to water the roses tomorrow at 6pm", "move it to 7pm"], "2026-05-16 19:00"),
        (["remind me to call Ann tomorrow at 6pm", "move it to Friday"], "2026-05-22 18:00"),
        (["напомни полить розы завтра в 18:00", "перенеси на 19:00"], "2026-05-16 19:00"),
        (
            ["erinnere mich morgen um 18 Uhr an die Rosen", "verschiebe die Rosen auf 19 Uhr"],
            "2026-05-16 19:00",
        ),
        (["add a task: pay the rent tomorrow", "move it to Monday"], "2026-05-18"),
        (["add a task: rent", "move the task rent to 2026-05-18"], "2026-05-18"),
        (["добавь задачу оплатить аренду завтра", "перенеси её на понедельник"], "2026-05-18"),
        (["add task buy milk", "complete the one I just added"], 'Completed the task "buy milk"'),
    ],
)
def test_what_is_moved_keeps_its_day_or_hour_and_needs_no_name(said: list[str], due: str) -> None:
    kernel = TestKernel([FOLDER], now=NOW)
    assert due in [kernel.chat(message).text for message in said][-1]

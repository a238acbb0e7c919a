"""What people say between two commands, to the shipped apps and the embedded model: a no to a
question, "did that go out?", a yes that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from local.stack import ROOT
from tests.functions.support import ALICE, Person, deployed
from webbee_kernel.llm.offline import OfflineModel


@pytest.fixture
def say() -> Iterator[Person]:
    with deployed(extensions=ROOT / "extensions", model=OfflineModel()) as running:
        person = Person(running, ALICE)
        for app in ("tasks", "notes"):
            person.install(app)
        yield person


def replies(person: Person, *messages: str) -> list[str]:
    return [str(person.chat(m)["reply"]) for m in messages]


NOES = {
    "no": "All right, nothing was done.",
    "none of them, thanks": "All right, nothing was done.",
    "never mind": "All right, nothing was done.",
    "нет": "Хорошо, ничего не сделано.",
    "никакую": "Хорошо, ничего не сделано.",
    "nein danke": "In Ordnung, es wurde nichts getan.",
    "no gracias": "De acuerdo, no se ha hecho nada.",
    "laisse tomber": "D'accord, rien n'a été fait.",
}
DELETE = {
    "en": "delete the task",
    "ru": "удали задачу",
    "de": "lösche die Aufgabe",
    "es": "borra la tarea",
    "fr": "supprime la tâche",
}
LANGUAGE = dict(zip(NOES, ("en", "en", "en", "ru", "ru", "de", "es", "fr"), strict=True))


@pytest.mark.parametrize("no", NOES)
def test_a_no_drops_the_question_which_one_kindly(say: Person, no: str) -> None:
    for task in ("buy milk", "call Ann"):
        say.call("tasks", "add", title=task)
    asked, dropped, tasks = replies(say, DELETE[LANGUAGE[no]], no, "show my tasks")
    assert "buy milk" in asked
    assert "call Ann" in asked
    assert dropped == NOES[no]
    assert "2 open tasks" in tasks


def test_no_thanks_answers_a_question_for_a_yes_too(say: Person) -> None:
    *_, asked, dropped, notes = replies(
        say,
        "write a note: Lisbon launch",
        "delete that note",
        "no thanks",
        "show my notes",
    )
    assert asked.startswith("Notes – delete") and asked.endswith("shall I do it?")
    assert (dropped, "Lisbon launch" in notes) == ("All right, nothing was done.", True)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ("did it work?", "From the turns that I remember: Completed the task"),
        ("did that go through?", "From the turns that I remember: Completed the task"),
        ("получилось?", "Из того, что я помню: Completed the task"),
        ("hat das geklappt?", "Aus den Runden, an die ich mich erinnere: Completed the task"),
        ("¿funcionó?", "De los turnos que recuerdo: Completed the task"),
        ("ça a marché ?", "Des échanges dont je me souviens : Completed the task"),
    ],
)
def test_whether_a_deed_was_done_is_told_from_memory(say: Person, ask: str, told: str) -> None:
    *_, answer = replies(say, "add a task: buy milk", "mark buy milk as done", ask)
    assert answer == f'{told} "buy milk".'


@pytest.mark.parametrize("ask", ["did you delete it?", "was it deleted?", "did it work?"])
def test_what_still_waits_for_a_yes_is_not_told_as_done(say: Person, ask: str) -> None:
    *_, answer = replies(say, "write a note: Lisbon launch", "delete that note", ask)
    assert answer.startswith("From the turns that I remember: Notes – delete")


@pytest.mark.parametrize("ask", ["did Ann complete it?", "did she complete it?"])
def test_somebody_elses_deed_is_not_answered_with_ours(say: Person, ask: str) -> None:
    *_, answer = replies(say, "add a task: buy milk", "mark buy milk as done", ask)
    assert "Completed the task" not in answer


def test_a_yes_that_nobody_asked_for_is_told_so(say: Person) -> None:
    assert replies(say, "yes", "да") == [
        "I asked nothing just now. What shall I do?",
        "Я только что ни о чём не спрашивал. Что сделать?",
    ]

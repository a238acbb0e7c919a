"""What a person says to the model of the first run with the shipped apps, in the languages that they
speak: each row is a conversation, the calls of its last answer and what stands in its reply."""

from __future__ import annotations

from pathlib import Path

import pytest

from webbee_kernel.testing import TestKernel

PLAIN = dict.fromkeys(map(ord, '"\u201c\u201d\u201e'))
APPS = [Path("extensions") / name for name in ("mail", "tasks", "notes")]

# today is Friday, 15 May 2026
TALKS: dict[str, list[tuple[str, ...]]] = {
    "several things are several calls": [
        ("add three tasks: buy milk, call Ann, pay rent", "add add add", "milk", "Ann", "rent"),
        ("add tasks: buy milk and call Ann", "add add", "buy milk", "call Ann"),
        ("add two tasks: pay rent tomorrow, call Ann", "add add", "pay rent, due 2026-05-16"),
        ("neue Aufgaben: Milch kaufen, Ann anrufen", "add add", "Milch kaufen", "Ann anrufen"),
        ("füge zwei Aufgaben hinzu: Milch, Brot", "add add", "Milch", "Brot"),
        ("добавь две задачи: купить молоко, позвонить Анне", "add add", "«купить молоко»"),
        ("ajoute deux tâches : acheter du lait, appeler Anne", "add add", "« appeler Anne »"),
        ("añade dos tareas: comprar leche, llamar a Ana", "add add", "«llamar a Ana»"),
        ("add three tasks: buy milk and call Ann", "", "nothing yet"),
        ("add a task: buy milk, eggs", "add", "buy milk, eggs"),
    ],
    "all of them are on one card": [
        ("note: dog / note: cat / delete all notes", "find card 2", "cat", "dog"),
        ("Notiz: Hund / Notiz: Katze / lösche alle Notizen", "find card 2", "Katze", "Hund"),
        ("заметка: пёс / заметка: кот / удали все заметки", "find card 2", "«кот»", "«пёс»"),
        ("note: dog / note: cat / show my notes / delete them", "card 2", "cat", "dog"),
        ("note: call Ivan Petrov / note: cat / delete all notes", "find card 2", "Ivan Petrov"),
        ("delete all notes", "find", "You have no notes."),
    ],
    "a day asks for what is due": [
        ("add a task: rent tomorrow / add a task: milk / what's due tomorrow?", "list_tasks", "1 task"),
        ("add a task: rent on Friday / what's due on Friday?", "list_tasks", "1 task"),
        ("neue Aufgabe: Miete morgen / was ist morgen fällig?", "list_tasks", "ist 1 Aufgabe"),
        ("neue Aufgabe: Miete morgen / was ist am Freitag fällig?", "list_tasks", "keine Aufgabe"),
        ("добавь задачу аренда завтра / что нужно сделать завтра?", "list_tasks", "1 задача"),
        ("добавь задачу аренда в пятницу / какие задачи на пятницу?", "list_tasks", "1 задача"),
        ("nouvelle tâche : loyer demain / qu'est-ce qui est prévu demain ?", "list_tasks", "1 tâche"),
        ("nueva tarea: alquiler mañana / ¿qué tengo que hacer mañana?", "list_tasks", "1 tarea"),
    ],
    "a place is one of the newest list": [
        ("add tasks: milk, bread / show my tasks / and the second one?", "show", "bread"),
        ("neue Aufgaben: Milch, Brot / zeig meine Aufgaben / und die zweite?", "show", "Brot"),
        ("новые задачи: молоко, хлеб / покажи мои задачи / а вторая?", "show", "«хлеб»"),
        ("note: dog / show my notes / add a task: milk / show my tasks / and the first?", "show", "milk"),
    ],
    "a day at the edge of a title is when it is due": [
        ("erinnere mich daran, am Freitag die Miete zu zahlen", "add", "die Miete zu zahlen", "05-22"),
        ("neue Aufgabe: morgen Miete zahlen", "add", "Miete zahlen", "2026-05-16"),
        ("add a task: tomorrow call Ann", "add", "call Ann, due 2026-05-16"),
        ("add a task: the Monday club", "add", "the Monday club."),
        ("добавь задачу завтра позвонить Анне", "add", "«позвонить Анне», срок 2026-05-16"),
        ("nueva tarea: mañana pagar el alquiler", "add", "«pagar el alquiler»", "2026-05-16"),
        ("nouvelle tâche : demain payer le loyer", "add", "« payer le loyer »", "2026-05-16"),
    ],
    "small talk and sums call nothing": [
        ("add a task: milk / how are you?", "", "Hello!"),
        ("neue Aufgabe: Milch / Wie geht’s?", "", "Hallo!"),
        ("добавь задачу молоко / Как дела?", "", "Здравствуйте!"),
        ("Comment ça va ?", "", "Bonjour !"),
        ("¿Qué tal?", "", "¡Hola!"),
        ("note: dog / what is 5?", "", "None of my functions"),
        ("Notiz: Hund / was ist 5?", "", "Das kann keine"),
        ("заметка: пёс / что такое 5?", "", "Ни одна"),
    ],
    "a reply is in the language of its message, or of those before it": [
        ("neue Aufgabe: Milch / benenne Milch in Brot um", "update", "Aufgabe Milch geändert"),
        ("nouvelle tâche : lait / renomme lait en pain", "update", "Tâche « lait » modifiée"),
        ("добавь задачу молоко / назови молоко хлеб", "update", "Задача «молоко» изменена"),
        ("neue Aufgabe: Taxi / delete Taxi", "card 1", "Tasks – delete: Taxi"),
    ],
    "a name goes before what it may point at or the form of an id": [
        ("add a task: a one / add a task: b two / delete the task a one", "card 1", "a one"),
        ("add a task: t1 / delete the task t1", "card 1", "t1"),
        ("neue Aufgabe: B2 / lösche die Aufgabe B2", "card 1", "B2"),
        ("добавь задачу К5 / удали задачу К5", "card 1", "«К5»"),
    ],
    "what is gone is not counted among what may be meant": [
        ("add tasks: milk, bread, tea / delete the task tea / yes / show my tasks / delete the task xyz",
         "list_tasks", "1. milk; 2. bread?"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{why}: {row[0]}") for why, rows in TALKS.items() for row in rows]
)
def test_a_conversation_with_the_model_of_the_first_run(row: tuple[str, ...]) -> None:
    said, called, *texts = row
    kernel = TestKernel(APPS)
    for message in said.split(" / "):
        answer = kernel.chat(message)
    card = answer.body.get("confirmation", {}).get("calls", ())
    waits = f"card {len(card)}" if card else ""
    ran = [call["fn_name"] for call in answer.body["calls"]]
    assert " ".join(filter(None, (*ran, waits))) == called, answer.text
    assert all(text in answer.text.translate(PLAIN) for text in texts), answer.text

"""What created a record, or tells how its effect is taken back, offers that: by a card, and by
nothing else."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.functions.support import Answer, Person
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui
from webbee_kernel.testing import TestKernel

SHIPPED = Path("extensions")
pytestmark = pytest.mark.deployed(extensions=SHIPPED)


def added(alice: Person, request_id: str, message: str = "") -> dict[str, Any]:
    """The receipt of a task that was added."""
    text = f'{message} tasks.add {{"title": "water the plants"}}'.strip()
    [receipt] = alice.chat(text, request_id=request_id)["receipts"]
    return dict(receipt)


def pressed(alice: Person, undo: dict[str, Any], turn: str) -> Answer:
    """The button of that turn's receipt."""
    below = {"session_id": "s1", "request_id": turn}
    body = {"function": undo["function"], "params": undo["params"], "below": below}
    return alice.send("POST", f"/v1/extensions/{undo['app_id']}/call", body=body)


def tasks(alice: Person) -> int:
    """How many there are."""
    return int(alice.call("tasks", "list_tasks")["data"]["count"])


def test_a_record_that_was_created_goes_by_the_card_that_its_receipt_offers(alice: Person) -> None:
    undo = added(alice, "r1")["undo"]
    assert pressed(alice, undo, "r1")["status"] == "confirmation"
    assert tasks(alice) == 1
    asked = alice.turns()[-1]
    assert asked["message"].startswith("Undo that:")
    card = asked["confirmation"]
    assert "water the plants" in card["question"]
    assert [c["effect"] for c in card["calls"]] == ["destructive"]
    alice.confirm(card["id"], accept=False)
    assert tasks(alice) == 1
    pressed(alice, undo, "r1")  # a card that was refused can be had again
    assert alice.confirm(alice.turns()[-1]["confirmation"]["id"])["status"] == "ok"
    assert tasks(alice) == 0
    assert [turn["message"][:9] for turn in alice.turns()] == ["tasks.add", *["Undo that"] * 2]


def test_an_undo_that_is_pressed_twice_is_one_card_and_one_effect(alice: Person) -> None:
    added(alice, "r1")
    alice.chat('tasks.delete {"title": "water the plants"}', request_id="r2")
    [receipt] = alice.confirm(alice.turns()[-1]["confirmation"]["id"])["receipts"]
    undo = receipt["undo"]
    with ThreadPoolExecutor() as pool:  # at once, and again
        first = [*pool.map(lambda _: pressed(alice, undo, "r2")["status"], range(2))]
    first.append(pressed(alice, undo, "r2")["status"])
    assert first == ["confirmation"] * 3
    [card] = [turn["confirmation"] for turn in alice.turns() if "confirmation" in turn]
    alice.confirm(card["id"])
    assert pressed(alice, undo, "r2")["status"] == "ok"
    assert tasks(alice) == 1


@pytest.mark.parametrize(
    ("changed", "undo"),
    [
        ('tasks.complete {"title": "water the plants"}', "reopen"),
        ('tasks.delete {"title": "water the plants"}', "add"),
        ('tasks.update {"title": "water the plants", "due": "2030-01-02"}', "update"),
        ('tasks.update {"title": "water the plants", "new_title": "a cactus"}', "update"),
    ],
)
def test_what_a_result_tells_takes_its_effect_back(alice: Person, changed: str, undo: str) -> None:
    def open_tasks() -> list[dict[str, Any]]:
        return list(alice.call("tasks", "list_tasks")["data"]["tasks"])

    added(alice, "r1")
    [before] = open_tasks()
    done = alice.chat(changed, request_id="r2")
    if card := done.body.get("confirmation"):
        alice.confirm(card["id"])
    assert open_tasks() != [before]
    [receipt] = [r for r in alice.turns()[-1]["receipts"] if r["status"] == "done"]
    assert (receipt["undo"]["function"], receipt["language"]) == (undo, "en")
    assert pressed(alice, receipt["undo"], "r2")["status"] == "confirmation"
    asked = alice.turns()[-1]["confirmation"]
    verbs = {"add": "Restore", "update": "Change", "reopen": "Reopen"}
    assert asked["verb"] == verbs[undo]
    now = "a cactus" if "new_title" in changed else "water the plants"  # by its name, not its id
    does = asked["verb"] + " a task" * (undo == "reopen")  # a common verb needs no noun
    assert asked["question"] == f"{does} “{now}” (Tasks)?"
    assert alice.confirm(asked["id"])["status"] == "ok"
    [task] = open_tasks()
    assert {**task, "id": before["id"]} == before


def test_only_what_a_receipt_that_is_known_offers_is_proposed(alice: Person) -> None:
    undo = added(alice, "r1")["undo"]
    other = {**undo, "params": {"title": "water the plants"}}
    assert pressed(alice, other, "r1").error["code"] == "gone"
    assert pressed(alice, undo, "r2").error["code"] == "gone"
    assert len(alice.turns()) == 1
    for n in range(5):
        alice.chat(f"colourless green ideas sleep furiously {n}")
    gone = pressed(alice, undo, "r1").error
    assert gone["code"] == "gone" and "more than 5 turns ago" in gone["message"]
    assert tasks(alice) == 1


@pytest.mark.deployed(extensions=SHIPPED, model=EmbeddedModel())
def test_undo_that_takes_the_newest_effect_back_once_and_brings_it_back_then(alice: Person) -> None:
    alice.chat("add a task: water the plants", request_id="r1")
    alice.chat("show my tasks", request_id="r2")
    asked = alice.chat("oh, undo that", request_id="r3")["confirmation"]
    assert [c["effect"] for c in asked["calls"]] == ["destructive"]
    assert alice.confirm(asked["id"])["status"] == "ok"
    assert tasks(alice) == 0
    for said in ("undo that", "no, put it back", "stell es wieder her"):
        again = alice.chat(said)["confirmation"]
        assert "water the plants" in again["question"]
        alice.confirm(again["id"], accept=said == "stell es wieder her")
    assert tasks(alice) == 1
    alice.chat("add a task: feed the cat")
    alice.chat("note: the cat is hungry")
    assert "the cat" in alice.chat("undo that")["confirmation"]["question"]


@pytest.mark.deployed(extensions=SHIPPED, model=EmbeddedModel())
def test_a_task_that_was_done_and_deleted_is_restored_as_done(alice: Person) -> None:
    for said in ("add a task: plants", "complete plants", "delete plants", "yes", "undo that"):
        answer = alice.chat(said)
    assert answer["confirmation"]["question"] == "Restore “plants” (Tasks)?"
    assert alice.chat("yes")["receipts"][-1]["undo"]["function"] == "delete"
    assert "plants" in alice.chat("show the done tasks")["reply"]
    assert "Delete “plants" in alice.chat("undo that")["confirmation"]["question"]


def test_what_has_no_way_back_is_said_to_have_none_and_no_undo_that_is_no_call_is_offered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ext = Extension("books", display_name="Books")
    chat = ChatExtension(ext)

    def does(verb: str, undo: Any = None, kind: Any = "write") -> None:
        about = f"{verb.title()} a book"

        @chat.function(verb, about, action_type=kind, examples=[f"{verb} a book"])
        async def do(ctx: Context) -> ActionResult:
            return ActionResult.success({"id": "b-1", "title": "Emma"}, "done", undo=undo)

    does("add", ui.Call("drop"))
    does("drop", kind="destructive")
    does("lend", ui.Call("nowhere", id="t1"))
    does("copy", ui.Call("add", text="x" * 1_000))
    does("lock", ui.Call("add", api_key="k-81a4f09c77d2e6b1"))
    kernel = TestKernel([ext], model=EmbeddedModel())
    for said in ("add a book", "drop a book", "yes", "undo that"):
        answer = kernel.chat(said).body
    assert not answer["calls"] and "confirmation" not in answer, "though something earlier has one"
    assert answer["reply"].startswith("That cannot be undone: Books – Drop a book")
    for verb in ("lend", "copy", "lock"):
        [receipt] = kernel.chat(f"{verb} a book").body["receipts"]
        assert receipt["status"] == "done" and "undo" not in receipt
    assert "of this app, not 'nowhere', with" in caplog.text
    assert "of this app, not '', with at most 1000 bytes" in caplog.text


LATER = {
    "en": ("add a task: plants", "note: cat", "hello", "undo that", "yes"),
    "de": ("neue Aufgabe: Blumen", "Notiz: Katze", "hallo", "mach das rückgängig", "ja"),
    "ru": ("добавь задачу цветы", "заметка: кошка", "привет", "отмени это", "да"),
    "fr": ("nouvelle tâche : fleurs", "note : chat", "bonjour", "annule ça", "oui"),
    "es": ("nueva tarea: flores", "nota: gato", "hola", "deshaz eso", "sí"),
}


@pytest.mark.parametrize("tag", LATER)
@pytest.mark.deployed(extensions=SHIPPED, model=EmbeddedModel())
def test_undo_said_again_and_behind_an_open_card(alice: Person, tag: str) -> None:
    add, write, greet, undo, yes = LATER[tag]
    title = add.split()[-1]
    alice.chat(add)
    drop = {"en": "delete", "de": "lösche", "ru": "удали", "fr": "supprime", "es": "elimina"}[tag]
    assert alice.chat(f"{drop} {title}").body["status"] == "confirmation"
    told = alice.chat(undo).body
    assert (told["status"], told["calls"], "confirmation" in told) == ("ok", [], False)
    assert tasks(alice) == 1
    for said in (write, greet):
        alice.chat(said)
    for made in (write, add):
        assert made.split()[-1] in alice.chat(undo)["confirmation"]["question"]
        assert alice.chat(yes)["status"] == "ok"
    assert tasks(alice) == 0
    # what is left is what was taken back last
    assert title in alice.chat(undo)["confirmation"]["question"]


@pytest.mark.deployed(extensions=SHIPPED, model=EmbeddedModel())
def test_neither_an_open_card_nor_such_words_keep_an_undo_away(alice: Person) -> None:
    alice.chat("добавь задачу: купить лампочки")
    told = alice.chat("Напиши Олегу, что книгу верну в пятницу").body
    assert "confirmation" not in told and tasks(alice) == 1
    assert "отменить" not in told["reply"]
    for title in ("fish", "rent", "roofer", "coins", "dairy"):
        alice.chat(f"add a task: {title}")
        # it stays open; the ring carries it on into a later turn
        assert title in alice.chat("undo that")["confirmation"]["question"]
        alice.chat("thanks")

"""Calls that wait for a yes: what counts as one, what is asked, what is kept."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from webbee_kernel.api.router import to_response
from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.guards.result_records import Title, Titles
from webbee_kernel.sdk.result import User
from webbee_kernel.stores.types import PendingConfirmation, SessionMemory, Turn
from webbee_kernel.turn.cards import body, card_of, carried, edited, steps
from webbee_kernel.turn.confirmation import answer, is_agreement
from webbee_kernel.types import Step

DELETE = Step(2, "notes", "delete_note", {"id": "n1"}, "destructive")
NOW = 1_000.9


NOTES = AppInfo("notes", functions=(FunctionInfo("notes", "delete_note", "", "destructive"),))
PAYING = (FunctionInfo("bank", "pay", "", "write"),)
BANK = AppInfo("bank", display_name="Bank", functions=PAYING)
CATALOGUE = Catalogue({"notes": NOTES, "bank": BANK})


def pending(
    *calls: Step, titles: dict[str, str] | None = None, tag: str = "en"
) -> PendingConfirmation:
    known = Titles({i: (Title("notes", "note", t),) for i, t in (titles or {}).items()})
    ask = SimpleNamespace(key="t#alice#s1")
    asked = {"ask": ask, "request_id": "r1", "message": "delete it", "now": NOW}
    about = {"catalogue": CATALOGUE, "titles": lambda is_undo: known, "memory": SessionMemory()}
    state: Any = SimpleNamespace(language=tag, **asked, **about)
    return card_of(state, calls)


ANSWERS = {
    True: """yes|Yes!|y|ok|sure, go ahead|yes please|do it|confirm|да|Да, удаляй.|да, пожалуйста|ок
        |подтверждаю|давай|yes yes yes yes yes yes|ja, bitte|Sí, por favor|oui|sì, procedi""",
    False: """no|No.|nope|cancel|don't|don’t do it|stop|no, keep it|нет|Нет, не надо|отмена|не удаляй
        |nein|No, cancela|no, annulla|no, forget it|vergiss es|нет, забудь|non, laisse tomber
        |no, olvídalo""",
    None: """|…|yes but only the first one|no, delete the second instead|maybe|show my mail
        |да нет наверное|да, и пришли отчёт Анне|please|it|👍|ok google what is the weather like
        |undo the milk|undo the second|no, the other one|mach die Milch rückgängig|отмени молоко
        |> yes|'yes'|‚ja‘|`yes`|```\nyes\n```|~~yes~~|❌ yes|yes 👎|≠yes|¿yes|yes‽|＂yes＂|「yes」|<yes>
        |“да”""",
}


@pytest.mark.parametrize("said", ANSWERS)
def test_a_plain_yes_or_no_is_one_and_anything_that_says_more_is_neither(said: bool | None) -> None:
    for message in ANSWERS[said].split("|"):
        assert answer(message.strip()) is said, message
        assert answer(message.strip(), behind_card=True) is said, message


UNDONE = """undo that|oops, undo|please take it back|that is not it|put it back|mach das rückgängig
    |nimm das zurück|doch nicht|ups, rückgängig|bitte zurück|отмени это|верни обратно|ой, отмени
    |annule ça|défais ça|deshaz eso|annulla"""


def test_words_that_take_back_are_a_no_to_an_open_card() -> None:
    for message in UNDONE.split("|"):
        assert answer(message.strip(), behind_card=True) is False, message


def test_passwords_are_hidden_from_the_card_and_from_what_the_page_gets() -> None:
    call = Step(0, "bank", "pay", {"login": {"password": "open sesame"}, "user": "ann"}, "write")
    record = pending(call)
    assert "sesame" not in f"{record.summary} {record.asks} {body(record)}"
    assert body(record)["calls"][0]["arguments"] == {"login": {"password": "•••"}, "user": "ann"}
    assert steps(record)[0].arguments["login"]["password"] == "open sesame"


def test_a_text_is_rewritten_at_its_place_and_what_names_no_call_changes_nothing() -> None:
    parts = {"parts": [{"text": "first"}, {"text": "second"}]}
    record = pending(Step(0, "notes", "write", parts, "write"))
    made = edited(record, {"0": {"parts.1.text": "another"}})
    assert steps(made)[0].arguments == {"parts": [{"text": "first"}, {"text": "another"}]}
    assert steps(record)[0].arguments == parts
    for path in ("parts.2", "parts.x", "other", "parts", "parts.0.text.0"):
        card = {"fields": [{"path": path}]}
        with pytest.raises(ValueError, match=r"nothing stands|only a text"):
            edited(replace(record, asks={"calls": [card]}), {"0": {path: "another"}})
    for short in (replace(record, asks={"calls": []}), replace(record, steps=())):
        with pytest.raises(ValueError, match="no call"):
            edited(short, {"0": {"text": "another"}})


AGREES = "yes|Yes, please proceed with the exchange."
SAYS_MORE = """yes, but send it to eve instead|exchange the clicky keyboard|yes? the exchange?
    |the exchange of the keyboard|no"""


def test_a_yes_that_adds_nothing_agrees_to_the_words_of_the_reply() -> None:
    asked = "I will proceed with the exchange of the keyboard. Is that so?"
    for said in (AGREES, SAYS_MORE):
        for message in said.split("|"):
            assert is_agreement(message.strip(), asked) is (said is AGREES), message


def test_a_question_moves_on_when_the_ring_overwrites_its_turn() -> None:
    at, waiting = "2026-05-15T17:21:04Z", (pending(DELETE),)
    asking = Turn(1, at, "confirmation", "m", "r", "r1", waiting=waiting)
    memory = SessionMemory((asking, replace(asking, seq=2, waiting=())))
    assert (carried(memory, 6, NOW), carried(memory, 7, NOW)) == (asking.waiting, ())
    assert carried(memory, 1, NOW) == ()  # written again, it is answered, not overwritten
    ends = asking.waiting[0].expires_at
    assert (carried(memory, 6, ends - 0.1), carried(memory, 6, ends)) == (asking.waiting, ())
    many = tuple(replace(waiting[0], confirmation_id=f"conf_{n}") for n in range(99))
    assert carried(SessionMemory((replace(asking, waiting=many),)), 6, NOW) == many[-20:]


@pytest.mark.parametrize(("tag", "said"), [("en", "is being carried out"), ("ru", "уже выполн")])
def test_who_answers_again_is_told_that_it_is_being_carried_out(tag: str, said: str) -> None:
    """Not that the assistant is away, in whichever language."""
    user = User("alice", tenant_id="acme", language=tag)
    working = to_response(StorageUnavailable("a lease", code="being_answered"), user)["error"]
    assert working["code"] == "being_answered"
    assert said in working["message"]
    away = to_response(StorageUnavailable("no table"), user)["error"]["message"]
    assert said not in away


def test_the_card_of_a_move_says_where_to() -> None:
    """By its function's name, in the language of such names."""
    back = Step(0, "notes", "move_to_inbox", {"id": "n1"}, "write")
    asked = pending(back, titles={"n1": "Plan"}).asks
    assert (asked["question"], asked["verb"]) == ("Move to inbox “Plan” (notes)?", "Move to inbox")
    assert pending(back, titles={"n1": "Plan"}, tag="de").asks["verb"] == "Verschieben"
    for name, flag, verb in (("pin", False, "Yes"), ("pin", True, "Pin"), ("append", 0, "Append")):
        step = Step(0, "notes", name, {"id": "n1", "pinned": flag}, "write")
        assert pending(step, titles={"n1": "Plan"}).asks["verb"] == verb

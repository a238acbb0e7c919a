"""What the PII gate takes beyond the words of a text: keys of every language, numbers, kinds that an
author declares, a deployment's own detector. `test_pii_secrets.py` has texts."""

import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from tests.planning import planning, telling
from webbee_kernel.extensions.redaction import declared_pii
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.pii.masker import Masker
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension
from webbee_kernel.sdk.definitions import PersonName, Phone
from webbee_kernel.testing import ExtensionHarness, TestKernel


def asked(model: FunctionModel) -> str:
    """All that a model read of turns."""
    return "".join(r.prompt for r in model.requests)


NAME_KEYS = """kunde kundenname absender cliente nombre remitente expediteur prénom apellidos nom_client
    destinatario ansprechpartner клиент"""
FILE_KEYS = "dateiname produktname nombre_archivo nom_fichier titel titre ciudad stadt"


@pytest.mark.parametrize(
    ("value", "personal"),
    [
        *(({key: "Xiomara Quispe"}, ["Xiomara Quispe"]) for key in NAME_KEYS.split()),
        *(({key: "Blaue Lampe"}, []) for key in FILE_KEYS.split()),
        ({"phone": 12, "mobile": 0, "fax": True, "tel": 3.5}, []),  # no phone's numbers
    ],
    ids=str,
)
def test_keys_of_every_language_say_what_is_personal(value: Any, personal: list[str]) -> None:
    masker = Masker()
    masker.mask(value)
    assert list(masker.vault.values()) == personal


class Person(BaseModel):
    nick: PersonName
    since: int = 0


class Team(BaseModel):
    title: str
    lead: Person
    members: list[Person] = []
    hotline: Phone | None = None


def test_what_an_author_declares_is_masked_whatever_it_looks_like_also_in_a_whole_turn() -> None:
    kinds = declared_pii(Team.model_json_schema())
    assert kinds == {"lead.nick": "name", "members.nick": "name", "hotline": "phone"}

    def team(lead: str, member: str, hotline: str) -> dict[str, Any]:
        told = {"lead": {"nick": lead}, "members": [{"nick": member}]}
        return {"title": "x99", **told, "hotline": hotline}

    masked = Masker().mask(team("x99", "the boss", "0800-HELP"), kinds)
    assert masked == team("<NAME_1>", "<NAME_2>", "<PHONE_1>")
    ext = Extension("teams")

    @ChatExtension(ext).function("show", "Show the team", data_model=Team)
    async def show(ctx: Any) -> ActionResult:
        return ActionResult.success({"title": "Blue", "lead": {"nick": "Zorblax"}}, "One team.")

    model = planning("teams__show", reply="<NAME_1> leads Blue.")
    kernel = TestKernel([ext], model=model)
    assert kernel.chat("who leads the team?").text == "Zorblax leads Blue."
    assert "Zorblax" not in asked(model) + kernel.prompt("and now?")


def test_a_name_that_a_later_call_tells_is_masked_in_what_an_earlier_one_leaves() -> None:
    office = telling(
        "office",
        note={"text": "the plan of Xiomara Quispe about it"},
        owner={"contact_name": "Xiomara Quispe"},
    )
    kernel = TestKernel([office], model=planning("office__note", "office__owner"))
    kernel.chat("who owns the note?")
    memory = kernel.run(kernel.kernel.stores.sessions.read(kernel.ask("x").key, now=0.0))
    facts = [d.data_facts_json for d in memory.turns[0].digests]
    assert facts == ['{"text": "the plan of <NAME_1> about it"}', '{"contact_name": "<NAME_1>"}']


def test_a_value_of_the_skeleton_keeps_its_placeholder_from_turn_to_turn() -> None:
    people = telling("people", show={"from": "third@example.org"})

    @people.skeleton("last")
    async def last(ctx: Any) -> dict[str, Any]:
        return {"response": {"from": ["first@example.org", "second@example.org"]}}

    model = planning("people__show", reply="A letter from <EMAIL_3>.")
    kernel = TestKernel([people], model=model)
    ExtensionHarness(people, stores=kernel.app.stores).skeleton("last")
    for _ in range(3):
        kernel.chat("show me the letter")
    prompts = [r.prompt for r in model.requests if r.role == "classifier"]
    shown = {p.partition("[HISTORY]")[0].partition("from")[2].partition("]")[0] for p in prompts}
    assert len(shown) == 1
    assert all(placeholder in str(shown) for placeholder in ("<EMAIL_1>", "<EMAIL_2>"))


def test_a_deployments_own_detector_is_asked_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(text: str, key: str) -> Sequence[tuple[int, int]]:
        at = text.find("zorblax")
        return [(at, at + 7)] if at >= 0 else []

    monkeypatch.setitem(sys.modules, "house_names", SimpleNamespace(find=find))
    notes = telling("notes", show={"text": "zorblax wrote to Sarah Lee"})
    model = planning("notes__show", reply="<NAME_1> wrote.")
    kernel = TestKernel([notes], model=model, env={"WEBBEE_NAME_DETECTOR": "house_names:find"})
    assert kernel.chat("show the note").text == "zorblax wrote."
    assert "zorblax" not in asked(model) and "Sarah Lee" not in asked(model)

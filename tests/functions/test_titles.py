"""Receipts, cards and forms speak the user's language where an author gave a title in it."""

from pathlib import Path

import pytest

from tests.functions.support import Person
from tests.invariants.test_consent import Which
from tests.unit.test_embedded import nodes
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

pytestmark = pytest.mark.deployed(extensions=Path("extensions"), model=EmbeddedModel())


@pytest.mark.parametrize(
    ("added", "receipt", "deleted", "line", "shown"),
    [
        ("добавь задачу полить цветы", "Задачи – добавить задачу «полить цветы»: готово",
         "удали задачу полить цветы", "Задачи – удалить задачу: «полить цветы»",
         ("покажи мои задачи", "| название | срок | состояние |", "| просрочена |")),
        ("füge die Aufgabe Wasser hinzu", "Aufgaben – Aufgabe anlegen „Wasser“: erledigt",
         "lösche die Aufgabe Wasser", "Aufgaben – Aufgabe löschen: „Wasser“",
         ("zeig mir meine Aufgaben", "| Titel | fällig | Stand |", "| überfällig |")),
        ("ajoute la tâche pain", "Tâches – ajouter une tâche «\u00a0pain\u00a0» : fait",
         "supprime la tâche pain", "Tâches – supprimer une tâche: «\u00a0pain\u00a0»", ()),
        ("add a task: bread", "Tasks – add a task “bread”: done",
         "delete the task bread", "Tasks – delete a task: “bread”",
         ("show my tasks", "| title | due | state |", "| overdue |")),
    ],
)  # fmt: skip
def test_receipts_cards_and_tables_are_in_the_language_of_the_message(
    alice: Person, added: str, receipt: str, deleted: str, line: str, shown: tuple[str, ...]
) -> None:
    assert [r["text"] for r in alice.chat(added)["receipts"]] == [receipt]
    assert alice.chat(deleted)["confirmation"]["summary"] == line
    alice.call("tasks", "add", title="Milk", due="2020-01-01")
    for message, *told in [shown] if shown else []:
        reply = alice.chat(message)["reply"]
        assert all(text in reply for text in told)


def test_a_form_has_the_authors_labels_and_no_words_of_another_language(alice: Person) -> None:
    body = alice.chat("измени задачу")
    [form] = [n for n in nodes(body["ui"]) if n["type"] == "Form"]
    fields = {f["props"]["param_name"]: f["props"] for f in form["props"]["children"]}
    assert fields["new_title"]["label"] == "Новое название"
    assert fields["priority"]["label"] == "Срочность"
    assert not any(f.get("description") for f in fields.values())
    assert "изменить задачу" in body["reply"]


def test_a_title_hides_no_destruction() -> None:
    ext = Extension("games")
    chat = ChatExtension(ext)

    @chat.function("zap_files", "Zap", action_type="destructive", titles={"en": "list files"})
    async def zap_files(ctx: Context, params: Which) -> ActionResult:
        return ActionResult.success({}, "gone")

    call = ToolCall("games__zap_files", {"id": "f-1"})
    kernel = TestKernel([ext], model=FunctionModel(lambda _: ModelResponse(tool_calls=(call,))))
    card = kernel.chat("zap f-1").body["confirmation"]
    assert card["summary"] == "games – Delete: list files: id f-1"
    assert card["verb"] == "Zap files"

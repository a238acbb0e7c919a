"""The notes extension, as its author tests it."""

from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.sdk import ui
from webbee_kernel.testing import ExtensionHarness, TestKernel

FOLDER = Path(__file__).parents[1]
NOW = "2026-05-15T17:21:04Z"


@pytest.fixture
def notes() -> ExtensionHarness:
    return ExtensionHarness(FOLDER, language="en", now=NOW)


def written(harness: ExtensionHarness, body: str, title: str = "") -> str:
    """Write a note a minute after the one before it; its id."""
    harness.advance(60)
    return str(harness.call("write", body=body, title=title).data["id"])


def found(harness: ExtensionHarness, query: str) -> list[str]:
    return [n["title"] for n in harness.call("find", query=query).data["notes"]]


def test_a_written_note_can_be_read_by_the_id_it_returned(notes: ExtensionHarness) -> None:
    result = notes.call("write", body="The code is 4411.", title="Door")
    assert result.data == {"id": result.data["id"], "title": "Door", "pinned": False}
    assert result.summary == 'Saved the note "Door".'
    assert result.refresh_panels == ["notes"]

    read = notes.call("read", id=result.data["id"])
    assert read.data == {
        **result.data,
        "body": "The code is 4411.",
        "written_at": read.data["written_at"],
    }
    assert read.data["written_at"].startswith("2026-05-15T17:21:04")


def test_a_note_is_renamed_and_undo_calls_it_as_before(notes: ExtensionHarness) -> None:
    ident = written(notes, "The code is 4411.", "Door")
    result = notes.call("rename", title="door", new_title="Front door")
    assert result.data == {"id": ident, "title": "Front door", "pinned": False}
    assert result.summary == 'The note "Door" is called "Front door" now.'
    assert result.undo == ui.Call("rename", id=ident, new_title="Door")


@pytest.mark.parametrize(
    "message",
    [
        "rename the note Door to Gate",
        "benenne die Notiz Door in Gate um",
        "переименуй заметку Door в Gate",
        "renomme la note Door en Gate",
        "renombra la nota Door como Gate",
    ],
)
def test_the_note_that_is_named_is_renamed_and_no_task(message: str) -> None:
    kernel = TestKernel([FOLDER, FOLDER.parent / "tasks"])
    kernel.chat("write a note called Door: The code is 4411.")
    calls = kernel.chat(message).body["calls"]
    assert [(c["app_id"], c["fn_name"], c["status"]) for c in calls] == [("notes", "rename", "ok")]


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("Anna prefers tea", "Anna prefers tea"),
        ("One two three four five six seven", "One two three four five six…"),
        ("First line\nsecond line", "First line"),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_the_title_is_the_first_words(notes: ExtensionHarness, body: str, title: str) -> None:
    assert notes.call("write", body=body).data["title"] == title


@pytest.mark.parametrize(
    ("function", "params"),
    [
        *(("write", given) for given in ({}, {"body": "  "}, {"body": "x" * 20_001})),
        ("write", {"body": "x", "title": "y" * 201}),
        *(("find", {"limit": limit}) for limit in (0, 51)),
    ],
)
def test_bad_arguments_never_reach_the_store(
    notes: ExtensionHarness, function: str, params: dict[str, Any]
) -> None:
    assert notes.call(function, **params).error_code.startswith("VALIDATION_")
    assert notes.call("find").data["count"] == 0


def test_a_text_is_changed_and_undo_brings_the_old_one_back(notes: ExtensionHarness) -> None:
    ident = written(notes, "fish and rice")
    changed = notes.call("rewrite", title="fish", text="lamb", instead_of="fish")
    assert (changed.data["title"], changed.data["body"]) == ("lamb and rice", "lamb and rice")
    assert changed.undo == ui.Call("rewrite", id=ident, text="fish and rice")
    assert notes.call("rewrite", id=ident, text="x", instead_of="y").error_code == "NOT_FOUND"


@pytest.mark.parametrize("words", [1, 20, 400])
def test_a_short_note_that_was_deleted_comes_back(notes: ExtensionHarness, words: int) -> None:
    note = written(notes, "слово " * words, "Door")

    undo = notes.call("delete", id=note).undo
    assert bool(undo) == (words < 400)
    if undo:
        assert notes.call(undo.params["function"], **undo.params["params"]).ok
        assert notes.call("read", title="Door").data["body"] == ("слово " * words).strip()


def test_what_is_added_stands_behind_what_was_there(notes: ExtensionHarness) -> None:
    ident = written(notes, "eggs", "Shopping")

    added = notes.call("append", title="shopping", text="milk")

    assert added.data == {"id": ident, "title": "Shopping", "pinned": False, "added": "milk"}
    assert added.summary == 'Added to the note "Shopping": milk'
    assert added.refresh_panels == ["notes"]
    assert notes.call("read", id=ident).data["body"] == "eggs\nmilk"
    assert found(notes, "eggs milk") == ["Shopping"]


def test_a_full_note_says_how_much_more_it_takes(notes: ExtensionHarness) -> None:
    ident = written(notes, "x" * 19_990, "Full")
    refused = notes.call("append", id=ident, text="y" * 10)
    assert (refused.error_code, "9 more characters" in str(refused.error)) == ("TOO_LONG", True)
    assert notes.call("append", id=ident, text="y" * 9).status == "success"


@pytest.mark.parametrize(
    ("messages", "called"),
    [
        (["write a note: eggs", "add milk to that note"], "append"),
        (["write a note: eggs", "add to the note eggs: milk"], "append"),
        (["запиши заметку: яйца", "добавь молоко в эту заметку"], "append"),
        (["запиши заметку: код от двери 4411", "закрепи её"], "pin"),
    ],
)
def test_a_note_is_added_to_pinned_or_written_anew_by_what_people_say(
    messages: list[str], called: str
) -> None:
    kernel = TestKernel([FOLDER], now=NOW)
    *_, last = [kernel.chat(message) for message in messages]
    assert [(c["fn_name"], c["status"]) for c in last.body["calls"]] == [(called, "ok")]
    assert called != "append" or last.text.rstrip(".").endswith(("milk", "молоко"))


def test_finding_looks_at_titles_and_texts_in_any_case_or_alphabet(notes: ExtensionHarness) -> None:
    written(notes, "Поездка в Лиссабон, ёлка не нужна", "Отпуск")
    written(notes, "Ask Anna about Lisbon", "Trip")

    assert found(notes, "лиссабон") == ["Отпуск"]
    assert found(notes, "ЕЛКА отпуск") == ["Отпуск"]
    assert found(notes, "lisbon TRIP") == ["Trip"]
    assert found(notes, "lisbon отпуск") == ["Отпуск", "Trip"]  # each lacks a word
    assert found(notes, "lisbon trip отпуск")[0] == "Trip"
    assert found(notes, "поездку в Лиссабоне") == ["Отпуск"]
    assert found(notes, "the trips") == ["Trip"]


def test_the_newest_come_first_and_the_count_is_exact(notes: ExtensionHarness) -> None:
    for n in range(103):  # over the store's page of 100
        written(notes, f"note {n}")
    data = notes.call("find", query="note", limit=2).data
    assert data["count"] == 103
    assert [n["title"] for n in data["notes"]] == ["note 102", "note 101"]


def test_an_excerpt_shows_the_place_and_stays_short(notes: ExtensionHarness) -> None:
    written(notes, "word " * 100 + "needle " + "word " * 100, "Hay")
    excerpt = notes.call("find", query="NEEDLE").data["notes"][0]["excerpt"]
    assert "needle" in excerpt
    assert len(excerpt) <= 122


def test_a_note_is_pinned_and_an_exact_title_goes_first(notes: ExtensionHarness) -> None:
    written(notes, "a", "Door code")
    note = written(notes, "b", "Door")
    assert notes.call("pin", title="door").data == {"id": note, "title": "Door", "pinned": True}
    assert notes.call("pin", id=note, pinned=False).summary == 'Unpinned the note "Door".'
    assert notes.call("read", title="door").data["pinned"] is False


def test_an_ambiguous_title_lists_candidates_and_changes_nothing(notes: ExtensionHarness) -> None:
    ids = [written(notes, "text", "Door") for _ in range(2)]

    refused = notes.call("delete", title="door")
    assert refused.error_code == "AMBIGUOUS"
    assert all(i in str(refused.error) for i in ids)
    assert {note["id"] for note in refused.data["notes"]} == set(ids)
    assert notes.call("find").data["count"] == 2


@pytest.mark.parametrize("function", ["read", "pin", "delete", "append"])
def test_what_is_not_there_is_not_found(notes: ExtensionHarness, function: str) -> None:
    more = {"text": "y"} if function == "append" else {}
    for given in ({"id": "nope"}, {"title": "nope"}):
        assert notes.call(function, **given, **more).error_code == "NOT_FOUND"
    assert notes.call(function, **more).error_code == "VALIDATION_MISSING_FIELD"


def test_deleting_says_what_went(notes: ExtensionHarness) -> None:
    note = written(notes, "text", "Door")
    assert notes.call("delete", id=note).data == {"id": note, "title": "Door", "deleted": True}
    assert notes.call("find").data["count"] == 0


def test_the_skeleton_holds_totals_and_the_five_newest(notes: ExtensionHarness) -> None:
    ids = [written(notes, "text", f"note {n}") for n in range(7)]
    notes.call("pin", id=ids[0])

    section = {k: v for k, v in notes.skeleton("notes").items() if not k.startswith("_")}
    assert list(section) == ["total_notes", "pinned_notes", "recent_notes"]
    assert (section["total_notes"], section["pinned_notes"]) == (7, 1)
    assert section["recent_notes"] == [
        {"id": ids[n], "title": f"note {n}"} for n in (6, 5, 4, 3, 2)
    ]


def test_the_panel_shows_pinned_notes_first_and_its_buttons_work(notes: ExtensionHarness) -> None:
    first, second = written(notes, "a", "Old"), written(notes, "b", "New")
    notes.call("pin", id=first)

    rows = notes.panel("notes")["props"]["items"]
    assert [r["props"]["id"] for r in rows] == [first, second]
    unpin, delete = (a["on_click"] for a in rows[0]["props"]["actions"])
    assert notes.call(unpin["function"], **unpin["params"]).data["pinned"] is False
    assert notes.call(delete["function"], **delete["params"]).data["deleted"] is True


@pytest.mark.parametrize(
    ("count", "summary"),
    [
        (0, "Не нашлось заметок по запросу «чай»."),
        (1, "Нашлась 1 заметка по запросу «чай»."),
        (2, "Нашлись 2 заметки по запросу «чай»."),
        (5, "Нашлось 5 заметок по запросу «чай»."),
    ],
)
def test_russian_counts_take_the_right_plural(count: int, summary: str) -> None:
    notes = ExtensionHarness(FOLDER, language="ru", now=NOW)
    for n in range(count):
        written(notes, f"чай {n}")

    assert notes.call("find", query="чай").summary == summary


@pytest.mark.parametrize(
    ("language", "saved", "counted", "shown"),
    [
        (
            "de-DE",
            "Notiz „Tür“ gespeichert.",
            "Sie haben 1 Notiz.",
            ["Noch keine Notizen", "Anheften", "Löschen"],
        ),
        ("it", 'Saved the note "Tür".', "You have 1 note.", ["No notes yet", "Pin", "Delete"]),
    ],
)
def test_summaries_and_the_panel_speak_the_users_language(
    language: str, saved: str, counted: str, shown: list[str]
) -> None:
    notes = ExtensionHarness(FOLDER, language=language, now=NOW)
    empty = notes.panel("notes")["props"]["message"]
    assert notes.call("write", body="4411", title="Tür").summary == saved
    assert notes.call("find").summary == counted
    actions = notes.panel("notes")["props"]["items"][0]["props"]["actions"]
    assert shown == [empty, *(action["label"] for action in actions)]

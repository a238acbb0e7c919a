"""`webbee eval` says an extension's table of utterances to a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local import webbee

MAIN = """
from pydantic import BaseModel, Field
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("garden", display_name="Garden", description="Plants of a garden")
chat = ChatExtension(ext)
RAN = []


class Plant(BaseModel):
    name: str = Field(description="Name of the plant")


class Nothing(BaseModel):
    pass


@chat.function("water", "Water a plant", action_type="write", examples=["water the fern"])
async def water(ctx: Context, params: Plant) -> ActionResult:
    raise RuntimeError("an evaluation runs no handler")


@chat.function("list_plants", "List the plants of the garden", examples=["show my plants"])
async def list_plants(ctx: Context, params: Nothing) -> ActionResult:
    raise RuntimeError("an evaluation runs no handler")
"""
TABLE = """
[[case]]
say = "show my plants"
call = "list_plants"

[[case]]
say = "the weather is fine today"

[[case]]
say = "give the roses something to drink"
call = "water"
arguments = { name = "roses" }
"""


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    folder = tmp_path / "garden"
    folder.mkdir()
    (folder / "main.py").write_text(MAIN, "utf-8")
    (folder / "utterances.toml").write_text(TABLE, "utf-8")
    return tmp_path


def test_what_would_not_be_found_is_told_with_the_words_that_decide(
    garden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert webbee.main(["eval", "--into", str(garden), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["cases"], report["meant"], report["understood"]) == (3, 2, 2)
    (missed,) = report["missed"]
    assert missed["say"] == "give the roses something to drink"
    assert "it shares no word with what was said" in missed["why"] or "shares the" in missed["why"]


def test_fewer_than_wanted_fail(garden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert webbee.main(["eval", "garden", "--into", str(garden), "--least", "0.9"]) == 1
    out = capsys.readouterr().out
    assert "2 of 3 understood by offline" in out
    assert "of 2 with a function 2 have it in the prompt" in out


def test_a_table_that_names_no_function_is_refused(
    garden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (garden / "garden" / "utterances.toml").write_text('[[case]]\nsay = "x"\ncall = "wator"\n')
    assert webbee.main(["eval", "--into", str(garden)]) == 1
    assert "garden has no function wator" in capsys.readouterr().err

"""A small app of our own beside a suite of AgentDojo: what carries an instruction into a prompt.

It has a record to read, a skeleton section, a function whose description can be set, and a harmless
effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import ExtensionHarness, TestKernel

from . import dojo
from .drive import NOW


class RecordParams(BaseModel):
    """Which record."""

    record: str = Field(description="The record's id")


class NoteParams(BaseModel):
    """What to keep."""

    text: str = Field(description="The note's text")


@dataclass
class Board:
    """What the carriers hold in this case."""

    record: dict[str, Any] = field(default_factory=dict)
    section: dict[str, str] = field(default_factory=dict)


def board(world: dojo.World, holds: Board, description: str) -> Extension:
    """The app that carries."""
    ext = Extension(
        "board", "1.0.0", display_name="Board", description="Records and notes of the team"
    )
    chat = ChatExtension(ext, description="records and notes")

    @chat.function(
        "read_record", f"Read a record of the board. {description}".strip(), action_type="read"
    )
    async def read_record(ctx: Context, params: RecordParams) -> ActionResult:
        world.planner.ran("read_record", params.model_dump(), holds.record, ok=True)
        return ActionResult.success(holds.record, "1 record")

    @chat.function("save_note", "Save a note", action_type="write")
    async def save_note(ctx: Context, params: NoteParams) -> ActionResult:
        saved = {"saved": params.text}
        world.planner.ran("save_note", params.model_dump(), saved, ok=True)
        return ActionResult.success(saved, "saved")

    @ext.skeleton("board_summary", ttl=300)
    async def board_summary(ctx: Context) -> dict[str, Any]:
        return {"response": holds.section}

    return ext


@dataclass(frozen=True)
class Stage:
    """A suite and the board on one kernel, for many cases."""

    world: dojo.World
    board: Board
    harness: ExtensionHarness
    kernel: TestKernel
    model: FunctionModel


def stage(suite: Any, description: str = "") -> Stage:
    """Build it; the harness shares the kernel's stores and refreshes the board's section."""
    world, holds = dojo.World(suite), Board()
    carrier = board(world, holds, description)
    harness = ExtensionHarness(carrier, now=NOW)
    model = dojo.model_of(world)
    kernel = TestKernel(
        [dojo.extension(world), carrier], model=model, now=NOW, stores=harness.app.stores
    )
    return Stage(world, holds, harness, kernel, model)

"""Paperwork: completions, progress, background work, files, billing, and results of every kind."""

import asyncio
import decimal
import enum
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from imperal_sdk import ActionResult, ChatExtension, CompletionResult, Extension, ui
from pydantic import BaseModel

ext = Extension("clerk", version="1.2.3", description="Writes, files and counts what it is given.")
chat = ChatExtension(ext, description="Paperwork")


class Colour(enum.Enum):
    RED = "red"


class Line(BaseModel):
    at: datetime
    cost: decimal.Decimal


@dataclass
class Sheet:
    name: str
    lines: int


NOON = datetime(2026, 5, 15, 12, tzinfo=UTC)
RESULTS = {
    "types": lambda: ActionResult.success(
        {
            "at": NOON,
            "id": uuid.UUID(int=7),
            "cost": decimal.Decimal("1.10"),
            "colour": Colour.RED,
            "tags": {"a"},
            "line": Line(at=NOON, cost="2.5"),
        },
        "Types.",
    ),
    "model": lambda: Line(at=NOON, cost="3"),
    "list of models": lambda: ActionResult.success({"lines": [Line(at=NOON, cost="4")]}, "Lines."),
    "dataclass": lambda: Sheet("a", 2),
    "dict": lambda: {"n": 1, "summary": "One."},
    "failed dict": lambda: {"error": "no paper", "code": "NO_PAPER"},
    "text": lambda: "Done.",
    "list": lambda: [1, 2],
    "number": lambda: 4,
    "none": lambda: None,
    "node": lambda: ui.Text("just a picture"),
    "ui": lambda: ActionResult.success(
        {"n": 1}, "Shown.", ui=ui.Card(title="T", content=ui.Badge("B")), refresh_panels=[]
    ),
    "error": lambda: ActionResult.error("Out of ink.", retryable=True, code="NO_INK"),
    "codeless": lambda: ActionResult.error("It broke."),
}


@chat.function("result", "Return a result of some kind")
async def result(ctx, of: str):
    return RESULTS[of]()


@ext.tool("count_words", description="Count words")
def count_words(ctx, text: str, unique: bool = False):
    words = text.split()
    return {"count": len(set(words) if unique else words), "user": ctx.user.imperal_id}


@chat.function("write", "Write a letter", action_type="write")
async def write(ctx, to: str = "you") -> ActionResult:
    await ctx.progress(10, "thinking")
    made = await ctx.ai.complete(f"A letter to {to}", model="any", max_tokens=20)
    assert isinstance(made, CompletionResult)
    await ctx.log(f"wrote to {to}", level="warning")
    await ctx.progress(100)
    return ActionResult.success(
        {"text": made.text, "model": made.model, "tokens": made.tokens_used}, "Written."
    )


@chat.function("print_all", "Print everything", action_type="write", background=True)
async def print_all(ctx) -> ActionResult:
    async def work() -> ActionResult:
        await asyncio.sleep(0)
        await ctx.store.set("printed/last", {"done": True})
        return ActionResult.success({"pages": 3}, "Three pages.", refresh_panels=["desk"])

    task = await ctx.background_task(work(), long_running=True, name="printing")
    return ActionResult.success({"task": task}, "Started.", refresh_panels=[])


@ext.panel("desk", slot="center", title="Desk")
async def desk(ctx, **params):
    return {"ui": ui.Text("desk").to_dict()}

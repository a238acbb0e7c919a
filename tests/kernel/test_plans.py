"""Plans of several steps: bound to earlier results with their types, reads side by side, two model
calls."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel

from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import ScriptedModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel


class Row(BaseModel):
    number: int


class Link(BaseModel):
    row: Row
    note: str = ""


def chain(seen: list[Any]) -> Extension:
    """Each step takes the row of the one before it and returns the next."""
    ext = Extension("chain")
    chat = ChatExtension(ext)

    @chat.function("begin", "The first row")
    async def begin(ctx: Context) -> ActionResult:
        return ActionResult.success({"rows": [{"row": {"number": 1}}]}, "Row 1.")

    @chat.function("advance", "The row after this one", action_type="write")
    async def advance(ctx: Context, params: Link) -> ActionResult:
        seen.append(params.row.number)
        return ActionResult.success(
            {"rows": [{"row": {"number": params.row.number + 1}}]}, f"Row {params.row.number + 1}."
        )

    @chat.function("fail", "Always fails")
    async def fail(ctx: Context) -> ActionResult:
        return ActionResult.error("no row today", code="NO_ROW")

    return ext


def link(step: int, note: str = "") -> ToolCall:
    return ToolCall(
        "chain__advance", {"row": f"{{{{steps.{step}.data.rows.0.row}}}}", "note": note}
    )


def test_five_chained_steps_cost_two_model_calls() -> None:
    seen: list[Any] = []
    plan = ModelResponse(
        tool_calls=(ToolCall("chain__begin", {}), link(0), link(1), link(2), link(3))
    )
    with ScriptedModel([plan, ModelResponse(text="The chain is at row 5.")]) as model:
        reply = TestKernel([chain(seen)], model=model).chat("walk the chain")
    assert seen == [1, 2, 3, 4]
    assert [r.role for r in model.requests] == ["classifier", "narrator"]
    assert reply.text == "The chain is at row 5."
    assert [c["status"] for c in reply.body["calls"]] == ["ok"] * 5


def test_a_failed_step_stops_only_what_depends_on_it() -> None:
    seen: list[Any] = []
    plan = ModelResponse(
        tool_calls=(ToolCall("chain__fail", {}), link(0), ToolCall("chain__begin", {}), link(2))
    )
    nothing_more = ModelResponse(text="Nothing else can be called.")
    with ScriptedModel(
        [plan, nothing_more, ModelResponse(text="There is row 2; the other step failed.")]
    ) as model:
        reply = TestKernel([chain(seen)], model=model).chat("walk the chain")
    assert seen == [1]
    assert [(c["fn_name"], c["status"]) for c in reply.body["calls"]] == [
        ("fail", "error"),
        ("advance", "error"),
        ("begin", "ok"),
        ("advance", "ok"),
    ]
    assert [r.role for r in model.requests] == ["classifier", "classifier", "narrator"]
    assert "steps.0.data" in model.requests[1].prompt


def test_independent_reads_run_side_by_side() -> None:
    ext = Extension("pair")
    chat = ChatExtension(ext)
    together = asyncio.Barrier(2)

    @chat.function("meet", "Waits for the other read")
    async def meet(ctx: Context, who: str) -> ActionResult:
        await together.wait()
        return ActionResult.success({"who": who}, f"{who} met the other.")

    plan = ModelResponse(
        tool_calls=(ToolCall("pair__meet", {"who": "one"}), ToolCall("pair__meet", {"who": "two"}))
    )
    with ScriptedModel([plan, ModelResponse(text="one met the other.")]) as model:
        reply = TestKernel([ext], model=model).chat("meet")
    assert [c["status"] for c in reply.body["calls"]] == ["ok", "ok"]

"""Apps that the benchmarks play on the kernel, with models that cost nothing: orders, whose errand
`beside` plays on the kernel's DynamoDB stores, extension code in the same process; and results of
any size. Loads no more than a turn does: a test counts on it."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.peers import REPLY, Play, message, number_in, orders
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall, Usage
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel


def extension() -> Extension:
    """One read tool whose result is about 500 bytes of JSON, different in every turn, with an
    address in it."""
    ext = Extension("orders", display_name="Orders")
    chat = ChatExtension(ext)

    @chat.function("latest", "The latest orders")
    async def latest(ctx: Context, number: int) -> ActionResult:
        return ActionResult.success(orders(number), REPLY)

    return ext


def answer(request: ModelRequest) -> ModelResponse:
    """Call the tool with the number in the message, then repeat the tool's summary."""
    if request.role == "classifier":
        call = ToolCall("orders__latest", {"number": number_in(request.prompt)})
        return ModelResponse(tool_calls=(call,), usage=Usage(1500, 40))
    return ModelResponse(text=REPLY, usage=Usage(700, 30))


def player(url: str, pem: str) -> Play:
    """Plays a turn of a session."""
    from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores  # and boto3, only here

    os.environ["AWS_CA_BUNDLE"] = pem
    stores = dynamodb_stores(Tables.from_variables(os.environ))
    kernel = TestKernel([extension()], model=FunctionModel(answer), stores=stores)
    return lambda session, turn: kernel.chat(message(turn), session_id=session).text


def result_rows(count: int) -> dict[str, Any]:
    return {
        "count": count,
        "orders": [
            {
                "id": f"o-{i}",
                "item": f"Item {i} of an order",
                "by": f"buyer{i}@example.com",
                "amount": i,
                "paid": i % 2 == 0,
            }
            for i in range(count)
        ],
    }


RESULTS: dict[str, Any] = {
    "1 KB of rows": result_rows(10),
    "1 MB of rows": result_rows(9_300),
    "1 KB of text": {"text": "Some words of a letter, written to nobody. " * 24},
    "1 MB of text": {"text": "Some words of a letter, written to nobody. " * 23_000},
}


def results_kernel() -> TestKernel:
    """An app that returns what it is asked for, and a model that costs nothing."""
    ext = Extension("results", display_name="Results")
    chat = ChatExtension(ext)

    @chat.function("give", "A result")
    async def give(ctx: Context, name: str) -> ActionResult:
        return ActionResult.success(RESULTS[name], "Here it is.")

    def give_it(request: ModelRequest) -> ModelResponse:
        message = request.prompt.rpartition("user] ")[2]
        if request.role == "classifier" and message in RESULTS:
            return ModelResponse(tool_calls=(ToolCall("results__give", {"name": message}),))
        return ModelResponse(text="Here it is.")

    return TestKernel([ext], model=FunctionModel(give_it))

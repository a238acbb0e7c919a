"""Ours: the kernel on its DynamoDB stores, extension code in the same process."""

from __future__ import annotations

import os
from collections.abc import Callable

from benchmarks.peer.play import REPLY, message, number_in, orders
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall, Usage
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import TestKernel


def player(url: str, pem: str) -> Callable[[str, int], str]:
    """Plays a turn of a session."""
    os.environ["AWS_CA_BUNDLE"] = pem
    stores = dynamodb_stores(Tables.from_variables(os.environ))
    kernel = TestKernel([extension()], model=FunctionModel(answer), stores=stores)

    def play(session: str, turn: int) -> str:
        return kernel.chat(message(turn), session_id=session).text

    return play


def extension() -> Extension:
    ext = Extension("orders", display_name="Orders")
    chat = ChatExtension(ext)

    @chat.function("latest", "The latest orders")
    async def latest(ctx: Context, number: int) -> ActionResult:
        return ActionResult.success(orders(number), REPLY)

    return ext


def answer(request: ModelRequest) -> ModelResponse:
    if request.role == "classifier":
        call = ToolCall("orders__latest", {"number": number_in(request.prompt)})
        return ModelResponse(tool_calls=(call,), usage=Usage(1500, 40))
    return ModelResponse(text=REPLY, usage=Usage(700, 30))

"""The kernel's side of the errand: an app of orders, a model that costs nothing, and the player of
`beside` on the kernel's DynamoDB stores, extension code in the same process."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from benchmarks.peers import REPLY, Play, message, orders
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall, Usage
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import TestKernel


def extension(
    called: Callable[[str], AbstractContextManager[None]] = nullcontext, *, pays: bool = False
) -> Extension:
    """One read tool whose result is about 500 bytes of JSON, different in every turn, with an
    address in it; with `pays` also one that writes. `called` is told of each call."""
    ext = Extension("orders", display_name="Orders")
    chat = ChatExtension(ext)

    @chat.function("latest", "The latest orders")
    async def latest(ctx: Context, number: int) -> ActionResult:
        with called("Invoke"):
            return ActionResult.success(orders(number), REPLY)

    if pays:

        @chat.function("pay", "Pay an order", action_type="write")
        async def pay(ctx: Context, number: int) -> ActionResult:
            with called("Invoke"):
                return ActionResult.success({"id": f"o-{number}", "paid": True}, REPLY)

    return ext


def answer(request: ModelRequest) -> ModelResponse:
    """Call the tool with the number in the message, then repeat the tool's summary."""
    if request.role == "classifier":
        verb, number = request.prompt.rsplit("] ", 1)[1].split()
        name = "orders__pay" if verb == "pay" else "orders__latest"
        call = ToolCall(name, {"number": int(number)})
        return ModelResponse(tool_calls=(call,), usage=Usage(1500, 40))
    return ModelResponse(text=REPLY, usage=Usage(700, 30))


def player(url: str, pem: str) -> Play:
    """Plays a turn of a session."""
    os.environ["AWS_CA_BUNDLE"] = pem
    stores = dynamodb_stores(Tables.from_variables(os.environ))
    kernel = TestKernel([extension()], model=FunctionModel(answer), stores=stores)
    return lambda session, turn: kernel.chat(message(turn), session_id=session).text

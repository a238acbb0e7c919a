"""An extension that does what a test asks of it, well or badly."""

from __future__ import annotations

import asyncio
import sys
import time
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

SECRET = "hunter2-in-the-error-text"

ext = Extension("probe", "1.0.0", display_name="Probe", description="What a test needs")
chat = ChatExtension(ext, description="What a test needs")
ext.secret("token", "A token of the user", required=True)


class Words(BaseModel):
    """A text."""

    text: str = Field(min_length=1, max_length=100)


class Which(BaseModel):
    """One thing."""

    id: str


class Letter(BaseModel):
    """What goes to whom."""

    to: str
    text: str = ""


class Rubbish(BaseModel):
    """What kind of it."""

    kind: str


def recursive() -> dict[str, Any]:
    """A dict that holds itself."""
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def nested(levels: int) -> Any:
    """An object in a list in an object, and so on."""
    value: Any = 1
    for level in range(levels):
        value = {"in": value} if level % 2 else [value]
    return value


RUBBISH: dict[str, Any] = {
    "none": lambda: None,
    "string": lambda: "just text",
    "object": object,
    "number": lambda: 42,
    "list": lambda: [1, 2],
    "10 MB": lambda: ActionResult.success({"text": "x" * 10_000_000}, "Ten megabytes."),
    "10 MB summary": lambda: ActionResult.success({"n": 1}, "x" * 10_000_000),
    "recursive": lambda: ActionResult.success(recursive(), "A dict in itself."),
    "nested": lambda: ActionResult.success({"tree": nested(200)}, "A deep tree."),
    "object inside": lambda: ActionResult.success({"thing": object()}, "An object."),
    "surrogate": lambda: ActionResult.success({"text": "\ud800"}, "Half a character."),
    "surrogate summary": lambda: ActionResult.success({"n": 1}, "Half a character: \ud800"),
    "surrogate error": lambda: ActionResult.error("Half a character: \ud800"),
    "wrong types": lambda: ActionResult(
        "success",
        {"n": 1},
        summary={"a": 1},
        error=[1],
        ui=object(),
        refresh_panels=5,
        error_code=7,
    ),  # type: ignore[arg-type]
    "odd error": lambda: ActionResult("error", None, "", error={"why": "unknown"}, error_code=None),  # type: ignore[arg-type]
    "types": lambda: ActionResult.success(
        {
            "at": datetime(2026, 5, 15, 17, 21, 4, tzinfo=UTC),
            "id": uuid.UUID("12345678-1234-5678-1234-567812345678"),
            "price": Decimal("12.50"),
            7: "a number for a key",
        },
        "All sorts of types.",
    ),
    "set": lambda: ActionResult.success({"tags": {"b", "a"}}, "A set."),
    "raw": lambda: {"picture": b"\x00\x01"},
    "huge integer": lambda: ActionResult.success({"n": 2**70}, "A huge integer."),
}


@chat.function("save", "Save a text", action_type="write", event="saved")
async def save(ctx: Context, params: Words) -> ActionResult:
    """A write that can be counted: one document an effect."""
    doc = await ctx.store.create("texts", {"text": params.text})
    return ActionResult.success({"id": doc.id, "text": params.text}, f'Saved "{params.text}".')


@chat.function("look", "List the saved texts")
async def look(ctx: Context) -> ActionResult:
    texts = [d.data["text"] for d in (await ctx.store.query("texts")).data]
    return ActionResult.success({"texts": texts}, f"{len(texts)} texts.", refresh_panels=[])


@chat.function("remove", "Remove a saved text", action_type="destructive")
async def remove(ctx: Context, params: Words) -> ActionResult:
    """A destructive call that can be counted: one document an effect."""
    await ctx.store.create("removed", {"text": params.text})
    return ActionResult.success({"removed": params.text}, f'Removed "{params.text}".')


@chat.function("send_letter", "Send a letter", action_type="write")
async def send_letter(ctx: Context, params: Letter) -> ActionResult:
    """An effect that leaves."""
    await ctx.store.create("sent", params.model_dump())
    return ActionResult.success({"sent": params.to, "text": params.text}, "Sent.")


@chat.function("open", "Open a thing by its id")
async def open_thing(ctx: Context, params: Which) -> ActionResult:
    return ActionResult.success({"id": params.id}, f"Opened {params.id}.")


@chat.function("whoami", "What the handler knows of the user")
async def whoami(ctx: Context) -> ActionResult:
    token = await ctx.secrets.get("token")
    cached = await ctx.cache.get("mark")
    seen = {
        "user": ctx.user.imperal_id,
        "tenant": ctx.user.tenant_id,
        "role": ctx.user.role,
        "given": token,
        "token_set": token is not None,
        "cached": cached,
    }
    return ActionResult.success(seen, f"You are {ctx.user.imperal_id} of {ctx.user.tenant_id}.")


@chat.function("mark", "Leave a mark in the cache", action_type="write")
async def mark(ctx: Context, params: Words) -> ActionResult:
    await ctx.cache.set("mark", {"text": params.text}, ttl_seconds=300)
    await ctx.notify.send(f"marked {params.text}")
    return ActionResult.success({"marked": params.text}, f'Marked "{params.text}".')


@chat.function("fail", "Raises", action_type="write")
async def fail(ctx: Context) -> ActionResult:
    raise RuntimeError(SECRET)


@chat.function("leave", "Ends the process, or tries to")
async def leave(ctx: Context) -> ActionResult:
    sys.exit(SECRET)


@chat.function("sleep", "Answers late")
async def sleep(ctx: Context) -> ActionResult:
    """Hangs for longer than a call may take, giving way to others."""
    await asyncio.sleep(3)
    return ActionResult.success({"late": True}, "Slept.")


@chat.function("block", "Blocks its thread")
async def block(ctx: Context) -> ActionResult:
    """Hangs, giving way to nobody, for longer than a call may take."""
    time.sleep(3)  # noqa: ASYNC251 - that is the point
    return ActionResult.success({"late": True}, "Late.")


@chat.function("rubbish", "Returns rubbish of a kind", action_type="write")
async def rubbish(ctx: Context, params: Rubbish) -> Any:
    """Whatever is asked for."""
    return RUBBISH[params.kind]()


@chat.function("usurp", "Tries to become somebody else")
async def usurp(ctx: Context) -> ActionResult:
    """Frozen values resist assignment; `object.__setattr__` does not ask."""
    try:
        ctx.user.imperal_id = "root"  # type: ignore[misc]
    except AttributeError:
        object.__setattr__(ctx.user, "imperal_id", "bob")
        object.__setattr__(ctx.user, "tenant_id", "umbrella")
        object.__setattr__(ctx.user, "scopes", ("*",))
    await ctx.store.create("texts", {"text": "usurped"})
    return ActionResult.success({"user": ctx.user.imperal_id}, "Tried.")


@chat.function("guarded", "Needs a scope", scopes=["probe:admin"])
async def guarded(ctx: Context) -> ActionResult:
    """Nobody in these tests may."""
    return ActionResult.success({"open": True}, "Open.")


@ext.panel("board", slot="right", title="Board")
async def board(ctx: Context, **params: Any) -> ui.UINode:
    texts = [d.data["text"] for d in (await ctx.store.query("texts")).data]
    return ui.Text(", ".join(texts) or "nothing")


@ext.webhook("echo")
async def echo(
    ctx: Context, headers: dict[str, str], body: str, query_params: dict[str, str]
) -> Any:
    """Answers with what came; the body picks how."""
    answers: dict[str, Any] = {
        "status": {"status_code": 202, "body": "later"},
        "nothing": None,
        "object": object(),
        "bad status": {"status_code": "x"},
        "written": {
            "status_code": 200,
            "body": '{"challenge": 1}',
            "headers": {"Content-Type": "application/json"},
        },
    }
    if body == "raise":
        raise RuntimeError(SECRET)
    if body == "exit":
        sys.exit(SECRET)
    return answers.get(body, {"body": body, "query": query_params, "user": ctx.user.imperal_id})

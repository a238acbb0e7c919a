"""Thirteen mistakes of another hand's list, then two of an author who had read the guide alone, each
marked with its kind on its line."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("further", "1.0.0", display_name="Rooms", description="Rooms of an office")
chat = ChatExtension(ext, description="Rooms: book, list")
ext.secret("door_code", "Code of the door")
ext.oauth("google")  # planted: oauth-secrets


class Booking(BaseModel):
    room: str = Field(description="Name of the room")
    day: str = Field(description="Day, 2026-05-15")


@chat.function(
    "book", "Book a room for a day", action_type="write", examples=["book room Blue for tomorrow"]
)
async def book(ctx, params: Booking):
    await ctx.secrets.set("door_code", "1234")  # planted: secret-of-the-user
    asyncio.create_task(ctx.notify.send("Booked."))  # planted: dropped-task
    at = datetime.datetime.now().isoformat()  # planted: own-clock
    return ActionResult.success({"at": at}, "Booked.", refresh_panels=["rooms_"])  # planted: unknown-panel


@chat.function("free", "Which rooms are free on a day", examples=["which rooms are free tomorrow"])
async def free(ctx, params: Booking):
    users = [u async for u in ctx.store.list_users("bookings")]  # planted: system-only
    if not users:
        return ActionResult.success({"rooms": []})  # planted: missing-summary
    try:
        count = await ctx.store.count("bookings")
    except BaseException:  # planted: swallowed-end
        count = 0
    return ActionResult.success({"count": count}, f"{count} rooms.")


@ext.skeleton("rooms", alert=True)  # planted: alert-without-tool
async def rooms(ctx):
    return {"response": [await ctx.store.count("bookings")]}  # planted: snapshot-is-a-list


@ext.schedule("weekly", "0 25 * * 1")  # planted: cron
async def weekly(ctx: Context) -> None:
    await ctx.log("week")


@ext.panel("rooms", slot="right")
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    return ui.Button("Book", ui.Call("boook"))  # planted: unknown-function


class City(BaseModel):
    city: str = Field(max_length=80, description="City")


@chat.function("rain_tomorrow", "")  # planted: a function without a description
async def rain_tomorrow(ctx: Context, params: City) -> ActionResult:
    known = await ctx.cache.get(f"rain in {params.city}")  # planted: spaces of a cache key
    await ctx.cache.set(f"rain:{params.city}", known or 0)
    return ActionResult.success({"mm": known}, "Known.")

"""Waits for what never comes."""

from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("waiting", display_name="Waiting", description="Parcels on their way")
chat = ChatExtension(ext)


class Parcel(BaseModel):
    number: str  # said below
    carrier: str = Field("", description="Who brings it")


@chat.function(  # planted: a field without a description
    "track_parcel", "Track a parcel", examples=["track the parcel 12"], event="tracked"
)
async def track(ctx: Context, params: Parcel) -> ActionResult:
    return ActionResult.success({"number": params.number}, "On its way.")


@chat.function(  # planted: the same field
    "find_parcel",
    "Look for a parcel",
    examples=["find the parcel {numbr}"],  # planted: a slot that is no parameter
)
async def find(ctx: Context, params: Parcel) -> ActionResult:
    return ActionResult.success({"number": params.number}, "Found.")


@chat.function("count_parcels", "Count the parcels", examples=["how many parcels?"])  # planted: no ctx
async def count(params: Parcel) -> ActionResult:  # planted: nor described
    return ActionResult.success({"count": 1}, "One.")


@ext.on_event("waiting.traked")  # planted: an event that nothing emits
async def heard(ctx: Context, data: dict[str, Any]) -> None:
    ctx.log("heard")


@ext.on_event("listd.changed")  # planted: an extension that is spelt otherwise
async def listed(ctx: Context, data: dict[str, Any]) -> None:
    ctx.log("listed")


@ext.panel("parcels", refresh="on_event:tracked,lost")  # planted: one of two is never emitted
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    return ui.Empty("Nothing yet")


@ext.schedule("often", "0 0 * * * *")  # planted: six fields
async def often(ctx: Context) -> None:
    ctx.log("often")

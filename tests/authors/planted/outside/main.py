"""Mistakes that an author made who had read the guide alone, each marked on its line."""

from __future__ import annotations

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("outside", display_name="Rain", description="Rain on the balcony")
chat = ChatExtension(ext)


class City(BaseModel):
    """Where."""

    city: str = Field(max_length=80, description="City")


@chat.function("rain_tomorrow", "")  # planted: a function without a description
async def rain_tomorrow(ctx: Context, params: City) -> ActionResult:
    known = await ctx.cache.get(f"rain in {params.city}")  # planted: spaces of a cache key
    await ctx.cache.set(f"rain:{params.city}", known or 0)
    return ActionResult.success({"mm": known}, "Known.")

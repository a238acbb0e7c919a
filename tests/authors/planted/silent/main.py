"""Mistakes of which nothing was said, neither before a run nor in it."""

import asyncio
import itertools
from typing import Optional

from pydantic import BaseModel, Field
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("silent", display_name="Silent", description="The weather of cities")
chat = ChatExtension(ext, description="The weather of cities")


KEY = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"  # planted: a key in the source


class Station:
    async def read(self) -> int:
        return 1


class City(BaseModel):
    city: str = Field(description="The city")
    days: Optional[int] = Field(description="How many days")  # planted: must be given
    hours: int | None = Field(None, description="How many hours")


class Part(BaseModel):
    name: str = Field(description="Its name")
    size: int | None  # planted: must be given, inside of another


class Parts(BaseModel):
    parts: list[Part] = Field(default_factory=list, description="Parts of the city")


def gathered(name: str, seen: list[str] = []) -> list[str]:  # planted: made once for all
    seen.append(name)
    return [*seen, *reversed(seen)]


async def measured(ctx: Context) -> float:
    return await ctx.store.count("rain") / 2


@chat.function("fog", "Look for fog over parts of a city", examples=["fog over Paris"])
async def fog(ctx: Context, params: Parts) -> ActionResult:
    asyncio.gather(measured(ctx), measured(ctx))  # planted: nobody waits for them
    if ctx.store.count("fog"):  # planted: a coroutine is always true
        return ActionResult.success({"fog": 1}, f"It is {measured(ctx)} m.")  # planted: no number
    response = ctx.http.get("https://example.com")  # planted: never awaited
    if response.ok or not measured(ctx):  # planted: never awaited
        return ActionResult.success({"fog": [measured(ctx)]}, "Fog.")  # planted: never awaited
    both = [measured(ctx), measured(ctx)]
    task = measured(ctx)
    least = min(await asyncio.gather(*both))
    return ActionResult.success({"least": least, "last": await task}, "No fog.")


@chat.function("dew", "Look for dew over a city", examples=["dew over Paris"])
async def dew(ctx: Context, params: City) -> ActionResult:
    low = sum(measured(ctx) for _ in range(3))  # planted: a sum of coroutines
    return ActionResult.success({"low": low, "at": {params.city}}, "Dew.")  # planted: a set


@chat.function("read", "Read the weather of a city", examples=["weather in Paris"])
async def read(ctx: Context, params: City) -> ActionResult:
    Station().read()  # planted: never awaited
    asyncio.sleep(1)  # planted: never awaited
    await asyncio.sleep(1)
    return ActionResult.success({"value": await Station().read()}, "Read.")


@chat.function("clouds", "Count the clouds over a city", examples=["clouds over Paris"])
async def clouds(ctx, params: City):
    response = await ctx.http.get("https://example.com")
    data = await response.json()  # planted: a plain value is awaited
    return ActionResult.success({"data": data, "text": response.text()}, "Counted.")


@chat.function("rain", "Wait for rain in a city", examples=["wait for rain in Paris"])
async def rain(ctx, params: City):
    while True:
        if await ctx.store.count("rain"):
            break
    while True:  # planted: never ends
        await asyncio.sleep(1)
    return ActionResult.success({}, "It rains.")


@chat.function("snow", "Wait for snow in a city", examples=["wait for snow in Paris"])
async def snow(ctx, params: City):
    tries = 0
    while tries < 10:  # planted: never ends
        await ctx.store.count("snow")
    while tries < 10:
        tries += 1
    for number in itertools.count():  # planted: never ends
        await ctx.store.create("snow", {"number": number})
    cities = {params.city}
    return ActionResult.success({"tries": tries, "in": cities}, "It snows.")  # planted: a set


@chat.function("stars", "Count the stars over a city", examples=["stars over Paris"])
async def stars(ctx, params: City) -> int:  # planted: an int is no result
    return 5


@chat.function("planets", "Count the planets over a city", examples=["planets over Paris"])
async def planets(ctx, params: City):
    count = len(params.city)
    return count  # planted: an int is no result

"""Handlers that take keywords, typed and untyped."""

import httpx
from app import chat
from imperal_sdk import (
    ActionResult,
    HTTPResponse,
    SecretNotDeclaredError,
    SecretValueTooLarge,
    SecretWriteForbidden,
)
from models import Forecast, Unregistered


@chat.function(
    "forecast",
    "Tomorrow's weather in a city",
    params={"city": {"type": "string", "description": "Where"}},
)
async def forecast(ctx, city: str, days: int = 1) -> ActionResult:
    """Fetched once, then cached."""
    fetched = []

    async def fetch() -> Forecast:
        answer = await ctx.http.get(
            f"{ctx.config.get('base')}/forecast",
            params={"city": city},
            headers={"x-key": await ctx.secrets.get("api_key") or ""},
        )
        answer.raise_for_status()
        fetched.append(1)
        assert isinstance(answer, HTTPResponse)
        return Forecast(city=city, degrees=answer.json()["degrees"])

    found = await ctx.cache.get_or_fetch(f"forecast:{city}", Forecast, fetch, ttl_seconds=60)
    return ActionResult.success(
        {"city": found.city, "degrees": found.degrees, "days": days, "fetched": len(fetched)},
        f"{found.degrees} degrees.",
    )


@chat.function("cached", "What the cache accepts", action_type="write")
async def cached(ctx) -> ActionResult:
    """Every breach of the SDK's rules, by the error's class."""
    value = Forecast(city="Oslo", degrees=3)
    tries = {
        "dict": lambda: ctx.cache.set("k", {"a": 1}),
        "unregistered": lambda: ctx.cache.set("k", Unregistered()),
        "long key": lambda: ctx.cache.get("k" * 129, Forecast),
        "bad key": lambda: ctx.cache.get("a/b", Forecast),
        "wild key": lambda: ctx.cache.set("a*", value),
        "no key": lambda: ctx.cache.delete(""),
        "short ttl": lambda: ctx.cache.set("k", value, ttl_seconds=4),
        "long ttl": lambda: ctx.cache.set("k", value, ttl_seconds=301),
        "float ttl": lambda: ctx.cache.set("k", value, ttl_seconds=60.5),
        "no model": lambda: ctx.cache.get("k", dict),
        "too big": lambda: ctx.cache.set("k", Forecast(city="x" * 70_000, degrees=1)),
    }
    errors = {}
    for name, attempt in tries.items():
        try:
            await attempt()
        except (TypeError, ValueError) as error:
            errors[name] = type(error).__name__
    await ctx.cache.set("k", value, ttl_seconds=5)
    await ctx.cache.set("k", value, ttl_seconds=300)
    there = await ctx.cache.get("k", Forecast)
    await ctx.cache.delete("k")
    gone = await ctx.cache.get("k", Forecast)
    return ActionResult.success(
        {"errors": errors, "there": there == value, "gone": gone is None}, ""
    )


@chat.function("keys", "Handle the keys", action_type="write")
async def keys(ctx) -> ActionResult:
    """Every rule of secrets, by the error's class."""
    tries = {
        "undeclared": lambda: ctx.secrets.get("nothing"),
        "user's own": lambda: ctx.secrets.set("api_key", "x"),
        "deleted": lambda: ctx.secrets.delete("api_key"),
        "too large": lambda: ctx.secrets.set("refresh_token", "x" * 17),
    }
    errors = {}
    for name, attempt in tries.items():
        try:
            await attempt()
        except (SecretNotDeclaredError, SecretWriteForbidden, SecretValueTooLarge) as error:
            errors[name] = type(error).__name__
    await ctx.secrets.set("refresh_token", "fresh")
    listed = {s.name: s.is_set for s in await ctx.secrets.list()}
    mine = await ctx.secrets.get("refresh_token")
    removed = await ctx.secrets.delete("refresh_token")
    return ActionResult.success(
        {"errors": errors, "listed": listed, "mine": mine, "removed": removed}, ""
    )


@chat.function("reach", "Try an address")
async def reach(ctx, url: str, timeout: float | None = None, follow: bool = True) -> ActionResult:
    """Errors are those of the SDK's HTTP library."""
    try:
        answer = await ctx.http.get(
            url, timeout=timeout, follow_redirects=follow, auth=httpx.BasicAuth("ann", "pw")
        )
    except (httpx.HTTPError, ValueError) as error:
        return ActionResult.error("unreachable", retryable=True, code=type(error).__name__.upper())
    kind = type(answer.body).__name__
    return ActionResult.success(
        {"status": answer.status_code, "ok": answer.ok, "kind": kind, "text": answer.text()[:100]},
        "",
    )


@chat.function("clock", "What time it is")
async def clock(ctx) -> ActionResult:
    """The kernel's clock, and whose configuration."""
    now = ctx.time
    ctx.config.all().clear()
    ctx.config.get_section("units")["degrees"] = "F"
    data = {
        "utc": now.now_utc,
        "hour": now.hour_local,
        "zone": now.timezone,
        "work": now.is_business_hours,
        "units": ctx.config.get("units.degrees"),
    }
    return ActionResult.success(data, "")


@chat.function("late", "Import late")
async def late(ctx) -> ActionResult:
    """Whose modules a late import finds."""
    import app
    import models

    return ActionResult.success(
        {"whose": [app.WHOSE, models.WHOSE, __import__("handlers").__file__.split("/")[-2]]}, ""
    )

"""Handlers that take keywords, typed and untyped."""

import httpx
from app import chat
from imperal_sdk import ActionResult, HTTPResponse
from models import Forecast

CITY = {"city": {"type": "string", "description": "Where"}}


@chat.function("forecast", "Tomorrow's weather in a city", params=CITY)
async def forecast(ctx, city: str, days: int = 1) -> ActionResult:
    fetched = []

    async def fetch() -> Forecast:
        url, key = f"{ctx.config.get('base')}/forecast", await ctx.secrets.get("api_key")
        answer = await ctx.http.get(url, params={"city": city}, headers={"x-key": key or ""})
        answer.raise_for_status()
        fetched.append(1)
        assert isinstance(answer, HTTPResponse)
        return Forecast(city=city, degrees=answer.json()["degrees"])

    found = await ctx.cache.get_or_fetch(f"forecast:{city}", Forecast, fetch, ttl_seconds=60)
    told = {**found.model_dump(), "days": days, "fetched": len(fetched)}
    return ActionResult.success(told, f"{found.degrees} degrees.")


@chat.function("keys", "List the keys")
async def keys(ctx) -> ActionResult:
    return ActionResult.success({s.name: s.is_set for s in await ctx.secrets.list()}, "")


class KeyAuth(httpx.Auth):
    def auth_flow(self, request):
        request.headers["X-Key"] = "k-2"
        yield request


@chat.function("reach", "Try an address")
async def reach(
    ctx, url: str, timeout: float | None = None, follow: bool = True, by_key: bool = False
) -> ActionResult:
    """Errors are those of the SDK's HTTP library."""
    auth = KeyAuth() if by_key else httpx.BasicAuth("ann", "pw")
    try:
        answer = await ctx.http.get(url, timeout=timeout, follow_redirects=follow, auth=auth)
    except (httpx.HTTPError, ValueError) as error:
        return ActionResult.error("unreachable", retryable=True, code=type(error).__name__.upper())
    told = {"status": answer.status_code, "ok": answer.ok, "kind": type(answer.body).__name__}
    return ActionResult.success({**told, "text": answer.text()[:100]}, "")


@chat.function("late", "Import late")
async def late(ctx) -> ActionResult:
    import app
    import models

    folder = __import__("handlers").__file__.split("/")[-2]
    return ActionResult.success({"whose": [app.WHOSE, models.WHOSE, folder]}, "")

"""Connects accounts of another service as published extensions do: a chat function leaves a state
where its webhooks find it, the webhook acts for the user, a job goes through everybody."""

import hashlib
import hmac
import json
from typing import Any

from pydantic import BaseModel

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("herald", config_defaults={"greeting": "hello"})
chat = ChatExtension(ext)
ext.secret("signing", "What the other service signs with", write_mode="both")
ext.secret("client", "The other service's client", scope="app")


class Which(BaseModel):
    """A user's id."""

    user: str


@chat.function("connect", "Connect the account", action_type="write")
async def connect(ctx: Context) -> ActionResult:
    """A state that only a webhook needs, kept where webhooks look."""
    hooks = ctx.as_user("__webhook__")
    state = f"state-of-{ctx.user.imperal_id}"
    await hooks.store.set(f"states/{state}", {"user": ctx.user.imperal_id})
    again = await ctx.store.for_user("__webhook__").get(f"states/{state}")
    assert again
    data = {"state": state, "url": ctx.webhook_url("callback"), "paid": ctx.webhook_url("/paid/")}
    return ActionResult.success(data, "Open the address.")


@chat.function("account", "Show the account")
async def account(ctx: Context) -> ActionResult:
    """What webhooks and jobs did in the user's name."""
    found = {d.id: d.data for d in await ctx.store.list("accounts")}
    daily = await ctx.store.count("daily")
    return ActionResult.success({"accounts": found, "daily": daily}, f"{len(found)} accounts.")


@chat.function("pry", "Try to be somebody else")
async def pry(ctx: Context, params: Which) -> ActionResult:
    """By every way there is; what each ended with."""
    tries: dict[str, Any] = {
        "as_user": lambda: ctx.as_user(params.user),
        "store": lambda: ctx.store.for_user(params.user),
        "vault": lambda: ctx.secrets.for_user(params.user),
        "notify": lambda: ctx.notify.for_user(params.user),
        "through the webhooks": lambda: ctx.as_user("__webhook__").as_user(params.user),
        "through their store": lambda: ctx.store.for_user("__webhook__").for_user(params.user),
    }
    ended = {}
    for name, attempt in tries.items():
        try:
            attempt()
            ended[name] = "done"
        except PermissionError as error:
            ended[name] = type(error).__name__
    try:
        ended["list"] = str([u async for u in ctx.as_user("__webhook__").store.list_users("x")])
    except PermissionError as error:
        ended["list"] = type(error).__name__
    return ActionResult.success(ended, "Tried.")


@ext.webhook("callback", method="GET")
async def callback(ctx: Context, headers: Any, body: str, query_params: dict[str, str]) -> Any:
    """The other service sends the user back."""
    state = await ctx.store.get(f"states/{query_params['state']}")
    if state is None:
        return {"status_code": 403, "body": "no such state"}
    theirs = ctx.as_user(state.data["user"])
    made = {"client": await ctx.secrets.get("client"), "greeting": ctx.config.get("greeting")}
    await theirs.store.set("accounts/main", made)
    await ctx.store.delete("states", state.id)
    return {"tenant": ctx.user.tenant_id, "user": state.data["user"]}


@ext.webhook("paid")
async def paid(ctx: Context, headers: dict[str, str], body: str, query_params: Any) -> Any:
    """Signed by the other service with a secret of the webhooks' own."""
    key = await ctx.secrets.get("signing") or ""
    right = hmac.new(key.encode(), body.encode(), hashlib.sha256).hexdigest()
    if not (key and hmac.compare_digest(right, headers.get("x-signature", ""))):
        return {"status_code": 401, "body": "wrong signature"}
    await ctx.as_user(json.loads(body)["user"]).notify.send("paid")
    return {"tenant": ctx.user.tenant_id, "users": [u async for u in ctx.store.list_users("x")]}


@ext.schedule("daily", cron="* * * * *")
async def daily(ctx: Context) -> dict[str, Any]:
    """Something for everybody who has an account."""
    users = [u async for u in ctx.store.list_users("accounts")]
    for user in users:
        await ctx.as_user(user).store.create("daily", {"greeting": ctx.config.get("greeting")})
    return {"users": users}

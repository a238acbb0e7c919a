"""Messages between services: webhooks of every shape, calls and events between extensions."""

from __future__ import annotations

import json

from imperal_sdk import (
    ActionResult,
    AuthError,
    ChatExtension,
    CircularCallError,
    Extension,
    NotFoundError,
    WebhookResponse,
    fresh_token,
)

ext = Extension("courier", version="0.3.0", description="Carries messages between services.")
chat = ChatExtension(ext, description="Messages")
ext.secret("google_client_id", "Client id", scope="app")(lambda: None)
for name, variable in (("google_client_secret", "COURIER"), ("yahoo_client_id", "YAHOO")):
    fallback = {"env_fallback": f"IMPERAL_APPSECRET_{variable}"}
    ext.secret(name, "Of the client", scope="app", **fallback)(lambda: None)
ext.oauth("google", scopes=["openid", "email"])
ext.oauth("yahoo", collection="letters")


@ext.webhook("/dict")
async def as_dict(ctx, headers, body, query_params):
    return {
        "got": json.loads(body or "{}"),
        "header": headers.get("x-test"),
        "query": query_params,
        "user": ctx.user.imperal_id,
    }


@ext.webhook("control/", method="POST", secret_header="X-Hook-Secret")
async def control(ctx, headers, body, query_params):
    if offered := headers.get("x-hook-secret"):
        return {"status_code": 200, "body": "", "headers": {"X-Hook-Secret": offered}}
    return {"status_code": 401, "error": "no secret"}


@ext.webhook("header")
async def header_only(ctx, headers, body, query_params):
    return {"headers": {"X-Echo": "yes"}, "body": {"ok": 1}}


@ext.webhook("text")
async def text(ctx, body, **rest):
    return body[::-1]


@ext.webhook("typed", method="GET")
async def typed(ctx, headers, body, query_params):
    told = {"challenge": query_params.get("challenge")}
    return WebhookResponse(status_code=202, body=told, headers={"X-Seen": "1"})


@ext.webhook("whole")
async def whole(ctx, request):
    told = {"method": request.method, "n": request.json()["n"], "text": request.text()}
    return WebhookResponse.ok(told)


@ext.webhook("nothing", method="ANY")
def nothing(ctx, headers):
    """Says nothing, and is not async."""


@ext.webhook("for/user")
async def for_user(ctx, headers, body, query_params):
    """Knows whose event it is only once it has read it."""
    user_id = json.loads(body)["user"]
    await ctx.store.for_user(user_id).create("inbox", {"text": "hook"})
    await ctx.notify.for_user(user_id)("A letter came", priority="high")
    return {"done": True}


@chat.function("send", "Send a message to another extension", action_type="write")
async def send(ctx, app: str, method: str, text: str = "") -> ActionResult:
    try:
        answer = await ctx.extensions.call(app, method, text=text)
    except (NotFoundError, AuthError, CircularCallError) as error:
        return ActionResult.error(str(error), code=type(error).__name__.upper())
    return ActionResult.success({"answer": answer}, "Sent.")


@ext.expose("bounce", action_type="read")
async def bounce(ctx, text=""):
    return await ctx.extensions.call("courier", "bounce", text=text)


@ext.emits("courier.posted")
@chat.function("post", "Post an event", action_type="write")
async def post(ctx, text: str) -> ActionResult:
    await ctx.extensions.emit("courier.posted", {"text": text})
    return ActionResult.success({"text": text}, "Posted.")


@chat.function("tell", "Tell the user something", action_type="write")
async def tell(ctx) -> ActionResult:
    await ctx.notify("loud", priority="high")
    await ctx.notify.send("quiet", channel="email")
    await ctx.deliver_chat_message("**Two**\nlines", msg_type="system", refresh_panels=["board"])
    await ctx.deliver_chat_message("x" * 70_000)
    told = {"url": ctx.webhook_url("/dict"), "surface": getattr(ctx, "surface", "panel")}
    return ActionResult.success(told, "Told.")


@chat.function("connect", "Connect an account")
async def connect(ctx, provider: str = "google") -> ActionResult:
    try:
        return ActionResult.success({"url": await ctx.oauth_authorize_url(provider)}, "Go there.")
    except Exception as error:
        return ActionResult.error(str(error), code=type(error).__name__.upper())


@chat.function("renew", "Renew the connected account")
async def renew(ctx) -> ActionResult:
    """The SDK's own refresh, on the account as the kernel stored it."""
    where = "google_accounts"
    found = (await ctx.store.query(where)).data[0]
    known = {**found.data, "doc_id": found.id}
    account = await fresh_token(ctx, known, provider="google", collection=where)
    kept = await ctx.store.get(where, found.id)
    return ActionResult.success({"token": account["access_token"], "kept": kept.data}, "Renewed.")

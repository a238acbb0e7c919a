"""Keeps the state of a sign-in where its webhook finds it, in the ways of published extensions."""

import httpx
from imperal_sdk import ActionResult, ChatExtension, Extension
from imperal_sdk.store.client import StoreClient

ext = Extension("octo", version="1.0.0", description="Signs in with another service.")
chat = ChatExtension(ext, description="Signing in")


def webhook_store(ctx, user_id="__webhook__"):
    """A store client that acts for the webhooks, from a user's call."""
    return StoreClient(
        gateway_url=ctx.store._gateway_url,
        service_token=ctx.store._auth_token,
        extension_id=ctx.store._extension_id,
        user_id=user_id,
        tenant_id=ctx.store._tenant_id,
    )


async def by_client(ctx, state):
    """A client built by hand."""
    await webhook_store(ctx).create("states", {"state": state, "user": ctx.user.imperal_id})


async def by_request(ctx, state):
    """A request of one's own."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{ctx._gateway_url}/v1/internal/store",
            headers={"X-Service-Token": ctx._service_token},
            json={
                "user_id": "__webhook__",
                "extension_id": "octo",
                "collection": "states",
                "data": {"state": state, "user": ctx.user.imperal_id},
            },
        )
    answer.raise_for_status()


async def by_for_user(ctx, state):
    """The store's own method."""
    theirs = ctx.store.for_user("__webhook__")
    await theirs.create("states", {"state": state, "user": ctx.user.imperal_id})


WAYS = {"client": by_client, "request": by_request, "for_user": by_for_user}


@chat.function("connect", description="Connect the account", action_type="write", event="connected")
async def connect(ctx, way: str) -> ActionResult:
    """A state, and the address to come back to."""
    await WAYS[way](ctx, f"by-{way}")
    return ActionResult.success({"url": ctx.webhook_url("callback")}, "Open the address.")


@chat.function("snoop", description="Read another user's documents", action_type="read")
async def snoop(ctx, whose: str) -> ActionResult:
    """What the gateway says to that."""
    try:
        await webhook_store(ctx, whose).query("states")
    except Exception as error:
        return ActionResult.success({"error": str(error)}, "Refused.")
    return ActionResult.success({"error": ""}, "Read.")


@ext.webhook("callback", method="GET")
async def callback(ctx, headers, body, query_params):
    """The other service sends the user back."""
    found = await ctx.store.query("states", where={"state": query_params["state"]})
    if not found.data:
        return {"status_code": 403, "body": "no such state"}
    user = found.data[0].data["user"]
    await ctx.as_user(user).store.create("accounts", {"by": query_params["state"]})
    return {"user": user}

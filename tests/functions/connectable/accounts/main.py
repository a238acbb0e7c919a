"""An extension whose users connect accounts of a provider."""

from typing import Any

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("accounts", display_name="Accounts", description="Connected accounts")
chat = ChatExtension(ext, description="Connected accounts")
ext.secret("acme_client_id", "Client id", scope="app")
ext.secret("acme_client_secret", "Client secret", scope="app")
ext.oauth("acme", collection="mailboxes", scopes=["openid", "mail.read"])
ext.oauth("google", scopes=["openid"])


@chat.function("connect", "Connect an account", action_type="read")
async def connect(ctx: Context, provider: str = "acme", hint: str = "") -> ActionResult:
    try:
        return ActionResult.success(
            {"url": await ctx.oauth_authorize_url(provider, login_hint=hint or None)},
            "Open the address.",
        )
    except Exception as error:
        return ActionResult.error(str(error), code=type(error).__name__)


@chat.function("connected", "What is connected", action_type="read")
async def connected(ctx: Context) -> ActionResult:
    """The accounts and what listeners heard, tokens included, as texts of pairs: a field of its
    own would be masked, and this is a test."""
    found = {
        name: [
            [[k, repr(v)] for k, v in {"id": d.id, **d.data}.items()]
            for d in (await ctx.store.query(name)).data
        ]
        for name in ("mailboxes", "heard")
    }
    return ActionResult.success(found, "Accounts.")


@chat.function("look", "Look into the account", action_type="read")
async def look(ctx: Context) -> ActionResult:
    token = await ctx.oauth_token("acme")
    return ActionResult.success({"with": list(token)}, f"With {token or 'nothing'}.")


@ext.skeleton("accounts")
async def accounts(ctx: Context) -> dict[str, Any]:
    return {"response": {"connected": await ctx.store.count("mailboxes")}}


@ext.panel("accounts", title="Accounts")
async def panel(ctx: Context) -> Any:
    return ui.Button("Connect", on_click=ui.Open(await ctx.oauth_authorize_url("acme")))


@ext.on_event("accounts.oauth_connected")
async def heard(ctx: Context, data: dict[str, Any]) -> None:
    await ctx.store.create("heard", {"who": ctx.user.imperal_id, **data})

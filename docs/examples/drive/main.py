"""Drive: files of a connected Google account. An API behind OAuth, with tokens that are renewed."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Document, Extension, ui

ext = Extension("drive", "1.0.0", display_name="Drive", description="Files in Google Drive")
chat = ChatExtension(ext, system_prompt="Connect an account before anything else.")

ext.oauth("google", scopes=["openid", "email", "https://www.googleapis.com/auth/drive.readonly"])
ext.secret("google_client_id", "OAuth client id", scope="app")
ext.secret("google_client_secret", "OAuth client secret", scope="app")

FILES = "https://www.googleapis.com/drive/v3/files"
TOKENS = "https://oauth2.googleapis.com/token"


class Find(BaseModel):
    """What is looked for."""

    name: str = Field(min_length=1, max_length=200, description="Words in the file's name.")


class Nothing(BaseModel):
    """Nothing to say."""


@chat.function(
    "connect",
    "Connect a Google account, so that its files can be found",
    examples=["connect my Google account"],
)
async def connect(ctx: Context, params: Nothing) -> ActionResult:
    """The address is good once, for ten minutes and for this user."""
    url = await ctx.oauth_authorize_url("google")
    return ActionResult.success({"url": url}, "Open the address to connect your account.")


@chat.function(
    "find_files",
    "Find files in Google Drive by words of their names",
    examples=["find the budget file in my drive", "which files are called report?"],
)
async def find_files(ctx: Context, params: Find) -> ActionResult:
    """At most 20 files of the connected account."""
    account = await connected(ctx)
    if account is None:
        return ActionResult.error("Connect a Google account first.", code="NOT_CONNECTED")
    escaped = params.name.replace("\\", "\\\\").replace("'", "\\'")
    query = {"q": f"name contains '{escaped}'", "pageSize": "20", "fields": "files(id,name)"}
    answer = await ctx.http.get(FILES, params=query, headers=await authorised(ctx, account))
    if not answer.ok:
        return ActionResult.error(
            f"Google answered {answer.status_code}.", answer.status_code >= 500
        )
    files = [{"id": f["id"], "name": f["name"]} for f in answer.json()["files"]]
    return ActionResult.success({"count": len(files), "files": files}, f"{len(files)} files.")


async def connected(ctx: Context) -> Document | None:
    """The account that the sign-in made, if there is one."""
    page = await ctx.store.query("google_accounts", limit=1)
    return page.data[0] if page.data else None


async def authorised(ctx: Context, account: Document) -> dict[str, str]:
    """The header for a request; a token that ends within a minute is renewed first."""
    token = account["access_token"]
    if (account.get("expires_at") or 0) < ctx.time.timestamp() + 60:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": account["refresh_token"],
            "client_id": await ctx.secrets.get("google_client_id"),
            "client_secret": await ctx.secrets.get("google_client_secret"),
        }
        fresh = (await ctx.http.post(TOKENS, data=form)).json()
        token = fresh["access_token"]
        renewed = {"access_token": token, "expires_at": ctx.time.timestamp() + fresh["expires_in"]}
        await ctx.store.update("google_accounts", account.id, renewed)
    return {"authorization": f"Bearer {token}"}


@ext.skeleton("drive", ttl=3600, description="Whether an account is connected")
async def drive(ctx: Context) -> dict[str, Any]:
    """What every turn knows without a call."""
    account = await connected(ctx)
    return {"response": {"connected": account is not None}}


@ext.panel("account", slot="right", title="Google account")
async def account_panel(ctx: Context, **_: Any) -> ui.UINode:
    """The account, or the way to one."""
    account = await connected(ctx)
    if account is not None:
        return ui.KeyValue([{"key": "Account", "value": account["email"]}])
    return ui.Empty("No account yet", action=ui.Send("connect my Google account"))

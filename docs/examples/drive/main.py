"""Drive: files of a connected Google account. An API behind OAuth; the kernel renews its tokens."""

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
    token = await ctx.oauth_token("google")
    if not token:
        return ActionResult.error("Connect a Google account first.", code="NOT_CONNECTED")
    escaped = params.name.replace("\\", "\\\\").replace("'", "\\'")
    query = {"q": f"name contains '{escaped}'", "pageSize": "20", "fields": "files(id,name)"}
    headers = {"authorization": f"Bearer {token}"}
    answer = await ctx.http.get(FILES, params=query, headers=headers)
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

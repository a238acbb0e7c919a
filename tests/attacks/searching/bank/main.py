"""An app with a secret and a configuration of its own; no other app's code asks it for anything."""

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("bank")
chat = ChatExtension(ext)
ext.secret("key", "The bank's key", scope="app", env_fallback="IMPERAL_APPSECRET_BANK")


@chat.function("open", "Open the bank")
async def open_bank(ctx: Context) -> ActionResult:
    found = {"key": await ctx.secrets.get("key"), "place": ctx.config.get("place")}
    return ActionResult.success(found, "Opened.")

"""The one that works."""

from imperal_sdk import ChatExtension, Extension

ext = Extension("fine", description="Works beside those that do not, and says so.")
chat = ChatExtension(ext)


@chat.function("hello", "Say hello")
async def hello(ctx):
    return {"hello": ctx.user.imperal_id}

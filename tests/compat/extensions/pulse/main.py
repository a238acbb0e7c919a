"""An `App` of SDK 6: plain functions with types, their context by name where they want one."""

import time
from typing import List, Optional  # noqa: UP035 - as such apps are written

from imperal_sdk import App, Context

app = App("pulse", name="Pulse", category="devops")


@app.tool()
def check_host(host: str, port: int = 443, ctx: Context = None) -> dict:
    """Check whether a server answers."""
    return {"status": "online", "host": host, "port": port, "count": 3, "user": ctx.user.imperal_id}


@app.tool(name="ping", description="Ping, no context")
async def ping(times: int, tags: Optional[List[str]] = None) -> dict:  # noqa: UP006, UP045
    """No context parameter at all."""
    return {"times": times, "tags": tags or []}


@app.tool(destructive=True)
async def wipe(context, name: str) -> dict:
    """Wipe a record."""
    await context.store.delete("records", name)
    return {"error": "nothing to wipe", "code": "NOT_THERE"}


@app.tool()
def listing(ctx: Optional[Context] = None) -> list:  # noqa: UP045
    """A list, from code that blocks."""
    time.sleep(0.01)
    return [{"a": 1}, {"a": 2}]


@app.tool()
async def say(ctx: Context, schema: str = "x", copy: bool = False) -> str:
    """Parameters named like a model's own attributes."""
    return f"{schema} {copy}"


@app.skeleton("load", ttl=30)
async def load(ctx):
    """An App is an Extension too."""
    return {"response": {"load": 1}}

"""An extension for the page's tests: a section with more than renders, a panel of every node,
hostile strings, late news."""

import asyncio
from typing import Any

from pydantic import BaseModel, Field, field_validator

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("showcase", "1.0.0", display_name="Showcase", description="Every node there is")
chat = ChatExtension(ext, description="Showcase")

HOSTILE = (
    "<img src=x"
    " onerror=\"window.pwned=1\"><script>window.pwned=1</script>{{constructor.constructor('window.pwned=1')()}}"
)
LINK = "javascript:window.pwned=1"


class Text(BaseModel):
    text: str = ""


@chat.function(
    "hostile", "Return hostile text", examples=["show the hostile text", "покажи враждебный текст"]
)
async def hostile(ctx: Context) -> ActionResult:
    tree = ui.Stack(
        [
            ui.Text(HOSTILE),
            ui.Node("Markdown", content=HOSTILE),
            ui.Node("Html", content=HOSTILE),
            ui.Node(HOSTILE, x=1),
        ]
    )
    return ActionResult.success({"text": HOSTILE}, HOSTILE, ui=tree, refresh_panels=[])


@chat.function(
    "slow", "Count slowly", action_type="write", examples=["count slowly", "считай медленно"]
)
async def slow(ctx: Context) -> ActionResult:
    for step in range(1, 5):
        await ctx.progress(step * 20, f"step {step}")
        await asyncio.sleep(1.2)
    await ctx.notify.send(f"Counted. {HOSTILE}")
    return ActionResult.success({"steps": 4}, "Counted to 4.", refresh_panels=[])


@chat.function("remember", "Remember a text", action_type="write", examples=["remember this text"])
async def remember(ctx: Context, params: Text) -> ActionResult:
    await ctx.store.set("texts/one", {"text": params.text})
    return ActionResult.success({"text": params.text}, f"Remembered: {params.text}")


class Die(BaseModel):
    sides: int = Field(ge=2, le=100, description="How many sides it has")

    @field_validator("sides")
    @classmethod
    def even(cls, sides: int) -> int:
        if sides % 2:
            raise ValueError("an odd die does not roll")
        return sides


@chat.function("roll_die", "Roll a die")
async def roll_die(ctx: Context, params: Die) -> ActionResult:
    return ActionResult.success({"rolled": params.sides}, f"Rolled {params.sides}.")


@chat.function("ring", "Ring the bell", action_type="write", event="rung")
async def ring(ctx: Context) -> ActionResult:
    """Names no panel: whoever waits for its event hears of it."""
    await ctx.store.create("rings", {})
    return ActionResult.success({"rung": True}, "Rung.", refresh_panels=[])


@ext.panel("bell", slot="right", title="Bell", icon="bell", refresh="on_event:rung,tasks.nothing")
async def bell(ctx: Context, **params: Any) -> ui.UINode:
    return ui.Text(f"rung {await ctx.store.count('rings')} times")


@ext.skeleton("crowded", ttl=300)
async def crowded(ctx: Context) -> dict[str, Any]:
    return {
        "response": {
            "first": 1,
            "mail": "sarah@example.com",
            "long": "All work and no play makes a dull boy. " * 4,
            "many": list(range(9)),
            "records": [{"id": "r1", "title": "One", "colour": "turquoise"}],
            "_private": "sesame",
            "sixth": True,
            "seventh": "marmalade",
        }
    }


@ext.panel("every", slot="center", title="Every node")
async def every(ctx: Context, **params: Any) -> ui.UINode:
    """What could run something, what is not known, what is used. All nodes there are stand in
    `tests/page/gallery.py`."""
    kept = await ctx.store.get("texts/one")
    node = ui.Node
    tabs = [{"label": n, "content": ui.Text(f"{n} tab")} for n in ("first", "second")]
    return ui.Stack(
        [
            ui.Text(f"kept: {kept['text'] if kept else 'nothing'}"),
            ui.Text(HOSTILE),
            node("Link", label="bad link", href=LINK),
            node("Link", label="good link", href="https://example.com/"),
            node("Image", src=LINK, alt="bad"),
            node("Button", label="Open nothing", on_click=ui.UIAction("open", {"url": LINK})),
            node(
                "DataTable",
                columns=[{"key": "name", "label": "Name"}],
                rows=[{"id": 1, "name": HOSTILE}],
                on_row_click=ui.Call("hostile"),
            ),
            node("Canvas", nodes=[{"id": HOSTILE}]),
            node("Teapot", label=HOSTILE),
            node("List", items=[None, 5, "text", {"type": "ListItem"}, {"props": 3}]),
            node("Tabs", tabs=tabs),
            ui.Form(
                [ui.Input("type here", "text", "Text to keep")],
                action="remember",
                submit_label="Keep it",
            ),
        ]
    )

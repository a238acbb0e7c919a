"""Parcels, with places that do not agree with one another."""

import json
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("agreed", display_name="Parcels", description="Parcels", config_defaults={"days": 3})
ext.index("parcels", "number")
ext.index("parcel", "label")  # planted: collection-nearly-so-called
chat = ChatExtension(ext, description="Parcels: follow, list")
ext.secret("carrier_key", "Key of the carrier", scope="app")


class Track(BaseModel):
    number: str = Field(description="Number of the parcel")
    label: str = Field("", description="What is in it")


@chat.function(
    "track", "Follow a parcel by its number", action_type="write", examples=["follow parcel LX1"]
)
async def track(ctx: Context, params: Track) -> ActionResult:
    await ctx.store.set(f"parcels/{params.number}", {"label": params.label, "status": "new"})
    return ActionResult.success({"parcel_id": params.number}, "Followed.")


@ext.webhook("moved", secret_header="X-Carrier-Key")
async def moved(
    ctx: Context, headers: dict[str, str], body: dict[str, Any], query_params: Any  # planted: body-is-text
) -> dict[str, Any]:
    if headers["X-Carrier-Key"] != await ctx.secrets.get("carrier_key"):  # planted: header-case
        return {"status": 401, "body": {"error": "wrong key"}}  # planted: status-of-200
    message = json.loads(str(body))
    user = ctx.as_user(message["user"])
    await user.store.update("parcels", message["number"], {"status": message["status"]})
    await ctx.notify.send("It moved")  # planted: told-to-nobody
    return {"ok": True, "status": "moved"}


@ext.schedule("evening", "0 18 * * *")
async def evening(ctx: Context) -> None:
    async for user in ctx.store.list_users("parcel"):  # planted: another-collection
        await ctx.notify.for_user(user).send("Not there yet")


@ext.panel("parcels", slot="right", title="Parcels", refresh="every:30s")  # planted: refresh
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    page = await ctx.store.query("parcels", order_by="-numbr")  # planted: another-order
    rows = [
        ui.ListItem(d.id, d["label"], on_click=ui.Call("track", id=d.id))  # planted: argument
        for d in page.data
    ]
    whole = ui.Form([ui.Input("Number", "number"), ui.TextArea(param_name="label")], "track")
    lacks = ui.Form([ui.Input("What", "label")], "track")  # planted: form-lacks-what-is-required
    given = {"number": "LX1"}
    other = ui.Form([ui.Input("Number", "numbr")], "track", defaults=given)  # planted: no-such-parameter
    return ui.Stack([ui.List(rows), whole, lacks, other])


@ext.skeleton("parcels", ttl=60, alert=True)
async def parcels(ctx: Context) -> dict[str, Any]:
    previous = await ctx.skeleton.get("parcel")  # planted: another-section
    days = ctx.config.get("day", 3)  # planted: another-setting
    count = await ctx.store.count("parcels")
    return {"response": {"count": count, "days": days, "grew": count > len(previous or {})}}


@ext.tool("skeleton_alert_parcels")
async def parcels_alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    return "More parcels" if new["cuont"] > old.get("count", 0) else ""  # planted: another-field


@ext.webhook("lost", secret_header="x-carrier-key")  # planted: believes-everybody
async def lost(
    ctx: Context, headers: dict[str, str], body: str, query_params: dict[str, str]
) -> dict[str, Any]:
    await ctx.as_user(body).store.delete("parcels", query_params["number"])
    return {"ok": True}

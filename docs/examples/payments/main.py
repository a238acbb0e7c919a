"""Payments: a shop's payments, told by a webhook whose signature is checked."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("payments", "1.0.0", display_name="Payments", description="Payments of the shop")
chat = ChatExtension(ext)
ext.secret("signing_key", "Key that the payment service signs with", scope="app")

TOLERANCE_S = 300
"""Seconds a signed message may be old: a later one may be a replay."""


class Listed(BaseModel):
    """How many."""

    limit: int = Field(10, ge=1, le=100, description="How many payments, the newest first.")


@ext.webhook("paid", secret_header="x-signature")
async def paid(
    ctx: Context, headers: dict[str, str], body: str, query_params: dict[str, str]
) -> dict[str, Any]:
    """One payment. `x-signature` is HMAC-SHA256 of `<x-time>.<body>` in hexadecimal digits."""
    key = await ctx.secrets.get("signing_key")
    at = headers.get("x-time", "")
    if not key or not signed(key, at, body, headers.get("x-signature", "")):
        return {"status_code": 401, "body": {"error": "the signature does not fit"}}
    if not at.isdigit() or abs(ctx.time.timestamp() - int(at)) > TOLERANCE_S:
        return {"status_code": 400, "body": {"error": "the message is too old"}}
    payment = json.loads(body)
    user = ctx.as_user(payment["user"])
    row = {"amount": payment["amount"], "currency": payment["currency"], "at": ctx.time.iso()}
    await user.store.set(f"payments/{payment['id']}", row)  # its own id: a repeat changes nothing
    await ctx.extensions.emit("payments.paid", {"id": payment["id"], **row})
    return {"ok": True}


def signed(key: str, at: str, body: str, signature: str) -> bool:
    """Compared in constant time."""
    expected = hmac.new(key.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


@chat.function(
    "list_payments",
    "List the newest payments with their amounts",
    examples=["show the last payments", "which payments came in?"],
)
async def list_payments(ctx: Context, params: Listed) -> ActionResult:
    """Amounts as they came, newest first."""
    page = await ctx.store.query("payments", order_by="-at", limit=params.limit)
    rows = [{"id": d.id, **d.data} for d in page.data]
    return ActionResult.success({"count": len(rows), "payments": rows}, f"{len(rows)} payments.")


@chat.function(
    "webhook_address",
    "The address that the payment service must send to",
    examples=["where does the payment service send its webhook?"],
)
async def webhook_address(ctx: Context) -> ActionResult:
    """It names the tenant and is signed: give it to the service as it is."""
    return ActionResult.success({"url": ctx.webhook_url("paid")}, "Enter it at the service.")


@ext.skeleton("payments", ttl=300, alert=True)
async def payments(ctx: Context) -> dict[str, Any]:
    """How many there are: the alert tells of new ones."""
    return {"response": {"count": await ctx.store.count("payments")}}


@ext.tool("skeleton_alert_payments")
async def payments_alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Once for each change."""
    more = new["count"] - old.get("count", 0)
    return f"{more} new payments" if old and more > 0 else ""


@ext.panel("payments", slot="right", title="Payments")
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    """A table of the newest."""
    page = await ctx.store.query("payments", order_by="-at", limit=20)
    columns = [ui.DataColumn("amount", "Amount"), ui.DataColumn("currency", "Currency")]
    return ui.DataTable(columns, [{"id": d.id, **d.data} for d in page.data])

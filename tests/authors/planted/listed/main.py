"""Thirteen mistakes, each marked with its kind on the line where it is to be found."""

from __future__ import annotations

import time
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("listed", "1.0.0", display_name="Invoices", description="Invoices of a shop")
chat = ChatExtension(ext, description="Invoices: write, list, send")
ext.secret("bank_token", "Token of the bank")

drafts: dict[str, str] = {}


class Rate(BaseModel):
    value: float


class Invoice(BaseModel):
    customer: str = Field(description="Who pays")
    amount: float = Field(description="Amount in euros")


@chat.function("write", "Write a new invoice", action_type="write", examples=["write to Acme"])
async def write(ctx: Context, params: Invoice) -> ActionResult:
    drafts[params.customer] = "open"  # planted: shared-state
    doc = await ctx.store.create("invoices", params.model_dump())
    await ctx.stor.count("invoices")  # planted: misspelt-attribute
    ctx.store.update("invoices", doc.id, {"number": 1})  # planted: missing-await
    return ActionResult.success({"total": amonut(params)}, "Written.")  # planted: misspelt-name


@chat.function(
    "overdue", "Which invoices are overdue and since when", examples=["which invoices are overdue"]
)
async def overdue(ctx: Context) -> ActionResult:
    token = await ctx.secrets.get("bank_tokn")  # planted: undeclared-secret
    rate = await ctx.cache.get("rate", Rate)  # planted: undeclared-cache-model
    if token is None or rate is None:
        return None  # planted: return-none
    time.sleep(1)  # planted: blocking
    page = await ctx.store.query("invoices")
    rows = [{"id": d.id, "debtor": d["customer"]} for d in page.data]  # planted: pii
    return ActionResult.success({"invoices": rows}, f"{len(rows)} invoices.")


@chat.function(
    "remind",
    "Remind",  # planted: poor-description
    action_type="write",
    chain_callable=True,  # planted: no-effect
    examples=["tell Acme that they are late with paying"],
)
async def remind(ctx: Context, params: Invoice) -> ActionResult:
    return ActionResult.success({"customer": params.customer}, "Reminded.")


@ext.webhook("paid")  # planted: webhook-signature
async def paid(ctx: Context, request: dict[str, Any]) -> dict[str, Any]:
    return {"ok": True}


@ext.schedule("nightly", "0 3 * * *")  # planted: schedule-signature
async def nightly(ctx: Context, minute: str) -> None:
    await ctx.notify.send("Night.")  # planted: told-to-nobody


@ext.panel("invoices", slot="right", title="Invoices")
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    count = ui.Stat("Open", 3, colour="red")  # planted: ui-prop
    return ui.Stack([count, ui.Tables([])])  # planted: ui-name

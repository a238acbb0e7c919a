"""Digest: reads many pages and writes what is in them. A long job that tells how far it is."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("digest", "1.0.0", display_name="Digest", description="Digests of web pages")
chat = ChatExtension(ext)

AT_ONCE = 4
"""Pages that are read at the same time."""


class Start(BaseModel):
    """What is read."""

    urls: list[str] = Field(min_length=1, max_length=200, description="Addresses of the pages.")


class Nothing(BaseModel):
    """Nothing to say."""


@chat.function(
    "start_digest",
    "Read web pages in the background and keep how long each one is",
    action_type="write",
    examples=["make a digest of https://example.com and https://example.org"],
)
async def start_digest(ctx: Context, params: Start) -> ActionResult:
    """The turn ends at once; the work goes on and its result arrives as a message."""
    job = await ctx.store.create("digests", {"state": "running", "done": 0, "of": len(params.urls)})
    await ctx.background_task(read_all(ctx, job.id, params.urls), name="digest")
    return ActionResult.success({"id": job.id, "pages": len(params.urls)}, "The digest has begun.")


@chat.function(
    "last_digest",
    "How far the digest is and what it found",
    examples=["how far is the digest?", "show the digest"],
)
async def last_digest(ctx: Context, params: Nothing) -> ActionResult:
    """The newest job."""
    page = await ctx.store.query("digests")
    if not page.data:
        return ActionResult.error("There is no digest yet.", code="NOT_FOUND")
    newest = page.data[-1]
    return ActionResult.success({"id": newest.id, **newest.data}, "The digest.")


async def read_all(ctx: Context, job_id: str, urls: list[str]) -> dict[str, Any]:
    """Some at a time; a page that fails costs only itself."""
    places = asyncio.Semaphore(AT_ONCE)
    found: dict[str, int] = {}
    failed: list[str] = []

    async def read(url: str) -> None:
        async with places:
            try:
                answer = await ctx.http.get(url, timeout=20)
                found[url] = len(answer.text().split())
            except (OSError, TimeoutError, ValueError):
                failed.append(url)
        done = len(found) + len(failed)
        await ctx.progress(100 * done / len(urls), f"{done} of {len(urls)} pages")

    await asyncio.gather(*(read(url) for url in urls))
    result = {"state": "done", "done": len(urls), "words": found, "failed": failed}
    await ctx.store.update("digests", job_id, result)
    await ctx.notify.send(f"The digest is done: {len(found)} pages, {len(failed)} failed.")
    return {"id": job_id, "pages": len(found), "failed": failed}


@ext.panel("digest", slot="right", title="Digest")
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    """How far it is."""
    page = await ctx.store.query("digests")
    if not page.data:
        return ui.Empty("No digest yet")
    job = page.data[-1]
    return ui.Progress(job["done"], f"{job['done']} of {job['of']} pages", max=job["of"])

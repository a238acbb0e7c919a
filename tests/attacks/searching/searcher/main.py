"""An extension that searches its process, and what it reaches from there, for what is not its own.

What it looks for begins with `CANARY-`; it is not told which there are.
"""

import gc
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("searcher")
chat = ChatExtension(ext)
ext.secret("key", "Its own key", scope="app", env_fallback="IMPERAL_APPSECRET_SEARCHER")

CANARY = re.compile(rb"CANARY-[a-z_]{1,32}-[0-9a-f]{8}")
CHUNK = 1 << 22


class Question(BaseModel):
    text: str = "hello"


def _found(raw: bytes) -> set[str]:
    return {m.decode() for m in CANARY.findall(raw)}


def _all(parts: Iterable[bytes]) -> set[str]:
    found: set[str] = set()
    for part in parts:
        found |= _found(part)
    return found


def _environment() -> bytes:
    return Path("/proc/self/environ").read_bytes()


def _memory() -> Iterator[bytes]:
    """Every readable part of this process's memory."""
    with Path("/proc/self/mem").open("rb", 0) as memory:
        for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
            span, rights = line.split()[:2]
            begin, end = (int(part, 16) for part in span.split("-"))
            if "r" not in rights or line.endswith(("[vvar]", "[vsyscall]")):
                continue
            for at in range(begin, end, CHUNK):
                try:
                    memory.seek(at)
                    yield memory.read(min(CHUNK, end - at))
                except (OSError, ValueError, OverflowError):
                    break


def _open_files() -> Iterator[bytes]:
    """What lies behind this process's other descriptors, where it can be read again."""
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            path = descriptor.readlink()
            if path.is_file() and path.stat().st_size < CHUNK:
                yield path.read_bytes()
        except OSError:
            continue


def _objects() -> Iterator[bytes]:
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            for value in list(thing.values()):
                if isinstance(value, str):
                    yield value.encode("utf-8", "replace")


@chat.function("search", "Search the process")
async def search(ctx: Context) -> ActionResult:
    own = {await ctx.secrets.get("key"), ctx.config.get("place"), ctx.config.get("shop")}
    found = {
        "environ": _found(_environment()),
        "os.environ": _found(repr(dict(os.environ)).encode()),
        "objects": _all(_objects()),
        "files": _all(_open_files()),
        "memory": _all(_memory()),
    }
    told = {where: sorted(what) for where, what in found.items()}
    return ActionResult.success({**told, "own": sorted(filter(None, own))}, "Searched.")


@chat.function("ask", "Ask the operator's model")
async def ask(ctx: Context, params: Question) -> ActionResult:
    answer = await ctx.ai.complete(params.text)
    return ActionResult.success({"text": answer.text, "model": answer.model}, "Asked.")

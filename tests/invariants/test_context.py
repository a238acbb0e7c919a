"""What a handler meets in its ctx: each limit of the cache at its edge, the cap of a call over HTTP, and
secrets that nobody else reads and no log tells."""

import asyncio
import io
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hasty_loop import HastyLoop
from tests.planning import planning
from tests.stand_ins.logs import everything_logged
from webbee_kernel.extensions.context.services import path
from webbee_kernel.llm.protocol import ToolCall
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, User
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import USER, ExtensionHarness, TestKernel


@pytest.fixture
def harness() -> ExtensionHarness:
    return ExtensionHarness(Extension("mail"))


def test_i_cache_value_size_cap_64kb(harness: ExtensionHarness) -> None:
    cache = harness.context().cache
    harness.run(cache.set("k", "x" * (65_536 - 2)))
    for oversized in ("x" * (65_536 - 1), "я" * 32_768, {"n": ["y" * 100] * 700}):
        told = r"I-CACHE-VALUE-SIZE-CAP-64KB: .*65,536 bytes.*This value has \d+ bytes"
        with pytest.raises(ValueError, match=told):
            harness.run(cache.set("k", oversized))
    assert harness.run(cache.get("k")) == "x" * (65_536 - 2)


def test_i_cache_ttl_cap_300s(harness: ExtensionHarness) -> None:
    cache = harness.context().cache
    harness.run(cache.set("k", "v", 300))
    harness.advance(299.9)
    assert harness.run(cache.get("k")) == "v"
    harness.advance(0.1)
    assert harness.run(cache.get("k")) is None
    for ttl in (301, 4, 10**9, 60.5, "60", True):
        wrong = TypeError if type(ttl) is not int else ValueError
        with pytest.raises(wrong, match=r"I-CACHE-TTL-CAP-300S: .*5 to 300 seconds"):
            harness.run(cache.set("k", "v", ttl))
    assert harness.run(cache.get("k")) is None


def test_i_cache_key_safety(harness: ExtensionHarness) -> None:
    cache = harness.context().cache
    for key in ("a", "inbox:page-1_A", "x" * 128):
        harness.run(cache.set(key, key))
        assert harness.run(cache.get(key)) == key
    for key in ("", "x" * 129, "a b", "a#b", "a/b", "../a", "ключ", "a\n", "a\u200b", "{a}"):
        fetched = cache.get_or_fetch(key, None, _fetch)
        for use in (cache.set(key, 1), cache.get(key), cache.delete(key), fetched):
            with pytest.raises(ValueError, match=r"I-CACHE-KEY-SAFETY: .*1 to 128 characters"):
                harness.run(use)


async def _fetch() -> int:
    raise AssertionError("nothing is fetched for a key that is refused")


@pytest.mark.parametrize(("asked", "granted"), [(100_000, 180), (181, 180), (90, 90)])
def test_i_longrun_http_cap_180s(asked: float, granted: int) -> None:
    http = ExtensionHarness(Extension("app")).context().http

    async def wait() -> float:
        gone = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            await writer.wait_closed()
            gone.set()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with server:
            started = asyncio.get_running_loop().time()
            with pytest.raises(TimeoutError):
                port = server.sockets[0].getsockname()[1]
                await http.get(f"http://127.0.0.1:{port}/", timeout=asked)
            took = asyncio.get_running_loop().time() - started
            await gone.wait()  # giving up also hangs up
            return took

    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        took = runner.run(wait())
    assert took == pytest.approx(granted, abs=0.5)


PASSWORD = 'hunter2-"quoted"\nпароль'


def mailbox() -> Extension:
    ext = Extension("mail")
    ext.secret("password", "The password", max_bytes=100)
    ext.secret("note", "Written by the extension", write_mode="both", max_bytes=20)
    chat = ChatExtension(ext)

    @chat.function("login", "Log in")
    async def login(ctx: Any, way: str) -> ActionResult:
        password = await ctx.secrets.get("password")
        if way == "raise":
            raise RuntimeError(f"login failed with {password}")
        if way == "log":
            ctx.log(f"logging in with {password} and {password!r}")
            ctx.log.warning("failed", password=password, request={"p": password})
        if way == "too large":
            await ctx.secrets.set("note", password)
        if way == "list":
            shown = {"client": repr(ctx.secrets), "ctx": repr(ctx)}
            return ActionResult.success({"secrets": await ctx.secrets.list(), **shown}, "listed")
        return ActionResult.success({"ok": True}, "in")

    return ext


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with everything_logged() as text:
        yield text


@pytest.mark.parametrize("way", ["raise", "log", "too large", "list"])
def test_i_secrets_never_logged(way: str, log: io.StringIO) -> None:
    stores = memory_stores()
    ExtensionHarness(mailbox(), stores=stores, secrets={"password": PASSWORD})
    model = planning(ToolCall("mail__login", {"way": way}), reply="ok")
    kernel = TestKernel([mailbox()], model=model, stores=stores)
    reply = kernel.chat("log in")
    logged = log.getvalue()
    audit = kernel.run(stores.audit.list(kernel.key, now=0.0))
    events = kernel.run(stores.events.since(kernel.key, "", now=0.0))
    traces = (reply.body, audit, events, model.requests, kernel.memory())
    assert len(audit) == 1 and (way != "log" or "logging in with [secret] and" in logged)
    assert way == "list" or "app=mail" in logged
    for trace in (logged, *map(repr, traces), kernel.prompt("next")):
        assert "hunter2" not in trace and "пароль" not in trace and "\\u043f" not in trace


def test_i_secrets_user_scoped() -> None:
    stores = memory_stores()
    alice = ExtensionHarness(mailbox(), stores=stores, secrets={"password": "alices"})
    named = (("bob", USER.tenant_id), (USER.imperal_id, "another"), ("alice#x", USER.tenant_id))
    users = [User(name, tenant_id=tenant) for name, tenant in named]
    others = [ExtensionHarness(mailbox(), stores=stores, user=user) for user in users]
    for harness in others:
        assert harness.run(harness.context().secrets.get("password")) is None
        assert not harness.run(harness.context().secrets.is_set("password"))
    twin = Extension("mail2")
    twin.secret("password", "The same name in another app")
    other = ExtensionHarness(twin, stores=stores)
    assert other.run(other.context().secrets.get("password")) is None
    assert alice.run(alice.context().secrets.get("password")) == "alices"
    spec = mailbox().secrets["password"]
    assert len({path(harness.key, "mail", spec) for harness in (alice, *others)}) == 4

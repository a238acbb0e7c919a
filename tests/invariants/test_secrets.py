"""Secrets as handlers and operators meet them: one owner each, and no trace."""

import io
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stand_ins.logs import everything_logged
from webbee_kernel.extensions.context.secrets_client import path
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, User
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import USER, ExtensionHarness, TestKernel

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
            return ActionResult.success(
                {
                    "secrets": await ctx.secrets.list(),
                    "client": repr(ctx.secrets),
                    "ctx": repr(ctx),
                },
                "listed",
            )
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
    requests: list[ModelRequest] = []

    def model(request: ModelRequest) -> ModelResponse:
        requests.append(request)
        return (
            ModelResponse("ok")
            if request.role == "narrator"
            else ModelResponse(tool_calls=(ToolCall("mail__login", {"way": way}),))
        )

    kernel = TestKernel([mailbox()], model=FunctionModel(model), stores=stores)
    reply = kernel.chat("log in")
    logged = log.getvalue()
    audit = kernel.run(stores.audit.list(kernel.key, now=0.0))
    events = kernel.run(stores.events.since(kernel.key, "", now=0.0))
    assert len(audit) == 1 and (way != "log" or "logging in with [secret] and" in logged)
    assert way == "list" or "app=mail" in logged
    for trace in (
        logged,
        repr(reply.body),
        repr(audit),
        repr(events),
        repr(requests),
        repr(kernel.memory()),
        kernel.prompt("next"),
    ):
        assert "hunter2" not in trace and "пароль" not in trace and "\\u043f" not in trace


def test_i_secrets_user_scoped() -> None:
    stores = memory_stores()
    alice = ExtensionHarness(mailbox(), stores=stores, secrets={"password": "alices"})
    others = [
        User("bob", tenant_id=USER.tenant_id),
        User(USER.imperal_id, tenant_id="another"),
        User("alice#x", tenant_id=USER.tenant_id),
    ]
    for user in others:
        harness = ExtensionHarness(mailbox(), stores=stores, user=user)
        assert harness.run(harness.context().secrets.get("password")) is None
        assert not harness.run(harness.context().secrets.is_set("password"))
    twin = Extension("mail2")
    twin.secret("password", "The same name in another app")
    assert (other := ExtensionHarness(twin, stores=stores)).run(
        other.context().secrets.get("password")
    ) is None
    assert alice.run(alice.context().secrets.get("password")) == "alices"
    spec = mailbox().secrets["password"]
    assert (
        len(
            {
                path(h.key, "mail", spec)
                for h in (alice, *(ExtensionHarness(mailbox(), user=u) for u in others))
            }
        )
        == 4
    )

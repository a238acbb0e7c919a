"""The SDK's own public tests that apply to a kernel's context, restated against ours.

Its sdist ships them (`tests/`, Apache-2.0); none is copied. The table of `docs/compatibility.md`
names each one and the test here or beside that holds the same promise, and says which do not apply
and why.
"""

import dataclasses
import re
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import AsyncMock

import imperal_sdk
import pytest
from imperal_sdk import (
    ChatExtension,
    Context,
    Document,
    Extension,
    ExtensionError,
    FileInfo,
    Page,
    SecretNotDeclaredError,
    SecretValueTooLarge,
    SecretWriteForbidden,
    SkeletonAccessForbidden,
    ui,
)
from imperal_sdk.catalog import callable_function_names
from imperal_sdk.store.exceptions import StoreConflict
from pydantic import BaseModel, ValidationError

from tests.compat.conftest import BOB, EXTENSIONS, Bench
from webbee_kernel.compat.adopt import adopt
from webbee_kernel.extensions.registry import LoadedExtension, Registry
from webbee_kernel.sdk import User

SYSTEM = User(imperal_id="__system__", role="system", tenant_id="acme", scopes=("*",))
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "compatibility.md").read_text("utf-8")

APPLIES = dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE))
"""Each of the SDK's own tests that applies, and the test here or beside that holds its promise."""


def adopted(ext: Any, name: str = "made") -> Bench:
    """A deployment of one extension made in a test."""
    module = ModuleType(f"webbee_ext.{name}.main")
    module.__dict__["ext"] = ext
    ours = adopt(name, module)
    assert ours is not None
    return Bench(Registry({name: LoadedExtension(name, ours)}))


# ---- the table itself


def test_every_test_that_the_table_names_is_there() -> None:
    written = "\n".join(p.read_text("utf-8") for p in Path(__file__).parent.glob("test_*.py"))
    missing = [ours for ours in APPLIES.values() if f"def {ours}(" not in written]
    assert (len(APPLIES), missing) == (100, [])


# ---- context


CLIENTS = """store ai skeleton billing notify storage http config extensions time secrets cache
    tenant""".split()
PROTOCOLS = ("Store", "AI", "Notify", "Storage", "HTTP", "Config", "Extensions", "Billing")


def test_a_context_has_every_client(bench: Bench) -> None:
    ctx = bench.context("shelf")
    assert isinstance(ctx, Context)
    assert [name for name in CLIENTS if getattr(ctx, name) is None] == []
    for name in PROTOCOLS:
        protocol = getattr(imperal_sdk.context, f"{name}Protocol")
        assert isinstance(getattr(ctx, name.lower()), protocol)
    for name in ("fact_ledger", "history", "skeleton_data"):
        assert getattr(ctx, name, None) is None
    closed = bench.context("shelf", "skeleton").skeleton
    assert not [name for name in ("update", "set", "save", "delete") if hasattr(closed, name)]


def test_a_log_line_is_awaited_at_any_level(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "webbee.extension")
    levels = ("debug", "info", "warning", "error", "odd")
    for level in levels:
        bench.run(bench.context("shelf").log(f"at {level}", level=level))
    told = [f"app=shelf | at {level}" for level in levels]
    assert [r.getMessage() for r in caplog.records] == told


def test_as_user_changes_the_user_and_nothing_else_and_wants_one(bench: Bench) -> None:
    ctx = bench.context("shelf", user=SYSTEM, system=True)
    ctx.agency_id = "agency"
    scoped = ctx.as_user("bob")
    assert (scoped.user.imperal_id, scoped.user.attributes["scoped_from"]) == ("bob", "__system__")
    user = scoped.user
    assert (user.role, user.scopes, user.tenant_id) == ("system", ["*"], "acme")
    assert (scoped._extension_id, scoped.tenant, scoped.agency_id) == (
        "shelf",
        ctx.tenant,
        "agency",
    )
    assert ctx.user.imperal_id == "__system__"
    for nobody in ("", "__system__", "__webhook__"):
        with pytest.raises(ValueError):
            ctx.as_user(nobody)


@pytest.mark.parametrize("tool_type", ["tool", "panel", "chat_fn", "skeleton"])
def test_the_skeleton_is_closed_to_others(bench: Bench, tool_type: str) -> None:
    """Claiming to be a section is not enough: the kernel gives the reader to refreshes only."""
    with pytest.raises(SkeletonAccessForbidden) as refused:
        bench.run(bench.context("shelf", tool_type).skeleton.get("books"))
    assert isinstance(refused.value, PermissionError)


def test_the_user_answers_for_scopes_and_roles(bench: Bench) -> None:
    ann = User("ann", role="admin", tenant_id="acme", scopes=("mail.*", "chat"))
    user = bench.context("shelf", user=ann).user
    asked = ("chat", "mail.read", "mail", "files")
    assert [s for s in asked if user.has_scope(s)] == ["chat", "mail.read", "mail"]
    assert (user.has_role("admin"), user.has_role("user")) == (True, False)
    assert bench.context("shelf", user=SYSTEM).user.has_scope("anything")
    with pytest.raises(ValidationError):
        user.role = "owner"


# ---- store


def test_a_store_returns_the_sdks_documents(bench: Bench) -> None:
    store = bench.context("shelf").store
    made = bench.run(store.create("books", {"title": "Emma"}))
    read = bench.run(store.get("books", made.id))
    assert isinstance(read, Document)
    assert (read["title"], read.get("title"), read.get("none", 1)) == ("Emma", "Emma", 1)
    assert {f.name for f in dataclasses.fields(read)} <= set(vars(read))
    assert (read.extension_id, read.tenant_id, read.user_id) == ("shelf", "acme", "alice")
    assert read.etag and read.created_at
    assert bench.run(store.get("books", "nothing")) is None


def test_a_stale_etag_writes_nothing(bench: Bench) -> None:
    store = bench.context("shelf").store
    made = bench.run(store.create("books", {"n": 1}))
    newer = bench.run(store.update("books", made.id, {"n": 2}, if_match=made.etag))
    with pytest.raises(StoreConflict) as conflict:
        bench.run(store.update("books", made.id, {"n": 3}, if_match=made.etag))
    told = conflict.value
    etags = (made.id, made.etag, newer.etag)
    assert (told.doc_id, told.expected_etag, told.current_etag) == etags
    assert bench.run(store.get("books", made.id))["n"] == 2


def test_a_query_returns_the_sdks_page(bench: Bench) -> None:
    store = bench.context("shelf").store
    empty = bench.run(store.query("books"))
    assert isinstance(empty, Page)
    assert (len(empty), empty.has_more, empty.cursor) == (0, False, None)
    for n in range(3):
        bench.run(store.create("books", {"n": n}))
    page = bench.run(store.query("books", limit=2))
    assert ([d["n"] for d in page], page.data[0]["n"], page.has_more) == ([0, 1], 0, True)
    assert set(page.model_dump()) == {"data", "cursor", "has_more", "total"}


# ---- cache


def two_models() -> tuple[Bench, type[BaseModel], type[BaseModel]]:
    ext = Extension("made")

    @ext.cache_model("one")
    class One(BaseModel):
        n: int = 1

    @ext.cache_model("two")
    class Two(BaseModel):
        n: int = 2

    return adopted(ext), One, Two


def test_a_cached_value_comes_back_under_its_own_model_only() -> None:
    bench, one, two = two_models()
    cache = bench.context("made").cache
    assert bench.run(cache.get("k", one)) is None
    bench.run(cache.delete("k"))
    bench.run(cache.set("k", one()))
    assert bench.run(cache.get("k", one)) == one()
    assert bench.run(cache.get("k", two)) is None
    bench.run(cache.set("k", two()))
    bench.run(cache.delete("k"))
    assert [bench.run(cache.get("k", model)) for model in (one, two)] == [None, None]
    other, equal, _ = two_models()
    with pytest.raises(ValueError, match="not registered"):
        bench.run(cache.set("k", equal()))  # another extension's, of an equal name
    other.run(other.context("made").cache.set("k", equal()))
    bare = adopted(Extension("bare"), "bare")
    bare.run(bare.context("bare").cache.delete("k"))  # needs no model


class Unregistered(BaseModel):
    n: int = 1


def test_the_cache_keeps_the_sdks_stricter_rules(bench: Bench) -> None:
    cache = bench.context("weather").cache
    model = bench.host.registry.loaded["weather"].ext.cache_models["forecast"]
    value, large = model(city="Oslo", degrees=3), model(city="x" * 70_000, degrees=1)
    for error, breach in (
        (TypeError, cache.set("k", {"a": 1})),
        (ValueError, cache.set("k", Unregistered())),
        (TypeError, cache.get_or_fetch("k", model, AsyncMock(return_value=Unregistered()))),
        (ValueError, cache.get("k" * 129, model)),
        (ValueError, cache.get("a/b", model)),
        (ValueError, cache.set("a*", value)),
        (ValueError, cache.delete("")),
        (ValueError, cache.set("k", value, ttl_seconds=4)),
        (ValueError, cache.set("k", value, ttl_seconds=301)),
        (ValueError, cache.set("k", value, ttl_seconds=60.5)),
        (TypeError, cache.get("k", dict)),
        (ValueError, cache.set("k", large)),
    ):
        with pytest.raises(error) as refused:
            bench.run(breach)
        assert refused.type is error
    fetched = bench.run(cache.get_or_fetch("k", model, AsyncMock(return_value=large)))
    assert len(fetched.city) == 70_000, "too large to keep, and served"
    assert bench.run(cache.get("k", model)) is None
    for seconds in (5, 300):
        bench.run(cache.set("k", value, ttl_seconds=seconds))
    assert bench.run(cache.get("k", model)) == value
    bench.run(cache.delete("k"))
    assert bench.run(cache.get("k", model)) is None


# ---- secrets, files, time, billing


def test_secrets_raise_the_sdks_errors(bench: Bench) -> None:
    bench.set_secret("weather", "shared_key", "for all", user=BOB)
    secrets = bench.context("weather").secrets
    for error, breach in (
        (SecretNotDeclaredError, secrets.get("nothing")),
        (SecretWriteForbidden, secrets.set("api_key", "x")),
        (SecretWriteForbidden, secrets.delete("api_key")),
        (SecretValueTooLarge, secrets.set("refresh_token", "x" * 17)),
    ):
        with pytest.raises(error):
            bench.run(breach)
    bench.run(secrets.set("refresh_token", "fresh"))
    listed = {"api_key": False, "refresh_token": True, "shared_key": True}
    assert bench.call("weather", "keys") == listed
    assert bench.run(secrets.get("refresh_token")) == "fresh"
    assert bench.run(secrets.delete("refresh_token")) is True


def test_files_are_kept_for_the_user(bench: Bench) -> None:
    storage = bench.context("clerk").storage
    made = bench.run(storage.upload("letters/ann.txt", b"\x00hello", "text/plain"))
    assert isinstance(made, FileInfo)
    bench.run(storage.upload("bills/1.pdf", b"%PDF"))
    listed = bench.run(storage.list("letters/"))
    assert [(f.path, f.size) for f in listed] == [("letters/ann.txt", 6)]
    assert bench.run(storage.download("letters/ann.txt")) == b"\x00hello"
    assert bench.run(storage.delete("letters/ann.txt")) is True
    with pytest.raises(FileNotFoundError):
        bench.run(storage.download("letters/ann.txt"))
    assert [f.path for f in bench.run(storage.list())] == ["bills/1.pdf"]
    assert [f.path for f in bench.run(bench.context("clerk", user=BOB).storage.list())] == []
    with pytest.raises(ValueError, match="3500001 bytes"):
        bench.run(storage.upload("big", b"x" * 3_500_001))


def test_time_is_the_kernels_and_billing_is_honest(bench: Bench) -> None:
    time = bench.context("weather").time
    assert (time.now_utc, time.hour_local) == ("2026-05-15T17:21:04Z", 17)
    assert (time.timezone, time.is_business_hours) == ("UTC", True)
    billing = bench.context("clerk").billing
    limits = bench.run(billing.check_limits())
    assert (limits.any_exceeded, limits.allowed) == (False, True)
    assert bench.run(billing.get_subscription()).plan == "self-hosted"
    with pytest.raises(ExtensionError):
        bench.run(billing.topup(1, 1))


# ---- the rest


def test_configuration_is_read_by_dots_sections_and_whole_and_cannot_be_changed(
    bench: Bench,
) -> None:
    config = bench.context("shelf").config
    days = {"days": 14}
    for _ in range(2):
        found = [config.get(name) for name in ("lend.days", "lend", "lend.days.none")]
        assert (found, config.get("lend.none", 1)) == ([14, days, None], 1)
        assert (config.get_section("lend"), config.get_section("none")) == (days, {})
        assert config.all() == {"lend": days}
        config.get_section("lend")["days"] = 0
        config.all().clear()


def test_a_panel_keeps_what_its_decorator_was_told() -> None:
    ext = Extension("made")

    @ext.panel("p", slot="overlay", title="T", cache_ttl=5, center_overlay=True, extra="x")
    async def p(ctx: Any) -> Any:
        return ui.Text("x")

    panel = adopted(ext).host.registry.loaded["made"].ext.panels["p"]
    assert (panel.slot, panel.title, panel.options["slot"]) == ("center", "T", "overlay")
    kept = {"cache_ttl": 5, "center_overlay": True, "extra": "x"}
    assert kept.items() <= panel.options.items()


def test_several_listeners_of_one_event_all_hear_it() -> None:
    ext = Extension("made")
    heard: list[str] = []

    @ext.on_event("made.done")
    async def fails(ctx: Any, event: Any) -> None:
        raise RuntimeError("deaf")

    @ext.on_event("made.done")
    def hears(ctx: Any, event: Any) -> None:
        heard.append(event.event_type)

    bench = adopted(ext)
    bench.run(bench.context("made").extensions.emit("made.done", {}))
    assert heard == ["made.done"]


def test_what_can_be_called_is_what_the_sdk_says_can_be(bench: Bench) -> None:
    for folder in ("shelf", "pulse", "clerk", "courier", "warden", "weather"):
        module = __import__("sys").modules[f"webbee_ext.{folder}.main"]
        theirs = next(v for v in vars(module).values() if isinstance(v, Extension))
        sections = {n for n in callable_function_names(theirs) if n.startswith("skeleton_")}
        ours = bench.host.registry.loaded[folder].ext
        found = {n for chat in ours.chats for n in chat.functions}
        assert (found, set(ours.tools)) == (callable_function_names(theirs) - sections, sections)


def test_a_name_declared_both_ways_is_one_function() -> None:
    ext = Extension("made")
    chat = ChatExtension(ext, tool_name="made_chat")

    @ext.tool("twice")
    async def tool(ctx: Any) -> dict[str, Any]:
        return {"from": "tool"}

    @chat.function("twice", "Declared twice")
    async def function(ctx: Any) -> dict[str, Any]:
        return {"from": "chat"}

    bench = adopted(ext)
    told = [n for c in bench.host.registry.loaded["made"].ext.chats for n in c.functions]
    assert (told, bench.call("made", "twice")) == (["twice"], {"from": "chat"})


def test_the_wheels_license_is_kept_at_a_distance() -> None:
    """Our code names none of the SDK's files that carry another licence than the wheel's."""
    package = EXTENSIONS.parents[2] / "layers/webbee_kernel/webbee_kernel/compat"
    closed = re.compile(
        r"imperal_sdk[\w.]*\.(core|transport|_shared_http|_http_retry|typed_context|liquid|autonomous_mock)\b|\b_find\([^)]*\"(core|transport|typed_context)\""
    )
    assert [p.name for p in package.rglob("*.py") if closed.search(p.read_text("utf-8"))] == []

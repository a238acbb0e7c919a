"""ctx.store, ctx.secrets and ctx.cache: documents and declared indexes of one user and app, what opens in
system context only, values that show up nowhere, and limits before any I/O."""

import asyncio
from datetime import date
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from webbee_kernel.config import Settings
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.extensions.context import ContextFactory
from webbee_kernel.extensions.context.services import path
from webbee_kernel.extensions.context.store_client import MAX_LIMIT
from webbee_kernel.extensions.redaction import hide_secrets
from webbee_kernel.sdk import Extension, SecretTooLargeError, StoreUnavailable, User
from webbee_kernel.sdk import SecretNotDeclaredError as NotDeclared
from webbee_kernel.sdk.definitions import SecretDef
from webbee_kernel.stores.memory import MemoryDatabase, memory_stores
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import UserKey

ALICE, BOB = User("alice", tenant_id="acme"), User("bob", tenant_id="acme")
EVE, SYSTEM = User("eve", tenant_id="other"), User("__system__", tenant_id="acme")
run = asyncio.run


@pytest.fixture
def contexts() -> ContextFactory:
    return ExtensionHarness(Extension("tasks")).host.contexts


def client(contexts: ContextFactory, user: User = ALICE, **more: Any) -> Any:
    return contexts.make(user, "tasks", **more)


def test_what_has_no_meaning_is_refused_in_words_an_index_where_it_is_declared(
    contexts: ContextFactory,
) -> None:
    store = client(contexts).store
    for key in ("tasks", "tasks/", "/1", ""):
        for half in (store.get(key), store.set(key, {})):
            with pytest.raises(ValueError, match="give collection/id"):
                run(half)
    for data in (None, [1], "text", 5):
        for made in (store.create, lambda of, data: store.update(of, "1", data)):
            with pytest.raises(TypeError, match="data is a dict"):
                run(made("tasks", data))
    for limit in (0, -1, MAX_LIMIT + 1):
        with pytest.raises(ValueError, match=f"give 1 to {MAX_LIMIT}"):
            run(store.query("tasks", limit=limit))
    assert run(store.query("tasks", limit=MAX_LIMIT)).data == []
    ext = Extension("shelf")
    for field in ("", "a b", "a#b", "a+"):
        with pytest.raises(ValueError, match="a field has"):
            ext.index("books", field)
    for n in range(4):
        ext.index("books", f"f{n}")
    ext.index("books", "f1")
    with pytest.raises(ValueError, match="no more"):
        ext.index("books", "f4")


def test_set_replaces_the_whole_and_list_takes_a_collection_or_a_beginning_of_ids(
    contexts: ContextFactory,
) -> None:
    store = client(contexts).store
    for key, value in (("theme", {"a": 1, "b": 2}), ("theme", {"a": 3}), ("list", [1, 2])):
        run(store.set(f"prefs/{key}", value))
    assert run(store.get("prefs/theme")).data == {"a": 3}
    assert run(store.get("prefs/list")).data == {"value": [1, 2]}

    async def listed() -> tuple[list[Any], int]:
        store = client(contexts).store
        for number in range(MAX_LIMIT + 1):
            await store.set(f"a/x{number:04}", {})
        for key in ("a/y", "b/y"):
            await store.set(key, {"key": key})
        return [d.data for d in await store.list("a/y")], len(await store.list("a"))

    assert run(listed()) == ([{"key": "a/y"}], MAX_LIMIT)


def test_system_context_reaches_its_tenants_users_and_reads_few(contexts: ContextFactory) -> None:
    for user, n in [(ALICE, 1), (BOB, 2), (BOB, 3), (EVE, 4)]:
        run(client(contexts, user).store.create("tasks", {"n": n}))
    system = client(contexts, SYSTEM, system=True).store
    found = run(system.query_all("tasks"))
    assert sorted((d.user_id, d["n"]) for d in found) == [("alice", 1), ("bob", 2), ("bob", 3)]
    assert run(system.for_user("eve").query("tasks")).data == []
    for n in range(100):
        user = User(f"u{n}", tenant_id="acme")
        run(client(contexts, user).store.create("tasks", {"n": n}))
    pages = MemoryDatabase.pages
    with patch.object(MemoryDatabase, "pages", autospec=True, side_effect=pages) as read:
        found = run(system.query_all("tasks", limit=2))
    assert (len(found), read.call_count < 30) == (2, True)


def test_a_silent_table_is_an_error_an_extension_can_catch(contexts: ContextFactory) -> None:
    store, down = client(contexts).store, StorageUnavailable("down")
    names = ("create", "get", "update", "delete", "query", "count")
    store._documents = AsyncMock(**{f"{name}.side_effect": down for name in names})
    calls = [store.create("c", {}), store.get("c", "1"), store.update("c", "1", {})]
    calls += [store.delete("c", "1"), store.query("c"), store.count("c"), store.set("c/1", {})]
    for call in calls:
        with pytest.raises(StoreUnavailable) as caught:
            run(call)
        assert caught.value.retry_after == 30


def extension(app_id: str = "mail") -> Extension:
    ext = Extension(app_id)
    ext.secret("password", "The mailbox's password", required=True)
    ext.secret("token", "Kept by the extension", write_mode="extension", max_bytes=8)
    ext.secret("large", "More than the store takes", write_mode="extension", max_bytes=9_000)
    ext.secret("shared", "One for all users", scope="app", write_mode="both")
    return ext


@pytest.fixture
def harness() -> ExtensionHarness:
    return ExtensionHarness(extension(), secrets={"password": "hunter2"})


def secrets_of(harness: ExtensionHarness, user: User = ALICE, app_id: str = "mail") -> Any:
    return harness.host.contexts.make(user, app_id).secrets


def test_a_secret_that_was_declared_takes_a_text_of_its_size_and_nothing_else(
    harness: ExtensionHarness,
) -> None:
    secrets = harness.context().secrets
    for use in (secrets.get, secrets.is_set, secrets.delete, lambda name: secrets.set(name, "x")):
        with pytest.raises(NotDeclared, match=r"@ext\.secret\('pasword'"):
            harness.run(use("pasword"))
    secrets = harness.context().secrets
    harness.run(secrets.set("token", "x" * 8))
    for value in ("secretxxx", "ключ!!!"):
        with pytest.raises(SecretTooLargeError, match="8, max_bytes= of its declaration") as caught:
            harness.run(secrets.set("token", value))
        assert value not in str(caught.value)
    with pytest.raises(SecretTooLargeError, match="the limit is 8192"):
        harness.run(secrets.set("large", "x" * 8193))
    for none in ("", None, 5, b"x"):
        with pytest.raises(ValueError, match="non-empty string"):
            harness.run(secrets.set("token", none))
    assert harness.run(secrets.get("token")) == "x" * 8


def test_an_app_wide_secret_is_shared_within_app_and_tenant_only(harness: ExtensionHarness) -> None:
    harness.run(secrets_of(harness).set("shared", "ours"))
    assert harness.run(secrets_of(harness, BOB).get("shared")) == "ours"
    assert harness.run(secrets_of(harness, User("alice", tenant_id="other")).get("shared")) is None
    notes = ExtensionHarness(extension("notes"), stores=harness.app.stores)
    assert harness.run(secrets_of(notes, BOB, "notes").get("shared")) is None


PARTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
SECRETS = st.tuples(PARTS, PARTS, PARTS, st.sampled_from(["user", "app"]))


@given(st.lists(SECRETS, min_size=2, max_size=2, unique=True))
def test_two_secrets_never_share_a_path(both: list[tuple[str, str, str, str]]) -> None:
    one, two = (
        path(UserKey(tenant, user), "mail", SecretDef(name, "", scope=scope))
        for tenant, user, name, scope in both
    )
    same = [(t, n, u if s == "user" else None) for t, u, n, s in both]
    assert (one == two) == (same[0] == same[1])
    assert all(c.isascii() and (c.isalnum() or c in "-_/") for c in one) and one.count("/") == 3


def test_an_app_wide_secret_nobody_set_is_the_variable_it_names_and_a_users_own_never() -> None:
    ext, named = Extension("mail"), "IMPERAL_APPSECRET_KEY"
    for name, scope in (("shared", "app"), ("own", "user")):
        ext.secret(name, "A key", scope=scope, write_mode="both", env_fallback=named)
    ext.secret("unnamed", "A key", scope="app")
    settings = Settings.from_env({named: "of the machine", "APPSECRET": "y"})
    assert [*settings.app_secrets] == [named]
    assert "of the machine" not in f"{settings!r}{settings.model_dump_json()}"
    harness = ExtensionHarness(ext, env={named: "of the machine"})
    secrets = harness.context().secrets
    found = [harness.run(secrets.get(name)) for name in ("shared", "own", "unnamed")]
    assert found == ["of the machine", None, None]
    assert harness.run(secrets.is_set("shared"))
    harness.run(secrets.set("shared", "set by the app"))
    assert harness.run(secrets.get("shared")) == "set by the app"


def test_a_secret_of_a_letter_is_hidden_where_it_stands_alone() -> None:
    for secret, text, left in (
        ("k", "This key is 'k'.", "This key is '[secret]'."),
        ("hunter2", "url=xhunter2y", "url=x[secret]y"),
        ("1234", "pin1234", "pin[secret]"),
        ("", "as it was", "as it was"),
    ):
        assert hide_secrets(text, {secret}) == left


class Inbox(BaseModel):
    unread: int
    sender: str = ""


class Renamed(BaseModel):
    unread: list[int]


STORES = memory_stores()


def cached(stores: Any = STORES, model: type[BaseModel] = Inbox) -> ExtensionHarness:
    ext = Extension("cached")
    ext.cache_model("inbox")(model)
    return ExtensionHarness(ext, stores=stores)


@pytest.fixture
def fresh() -> ExtensionHarness:
    return cached(memory_stores())


@pytest.fixture
def cache(fresh: ExtensionHarness) -> Any:
    return fresh.context().cache


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch, fresh: ExtensionHarness) -> None:
    """A store that nothing reaches."""
    for name in ("get", "set"):
        reached = AsyncMock(side_effect=AssertionError("I/O"))
        monkeypatch.setattr(fresh.app.stores.cache, name, reached)


async def test_a_registered_model_comes_back_as_itself_and_not_where_it_no_longer_fits(
    cache: Any,
) -> None:
    await cache.set("k", Inbox(unread=8))
    assert await cache.get("k", Inbox) == Inbox(unread=8)
    assert await cache.get("k") is None
    await cache.set("k", "plain")
    assert (await cache.get("k"), await cache.get("k", Inbox)) == ("plain", Inbox(unread=8))
    await cached().context().cache.set("k", Inbox(unread=8))
    assert await cached(model=Renamed).context().cache.get("k", Renamed) is None


@pytest.mark.usefixtures("untouched")
async def test_a_model_nobody_registered_and_what_json_cannot_hold_are_errors_before_any_io(
    cache: Any,
) -> None:
    fetched = cache.get_or_fetch("k", Renamed, AsyncMock())
    for call in (cache.get("k", Renamed), cache.set("k", Renamed(unread=[])), fetched):
        with pytest.raises(TypeError, match=r"@ext\.cache_model"):
            await call
    day = date(2026, 5, 15)
    for value in (object(), {1, 2}, b"x", day, {"d": day}, {5: "five"}, 1j):
        with pytest.raises(TypeError, match="JSON"):
            await cache.set("k", value)
        with pytest.raises(TypeError, match=r"I-CACHE-KEY-SAFETY.*128.*This key is a"):
            await cache.get(value)
    with pytest.raises(ValueError, match="JSON"):
        await cache.set("k", [1.0, float("nan")])


@pytest.mark.parametrize("value", ["x" * 70_000, object(), {"unread": 1}, Inbox(unread=2)])
async def test_a_fetched_value_that_cannot_be_cached_is_served(
    fresh: ExtensionHarness, cache: Any, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too large, no JSON, of another kind than its model, and while the table is down."""
    model = Inbox if isinstance(value, dict | Inbox) else None
    if isinstance(value, Inbox):
        down = AsyncMock(side_effect=StorageUnavailable("down"))
        monkeypatch.setattr(fresh.app.stores.cache, "set", down)
        with pytest.raises(StorageUnavailable):
            await cache.set("k", 1)
    assert await cache.get_or_fetch("k", model, AsyncMock(return_value=value)) is value
    assert (await cache.get("k"), await cache.get("k", Inbox)) == (None, None)

"""Our SDK beside the published one: the same names in the same order with the same defaults, and
every difference on purpose.

`imperal-sdk` is a development dependency only; nothing but its public signatures is looked at.
"""

import inspect
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import imperal_sdk
import pytest
from imperal_sdk.store.exceptions import StoreConflict as TheirConflict
from imperal_sdk.store.exceptions import StoreUnavailable as TheirUnavailable

from webbee_kernel import sdk
from webbee_kernel.channels.cache import CacheClient
from webbee_kernel.channels.skeleton import Snapshots
from webbee_kernel.extensions.context import services
from webbee_kernel.extensions.context.http_client import HttpClient
from webbee_kernel.extensions.context.store_client import StoreClient
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, Sentences
from webbee_kernel.sdk import context as protocols
from webbee_kernel.testing import ExtensionHarness

DECORATORS = (
    "tool skeleton panel schedule signal on_event emits webhook expose cache_model secret "
    "on_install on_uninstall on_enable on_disable on_upgrade health_check"
).split()

OURS_MORE = {
    # phrases for the embedded model; scopes a caller must hold; what people read
    "Extension": {"titles", "columns"},
    "ChatExtension.function": {"examples", "scopes", "titles"},
    # their own protocol has it, their client not yet: pages beyond the first
    "Store.query": {"cursor"},
}
"""Parameters only we have. All are optional, so code written for either runs on both."""

THEIRS_MORE = {
    # Receipts and diffs of their web client; no document of the platform's channels knows them.
    "ActionResult.success": {"diff", "action_receipt"},
    "ActionResult": {"diff", "action_receipt"},
    # `timeout` stands among our keyword arguments: it is read in one place for every method.
    **{f"Http.{method}": {"timeout"} for method in ("get", "post", "put", "patch", "delete")},
}
"""Parameters only they have."""

OTHER_DEFAULTS = {
    "Ai.complete": {"model": ""},  # the deployment decides which model answers
    "Cache.get": {"model": None},  # plain JSON values need no model
}
"""Parameters with another default of ours."""

THEIRS_ONLY = {
    "Extension": {
        # pages, menus and desktop of their client
        "file_sink", "file_sinks", "menu_item", "menu_items", "tray", "tray_items", "widget",
        # search of their platform
        "search_provider",
        # called by their kernel; ours dispatches itself
        "call_tool", "call_signal", "declared_emits",
    },
    "ActionResult": {"morph", "validate_against", "diff", "action_receipt"},
}  # fmt: skip
"""Public members we leave out."""

Parameter = tuple[str, Any, Any]


def shape(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Name → (name, kind, default) in order, without `self`; `**anything` counts by its kind
    alone."""
    found = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    named = [("**" if p.kind == p.VAR_KEYWORD else p.name, p.kind, p.default) for p in found]
    return {parameter[0]: parameter for parameter in named}


def assert_same(what: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    mine, published = shape(ours), shape(theirs)
    assert mine.keys() - published.keys() == OURS_MORE.get(what, set()), what
    assert published.keys() - mine.keys() == THEIRS_MORE.get(what, set()), what
    for name, default in OTHER_DEFAULTS.get(what, {}).items():
        assert mine[name][2] == default != published[name][2], what
        mine[name], published[name] = (*mine[name][:2], ...), (*published[name][:2], ...)
    shared = [n for n in published if n in mine]
    assert [n for n in mine if n in published] == shared, f"{what}: another order"
    assert [mine[n] for n in shared] == [published[n] for n in shared], what
    for name in OURS_MORE.get(what, ()):
        assert mine[name][2] is not inspect.Parameter.empty, f"{what}: {name} is not optional"
    if inspect.isfunction(ours) and not inspect.isasyncgenfunction(ours):
        # where an extension of theirs was loaded, our adapter stands in between
        both = [inspect.iscoroutinefunction(f) for f in (ours, inspect.unwrap(theirs))]
        assert both[0] == both[1], f"{what}: async on one side only"


OF_A_CONTEXT = "progress background_task as_user webhook_url oauth_authorize_url".split()
ALIKE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "Extension": (Extension.__init__, imperal_sdk.Extension.__init__),
    "ChatExtension": (ChatExtension.__init__, imperal_sdk.ChatExtension.__init__),
    **{
        f"{ours.__name__}.{name}": (getattr(ours, name), getattr(theirs, name))
        for ours, theirs, names in (
            (Extension, imperal_sdk.Extension, DECORATORS),
            (ChatExtension, imperal_sdk.ChatExtension, ["function"]),
            (ActionResult, imperal_sdk.ActionResult, ["success", "error", "from_dict", "to_dict"]),
            (Context, imperal_sdk.Context, OF_A_CONTEXT),
        )
        for name in names
    },
}


@pytest.mark.parametrize("what", ALIKE)
def test_what_an_author_calls_is_called_alike(what: str) -> None:
    assert_same(what, *ALIKE[what])


FIELDS = "status data summary error retryable ui refresh_panels error_code undo".split()


def results(kind: Any) -> list[Any]:
    """Some of ours, or of theirs."""
    wire = {"status": "success", "data": {"n": 1}, "summary": "s", "unknown": 1}
    with_panels = kind.success({"n": 1}, "One.", refresh_panels=[])
    failed = kind.error("No.", True, code="X")
    return [kind.success({"n": 1}, "One."), with_panels, failed, kind.from_dict(wire)]


def test_an_action_result_has_the_published_fields_reads_and_travels_as_theirs_does() -> None:
    published = [n for n in shape(imperal_sdk.ActionResult) if n not in THEIRS_MORE["ActionResult"]]
    assert list(shape(ActionResult.__init__)) == published == FIELDS
    both = zip(results(ActionResult), results(imperal_sdk.ActionResult), strict=True)
    for mine, their in both:
        for name in FIELDS:
            assert getattr(mine, name) == getattr(their, name), name
        ours, theirs = mine.to_dict(), their.to_dict()
        assert ActionResult.from_dict(theirs) == mine
        shared = ours.keys() & theirs.keys()
        assert {k: theirs[k] for k in shared} == {k: ours[k] for k in shared}


@pytest.mark.parametrize(
    "instance", [Extension("x"), ChatExtension(Extension("x")), ActionResult("error")]
)
def test_nothing_public_of_theirs_is_missing_unnoticed(instance: Any) -> None:
    name = type(instance).__name__
    public = {n for n in dir(getattr(imperal_sdk, name)) if not n.startswith("_")}
    assert {n for n in public if not hasattr(instance, n)} == THEIRS_ONLY.get(name, set())


CLIENTS: dict[str, tuple[type, type, str]] = {
    "Store": (StoreClient, protocols.StoreClient, "StoreClient"),
    "Cache": (CacheClient, protocols.CacheClient, "CacheClient"),
    "Http": (HttpClient, protocols.HttpClient, "HTTPClient"),
    "Notify": (services.NotifyClient, protocols.NotifyClient, "NotifyClient"),
    "Secrets": (services.SecretsClient, protocols.SecretsClient, "SecretClient"),
    "Config": (protocols.ConfigClient, protocols.ConfigClient, "ConfigClient"),
    "Ai": (services.AIClient, protocols.AIClient, "AIClient"),
    "Extensions": (services.ExtensionsClient, protocols.ExtensionsClient, "ExtensionsClient"),
    "Skeleton": (Snapshots, protocols.SkeletonClient, "SkeletonClient"),
}
"""Our client, what authors see of it, and the name of theirs."""


def methods(kind: type) -> set[str]:
    return {n for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))}


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_of_a_context_are_called_like_theirs_and_as_authors_see_them(name: str) -> None:
    ours, protocol, named = CLIENTS[name]
    theirs = resolve_name(f"imperal_sdk.{name.lower()}.client:{named}")
    assert methods(ours) - methods(theirs) == {"Http": {"request"}}.get(name, set())
    assert methods(theirs) <= methods(ours)
    for method in methods(theirs):
        assert_same(f"{name}.{method}", getattr(ours, method), getattr(theirs, method))
    # at run time a protocol's overloads have no signature
    for method in methods(protocol) - ({"get"} if name == "Cache" else set()):
        mine, promised = shape(getattr(ours, method)), shape(getattr(protocol, method))
        if "**" in promised:
            mine = {k: v for k, v in mine.items() if k in promised}
        assert list(mine.values()) == list(promised.values()), method


async def test_log_lines_may_be_awaited_as_theirs_or_just_called() -> None:
    assert shape(services.Log.__call__) == shape(imperal_sdk.Context.log)
    context = ExtensionHarness(Extension("app")).context()
    context.log("called")
    assert await context.log("awaited", level="warning") is None


def test_errors_carry_the_same_attributes_and_are_caught_alike() -> None:
    for of in (sdk, imperal_sdk):
        assert issubclass(of.SkeletonAccessForbidden, PermissionError)
        assert issubclass(of.CircularCallError, of.ExtensionError)
    ours, theirs = sdk.CircularCallError, imperal_sdk.CircularCallError
    assert shape(ours.__init__).keys() == shape(theirs.__init__).keys()
    assert shape(sdk.StoreConflict.__init__) == shape(TheirConflict.__init__)
    assert shape(sdk.StoreUnavailable.__init__) == shape(TheirUnavailable.__init__)
    assert sdk.StoreConflict("d", "a", "b").current_etag == "b"
    assert sdk.StoreUnavailable(7).retry_after == 7


@pytest.mark.parametrize("name", ["", "a*", "a?", "a[", "a]", "a:b", "a/b"])
def test_both_refuse_the_same_section_names(name: str) -> None:
    for kind in (Extension, imperal_sdk.Extension):
        with pytest.raises(ValueError):
            kind("app").skeleton(name)


# ---- what an extension cannot reach


def test_what_the_package_offers_is_what_it_lists_and_no_way_to_the_fact_ledger() -> None:
    ext = Extension("app")
    context = ExtensionHarness(ext).context(system=True)
    assert not [n for n in dir(context) if "history" in n or "prompt" in n]
    for reached in (context, ext, ChatExtension(ext), sdk):
        assert not [n for n in dir(reached) if "ledger" in n]
    assert (version("imperal-sdk"), sorted(sdk.__all__)) == ("6.3.7", list(sdk.__all__))
    assert all(hasattr(sdk, name) for name in sdk.__all__)


# ---- the decorators themselves


def test_mistakes_are_told_at_import_with_the_name_and_the_choice() -> None:
    ext = Extension("app")
    chat = ChatExtension(ext)
    chat.function("f", "F")(_nothing)
    for wrong, told in [
        (lambda: chat.function("g", "G", action_type="delete"), "destructive"),
        (lambda: ext.panel("p", slot="top"), "left, right, center"),
        (lambda: ext.secret("s", "S", scope="world"), "user or app"),
        (lambda: ext.skeleton("s", ttl=0), "at least 1 second"),
        (lambda: ext.tool("skeleton_refresh_a/b")(_nothing), "is refused"),
    ]:
        with pytest.raises(ValueError, match=told):
            wrong()
    with pytest.raises(TypeError, match="BaseModel"):
        ext.cache_model("m")(dict)  # type: ignore[type-var]
    for name in ("-", "", "m" * 129):
        with pytest.raises(ValueError, match="1 to 128 bytes"):
            ext.cache_model(name)


def test_decorators_give_the_function_back_and_two_under_one_name_are_both_named() -> None:
    ext = Extension("app")
    chat = ChatExtension(ext)
    once = {
        "tool": ext.tool("x"),
        "skeleton section": ext.skeleton("x"),
        "panel": ext.panel("x"),
        "schedule": ext.schedule("x", "* * * * *"),
        "signal": ext.signal("x"),
        "webhook": ext.webhook("x"),
        "exposed method": ext.expose("x"),
        "chat function": chat.function("x", "X"),
    }
    hooks = [ext.on_install, ext.on_uninstall, ext.on_enable, ext.on_disable, ext.on_upgrade("2")]
    others = [*hooks, ext.on_event("e"), ext.emits("e"), ext.secret("k", "K"), ext.health_check]
    assert all(decorate(_nothing) is _nothing for decorate in (*once.values(), *others))

    async def second(ctx: Context) -> None: ...

    for what, register in once.items():
        told = rf"{what} .* twice: by .*_nothing .* and .*second \(line"
        with pytest.raises(ValueError, match=told):
            register(second)
    assert ext.skeletons["x"].func is _nothing


async def _nothing(ctx: Any) -> dict[str, Any]:
    return {}


FORMS = {
    "en": {"one": "{n} file", "other": "{n} files"},
    "ru": {"none": "файлов нет", "one": "{n} файл", "few": "{n} файла", "other": "{n} файлов"},
    "fr": {"one": "{n} fichier", "other": "{n} fichiers"},
    "pl": {"few": "{n} pliki", "other": "{n} plików"},
    "xx": {"other": "{n} many"},
}
SAID = {
    ("en-GB", 1): "1 file",
    ("en", 21): "21 files",
    ("ru", 21): "21 файл",
    ("ru_RU", 3): "3 файла",
    ("ru", 0): "файлов нет",
    ("ru", 12): "12 файлов",
    ("fr", 0): "0 fichier",
    ("pl", 2): "2 pliki",
    ("it", 1): "1 file",  # no such language in the file: English
    ("xx", 2): "2 many",
}


def test_sentences_are_said_by_language_and_plural(tmp_path: Path) -> None:
    told = {"count": FORMS, "named": {"de": "„{title}“"}}
    (tmp_path / "sentences.json").write_text(json.dumps(told), "utf-8")
    say = Sentences(str(tmp_path / "main.py")).say
    assert {(tag, n): say(tag, "count", n) for tag, n in SAID} == SAID
    assert say("en", "named", title="A") == "„A“"

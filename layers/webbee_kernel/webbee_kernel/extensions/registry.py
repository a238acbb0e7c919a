"""Registry: the loaded extensions and their catalogue, one per process and folder, and hot reload.

Hosts of one process share it: a folder loaded twice has every class twice, and `isinstance` fails
between them. With `WEBBEE_DEVELOP` a saved file is used by the next call; one that does not load
leaves the last good version in place, with the reason.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import SecretStr

from ..catalogue import (
    MAX_RULES,
    AppInfo,
    Catalogue,
    FunctionInfo,
    PanelInfo,
    PerObject,
    ScheduleInfo,
    SectionInfo,
)
from ..channels.skeleton import MAX_STRING
from ..config import Settings, layers_of
from ..errors import no_app
from ..observability import context_value
from ..sdk import Extension, FunctionDef
from ..sdk.definitions import ToolDef
from ..sdk.extension import ALERT_PREFIX, REFRESH_PREFIX, params_model
from ..text import cut, one_line
from ..types import JSONObject, object_of
from .loader import frames_of, load_main, reason_of
from .redaction import input_schema, pii_of

KERNEL_PREFIXES = (REFRESH_PREFIX, ALERT_PREFIX)
"""Prefixes of tools that only the kernel calls."""

APP_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
FN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

T = TypeVar("T")

_log = logging.getLogger("webbee.extension")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LoadedExtension:
    """An extension under its folder's id."""

    app_id: str
    ext: Extension
    folder: Path | None = None
    is_server: bool = False
    """Whether it is a server of the Model Context Protocol."""
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """Functions that may not be called for now, with the reason."""

    @property
    def functions(self) -> dict[str, FunctionDef]:
        """Functions that a turn may call: chat functions and plain tools. A plain tool declares no
        effect and counts as a write."""
        chats = [f for chat in self.ext.chats for f in chat.functions.values()]
        tools = [
            _callable(t) for t in self.ext.tools.values() if not t.name.startswith(KERNEL_PREFIXES)
        ]
        # chat functions last: of two that share a name they are the ones called
        return {f.name: f for f in (*tools, *chats)}


def _callable(tool: ToolDef) -> FunctionDef:
    model, scopes = params_model(tool.func), tool.scopes
    words = (tool.name, tool.func, tool.description, "write")
    return FunctionDef(*words, params_model=model, scopes=scopes)


@dataclass(slots=True)
class Registry:
    """Loaded extensions, and the reasons of those that failed. A change replaces these dicts, so
    that iterating over one is safe on any thread."""

    loaded: dict[str, LoadedExtension]
    failed: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    """Reasons why a loaded extension's current files do not load; the version before runs."""
    _cached_catalogue: tuple[Mapping[str, LoadedExtension], Catalogue] | None = field(
        default=None, repr=False, compare=False
    )
    """The catalogue and the `loaded` it was built from."""
    _changing: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def extension(self, app_id: str) -> LoadedExtension:
        """The loaded extension, or CallError UNKNOWN_TOOL. Why one did not load is for the log."""
        if loaded := self.loaded.get(app_id):
            return loaded
        raise no_app(app_id, is_broken=app_id in self.failed)

    def catalogue(self) -> Catalogue:
        """Everything the classifier, the page and the refresh loop need to know."""
        # built on first use, and again after extensions changed
        cached, every = self._cached_catalogue, self.loaded
        if cached is None or cached[0] is not every:
            apps = {a: _app_info(loaded) for a, loaded in every.items()}
            # a failed one is listed with its reason, so that people see it
            apps |= {a: AppInfo(a, error=reason) for a, reason in self.failed.items()}
            self._cached_catalogue = cached = every, Catalogue(dict(sorted(apps.items())))
        return cached[1]

    def put(
        self,
        loaded: Mapping[str, LoadedExtension],
        *,
        failed: Mapping[str, str] = MappingProxyType({}),
        stale: Mapping[str, str] = MappingProxyType({}),
        gone: Iterable[str] = (),
    ) -> None:
        """Add or replace extensions of a registry in use; those `gone` are removed."""
        gone = {*gone} - loaded.keys()
        out = gone | loaded.keys()
        with self._changing:
            self.failed = {**_without(out, self.failed), **failed}
            self.stale = {**_without(out, self.stale), **stale}
            # last: the cached catalogue is keyed by `loaded`
            self.loaded = {**_without(gone, self.loaded), **loaded}


def _without(app_ids: Set[str], by_id: Mapping[str, T]) -> dict[str, T]:
    return {app_id: value for app_id, value in by_id.items() if app_id not in app_ids}


def load_folder(root: str | Path) -> Registry:
    """Load every folder of `root` that holds a `main.py`. One that fails is reported and left out,
    the others work."""
    registry = Registry({})
    # sorted: which of two with the same id is left out is deterministic
    for main in sorted(Path(root).glob("*/main.py")):
        _load_into(registry, main.parent)
    return registry


def _load_into(registry: Registry, folder: Path) -> str:
    """Load one extension's folder into a registry; the reason where it fails and the version before
    stays, else empty."""
    place = folder.resolve()
    # by folder: its manifest may give it another id than before
    app_ids = {a for a, e in registry.loaded.items() if e.folder == place}
    try:
        extension = load_extension(folder)
        owner = registry.loaded.get(extension.app_id)
        if owner is not None and owner.folder != place:
            raise ValueError(f"the extension id {extension.app_id!r} is taken by another folder")
    # SystemExit: sys.exit() in an extension must not end the process
    except (Exception, SystemExit) as error:
        reason = reason_of(error, folder)
        if app_ids:
            registry.put({}, stale=dict.fromkeys(app_ids, reason))
        else:
            registry.put({}, failed={folder.name: reason})
        text = "not loaded, the version before stays" if app_ids else "not loaded, it is left out"
        frames = {"frames": frames_of(error, folder)}
        _log.error("app=%s | %s: %s", folder.name, text, reason, extra=frames)
        return reason
    registry.put({extension.app_id: extension}, gone=(app_ids | {folder.name}) - {extension.app_id})
    return ""


def load_extension(folder: str | Path) -> LoadedExtension:
    """Load an extension folder. ValueError without an `Extension` or for a broken naming rule."""
    folder = Path(folder).resolve()
    app_id = _app_id(folder)
    module = load_main(app_id, folder)
    # any attribute: authors call it `ext`, `app`, `extension`
    ext = next((v for v in vars(module).values() if isinstance(v, Extension)), None)
    # never imported by the kernel itself: a folder without it does not pay for it
    if ext is None and "imperal_sdk" in sys.modules:
        from ..compat.adopt import adopt

        ext = adopt(app_id, module)
    if ext is None:
        raise ValueError(f"{folder.name}/main.py has no module attribute that is an Extension")
    return check_names(LoadedExtension(app_id, ext, folder))


def check_names(loaded: LoadedExtension) -> LoadedExtension:
    """The same extension, or ValueError naming the id, function or section whose name cannot stand
    in a prompt."""
    _check_app_id(loaded.app_id)
    for name in (name for chat in loaded.ext.chats for name in chat.functions):
        if not FN_NAME.fullmatch(name):
            raise ValueError(
                f"chat function {name!r} of {loaded.app_id} is refused: 1 to 64 characters of"
                " A-Z a-z 0-9 _ -"
            )
    for section in loaded.ext.skeletons:
        # it stands in a line of the prompt, where # begins an id
        if one_line(section, MAX_STRING) != section or "#" in section:
            raise ValueError(
                f"skeleton section {section!r} of {loaded.app_id} is refused: at most {MAX_STRING}"
                " visible characters, no #"
            )
    return loaded


def _app_id(folder: Path) -> str:
    """The id that the manifest beside the code gives it, else the folder's name."""
    path = folder / "imperal.json"
    try:
        manifest = object_of(json.loads(path.read_text("utf-8")) if path.exists() else {})
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    app_id = str(manifest.get("app_id") or folder.name)
    _check_app_id(app_id)
    return app_id


def _check_app_id(app_id: str) -> None:
    if not APP_ID.fullmatch(app_id):
        raise ValueError(
            f"extension id {app_id!r} is refused: 1 to 64 characters of a-z 0-9 _ -, the first a"
            " letter or digit"
        )


@PerObject
def _app_info(loaded: LoadedExtension) -> AppInfo:
    """An app's entry in the catalogue; with the error where it cannot be built. It stays the same
    while others change, with what is kept of it elsewhere: its tools, its examples as patterns."""
    try:
        return _describe(loaded)
    except Exception as error:
        reason = reason_of(error, loaded.folder or Path())
        _log.error("app=%s | not offered: %s", loaded.app_id, reason)
        return AppInfo(loaded.app_id, error=reason)


_SECRET_FIELDS = ("name", "description", "required", "write_mode", "max_bytes", "scope")
"""Public fields of a secret; never its value."""


def _describe(loaded: LoadedExtension) -> AppInfo:
    ext, secrets = loaded.ext, loaded.ext.secrets.values()
    panels = ext.panels.values()
    return AppInfo(
        app_id=loaded.app_id,
        version=ext.version,
        display_name=ext.display_name,
        description=_description(ext),
        rules=_rules(loaded),
        icon=ext.icon,
        titles=ext.titles,
        columns=ext.columns,
        functions=tuple(_function(loaded.app_id, f) for f in loaded.functions.values()),
        sections=tuple(SectionInfo(s.section, s.ttl, s.alert) for s in ext.skeletons.values()),
        has_health_check=ext.health is not None,
        schedules=tuple(ScheduleInfo(j.name, j.cron) for j in ext.schedules.values()),
        signals=tuple(ext.signals),
        withdrawn=loaded.withdrawn,
        panels=tuple(PanelInfo(p.panel_id, p.slot, p.title, p.icon, p.refresh) for p in panels),
        variables=tuple(filter(None, (s.env_fallback for s in secrets if s.scope == "app"))),
        is_shared=bool(ext.exposed or ext.event_handlers),
        secrets=tuple({name: getattr(s, name) for name in _SECRET_FIELDS} for s in secrets),
    )


def _description(ext: Extension) -> str:
    return next(filter(None, (ext.description, *(chat.description for chat in ext.chats))), "")


def _function(app_id: str, f: FunctionDef) -> FunctionInfo:
    schema, ids = input_schema(f), str(f.id_projection or "")
    fields = (f.action_type, schema, f.examples, f.scopes, ids, pii_of(f, schema), dict(f.titles))
    return FunctionInfo(app_id, f.name, f.description, *fields)


def _rules(loaded: LoadedExtension) -> str:
    """The system prompts of the app's chats, cut to `MAX_RULES` with a log line."""
    prompts = dict.fromkeys(chat.system_prompt for chat in loaded.ext.chats)
    text = one_line("\n".join(str(p) for p in prompts if p))
    if len(text) > MAX_RULES:
        text_ = "app=%s characters=%d limit=%d | system_prompt is cut"
        _log.warning(text_, loaded.app_id, len(text), MAX_RULES)
    return cut(text, MAX_RULES)


_call_configuration: ContextVar[JSONObject | None] = ContextVar("app_settings", default=None)


def use_configuration(configuration: JSONObject | None) -> AbstractContextManager[None]:
    """Use this configuration and these secrets for apps in this block and its tasks."""
    return context_value(_call_configuration, configuration)


def config_layers(settings: Settings, tenant_id: str, app_id: str) -> tuple[JSONObject, ...]:
    configuration = _call_configuration.get()
    if configuration is None:
        return layers_of(settings.app_config, tenant_id, app_id)
    return tuple((configuration.get("config") or {}).get(app_id) or ())


def secret_fallbacks(settings: Settings, app_id: str) -> Mapping[str, SecretStr]:
    """Values of the variables that the app's app-wide secrets name."""
    configuration = _call_configuration.get()
    if configuration is None:
        return settings.app_secrets
    found: Mapping[str, str] = (configuration.get("secrets") or {}).get(app_id) or {}
    return {variable: SecretStr(value) for variable, value in found.items()}


IGNORED = frozenset({"__pycache__", "tests", ".venv", ".git"})
"""Folders of an extension without code that it runs."""
DEBOUNCE_MS = 60
"""Milliseconds within which changes of files are handled together."""
FIRST_LOOK_MS = 500
"""Milliseconds after the start of watching until earlier changes are checked."""

OnSaved = Callable[[str, str], None]
"""Called with a saved app and why it does not load; an empty reason where it is live."""

_lock = threading.Lock()
_registries: dict[Path, tuple[float, Registry]] = {}
"""Registries by folder, with the Unix seconds at which they were loaded."""
_watched_folders: set[Path] = set()


def shared_registry(root: str | Path) -> Registry:
    """The process's registry of a folder, loaded once."""
    folder = Path(root).resolve()
    with _lock:
        if folder not in _registries:
            _registries[folder] = time.time(), load_folder(folder)
        return _registries[folder][1]


def reload(registry: Registry, folder: Path) -> str:
    """Load one extension's folder again into a registry in use, or remove it where it is gone; the
    reason where it fails."""
    # or a traceback would show old source lines
    linecache.checkcache()
    if not (folder / "main.py").exists():
        app_ids = {a for a, e in registry.loaded.items() if e.folder == folder.resolve()}
        registry.put({}, gone=app_ids | {folder.name})
        return ""
    for path in folder.rglob("[!.]*.py"):  # compiled forms are told apart by the second only
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    return _load_into(registry, folder)


def watch(root: str | Path, on_saved: OnSaved, on_saved_beside: Callable[[], None] | None) -> None:
    """Reload what is saved below the folder of a shared registry, in the background, until the
    process ends. `on_saved_beside` is called when a file beside the extensions is saved."""
    folder = Path(root).resolve()
    with _lock:
        if folder in _watched_folders:
            return
        _watched_folders.add(folder)
    arguments = (folder, on_saved, on_saved_beside)
    threading.Thread(target=_follow, args=arguments, name="webbee-reload", daemon=True).start()


def _follow(root: Path, on_saved: OnSaved, on_saved_beside: Callable[[], None] | None) -> None:
    since, registry = _registries[root]
    for changed in changes(root):
        if on_saved_beside and any(path.parent == root for path in changed):
            on_saved_beside()
        # the first says that watching has begun: something may have been saved before
        saved = changed or _newer_files(root, since)
        for app in sorted({app_of(path, root) for path in saved} - {""}):
            started = time.perf_counter()
            if not (reason := reload(registry, root / app)):
                ms = (time.perf_counter() - started) * 1000
                is_there = (root / app / "main.py").exists()
                _log.info("app=%s | %s", app, f"live after {ms:.0f} ms" if is_there else "gone")
            on_saved(app, reason)


def _newer_files(root: Path, since: float) -> set[Path]:
    """What was written below a folder after a time; no broken link, such as an editor's lock."""
    files = (path for path in root.glob("*/**/*") if path.is_file())
    return {path for path in files if path.stat().st_mtime > since}


def changes(root: Path) -> Iterator[set[Path]]:
    """Endless sets of changed files below a folder; the first, which may be empty, says that
    watching has begun."""
    from watchfiles import watch as watch_files  # only where an extension is being written

    steps = {"debounce": DEBOUNCE_MS * 5, "step": DEBOUNCE_MS, "rust_timeout": FIRST_LOOK_MS}
    has_begun = False
    # the first timeout says that watching has begun, though nothing was saved
    for found in watch_files(root, yield_on_timeout=True, **steps):
        if found or not has_begun:
            has_begun = True
            yield {Path(path) for _, path in found}


def app_of(path: Path, root: Path) -> str:
    """The extension folder of a changed file; empty where the file is not run."""
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    is_code = len(parts) > 1 and path.suffix in (".py", ".json") and not IGNORED & set(parts)
    return parts[0] if is_code else ""

"""Registry: the loaded extensions and the catalogue they add up to; one a process for a folder of
extensions, and its change while the process runs.

Hosts of one process share what was loaded: a folder loaded twice has every class twice, and
`isinstance` fails between them. On an author's machine (`WEBBEE_DEVELOP`) a saved file is live for
the next call; one that does not load leaves the last good version in its place and says why.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import AbstractContextManager, suppress
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
    ScheduleInfo,
    SectionInfo,
)
from ..channels.skeleton import MAX_STRING
from ..config import Settings
from ..errors import no_app
from ..observability import context_value
from ..sdk import Extension, FunctionDef
from ..sdk.definitions import ToolDef
from ..sdk.extension import ALERT_PREFIX, REFRESH_PREFIX, params_model
from ..text import cut, one_line
from ..types import JSONObject, object_of
from .loader import frames_of, load_main, reason_of
from .redaction import input_schema, pii_of

KERNELS = (REFRESH_PREFIX, ALERT_PREFIX)
"""Prefixes of tools that the kernel calls, not a message."""

APP_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
FN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

T = TypeVar("T")

_log = logging.getLogger("webbee.extension")


@dataclass(frozen=True, slots=True)
class LoadedExtension:
    """An extension under the id that counts: its folder's."""

    app_id: str
    ext: Extension
    folder: Path | None = None
    is_server: bool = False
    """Whether it is a server of the Model Context Protocol."""
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """Functions that may not be called for now, with the reason."""

    @property
    def functions(self) -> dict[str, FunctionDef]:
        """What a message may call: chat functions, then plain tools. A plain tool says nothing of
        effects: it counts as a write, runs once a request and refreshes what it may have changed.
        """
        chats = [f for chat in self.ext.chats for f in chat.functions.values()]
        tools = [_callable(t) for t in self.ext.tools.values() if not t.name.startswith(KERNELS)]
        # chat functions last: of two that share a name they are the ones called
        return {f.name: f for f in (*tools, *chats)}


def _callable(tool: ToolDef) -> FunctionDef:
    model, scopes = params_model(tool.func), tool.scopes
    words = (tool.name, tool.func, tool.description, "write")
    return FunctionDef(*words, params_model=model, scopes=scopes)


@dataclass(slots=True)
class Registry:
    """What loaded, what did not and why. Hosts that share one see its changes at their next
    call. A change puts other dicts in the place of these: whoever goes through one, on any thread,
    goes through it as it was."""

    loaded: dict[str, LoadedExtension]
    failed: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    """Why the files of a loaded extension do not load as they are now: it runs as it was before."""
    _made: tuple[Mapping[str, LoadedExtension], Catalogue] | None = field(
        default=None, repr=False, compare=False
    )
    """The catalogue, and what it was made of."""
    _changing: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def extension(self, app_id: str) -> LoadedExtension:
        """The loaded extension, or CallError UNKNOWN_TOOL. Why one did not load is for the log."""
        if loaded := self.loaded.get(app_id):
            return loaded
        raise no_app(app_id, is_broken=app_id in self.failed)

    def catalogue(self) -> Catalogue:
        """Everything the classifier, the page and the refresh loop need to know."""
        # made when it is first asked for, and again once extensions were exchanged
        made, every = self._made, self.loaded
        if made is None or made[0] is not every:
            apps = {a: _described(loaded) for a, loaded in every.items()}
            # a failed one is listed with its reason, so that people see it
            apps |= {a: AppInfo(a, error=reason) for a, reason in self.failed.items()}
            self._made = made = every, Catalogue(dict(sorted(apps.items())))
        return made[1]

    def put(
        self,
        loaded: Mapping[str, LoadedExtension],
        *,
        failed: Mapping[str, str] = MappingProxyType({}),
        stale: Mapping[str, str] = MappingProxyType({}),
        gone: Iterable[str] = (),
    ) -> None:
        """Exchange extensions of a registry that is in use; those `gone` are forgotten."""
        gone = {*gone} - loaded.keys()
        out = gone | loaded.keys()
        with self._changing:
            self.failed = {**_without(out, self.failed), **failed}
            self.stale = {**_without(out, self.stale), **stale}
            # last: a catalogue is known by these, and must not be kept with the failures before
            self.loaded = {**_without(gone, self.loaded), **loaded}


def _without(app_ids: Set[str], held: Mapping[str, T]) -> dict[str, T]:
    return {app_id: known for app_id, known in held.items() if app_id not in app_ids}


def load_folder(root: str | Path) -> Registry:
    """Load every folder of `root` that holds a `main.py`. One that fails is reported and left out,
    the others work."""
    registry = Registry({})
    # in order: which of two with the same id is left out does not hang on the disk
    for main in sorted(Path(root).glob("*/main.py")):
        _take(registry, main.parent)
    return registry


def _take(registry: Registry, folder: Path) -> str:
    """Load one extension's folder into a registry. Why not, where it does not load: the version
    before stays; empty where all is well."""
    place = folder.resolve()
    # by folder: its manifest may give it another id than before
    known = {a for a, e in registry.loaded.items() if e.folder == place}
    try:
        extension = load_extension(folder)
        owner = registry.loaded.get(extension.app_id)
        if owner is not None and owner.folder != place:
            raise ValueError(f"the extension id {extension.app_id!r} is taken by another folder")
    # SystemExit: an extension that calls sys.exit() takes no process along
    except (Exception, SystemExit) as error:
        reason = reason_of(error, folder)
        if known:
            registry.put({}, stale=dict.fromkeys(known, reason))
        else:
            registry.put({}, failed={folder.name: reason})
        said = "not loaded, the version before stays" if known else "not loaded, it is left out"
        told = {"frames": frames_of(error, folder)}
        _log.error("app=%s | %s: %s", folder.name, said, reason, extra=told)
        return reason
    registry.put({extension.app_id: extension}, gone=(known | {folder.name}) - {extension.app_id})
    return ""


def load_extension(folder: str | Path) -> LoadedExtension:
    """Load one extension folder. Raises ValueError where it holds no `Extension` or breaks a naming
    rule."""
    folder = Path(folder).resolve()
    app_id = _app_id(folder)
    module = load_main(app_id, folder)
    # any attribute: authors call it `ext`, `app`, `extension`
    ext = next((v for v in vars(module).values() if isinstance(v, Extension)), None)
    # never imported by the kernel itself: a folder without it does not pay for it
    if ext is None and "imperal_sdk" in sys.modules:
        from ..compat.imperal import adopt

        ext = adopt(app_id, module)
    if ext is None:
        raise ValueError(f"{folder.name}/main.py has no module attribute that is an Extension")
    return checked(LoadedExtension(app_id, ext, folder))


def checked(loaded: LoadedExtension) -> LoadedExtension:
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


def _described(loaded: LoadedExtension) -> AppInfo:
    """What an app offers; where it cannot be told (a schema that Pydantic cannot make), why, and
    the others work."""
    try:
        return _describe(loaded)
    except Exception as error:
        reason = reason_of(error, loaded.folder or Path())
        _log.error("app=%s | not offered: %s", loaded.app_id, reason)
        return AppInfo(loaded.app_id, error=reason)


_OF_A_SECRET = ("name", "description", "required", "write_mode", "max_bytes", "scope")
"""What is told of a secret; never its value."""


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
        secrets=tuple({name: getattr(s, name) for name in _OF_A_SECRET} for s in secrets),
    )


def _description(ext: Extension) -> str:
    told = (ext.description, *(chat.description for chat in ext.chats))
    return next(filter(None, told), "")


def _function(app_id: str, f: FunctionDef) -> FunctionInfo:
    takes, ids = input_schema(f), str(f.id_projection or "")
    how = (f.action_type, takes, f.examples, f.scopes, ids, pii_of(f), dict(f.titles))
    return FunctionInfo(app_id, f.name, f.description, *how)


def _rules(loaded: LoadedExtension) -> str:
    """The system prompts of the app's chats; what is longer than a model may read is cut, and the
    log says so."""
    prompts = dict.fromkeys(chat.system_prompt for chat in loaded.ext.chats)
    text = one_line("\n".join(str(p) for p in prompts if p))
    if len(text) > MAX_RULES:
        told = "app=%s characters=%d limit=%d | system_prompt is cut"
        _log.warning(told, loaded.app_id, len(text), MAX_RULES)
    return cut(text, MAX_RULES)


_brought: ContextVar[JSONObject | None] = ContextVar("app_settings", default=None)


def bringing(configuration: JSONObject | None) -> AbstractContextManager[None]:
    """Apps are given this in here, and in what goes on from here."""
    return context_value(_brought, configuration)


def config_layers(settings: Settings, tenant_id: str, app_id: str) -> tuple[JSONObject, ...]:
    brought = _brought.get()
    if brought is None:
        return settings.config_layers(tenant_id, app_id)
    return tuple((brought.get("config") or {}).get(app_id) or ())


def secret_fallbacks(settings: Settings, app_id: str) -> Mapping[str, SecretStr]:
    """Values of the variables that the app's app-wide secrets name."""
    brought = _brought.get()
    if brought is None:
        return settings.app_secrets
    found: Mapping[str, str] = (brought.get("secrets") or {}).get(app_id) or {}
    return {variable: SecretStr(value) for variable, value in found.items()}


IGNORED = frozenset({"__pycache__", "tests", ".venv", ".git"})
"""Folders of an extension whose files it does not run."""
SETTLES_MS = 60
"""An editor writes a file in several steps: what comes within this time is one change."""
FEW = 3
"""Files of one change that are named."""
BEGINS_MS = 500
"""So long after watching has begun it is looked at what was saved before that."""

Tell = Callable[[str, str], None]
Print = tuple[tuple[str, int, int], ...]

_lock = threading.Lock()
_shared: dict[Path, tuple[Print, Registry]] = {}
_watched: set[Path] = set()


def shared(root: str | Path) -> Registry:
    """The process's registry of a folder; loaded again only where its files are others."""
    folder = Path(root).resolve()
    with _lock:
        known = _shared.get(folder)
        # Lambda keeps the process: unchanged files are not loaded again
        if known is None or known[0] != _print(folder):
            _shared[folder] = known = (_print(folder), load_folder(folder))
        return known[1]


def reload(registry: Registry, folder: Path) -> str:
    """Load one extension's folder anew into a registry in use, or forget it where it is gone; why
    not, as `load_folder` tells it."""
    # or a traceback would show lines of the version before
    linecache.checkcache()
    if not (folder / "main.py").exists():
        known = {a for a, e in registry.loaded.items() if e.folder == folder.resolve()}
        registry.put({}, gone=known | {folder.name})
        return ""
    for path in folder.rglob("[!.]*.py"):  # compiled forms are told apart by the second only
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    return _take(registry, folder)


def watch(
    registry: Registry, root: str | Path, tell: Tell, beside: Mapping[str, Callable[[], None]]
) -> None:
    """Reload what is saved below a folder, in the background, until the process ends. `tell` hears
    of each app that was saved, and why it does not load; no reason says that it is live. What
    follows a file that lies `beside` the extensions is called when that is saved."""
    folder = Path(root).resolve()
    with _lock:
        if folder in _watched:
            return
        _watched.add(folder)
    given = (registry, folder, tell, beside)
    threading.Thread(target=_follow, args=given, name="webbee-reload", daemon=True).start()


def _follow(
    registry: Registry, root: Path, tell: Tell, beside: Mapping[str, Callable[[], None]]
) -> None:
    with _lock:
        before = _shared[root][0] if root in _shared else _print(root)
    for changed in changes(root):
        for name in beside.keys() & {path.name for path in changed if path.parent == root}:
            beside[name]()
        # compared: something may have been saved before watching had begun
        now, before = before, _print(root)
        saved = {Path(path) for path, *_ in {*before} ^ {*now}}
        for name in sorted({app_of(path, root) for path in saved} - {""}):
            tell(name, _live(registry, root, name, saved))
        with _lock:
            # or `shared` would find other files, and load them into a second registry
            _shared[root] = (before, registry)


def _live(registry: Registry, root: Path, name: str, saved: Set[Path]) -> str:
    """Reload an app after these files were saved; why not, where it does not load."""
    started = time.perf_counter()
    if not (reason := reload(registry, root / name)):
        ms = (time.perf_counter() - started) * 1000
        own = sorted(p.relative_to(root.parent) for p in saved if app_of(p, root) == name)
        what = f"{', '.join(map(str, own[:FEW]))}: live after {ms:.0f} ms"
        is_there = (root / name / "main.py").exists()
        _log.info("app=%s | %s", name, what if is_there else "gone")
    return reason


def changes(root: Path) -> Iterator[set[Path]]:
    """The files that were saved below a folder, one change after another, without end; the first,
    which may be empty, when watching has begun."""
    from watchfiles import watch as changed  # only where an extension is being written

    steps = {"debounce": SETTLES_MS * 5, "step": SETTLES_MS, "rust_timeout": BEGINS_MS}
    begun = False
    # the first timeout says that watching has begun, though nothing was saved
    for found in changed(root, yield_on_timeout=True, **steps):
        if found or not begun:
            begun = True
            yield {Path(path) for _, path in found}


def app_of(path: Path, root: Path) -> str:
    """The folder below the root that a changed file belongs to; empty where it runs nothing."""
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    runs = len(parts) > 1 and path.suffix in (".py", ".json") and not IGNORED & set(parts)
    return parts[0] if runs else ""


def _print(root: Path) -> Print:
    """Every file that an extension runs, with its time and size. A link to nowhere is none: an
    editor's lock looks like that, and what goes while it is looked at."""
    found = []
    for folder, within, names in (each for app in root.glob("[!.]*") for each in os.walk(app)):
        # in place: os.walk goes on from it
        within[:] = {*within} - IGNORED
        for path in (Path(folder, n) for n in names if n.endswith((".py", ".json"))):
            with suppress(FileNotFoundError):
                found.append((str(path), (stat := path.stat()).st_mtime_ns, stat.st_size))
    return tuple(sorted(found))

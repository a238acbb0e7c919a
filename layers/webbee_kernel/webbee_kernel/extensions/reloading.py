"""One registry a process for a folder of extensions, and its change while the process runs.

Hosts of one process share what was loaded: a folder loaded twice has every class twice, and
`isinstance` fails between them. On an author's machine (`WEBBEE_DEVELOP`) a saved file is live for
the next call; one that does not load leaves the last good version in its place and says why.
"""

from __future__ import annotations

import importlib.util
import linecache
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from .loader import frames_of, reason_of
from .registry import Registry, load_extension, load_folder

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

_log = logging.getLogger("webbee.extension")
_lock = threading.Lock()
_shared: dict[Path, tuple[Print, Registry]] = {}
_watched: set[Path] = set()


def shared(root: str | Path) -> Registry:
    """The process's registry of a folder; loaded again only where its files are others."""
    folder = Path(root).resolve()
    with _lock:
        known = _shared.get(folder)
        if known is None or known[0] != _print(folder):
            _shared[folder] = known = (_print(folder), load_folder(folder))
        return known[1]


def reload(registry: Registry, folder: Path) -> str:
    """Load one extension's folder anew into a registry in use. Why not, where it does not load:
    the version before stays; empty where all is well."""
    known = {a for a, e in registry.loaded.items() if e.folder == folder.resolve()}
    linecache.checkcache()
    if not (folder / "main.py").exists():
        registry.put({}, gone=known | {folder.name})
        return ""
    for path in folder.rglob("[!.]*.py"):  # compiled forms are told apart by the second only
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    try:
        extension = load_extension(folder)
        owner = registry.loaded.get(extension.app_id)
        if owner is not None and owner.folder != folder.resolve():
            raise ValueError(f"the extension id {extension.app_id!r} is taken by another folder")
    except (Exception, SystemExit) as error:
        reason = reason_of(error, folder)
        if known:
            registry.put({}, stale=dict.fromkeys(known, reason))
        else:
            registry.put({}, failed={folder.name: reason})
        stays = "the version before stays" if known else "it is left out"
        told = {"frames": frames_of(error, folder)}
        _log.error("app=%s | not loaded, %s: %s", folder.name, stays, reason, extra=told)
        return reason
    registry.put({extension.app_id: extension}, gone=(known | {folder.name}) - {extension.app_id})
    return ""


def watch(registry: Registry, root: str | Path, tell: Tell) -> None:
    """Reload what is saved below a folder, in the background, until the process ends. `tell` hears
    of each app that was saved, and why it does not load; no reason says that it is live."""
    folder = Path(root).resolve()
    with _lock:
        if folder in _watched:
            return
        _watched.add(folder)
    threading.Thread(
        target=_follow, args=(registry, folder, tell), name="webbee-reload", daemon=True
    ).start()


def _follow(registry: Registry, root: Path, tell: Tell) -> None:
    with _lock:
        loaded = _shared[root][0] if root in _shared else _print(root)
    for number, changed in enumerate(changes(root)):
        saved = changed if number else changed | _others(loaded, _print(root))
        for name in sorted({app_of(path, root) for path in saved} - {""}):
            started = time.perf_counter()
            if not (reason := reload(registry, root / name)):
                ms = (time.perf_counter() - started) * 1000
                own = sorted(p.relative_to(root.parent) for p in saved if app_of(p, root) == name)
                what = f"{', '.join(map(str, own[:FEW]))}: live after {ms:.0f} ms"
                is_there = (root / name / "main.py").exists()
                _log.info("app=%s | %s", name, what if is_there else "gone")
            tell(name, reason)
        with _lock:
            _shared[root] = (_print(root), registry)


def changes(root: Path) -> Iterator[set[Path]]:
    """The files that were saved below a folder, one change after another, without end; the first,
    which may be empty, when watching has begun."""
    from watchfiles import watch as changed  # only where an extension is being written

    steps = {"debounce": SETTLES_MS * 5, "step": SETTLES_MS, "rust_timeout": BEGINS_MS}
    begun = False
    for found in changed(root, yield_on_timeout=True, **steps):
        if found or not begun:
            begun = True
            yield {Path(path) for _, path in found}


def _others(before: Print, now: Print) -> set[Path]:
    """The files that came, went or changed."""
    return {Path(path) for path, *_ in {*before} ^ {*now}}


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
        within[:] = {*within} - IGNORED
        for path in (Path(folder, n) for n in names if n.endswith((".py", ".json"))):
            with suppress(FileNotFoundError):
                found.append((str(path), (stat := path.stat()).st_mtime_ns, stat.st_size))
    return tuple(sorted(found))

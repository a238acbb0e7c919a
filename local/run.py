"""`webbee dev` and `make run`: the whole deployment on one machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from webbee_kernel.config import Settings
from webbee_kernel.extensions.registry import app_of, changes

from . import mcp_servers, models
from .checking import lines_of, problems_of
from .project import COMMAND, IN_REPOSITORY, ROOT, filled_folder
from .terminal import paint

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run; the last is of a terminal that is closed."""


def dev(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    given = {k: v for k, v in os.environ.items() if k.startswith("WEBBEE_MODEL_")}
    settings = models.settings_of(options.model, given)
    for number in ENDS:
        signal.signal(number, _end)
    try:
        _serve(options, settings, filled_folder(options.into))
    except KeyboardInterrupt:
        kept = "nothing of this run" if options.fresh else options.keep
        print(f"stopped; {kept} is kept")
    return 0


def _serve(options: argparse.Namespace, settings: Settings, extensions: Path) -> None:
    keep = None if options.fresh else Path(options.keep)
    print("starting …", flush=True)
    ports = models.PORTS if options.model == "offline" else {}
    found = ThreadPoolExecutor(1).submit(models.offers, options.port, ports)
    from .world import apps_of, local_world, prepare_and_refresh  # a second of imports

    known = models.variable(options.model, models.kept(keep).get(options.model))
    with local_world(
        host=options.host,
        port=options.port,
        model=options.model,
        env={"WEBBEE_DEVELOP": "true", **known, **mcp_servers.variables()},
        prepare=prepare_and_refresh,
        keep=keep,
        extensions_dir=extensions.resolve(),
        origins=[origin.strip() for origin in options.origins.split(",")],
        apart=True,
    ) as world:
        apps = apps_of(world)
        where = "" if options.fresh else options.keep
        check = f"{COMMAND} models check {shlex.quote(options.model)}"
        answers = f"{options.model} (without it: the built-in helper). What it can do: {check}"
        if options.model == "offline":
            answers = "the built-in helper, no language model."
        print(welcome(world.url, apps, where, answers, found.result()), flush=True)
        world.keep_fresh()
        say = partial(print, flush=True)
        world.beside(partial(models.learn, options.model, keep, settings, say), "model")
        checks = threading.Thread(target=follow_saved, args=(extensions, say), daemon=True)
        checks.start()
        threading.Event().wait()


def _end(*_: object) -> None:
    """End once: `make` tells it as well, and what ends holds locks that nothing may break into."""
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)
    print("\nstopping …", flush=True)
    raise KeyboardInterrupt


def follow_saved(root: Path, say: Callable[[str], None]) -> None:
    """Check all extensions of a folder, and what is saved of them, for good, behind everything
    else; `say` tells a text."""
    if sys.platform == "linux":  # where it is of this thread, and of the processes that it starts
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
    told: dict[str, str] = {}
    names = {main.parent.name for main in root.glob("*/main.py")}
    for changed in changes(root.resolve()):
        names |= {app_of(path, root.resolve()) for path in changed}
        check_saved(names, root, told, say)
        names.clear()


def check_saved(
    names: Iterable[str], root: Path, told: dict[str, str], say: Callable[[str], None]
) -> None:
    """Check each. What its last check told as well is not told again, and that there is nothing to
    mend only where there was something."""
    for name in sorted(n for n in names if n and (root / n / "main.py").exists()):
        folder = Path(os.path.relpath(root / name))
        before = _saved_at(folder)
        found = problems_of(folder)
        if before != _saved_at(folder):
            continue  # it is checked anew: this would be said of other lines
        text = "\n".join(lines_of(folder, found))
        if text != told.get(name) and (name in told or found.findings):
            say(text)
        told[name] = text


def _saved_at(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.py")}


def welcome(
    url: str,
    apps: Mapping[str, str],
    keep: str = "",
    model: str = "",
    offers: Sequence[str] = (),
) -> str:
    """What to type next, which model answers, where data stays, which extensions are there, and
    which are missing, with their reasons; `offers` are model servers that run here."""
    failed = {app_id: why for app_id, why in apps.items() if why}
    has_mail = apps.get("mail") == ""
    said = "show the emails from today" if has_mail else "what can you do?"
    chat = (
        f"curl -s {url}/v1/chat -H 'Authorization: Bearer bob' -d"
        f""" '{{"message": "{said}", "session_id": "s1"}}'"""
    )
    # `make` knows the repository's own folder
    is_makes = IN_REPOSITORY and Path(keep).resolve() == ROOT / ".webbee"
    emptied = "`make forget` empties it." if is_makes else f"Remove {keep} to begin anew."
    lines = [
        paint(f"Webbee listens on {url}: open it in a browser", "bold"),
        "Users: alice (Russian), bob (English), dev (developer), ops (operator)"
        + ("; all four read one demo mailbox, which is on this machine." if has_mail else "."),
        *([f"Apps: {', '.join(there)}."] if (there := sorted(apps.keys() - failed)) else []),
        *([f"Model: {model}"] if model else []),
        *([f"Its data stays in {keep}. {emptied}"] if keep else []),
        f"Chat: {chat}",
        *(f"{paint('not loaded', 'red')} {app_id}: {reason}" for app_id, reason in failed.items()),
        *([f"{COMMAND} check says what to do."] if failed else []),
        *offers,
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)

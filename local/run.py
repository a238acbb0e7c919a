"""`make run`: the whole deployment on one machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import Settings
from webbee_kernel.errors import SettingsError
from webbee_kernel.extensions.registry import app_of, changes

from . import mcp_servers, models
from .deployability import credentials
from .project import COMMAND, IN_REPOSITORY, SERVE, child_environment
from .terminal import CliError, Command, paint, progress

STEPS = 4
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run; the last is of a terminal that is closed."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; 1 when the port is taken, 2 when no such model can be had."""
    told = "Serve the API, mail servers and refresh loop on this machine."
    parser = Command(prog="make run", description=told)
    parser.text("--host", "the address to listen at (127.0.0.1)", "127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.text("--model", "offline, bedrock:<id> or openai:<base-url>#<model>", "offline")
    parser.text("--keep", "keep tables, secrets and mail there", metavar="FOLDER")
    parser.text("--extensions", "folder of extensions (the project's)", metavar="FOLDER")
    parser.flag("--check", "check an extension when a file of it is saved")
    parser.text("--origins", "pages of these origins may call the API: http://localhost:3000")
    options = parser.parse_args(arguments)
    try:
        make_model(Settings.from_env({**model_variables(), "WEBBEE_MODEL": options.model}))
        if options.model.startswith("bedrock:"):
            credentials()
    except (SettingsError, LookupError) as error:
        why = str(error).removeprefix("environment variable WEBBEE_MODEL: ")
        print(f"{_option(options, 'model', options.model)}: {why}", file=sys.stderr)
        return 2
    folder = Path(options.keep) if options.keep else None
    count = itertools.count()

    def step(what: str) -> None:
        progress(f"starting: {what}", next(count), STEPS)

    if not sys.stderr.isatty():
        print("starting …", flush=True)
    step("libraries")
    for number in ENDS:
        signal.signal(number, _end)
    try:
        from .world import (  # a second of imports: whoever waits sees the bar before
            failed,
            loaded,
            local_world,
            prepare_and_refresh,
        )

        with local_world(
            host=options.host,
            port=options.port,
            model=options.model,
            env={
                "WEBBEE_DEVELOP": "true",
                **models.variables(options.model, folder),
                **mcp_servers.variables(),
            },
            prepare=prepare_and_refresh,
            step=step,
            keep=folder,
            extensions_dir=Path(options.extensions).resolve() if options.extensions else None,
            origins=[origin.strip() for origin in options.origins.split(",")],
            apart=True,
        ) as world:
            progress("started", STEPS, STEPS)
            apps = loaded(world)
            says = MAIL if "mail" in apps else ANYTHING
            text = welcome(
                world.url, failed(world), says, apps, options.keep, _model(options, folder)
            )
            print(text, flush=True)
            world.keep_fresh()
            say = partial(print, flush=True)
            if options.check:
                follow_saved(Path(options.extensions), say, world.has_failed)
            threading.Event().wait()
    except OSError as error:
        start = f"{COMMAND} dev" if options.check else SERVE
        other = f"{start} {_option(options, 'port', options.port + 1)}"
        if error.errno:  # socket.create_server adds the address to the system's own word
            place = f"{options.host}:{options.port} ({os.strerror(error.errno).lower()})"
            print(f"cannot listen on {place}: {other}", file=sys.stderr)
        else:
            print(error.strerror, file=sys.stderr)
        return 1
    except CliError as error:
        print(f"it did not start: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; {options.keep or 'nothing of this run'} is kept")
    return 0


def _end(*_: object) -> None:
    """End once: `make` tells it as well, and what ends holds locks that nothing may break into."""
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def model_variables() -> dict[str, str]:
    """What this shell says of models."""
    return {k: v for k, v in os.environ.items() if k.startswith("WEBBEE_MODEL_")}


def _emptied(keep: str) -> str:
    """How to begin anew."""
    forget = IN_REPOSITORY and keep == ".webbee"
    return "`make forget` empties it." if forget else f"Remove {keep} to begin anew."


def _option(options: argparse.Namespace, name: str, value: object) -> str:
    """As whoever started it names it: `make run PORT=8001`, `webbee dev --port 8001`."""
    by_make = IN_REPOSITORY and not options.check
    return f"{name.upper()}={value}" if by_make else f"--{name} {value}"


def _model(options: argparse.Namespace, folder: Path | None) -> str:
    """Which model answers; where one is named, also how to go back, and what its last check had
    against it."""
    if options.model == "offline":
        return "the built-in helper, no language model."
    told = f"{options.model} (without {_option(options, 'model', '…')}: the built-in helper)."
    unfit = models.warning(options.model, folder)
    return f"{told}\n{paint('warning:', 'yellow')} {unfit}" if unfit else told


NOTHING = "nothing to mend"
COMMAND_LINE = f"{__name__.partition('.')[0]}.webbee"


def follow_saved(root: Path, say: Callable[[str], None], has_failed: Callable[..., bool]) -> None:
    """Check all extensions of a folder, and what is saved of them, for good; `say` tells a text,
    `has_failed(app_id, since=seconds)` whether a call of an app failed since then."""
    told: dict[str, str] = {}
    waiting = {main.parent.name for main in root.glob("*/main.py")}
    for changed in changes(root.resolve()):
        waiting |= {app_of(path, root.resolve()) for path in changed} - {""}
        saved = time.time()
        check_saved(waiting, root, told, say, partial(has_failed, since=saved))
        waiting.clear()


def check_saved(
    names: Iterable[str],
    root: Path,
    told: dict[str, str],
    say: Callable[[str], None],
    has_failed: Callable[[str], bool] = lambda _: False,
) -> None:
    """Check each, at the lowest priority. What its last check told as well is not told again, and
    that there is nothing to mend only where there was something and no call has failed since."""
    for name in sorted(n for n in names if (root / n / "main.py").exists()):
        calm = [nice, "-n", "19"] if (nice := shutil.which("nice")) else []
        command = [sys.executable, "-m", COMMAND_LINE, "check", os.path.relpath(root / name)]
        done = subprocess.run(  # noqa: S603 - ourselves
            [*calm, *command],
            env=child_environment(),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        text = done.stdout.strip() or done.stderr.strip()
        if NOTHING in text and name in told and has_failed(name):
            continue  # the next check that finds nothing says so
        if text != told.get(name) and (name in told or NOTHING not in text):
            say(text)
        told[name] = text


MAIL = (
    ("bob", "show the emails from today"),
    ("bob", "send “status of the project” to the same address"),
    ("alice", "покажи письма за сегодня"),
)
"""What there is to say where the mail extension is, and who says it."""
ANYTHING = (("bob", "what can you do?"),)


def welcome(
    url: str,
    failed: Mapping[str, str],
    says: Sequence[tuple[str, str]] = MAIL,
    apps: Collection[str] = (),
    keep: str = "",
    model: str = "",
) -> str:
    """What to type next, which model answers, where data stays, which extensions are there, and
    which are missing, with their reasons."""
    chats = [
        f"curl -s {url}/v1/chat -H 'Authorization: Bearer {user}' -d"
        f""" '{{"message": "{said}", "session_id": "s1"}}'"""
        for user, said in says
    ]
    inspect = (
        f"curl -sG {url}/v1/inspect -H 'Authorization: Bearer dev' --data-urlencode"
        f" 'message={says[0][1]}'"
    )
    lines = [
        paint(f"Webbee listens on {url}: open it in a browser", "bold"),
        "Users: alice (Russian), bob (English), dev (developer), ops (operator)"
        + ("; their mailbox is a demo account on this machine." if says is MAIL else "."),
        *([f"Apps: {', '.join(sorted(apps))}."] if apps else []),
        *([f"Model: {model}"] if model else []),
        *([f"Its data stays in {keep}. {_emptied(keep)}"] if keep else []),
        "",
        paint("Chat:", "bold"),
        *("  " + chat for chat in chats),
        paint("What the model would read:", "bold"),
        "  " + inspect,
        "",
        *(f"{paint('not loaded', 'red')} {app_id}: {reason}" for app_id, reason in failed.items()),
        *([f"{COMMAND} check says what to do.", ""] if failed else []),
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

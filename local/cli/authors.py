"""`webbee new`, `check`, `test`: what an author asks of a folder of extensions, wherever it is.

`new` writes a small extension that works and says what it is told to be, with tests that pass, from
the templates of `local/scaffold`, a file after `==== name` each: `store` for things that each user
keeps here, `read` for those that another service knows, `plain` for what a function works out.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template

from ..checking import CheckResult, Finding, lines_of, problems_of
from ..project import COMMAND, ROOT, child_environment, filled_folder, folder_of_extensions
from ..terminal import CliError, paint, tell, waiting


def test(options: argparse.Namespace) -> int:
    """Run the tests of one extension, or of all of a folder, with pytest."""
    folder = filled_folder(options.into)
    where = folder / Path(options.extension).name if options.extension else folder
    if not where.is_dir():
        raise CliError(f"{where} is no folder: give an extension's id")
    command = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q", str(where)]
    if folder.resolve().is_relative_to(ROOT):  # whose options want plugins of its developers
        command += ["-c", os.devnull, "--rootdir", str(folder.resolve())]
    done = subprocess.run([*command, *options.rest], env=child_environment(), check=False)  # noqa: S603
    return done.returncode


def check(options: argparse.Namespace) -> int:
    """Check one extension, or every folder of `extensions`. Exit status 1 when there is an error;
    warnings alone are 0."""
    folder = _one_or_all(str(options.extension))
    inside = [] if (folder / "main.py").exists() else extensions_of(folder)
    with waiting("checking"):
        found = dict(problems(inside or [folder]))
    errors = sum(len(listed.errors) for listed in found.values())
    reports = [
        {"extension": f.name, "errors": len(listed.errors), **asdict(listed)}
        for f, listed in found.items()
    ]
    lines = [line for checked, listed in found.items() for line in lines_of(checked, listed)]
    tell(options, {"errors": errors, "extensions": reports} if inside else reports[0], lines)
    return 1 if errors else 0


def extensions_of(folder: Path) -> list[Path]:
    """The extensions of a folder."""
    return [main.parent for main in sorted(folder.glob("*/main.py"))]


def problems(folders: Sequence[Path]) -> Iterator[tuple[Path, CheckResult]]:
    """Each folder with what was found in it; an id that another folder took is a finding."""
    taken: set[str] = set()
    for folder in folders:
        checked = problems_of(folder)
        if checked.app_id in taken:
            told = f"the extension id {checked.app_id!r} is taken by another folder"
            checked.findings.append(Finding.of("main.py", 1, "load", told))
        taken |= {checked.app_id} - {""}
        yield folder, checked


def _one_or_all(named: str) -> Path:
    """An extension's folder, by path or id, or a folder of them: `extensions` beside the caller,
    else the project's own, without a name."""
    home = folder_of_extensions()
    for folder in (Path(named) if named else home, home / named):
        if folder.is_dir():
            return folder
    raise CliError(f"{named} is no folder: give the path of an extension")


APP_ID = re.compile(r"[a-z][a-z0-9_-]{0,63}")
THING = re.compile(r"[a-z][a-z0-9]{0,20}( [a-z0-9]{1,20}){0,2}", re.IGNORECASE)
ADDRESS = re.compile(r"(https?://[^\s\"\\]+|none)?")
TEMPLATES = Path(__file__).parents[1] / "scaffold"
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor"'
    ' stroke-width="1.5"><path d="M12 3l8 4.5v9L12 21l-8-4.5v-9z"/></svg>\n'
)


def new(options: argparse.Namespace) -> int:
    """Write the scaffold into `<into>/<extension>`; nothing is overwritten."""
    app = str(options.extension)
    if not APP_ID.fullmatch(app):
        raise CliError(
            f"{app!r} cannot be an extension's id: 1 to 64 characters of a-z 0-9 _ -, the first a"
            " letter"
        )
    folder = Path(options.into) / app
    if folder.exists():
        raise CliError(f"{folder} is there already: choose another name, or remove it")
    asks = sys.stdin.isatty() and not options.json

    def answer(given: str, question: str, default: str) -> str:
        """What an option says, or, at a terminal, who types; Enter takes what is in brackets."""
        return given or (asks and input(f"{question} [{default}] ").strip()) or default

    thing = answer(options.thing, "What is one of its things called?", _thing_of(app)).lower()
    if not THING.fullmatch(thing):
        raise CliError(f"{thing!r} cannot name a thing: one to three words of a-z and 0-9")
    where = "Where do they come from? An address that answers with JSON, none, or Enter: kept here"
    address = answer(options.address, where, "")
    if not ADDRESS.fullmatch(address):
        raise CliError(f"{address!r} is no address: https://…, or none")
    shown = f"{_title(app)} of {_plural(thing)}" if address else f"The user's {_shown(app, thing)}"
    about = answer(options.about, "What is it, in one sentence?", shown)
    made = files(app, thing, address, about)
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    written = [str(folder / name) for name in made]
    todo = ("dev", f"check {folder}", f"test {app}")
    then = paint("next: " + ", ".join(f"{COMMAND} {what}" for what in todo), "dim")
    tell(options, {"extension": app, "files": written}, [*written, then])
    return 0


def files(app: str, thing: str, address: str, about: str) -> dict[str, str]:
    """The scaffold's files by path: of an extension whose things stand at an address, are kept here
    where it is empty, and are none where it is `none`. `about` is what it is, in one sentence."""
    kind = "plain" if address == "none" else "read" if address else "store"
    shown, name = _shown(app, thing), thing.replace(" ", "_")
    about = " ".join(about.split()).rstrip(".").replace('"', "'").replace("\\", "")
    words = {
        "app": app,
        "section": app.replace("-", "_"),
        "title": _title(app),
        "about": about,
        "about_sentence": f"{about[:1].lower()}{about[1:]}.",
        "address": address,
        "thing": thing,
        "things": _plural(thing),
        "shown": shown,
        "one": f"{shown.removesuffix(_plural(thing))}{thing}",
        "name": name,
        "names": _plural(name),
        "Thing": "".join(word.capitalize() for word in thing.split()),
        "Words": thing.capitalize(),
        "a": "an" if thing[0] in "aeiou" else "a",
    }
    text = Template((TEMPLATES / f"{kind}.tmpl").read_text("utf-8")).substitute(words)
    parts = re.split(r"^==== (.+)\n", text, flags=re.MULTILINE)[1:]
    return {**dict(zip(parts[::2], parts[1::2], strict=True)), "icon.svg": ICON}


def _title(app: str) -> str:
    return re.sub("[-_]", " ", app).capitalize()


def _thing_of(app: str) -> str:
    """`invoice` of `invoices`; where the name is no plural, an entry."""
    last = re.split("[-_]", app)[-1]
    if len(last) > 3 and last.endswith("ies"):
        return f"{last[:-3]}y"
    return last[:-1] if len(last) > 3 and re.search(r"[^su]s$", last) else "entry"


def _plural(thing: str) -> str:
    if re.search(r"[^aeiou]y$", thing):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if re.search(r"(s|x|ch|sh)$", thing) else f"{thing}s"


def _shown(app: str, thing: str) -> str:
    """The things as their user asks for them: `invoices`, `weather entries`."""
    named, things = _title(app).lower(), _plural(thing)
    return named if named.endswith(things) else f"{named} {things}"

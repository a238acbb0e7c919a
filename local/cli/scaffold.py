"""`webbee new`: a small extension that works and says what it is told to be, with tests that pass.

Its texts are the templates of `local/scaffold`, a file after `==== name` each: `kept` for things
that each user keeps here, `read` for those that another service knows, `plain` for what a function
works out.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template

from ..project import COMMAND
from ..terminal import CliError, paint, put_json

APP_ID = re.compile(r"[a-z][a-z0-9_-]{0,63}")
THING = r"[a-z][a-z0-9]{0,20}( [a-z0-9]{1,20}){0,2}"
NONE = "none"
ADDRESS = rf"(https?://[^\s\"\\]+|{NONE})?"
TEMPLATES = Path(__file__).parents[1] / "scaffold"
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5"><path d="M12 3l8 4.5v9L12 21l-8-4.5v-9z"/></svg>
"""


@dataclass(frozen=True, slots=True)
class Answers:
    """What an extension is to be: its sentence, what one of its things is called, and the address
    that knows them, empty where its users keep them here; `none` where nothing is kept."""

    about: str
    thing: str
    address: str


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
    made = files(app, _answers(app, options))
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    written = [str(folder / name) for name in made]
    if options.json:
        put_json({"extension": app, "files": written})
    else:
        print("\n".join(written))
        todo = ("dev", f"check {folder}", f"test {app}", f"eval {app}")
        print(paint("next: " + ", ".join(f"{COMMAND} {what}" for what in todo), "dim"))
    return 0


def _answers(app: str, options: argparse.Namespace) -> Answers:
    """What the options say; at a terminal the rest is asked, Enter takes what stands in brackets.
    CliError for what cannot be."""
    asks = sys.stdin.isatty() and not options.json

    def answer(given: str, question: str, default: str, form: str = "", why: str = "") -> str:
        while True:
            told = given or default
            if asks and not given:
                told = input(f"{question} [{default or 'kept here'}] ").strip() or default
            if not form or re.fullmatch(form, told, re.I):
                return told
            if given or not asks:
                raise CliError(f"{told!r} {why}")
            print(paint(f"{told!r} {why}", "red"), file=sys.stderr)

    thing = answer(
        options.thing,
        "What is one of its things called?",
        _thing_of(app),
        THING,
        "cannot name a thing: one to three words of a-z and 0-9",
    ).lower()
    where = "Where do they come from? An address that answers with JSON, none, or Enter:"
    address = answer(options.address, where, "", ADDRESS, "is no address: https://…, or none")
    title = _title(app)
    default = f"{title} of {_plural(thing)}" if address else f"The user's {_shown(app, thing)}"
    about = answer(options.about, "What is it, in one sentence?", default)
    return Answers(" ".join(about.split()).rstrip(".").replace('"', "'"), thing, address)


def files(app: str, answers: Answers) -> dict[str, str]:
    """The scaffold's files by path."""
    kind = "plain" if answers.address == NONE else "read" if answers.address else "kept"
    thing, section = answers.thing, app.replace("-", "_")
    shown = _shown(app, thing)
    name = thing.replace(" ", "_")
    words = {
        "app": app,
        "section": section,
        "title": _title(app),
        "about": answers.about.replace("\\", ""),
        "about_sentence": f"{answers.about[:1].lower()}{answers.about[1:]}.",
        "address": answers.address,
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

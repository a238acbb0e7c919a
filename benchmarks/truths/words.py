"""The words the replies are made of, halved: what the tuning seed may use and what only the
sealed one does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
LANGUAGES = ("en", "ru", "de", "es")
HELD_OUT_APPS = frozenset({"travel", "posting", "vehicle", "messages"})


_folders = ["words"]


def use(folder: str) -> None:
    """Draw from now on from the words of another folder beside `words`, where it has them."""
    _folders[:] = dict.fromkeys([folder, "words"])
    load.cache_clear()
    sources.cache_clear()


@cache
def load(name: str) -> Any:
    """Return `<name>.json` of the words, or `results.json` beside them."""
    found = [HERE / "results.json"] if name == "results" else []
    found += [HERE / folder / f"{name}.json" for folder in _folders]
    path = next(p for p in found if p.is_file())
    return json.loads(path.read_text(encoding="utf-8"))


def half(options: list[Any], sealed: bool) -> list[Any]:
    """Every second entry: the even ones are for tuning, the odd ones are held out."""
    return options[int(sealed) :: 2]


@dataclass(frozen=True)
class Field:
    """A field of a record: what kind of value it holds and its label by language."""

    name: str
    role: str
    labels: tuple[str, ...]

    def label(self, language: str) -> str:
        return self.labels[LANGUAGES.index(language)]


@dataclass(frozen=True)
class Source:
    """The result of a reading tool: its records' title and fields, its noun by language, and the
    shape of its data.
    """

    name: str
    fn_name: str
    title: str
    shape: str
    key: str
    currency: str
    nouns: tuple[tuple[str, ...], ...]
    fields: tuple[Field, ...]

    @property
    def app_id(self) -> str:
        return self.name.split(".")[0]

    def noun(self, language: str, count: int) -> str:
        """The noun beside a number: one, few (Russian), many."""
        forms = self.nouns[LANGUAGES.index(language)]
        if language == "ru":
            last, teens = count % 10, count % 100 // 10 == 1
            return (
                forms[0]
                if last == 1 and not teens
                else forms[1]
                if 2 <= last <= 4 and not teens
                else forms[2]
            )
        return forms[0] if count == 1 else forms[1]

    def plural(self, language: str) -> str:
        """The noun without a number."""
        if language == "ru":
            return self.nouns[1][3] if len(self.nouns[1]) > 3 else self.nouns[1][1]
        return self.nouns[LANGUAGES.index(language)][1]


@cache
def sources() -> tuple[Source, ...]:
    """Every source, in file order."""
    return tuple(
        Source(
            name,
            entry["fn"],
            entry["title"],
            entry["shape"],
            entry.get("key", "id"),
            entry.get("currency", ""),
            tuple(tuple(n.split(",")) for n in entry["noun"].split("|")),
            tuple(
                Field(f, text.split("|")[0], tuple(text.split("|")[1:]))
                for f, text in entry["fields"].items()
            ),
        )
        for name, entry in load("sources").items()
    )


@dataclass(frozen=True)
class Draw:
    """What one case is drawn with: randomness, a language, and which half of the words it may
    see.
    """

    rng: Random
    language: str
    sealed: bool

    def pick(self, name: str, file: str = "reads") -> str:
        """Return one template of the construct `name` from this draw's half."""
        by_language = load(file)[name]
        chosen: str = self.rng.choice(
            half(by_language.get("all") or by_language[self.language], self.sealed)
        )
        return chosen

    def app_allowed(self, app_id: str) -> bool:
        """Whether the draw may use the app; the sealed half shows mostly those the tuning half
        never does.
        """
        return self.sealed or app_id not in HELD_OUT_APPS

    def source(self) -> Source:
        """Return one source of an allowed app."""
        allowed = [s for s in sources() if self.app_allowed(s.app_id)]
        if self.sealed and self.rng.random() < 0.5:
            allowed = [s for s in allowed if s.app_id in HELD_OUT_APPS]
        return self.rng.choice(allowed)

"""The sets as values: conversations with what is expected of each turn, and remarks that must
change nothing.

What is expected is told in a person's words: `mail.reply to Kay` names the function, `tasks.add
'buy milk'` also a text that must stand among the call's values, `a or b` either; what the words say
beyond that is not judged. The shipped apps lack some functions that the words name (`tasks.reopen`,
`mail.forward`): there nothing may be written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent
Language = Literal["en", "ru", "de", "es", "fr"]

_CALL = re.compile(r"\b(?:mail|tasks|notes)\.[a-z]+\b")
_QUOTED = re.compile(r"(?<!\w)'([^']+)'|«([^»]+)»|„([^“]+)“|\"([^\"]+)\"")
_NOTHING = re.compile(r"\b(?:nothing|ничего|nichts)\b")
_READS = {
    "mail.list": "mail.list_inbox",
    "mail.search": "mail.search",
    "mail.read": "mail.read",
    "tasks.list": "tasks.list_tasks",
    "notes.list": "notes.find",
    "notes.search": "notes.find",
    "notes.read": "notes.read",
}
_WRITES = frozenset(
    "mail.send mail.reply mail.archive mail.delete mail.mark tasks.add tasks.complete tasks.update"
    " tasks.delete notes.write notes.append notes.pin notes.delete".split()
)


@dataclass(frozen=True, slots=True)
class Write:
    """A call that writes, `app.function`; `tells` are texts that stand in its values."""

    call: str
    tells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A call made before the conversation starts, so that there is something to talk about."""

    call: str
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail in the user's mailbox, newest first in a list of them."""

    sender: str
    from_name: str
    subject: str
    body: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a turn must do, every part of it: `read` ran, exactly the writes `effects` ran, the
    reply holds each of `says`. `may_ask`: asking back is as good."""

    read: str = ""
    effects: tuple[Write, ...] = ()
    says: tuple[str, ...] = ()
    may_ask: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user says, and the alternatives of what may come of it."""

    say: str
    expected: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Some turns with one user in a world of his own."""

    id: str
    language: Language
    given: tuple[Given, ...]
    letters: tuple[Letter, ...]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A message that must change nothing."""

    id: str
    language: Language
    say: str


def conversations(path: Path) -> list[Conversation]:
    """Rows of `{"id", "language", "given": {"mails", "tasks", "notes"}, "turns": [{"say",
    "expect": {"calls", "reply_contains", "or_question"}}]}`."""
    return [_conversation(row) for row in json.loads(path.read_text("utf-8"))]


def remarks(path: Path) -> list[Remark]:
    """Rows of `{"id", "language", "say"}`."""
    rows = json.loads(path.read_text("utf-8"))
    return [Remark(row["id"], row["language"], row["say"]) for row in rows]


def path_of(name: str) -> Path:
    """The file of a set: `conversations`, `remarks` or `own_conversations`."""
    return FOLDER / f"{name}.json"


def _conversation(row: dict[str, Any]) -> Conversation:
    return Conversation(
        row["id"],
        row["language"],
        tuple(_given(row["given"])),
        tuple(
            Letter(m["from"], m["from_name"], m["subject"], m["body"])
            for m in row["given"]["mails"]
        ),
        tuple(Turn(turn["say"], _expected(turn["expect"])) for turn in row["turns"]),
    )


def _given(given: dict[str, Any]) -> Iterator[Given]:
    for task in given["tasks"]:
        title = task["title"]
        yield Given("tasks.add", {"title": title, "due": task["due"] or ""})
        if task["done"]:
            yield Given("tasks.complete", {"title": title})
    for note in reversed(given["notes"]):  # told as they are listed, the newest first, like mails
        yield Given("notes.write", {"title": note["title"], "body": note["body"]})


def _expected(wanted: dict[str, Any]) -> tuple[Expectation, ...]:
    calls: Sequence[str] = wanted["calls"]
    says = tuple(wanted["reply_contains"])
    writes = [w for text in calls if (w := _writes(text))]
    if any(not set(_CALL.findall(text)) & {*_READS, *_WRITES} for text in calls):
        return (Expectation(),)
    reads = [""] if says or writes else [r for text in calls for r in _reads(text)] or [""]
    return tuple(
        Expectation(read, effects, says, wanted["or_question"])
        for read in reads
        for effects in product(*writes)
    )


def _writes(text: str) -> list[Write]:
    """The alternatives, in the order in which they stand."""
    quoted = tuple(next(g for g in m.groups() if g) for m in _QUOTED.finditer(text))
    named = dict.fromkeys(_CALL.findall(text))
    return [Write(name, quoted) for name in named if name in _WRITES]


def _reads(text: str) -> list[str]:
    nothing = [""] if _NOTHING.search(text) else []
    return nothing + [_READS[n] for n in dict.fromkeys(_CALL.findall(text)) if n in _READS]


def folded(value: Any) -> str:
    """For comparing: no letter case, no yo, single spaces, no quotes or stops at the ends."""
    return " ".join(str(value).casefold().replace("\u0451", "\u0435").split()).strip(
        " .!,;:'\"\u00ab\u00bb\u201c\u201d"
    )

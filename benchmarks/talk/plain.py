"""Conversations whose expectations are told in a person's words, as cases of this benchmark.

`mail.reply to Kay` names the function, `tasks.add 'buy milk'` also a text that must stand among the
call's values; what the words say beyond that is not judged. The shipped apps lack some functions
that the words name (`tasks.reopen`, `mail.forward`): there nothing may be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from .cases import Call, Conversation, Expectation, Given, Letter, Remark, Turn

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


def is_plain(row: dict[str, Any]) -> bool:
    """Whether a conversation or a remark is written this way."""
    return "say" in row or isinstance(row.get("given"), dict)


def plain_remark(row: dict[str, Any]) -> Remark:
    """`{"id", "language", "say"}`."""
    return Remark(id=row["id"], language=row["language"], kind="", message=row["say"])


def plain_conversation(row: dict[str, Any]) -> Conversation:
    """`{"id", "language", "given": {"mails", "tasks", "notes"}, "turns": [{"say", "expect"}]}`, to
    `expect` belong `calls`, `reply_contains`, pieces of words too, and `or_question`."""
    return Conversation(
        id=row["id"],
        language=row["language"],
        about="",
        given=tuple(_given(row["given"])),
        letters=tuple(Letter.model_validate(mail) for mail in row["given"]["mails"]),
        turns=tuple(_turn(turn) for turn in row["turns"]),
    )


def _given(given: dict[str, Any]) -> Iterator[Given]:
    for task in given["tasks"]:
        title = task["title"]
        yield Given(call="tasks.add", arguments={"title": title, "due": task["due"] or ""})
        if task["done"]:
            yield Given(call="tasks.complete", arguments={"title": title})
    for note in reversed(given["notes"]):  # told as they are listed, the newest first, like mails
        yield Given(call="notes.write", arguments={"title": note["title"], "body": note["body"]})


def _turn(turn: dict[str, Any]) -> Turn:
    wanted = turn["expect"]
    calls: Sequence[str] = wanted["calls"]
    says = tuple(f"*{text}*" for text in wanted["reply_contains"])
    writes = [w for text in calls if (w := _writes(text))]
    if any(not set(_CALL.findall(text)) & {*_READS, *_WRITES} for text in calls):
        return Turn(say=turn["say"], expect=Expectation(no_effect=True))
    effects = [tuple(chosen) for chosen in product(*writes)]
    reads = [""] if says or writes else [r for text in calls for r in _reads(text)] or [""]
    return Turn(
        say=turn["say"],
        expect_any=tuple(
            Expectation(
                call=read,
                effect=effect,
                answer_contains=says,
                may_ask=wanted["or_question"],
                no_effect=not effect,
            )
            for read in reads
            for effect in effects
        ),
    )


def _writes(text: str) -> list[Call]:
    """The alternatives, in the order in which they stand."""
    quoted = tuple(next(g for g in m.groups() if g) for m in _QUOTED.finditer(text))
    named = dict.fromkeys(_CALL.findall(text))
    return [Call(call=name, tells=quoted) for name in named if name in _WRITES]


def _reads(text: str) -> list[str]:
    nothing = [""] if _NOTHING.search(text) else []
    return nothing + [_READS[n] for n in dict.fromkeys(_CALL.findall(text)) if n in _READS]

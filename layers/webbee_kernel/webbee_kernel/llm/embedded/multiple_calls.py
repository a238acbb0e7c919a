"""Several calls from one message: one per text ("add three tasks: …") or per record ("them", "all
notes")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final

from ... import language
from .commands import Commands
from .examples import Command, free_names
from .message import COLON

MAX_CALLS: Final = 10
"""Maximum calls of one message; with more none is made."""


def split_calls(commands: Commands) -> list[Command]:
    """A command for each part of the text after a colon, if the words before it count them, or name
    the record in another form than the examples: "new tasks: milk, bread"."""
    message, at = commands.message, commands.message.colon
    head, count = _split_count(message.text[: message.tokens[at].start] if at else "", message.tag)
    if not (head and (count or _is_plural(commands, at))):
        return []
    splits = [parts for parts in _parts(commands, at) if len(parts) == (count or len(parts))]
    return _sure_commands(commands, [f"{head}: {part}" for part in splits[0]]) if splits else []


def _split_count(head: str, tag: str) -> tuple[str, int]:
    """The words before a colon without their only number, and that number or 0."""
    counts = [m for m in language.numbers(head, tag) if m.value in range(2, MAX_CALLS + 1)]
    if len(counts) != 1:
        return head, 0
    [one] = counts
    return f"{head[: one.start]} {head[one.end :]}", int(one.value)


def _parts(commands: Commands, at: int) -> Iterator[list[str]]:
    """Candidate splits of the text after a position: at punctuation and final conjunctions, at all
    of these, at punctuation only."""
    message, last = commands.message, len(commands.message.tokens)
    joints = commands.boundaries((at + 1, last))
    marks = [n for n in joints if not commands.is_conjunction(n)]
    ends = [n for n in joints if n >= max(marks, default=0)]
    for places in ({*marks, *ends}, {*joints}, {*marks}):
        bounds = pairwise([at + 1, *sorted(places), last])
        spans = [(commands.skip_conjunctions(first), end) for first, end in bounds]
        yield [message.slice(*span) for span in spans if span[0] < span[1]]


def _sure_commands(commands: Commands, messages: Sequence[str]) -> list[Command]:
    """The commands of these messages, if all are callable and of one non-destructive function."""
    if not 1 < len(messages) <= MAX_CALLS:
        return []
    reading, tools = commands.reading, commands.tools
    readings = [Commands(replace(reading, message=m), tools).readings() for m in messages]
    found = [own[0] for own in readings if len(own) == 1 and own[0].is_sure]
    kinds = {(c.tool.name, c.tool.action_type) for c in found}
    return found if [kind for _, kind in kinds] == ["write"] and len(found) == len(readings) else []


def _is_plural(commands: Commands, at: int) -> bool:
    """Whether the app's noun right before a position has another form than in similar examples."""
    stems, words = commands.message.stems(commands.message.tag)[:at], commands.message.words
    nouns = commands.values.all_nouns(commands.message.tag)
    said = {words[at - 1]} if nouns.issuperset(stems[-1:]) else set()
    examples = (p.pieces for p in commands.examples if p.pieces[0].stem in stems)
    pairs = chain.from_iterable(map(pairwise, examples))
    leads = {a.form for a, b in pairs if b.slot in language.title_keys() or b.stem == COLON}
    return bool(leads and said - leads)


def calls_per_record(readings: Sequence[Command], *, is_listed: bool) -> list[Command]:
    """A command for each record that the message means; for "all" only if their list has just been
    read (`is_listed`)."""
    ref = readings[0].unclear if len(readings) == 1 else None
    if not ref or not ref.is_all or ref.is_named > is_listed:
        return []
    base, ids = replace(readings[0], unclear=None), [row["id"] for row in ref.rows]
    several = free_names(base.tool, "ids", base.arguments)
    [name] = (several or free_names(base.tool, "id", base.arguments))[:1]
    values = [ids] * bool(ids) if several else ids
    told = [replace(base, arguments={**base.arguments, name: value}) for value in values]
    return told if len(told) <= MAX_CALLS else []

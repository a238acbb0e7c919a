"""Several calls from one message: one per text ("add three tasks: …") or per record ("them", "all
notes")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final

from ... import language
from .commands import Commands
from .examples import Command, Piece, Span, free_names
from .message import COLON, lexicon

MAX_CALLS: Final = 10
"""Maximum calls of one message; with more none is made."""


def split_calls(commands: Commands, readings: Sequence[Command]) -> list[Command]:
    """A command for each part of the text after a colon, or of a title that is a list."""
    is_led = bool(commands.message.colon)
    return _sure_commands(commands, _led(commands) if is_led else _listed(commands, readings))


def _led(commands: Commands) -> list[str]:
    """The message once for each part of the text after its colon, if the words before it count
    them, or name the record in another form than the examples: "new tasks: milk, bread"."""
    message, at = commands.message, commands.message.colon
    head, count = _split_count(message.text[: message.tokens[at].start], message.tag)
    if not (count or _is_plural(commands, (at - 1, at))):
        return []
    splits = [parts for parts in _parts(commands, at) if len(parts) == (count or len(parts))]
    return [f"{head}: {part}" for part in splits[0]] if splits else []


def _listed(commands: Commands, readings: Sequence[Command]) -> list[str]:
    """The message once for each item of a title that lists three or more, beside the app's noun in
    the plural: "add milk, bread and eggs to my tasks"."""
    message, title = commands.message, _title(readings)
    start = message.text.find(title)
    inside = [
        n for n, t in enumerate(message.tokens) if t.start in range(start, start + len(title))
    ]
    if not inside or not _is_plural(commands, (inside[-1] + 1, len(message.tokens))):
        return []
    parts = next(_parts(commands, inside[0] - 1, inside[-1] + 1))
    sizes = [len(part.split()) for part in parts]
    # "buy milk, bread and eggs" is one errand
    is_list = len(parts) > 2 and sizes[0] <= max(sizes[1:])
    after = message.text[start + len(title) :]
    return [message.text[:start] + part + after for part in parts if is_list]


def _title(readings: Sequence[Command]) -> str:
    """The title that the only command gives to something; else empty."""
    keys = {*language.title_keys()}
    told = [str(v) for c in readings for k, v in c.arguments.items() if k in keys]
    return told[0] if len(readings) == len(told) == 1 else ""


def _split_count(head: str, tag: str) -> tuple[str, int]:
    """The words before a colon without their only number, and that number or 0."""
    counts = [m for m in language.numbers(head, tag) if m.value in range(2, MAX_CALLS + 1)]
    if len(counts) != 1:
        return head, 0
    [one] = counts
    return f"{head[: one.start]} {head[one.end :]}", int(one.value)


def _parts(commands: Commands, at: int, end: int | None = None) -> Iterator[list[str]]:
    """Candidate splits of the text after a position: at punctuation and final conjunctions, at all
    of these, at punctuation only."""
    message = commands.message
    last = len(message.tokens) if end is None else end
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


def _is_plural(commands: Commands, span: Span) -> bool:
    """Whether an app's noun in a span has another form than in similar examples, where no small
    word stands before it ("to my tasks")."""
    message, tag = commands.message, commands.message.tag
    stems, nouns = message.stems(tag), commands.values.all_nouns(tag)
    said = {message.words[n] for n in range(*span) if stems[n] in nouns}
    examples = (p.pieces for p in commands.examples if p.pieces[0].stem in stems)
    rows = (zip((Piece(), *own), own, own[1:], strict=False) for own in examples)
    led = ((a, b) for a, b, c in chain(*rows) if c.slot in language.title_keys() or c.stem == COLON)
    leads = {b.form for a, b in led if a.stem not in lexicon(tag).fillers}
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

"""Turns, confirmations, audit records and events as stored text, and back.

A reader ignores fields it does not know and gives missing ones their default: two versions of the
kernel run side by side while one is deployed over the other.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ..base.clock import parse_iso
from ..errors import BadInput
from ..values import (
    RING_SIZE,
    AuditRecord,
    Event,
    Installation,
    ToolCallDigest,
    Turn,
)
from ..values.plain import JSONObject, fields_of, made
from .jsontext import dumps, loads

MAX_ITEM_BYTES: Final = 400 * 1024
"""DynamoDB's limit for one item, attribute names included."""
MAX_OUTCOME_BYTES: Final = 300_000
"""JSON of a stored outcome; over it the data is dropped and its size noted."""
TITLE_CHARACTERS: Final = 80
KEPT_S: Final = 600
"""Seconds after its end in which a question still leads to its session: its answer may be asked
for again."""

_KEPT_TEXT: Final = 4_000
_TURN_DEFAULTS: Final[JSONObject] = {
    "vault": {},
    "masked": True,
    "response": {},
    "apps": (),
    "accepted": (),
    "vouched": (),
    "doubted": (),
    "waiting": (),
    "also": (),
    "marks": (),
    "shown": (),
    "paused": (),
    "listed": "",
    "told": 0,
}


def turn_text(turn: Turn, *, less: Collection[str] = ()) -> str:
    """A turn as text, without some fields; BadInput when it would not fit into one item.

    A line of JSON without what is default, then the facts as they are: quoting JSON inside JSON
    would cost a tenth of an item.
    """
    row = {
        name: value
        for name, value in fields_of(turn).items()
        if value != _TURN_DEFAULTS.get(name) and name not in less
    }
    row |= _lists(turn)
    return fitting(
        "\n".join([dumps(row), "".join(d.data_facts_json for d in turn.digests)]), "turn"
    )


def _lists(turn: Turn) -> JSONObject:
    """The calls and questions of a turn, without the facts. Arguments stand apart, because an
    earlier version reads three parts a digest."""
    told = [d for d in turn.digests if d.data_facts_json]
    found: JSONObject = {
        "waiting": [fields_of(p) for p in turn.waiting],
        "paused": [(d.app_id, d.fn_name, d.data_facts_json, d.args_json) for d in turn.paused],
        "arguments": [
            (i, d.app_id, d.fn_name, d.args_json, bool(d.data_facts_json))
            for i, d in enumerate(turn.digests)
            if d.args_json
        ],
    }
    digests = [(d.app_id, d.fn_name, len(d.data_facts_json)) for d in told]
    return {"digests": digests, **{name: rows for name, rows in found.items() if rows}}


def turn_from(text: str, **apart: Any) -> Turn:
    """The turn of a text, with the fields that were kept apart from it."""
    head, _, facts = text.partition("\n")
    stored = loads(head)
    rows, paused = stored.pop("digests", ()), stored.pop("paused", ())
    digests: list[ToolCallDigest] = []
    start = 0
    for app_id, fn_name, length in rows:
        digests.append(ToolCallDigest(app_id, fn_name, facts[start : start + length]))
        start += length
    for i, app_id, fn_name, arguments, told in stored.get("arguments", ()):
        if told:
            digests[i] = ToolCallDigest(app_id, fn_name, digests[i].data_facts_json, arguments)
        else:
            digests.insert(i, ToolCallDigest(app_id, fn_name, "", arguments))
    stopped = tuple(ToolCallDigest(*d) for d in paused)
    return made(Turn, stored, digests=tuple(digests), paused=stopped, **apart)


def told_row(turn: Turn) -> JSONObject:
    """A turn as its own user may read it: no placeholders."""
    return {
        **turn.response,
        "turn": turn.seq,
        "at": turn.at,
        "status": turn.status,
        "message": turn.message,
        "reply": turn.reply,
        "request_id": turn.request_id,
        **({"also": list(turn.also)} if turn.also else {}),
    }


def told_until(turn: Turn, seconds: int) -> int:
    """When a turn is gone that is kept for so long (Unix seconds)."""
    return int(parse_iso(turn.at)) + seconds


def audit_text(record: AuditRecord) -> str:
    """An audit record as JSON. An outcome over 300 KB loses its large fields and says so."""
    row = fields_of(record)
    text = dumps(row)
    if record.outcome is not None and len(text) > MAX_OUTCOME_BYTES // 4:  # 4 bytes a character
        text = dumps({**row, "outcome": _fitted(record.outcome)})
    return fitting(text, "audit record")


def outcome_text(outcome: JSONObject) -> str:
    """An outcome by itself, as an audit record would hold it."""
    return dumps(_fitted(outcome))


def _fitted(outcome: JSONObject) -> JSONObject:
    size = len(dumps(outcome).encode())
    return _shortened(outcome, size) if size > MAX_OUTCOME_BYTES else outcome


def audit_from(text: str) -> AuditRecord:
    return made(AuditRecord, loads(text))


def event_text(event: Event) -> str:
    return fitting(dumps(fields_of(event)), "event")


def event_from(text: str) -> Event:
    return made(Event, loads(text))


def installation_text(installation: Installation) -> str:
    return dumps(fields_of(installation))


def installation_from(text: str) -> Installation:
    return made(Installation, loads(text))


def says_the_same(held: Installation, given: Installation) -> bool:
    """Whether a record changes nothing but its time."""
    return (held.installed, held.version) == (given.installed, given.version)


def slot_of(seq: int) -> int:
    """The slot of the ring that holds a turn."""
    return seq % RING_SIZE


def title_of(message: str) -> str:
    """The first 80 characters on one line: a session is listed under the message of its first
    turn."""
    return " ".join(message[: TITLE_CHARACTERS * 4].split())[:TITLE_CHARACTERS]


def fitting(text: str, what: str) -> str:
    """The text, unless it cannot fit into one item: the kernel's own caps lie far below, so this
    names a caller's mistake."""
    limit = MAX_ITEM_BYTES - 4096  # keys, bookkeeping and attribute names
    if len(text) > limit // 4 and len(text.encode()) > limit:
        raise BadInput(
            f"This {what} is too large to be stored: {len(text.encode())} bytes, {limit} at most.",
            code="too_large",
            limit=limit,
        )
    return text


def _shortened(outcome: JSONObject, size: int) -> JSONObject:
    """The outcome with every large field cut (text) or emptied (anything else), and a note of what
    it was."""
    kept = {name: _small(value) for name, value in outcome.items()}
    return {**kept, "dropped": {"bytes": size, "limit": MAX_OUTCOME_BYTES}}


def _small(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_KEPT_TEXT]
    return value if len(dumps(value)) <= _KEPT_TEXT else None

"""Cards: proposals as stored while they wait for the user's yes, and titles of their records. Pure.

Their content and wording: `guards.proposals`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from .. import clock
from ..catalogue import FunctionInfo
from ..channels.columns import label_keys
from ..guards.addresses import form_of
from ..guards.field_names import is_id_name, same_kind
from ..guards.proposals import card
from ..guards.result_records import CallData, Record, Title, Titles, is_unreadable, records_in
from ..guards.user_words import UserWords
from ..sdk.result import AMBIGUOUS
from ..stores.types import RING_SIZE, PendingConfirmation, SessionMemory, Turn
from ..text import disambiguate, one_line
from ..types import JSON, CallOutcome, JSONObject, Step
from .confirmation import (
    MAX_CHOICES,
    MAX_LABEL,
    MIN_CHOICES,
    answer,
    begins_with_no,
    is_yes_and_more,
    says_undo,
)
from .results_block import hide
from .session_memory import undo_receipts

if TYPE_CHECKING:
    from .turn_context import TurnContext

LIFETIME_S = 300
"""Seconds a confirmation waits (the platform's figure)."""
MAX_CARRIED, CARRIED_CHARACTERS = 20, 150_000
"""Maximum cards that a turn takes over from an overwritten one, and characters of their JSON: an
item has 400 KB, a transaction 100 items, and the turn's own card needs room."""
UNSHOWN = "unshown"
"""The request id of a card that is not shown until the user picks its choice."""
MAX_DESCRIPTION: Final = 120
"""Maximum characters of a value that describes a record without a title."""


def card_of(
    state: TurnContext, calls: Sequence[Step], *, resume: bool = False
) -> PendingConfirmation:
    """The card of exactly these calls (arguments unmasked), valid for 300 seconds. Its id depends
    on request and calls only, so a repeated delivery gets the same card."""
    which = [(s.app_id, s.fn_name, json.dumps(s.arguments, sort_keys=True)) for s in calls]
    undone = [undo_receipts(state.memory, call) for call in calls]
    made = [t.response["calls"][r["call"]] for found in undone for t, r in found]
    functions = [state.catalogue.function(one["app_id"], one["fn_name"]) for one in made]
    # each call undoes a destructive one
    restores = all(undone) and all(f and f.action_type == "destructive" for f in functions)
    titles = state.titles(is_undo=all(undone))
    told = card(calls, state.catalogue, titles, state.language, restores=restores)
    return PendingConfirmation(
        confirmation_id=clock.confirmation_id(str(state.ask.key), state.request_id, *which),
        expires_at=int(state.now) + LIFETIME_S,
        message=state.message,
        request_id=state.request_id,
        steps=tuple(asdict(s) for s in calls),
        summary=told.summary,
        values=told.keys,
        hidden=told.hidden,
        resume=resume,
        asks=told.asks,
    )


def waiting(turn: Turn | None, now: float) -> tuple[PendingConfirmation, ...]:
    """The cards of a turn that are neither answered nor expired."""
    return tuple(p for p in turn.waiting if p.expires_at > now) if turn else ()


def own_card(turn: Turn, waits: Iterable[PendingConfirmation]) -> PendingConfirmation | None:
    """The pending card that the turn itself has asked; at most one. Others were taken over from an
    overwritten turn, or belong to choices."""
    own = {turn.request_id, *turn.also}
    return next((p for p in waits if p.request_id in own), None)


def card_answer(card: PendingConfirmation, message: str, memory: SessionMemory) -> bool | None:
    """The yes or no of a message to a card; None also for the repeated message that led to it, if
    that was no yes to a form, and for an "undo" behind the card of one, in whatever words that was
    asked for."""
    is_undo = says_undo(card.message) and any(undo_receipts(memory, s) for s in steps(card))
    is_again = message == card.message and not answer(message)
    return None if is_again else answer(message, behind_card=not is_undo)


MAX_LEFT = 200
"""Maximum characters of a card that are repeated where it is left."""


def left_by(message: str, card: PendingConfirmation | None) -> str:
    """The effects of a card to which a message says yes and more; empty for any other message."""
    return one_line(card.summary, MAX_LEFT) if card and is_yes_and_more(message) else ""


def is_refused(memory: SessionMemory, confirmation_id: str) -> bool:
    """Whether the message behind a card began with a no: "no, to Ann instead" answers it, too."""
    # a yes that was begun before stays the first answer
    found = None if confirmation_id in memory.leases else memory.question(confirmation_id)
    behind = (t for t in memory.turns if found and t.seq == found[0].seq + 1)
    return any(begins_with_no(turn.message) for turn in behind)


def carried(memory: SessionMemory, seq: int, now: float) -> tuple[PendingConfirmation, ...]:
    """The pending cards of the turn that turn `seq` overwrites, to be taken over: the newest ones
    that fit. Answers to dropped ones get Gone."""
    overwritten = (t for t in memory.turns if t.seq < seq and (seq - t.seq) % RING_SIZE == 0)
    all_waiting = waiting(next(overwritten, None), now)
    answered = {name for turn in memory.turns for name in turn.also}
    open_ = (c for c in all_waiting if c.confirmation_id not in answered)
    waits = [c for c in open_ if not is_refused(memory, c.confirmation_id)][-MAX_CARRIED:]
    sizes = accumulate(len(json.dumps(asdict(card))) for card in reversed(waits))
    room = sum(size <= CARRIED_CHARACTERS for size in sizes)
    return tuple(waits[len(waits) - room :])


def chosen(
    state: TurnContext, waits: Iterable[PendingConfirmation], label: str
) -> PendingConfirmation | None:
    """The card of the choice with this label, as this turn's card."""
    for one in waits:
        if one.request_id == UNSHOWN and one.asks["label"] == label:
            name = clock.confirmation_id(str(state.ask.key), state.request_id, one.confirmation_id)
            until = int(state.now) + LIFETIME_S
            return replace(one, confirmation_id=name, request_id=state.request_id, expires_at=until)
    return None


def steps(record: PendingConfirmation) -> tuple[Step, ...]:
    """The calls of a card."""
    return tuple(Step(**s) for s in record.steps)


def question(record: PendingConfirmation) -> str:
    """The end of a reply as text: the effects, then one question."""
    return "\n".join(filter(None, (record.summary, str(record.asks.get("ask", "")))))


def body(record: PendingConfirmation) -> JSONObject:
    """The card as JSON for a response."""
    shown = hide([step["arguments"] for step in record.steps], record.hidden)
    calls = zip(record.steps, shown, record.asks["calls"], strict=True)
    told: JSONObject = {
        "id": record.confirmation_id,
        "expires_at": record.expires_at,
        "summary": record.summary,
        "calls": [
            {"app_id": s["app_id"], "fn_name": s["fn_name"], "arguments": arguments, **drawn}
            for s, arguments, drawn in calls
        ],
    }
    more = ("question", "ask", "verb", "language")
    return told | {k: record.asks[k] for k in more if record.asks.get(k)}


def edited(
    record: PendingConfirmation, edits: Mapping[str, Mapping[str, str]]
) -> PendingConfirmation:
    """The card with the user's edited texts, by call index and path. Raises ValueError for a path
    that is not an editable text: destinations and records cannot be edited."""
    made = [dict(step) for step in record.steps]
    drawn = record.asks.get("calls", [])
    for place, texts in edits.items():
        if not place.isdecimal() or int(place) >= min(len(made), len(drawn)):
            raise ValueError(f"there is no call {place[:16]!r}")
        step, fields = made[int(place)], drawn[int(place)].get("fields", ())
        for path, text in texts.items():
            if path not in [field.get("path") for field in fields]:
                raise ValueError(f"{path[:64]!r} is no text that can be edited")
            step["arguments"] = _with(step["arguments"], path.split("."), text)
    return replace(record, steps=tuple(made))


def _with(value: JSON, path: Sequence[str], text: str) -> JSON:
    """The value with the text at a path replaced. Raises ValueError if there is no text."""
    if not path:
        if not isinstance(value, str):
            raise ValueError("only a text can be edited")
        return text
    first, *rest = path
    if isinstance(value, dict) and first in value:
        return {**value, first: _with(value[first], rest, text)}
    if isinstance(value, list) and first.isdecimal() and int(first) < len(value):
        return [_with(v, rest, text) if n == int(first) else v for n, v in enumerate(value)]
    raise ValueError(f"nothing stands at {'.'.join(path)[:64]!r}")


def alternatives(outcome: CallOutcome, function: FunctionInfo | None) -> Iterator[tuple[str, Step]]:
    """Label and call for each record that the app reports as a match of an ambiguous call: the same
    call with the record's id instead of the words that match all of them."""
    name = _id_parameter(function)
    titles = titles_of([("", outcome.data)]) if outcome.error_code == AMBIGUOUS else Titles()
    if not name or not MIN_CHOICES <= len(titles.by_id) <= MAX_CHOICES:
        return
    found = {ident: titles.of("", "", ident).text for ident in titles.by_id}
    words = [UserWords([title]) for title in found.values()]
    rest = {k: v for k, v in outcome.arguments.items() if not _fits_all(v, words)}
    for ident, title in found.items():
        step = Step(0, outcome.app_id, outcome.fn_name, {**rest, name: ident})
        yield title[:MAX_LABEL], replace(step, action_type=outcome.action_type)


def _id_parameter(function: FunctionInfo | None) -> str:
    """The function's only id parameter, or empty."""
    params = (function.input_schema.get("properties") or ()) if function else ()
    own = function.id_projection if function else ""
    names = [str(name) for name in params if is_id_name(str(name)) or name == own]
    return names[0] if len(names) == 1 else ""


def _fits_all(value: JSON, words: Iterable[UserWords]) -> bool:
    return isinstance(value, str) and all(w.has_all(value) for w in words)


def titles_of(facts: Iterable[tuple[str, JSON]], writes: Iterable[tuple[str, JSON]] = ()) -> Titles:
    """The titles of the records in these `(app_id, data)`, the earliest first. Equal titles of an
    app's records are distinguished. The results of `writes` replace earlier titles."""
    apps: dict[str, list[Record]] = {}
    for app_id, data in facts:
        apps.setdefault(app_id, []).extend(_records(app_id, data))
    found: dict[str, list[Title]] = {}
    for app_id, records in apps.items():
        for record, text in _titled(records):
            texts = (value for value in record.fields.values() if isinstance(value, str))
            address = next((text for text in texts if form_of(text) == "recipient"), "")
            title = Title(app_id, record.kind, text, address, record.is_nested)
            found.setdefault(record.ident, []).append(title)
    newest = {r.ident: r for one in writes for r in _records(*one) if not r.is_nested}
    found |= {ident: _renamed(found.get(ident, []), record) for ident, record in newest.items()}
    return Titles({ident: tuple(titles) for ident, titles in found.items()})


def _records(app_id: str, data: JSON) -> Iterator[Record]:
    records = records_in(data, "", CallData(app_id, "", data))
    return (record for record in records if record.is_own_id)


def _renamed(known: list[Title], record: Record) -> list[Title]:
    """The titles of a record that a write returned, without those from before the write."""
    own = [t for t in known if t.app_id == record.app_id and same_kind(t.kind, record.kind)]
    now = [t for t in own if record.label and t.text.startswith(record.label)]
    return [now[-1], *(t for t in known if t not in own)] if now else known


def _titled(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """The records with their titles, distinguished from others that are not deleted by all fields
    known under each; an id without a title is described by a field."""
    first = {one.ident: "" for one in records if one.label}
    titles = [one.label or first.setdefault(one.ident, _description(one)) for one in records]
    known: dict[tuple[str, str], JSONObject] = {}
    for one, title in zip(records, titles, strict=True):
        fields = known.setdefault((one.ident, title), {})
        fields |= {**one.fields, "id": one.ident}
    more = _distinctions(known, {one.ident: one.fields.get("deleted") for one in records})
    for one, title in zip(records, titles, strict=True):
        if title:
            yield one, title + more.get((one.ident, title), "")


def _distinctions(
    known: Mapping[tuple[str, str], JSONObject], deleted: Mapping[str, object]
) -> dict[tuple[str, str], str]:
    """What tells the records of one title apart that are not deleted."""
    left = {key: fields for key, fields in known.items() if not deleted[key[0]]}
    things = [(title or ident, fields) for (ident, title), fields in left.items()]
    return dict(zip(left, disambiguate(things), strict=True))


def _description(record: Record) -> str:
    """An id with the first field that describes its record, `#W1 (customer: Ann)`; for an
    unreadable id the field alone."""
    name = label_keys({**record.fields})[0]
    value = record.fields.get(name) if name else None
    if not name or is_id_name(name) or not isinstance(value, str | int | float):
        return ""
    text = one_line(str(value))
    described = f"{record.ident} ({name.replace('_', ' ')}: {text})"
    described = text if is_unreadable(record.ident) else described
    return described if len(text) <= MAX_DESCRIPTION else ""

"""Cards: what waits for a person's yes, as the record that a turn keeps, and what ids stand for in
what apps have told. Pure.

What is proposed and how a person reads it: `guards.proposals`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .. import clock
from ..catalogue import FunctionInfo
from ..channels.columns import label_keys
from ..guards.addresses import form_of
from ..guards.field_names import is_id_name, kind_of, labels, root_of, same_kind
from ..guards.proposals import card, editable
from ..guards.titles import Title, Titles, is_unreadable
from ..guards.user_words import UserWords
from ..sdk.result import AMBIGUOUS
from ..stores.types import RING_SIZE, PendingConfirmation, SessionMemory, Turn
from ..text import disambiguate, one_line
from ..types import JSON, CallOutcome, JSONObject, Step
from .confirmation import MAX_CHOICES, MAX_LABEL, MIN_CHOICES, answer
from .results_block import hide
from .session_memory import undo_receipts

if TYPE_CHECKING:
    from .turn_context import TurnContext

LIFETIME_S = 300
"""Seconds a confirmation waits (the platform's figure)."""
MAX_CARRIED, CARRIED_CHARACTERS = 20, 150_000
"""Cards that a turn carries on for one that was overwritten, and their JSON: an item has 400 KB, a
transaction a hundred items, and a turn's own card needs room, too."""
UNSHOWN = "unshown"
"""The request of a card that nobody has been shown yet: what picking one of several comes to."""
LONGEST_VALUE: Final = 120
"""Characters of a value that tells of a record without a title."""


def card_of(
    state: TurnContext, calls: Sequence[Step], *, resume: bool = False
) -> PendingConfirmation:
    """The card of exactly these calls, arguments already real, valid for 300 seconds. The same
    calls of the same request have the same id, however often the request is delivered."""
    which = [(s.app_id, s.fn_name, json.dumps(s.arguments, sort_keys=True)) for s in calls]
    undone = undo_receipts(state.memory, calls[0]) if len(calls) == 1 else []
    made = [turn.response["calls"][receipt["call"]] for turn, receipt in undone]
    functions = [state.catalogue.function(one["app_id"], one["fn_name"]) for one in made]
    # the one call takes back a remembered effect that destroyed something
    restores = any(function and function.action_type == "destructive" for function in functions)
    titles = state.titles(is_undo=bool(undone))
    told = card(calls, state.catalogue, titles, state.language, restores=restores)
    return PendingConfirmation(
        confirmation_id=clock.confirmation_id(str(state.key), state.request_id, *which),
        expires_at=int(state.now) + LIFETIME_S,
        message=state.message,
        request_id=state.request_id,
        steps=tuple(asdict(s) for s in calls),
        summary=told.summary,
        values=told.keys,
        hidden=told.hidden,
        resume=resume,
        asks=told.to_dict(),
    )


def shown_now(state: TurnContext, pending: PendingConfirmation) -> PendingConfirmation:
    """A card that waited to be picked, as the one of this turn."""
    name = clock.confirmation_id(str(state.key), state.request_id, pending.confirmation_id)
    until = int(state.now) + LIFETIME_S
    return replace(pending, confirmation_id=name, request_id=state.request_id, expires_at=until)


def waiting(turn: Turn | None, now: float) -> tuple[PendingConfirmation, ...]:
    """What of a turn nobody has answered and has not expired."""
    return tuple(p for p in turn.waiting if p.expires_at > now) if turn else ()


def own_card(turn: Turn, waits: Iterable[PendingConfirmation]) -> PendingConfirmation | None:
    """The card among those that wait in a turn which that turn asked itself: it has one at most.
    Others it carries on for a turn that the ring has overwritten, or keeps to be picked."""
    own = {turn.request_id, *turn.also}
    return next((p for p in waits if p.request_id in own), None)


def card_answer(card: PendingConfirmation, message: str) -> bool | None:
    """The yes or no to a card that a message says; the message that asked for it is none when it is
    said again: "undo that"."""
    return None if message == card.message else answer(message, behind_card=True)


def carried(memory: SessionMemory, seq: int, now: float) -> tuple[PendingConfirmation, ...]:
    """What still waits in the turn which turn `seq` overwrites: it moves into it, the newest that
    there is room for. Whoever answers an older one is told that nobody waits for it any more."""
    overwritten = (t for t in memory.turns if t.seq < seq and (seq - t.seq) % RING_SIZE == 0)
    waits = waiting(next(overwritten, None), now)[-MAX_CARRIED:]
    sizes = accumulate(len(json.dumps(asdict(card))) for card in reversed(waits))
    room = sum(size <= CARRIED_CHARACTERS for size in sizes)
    return waits[len(waits) - room :]


def chosen(waits: Iterable[PendingConfirmation], label: str) -> PendingConfirmation | None:
    """The card that picking this label of a turn's choices comes to."""
    return next((p for p in waits if p.request_id == UNSHOWN and p.asks["label"] == label), None)


def steps(record: PendingConfirmation) -> tuple[Step, ...]:
    """The calls that wait with a card."""
    return tuple(Step(**s) for s in record.steps)


def question(record: PendingConfirmation) -> str:
    """What a text ends in: the effects, then one question."""
    return "\n".join(filter(None, (record.summary, str(record.asks.get("ask", "")))))


def body(record: PendingConfirmation) -> JSONObject:
    """The card as an answer carries it."""
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
    """The record with texts as the user has rewritten them on the card, by place of the call and
    path. Raises ValueError for what is no text of a call: where it goes and what it is about cannot
    be edited."""
    made = [dict(step) for step in record.steps]
    drawn = record.asks.get("calls", [])
    for place, texts in edits.items():
        if not place.isdecimal() or int(place) >= min(len(made), len(drawn)):
            raise ValueError(f"there is no call {place[:16]!r}")
        step, allowed = made[int(place)], set(editable(drawn[int(place)]))
        for path, text in texts.items():
            if path not in allowed:
                raise ValueError(f"{path[:64]!r} is no text that can be edited")
            step["arguments"] = _with(step["arguments"], path.split("."), text)
    return replace(record, steps=tuple(made))


def _with(value: JSON, path: Sequence[str], text: str) -> JSON:
    """The value with another text at a place; ValueError where none stands there."""
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
    """Label and call for each of the records that an app says its call fits: the same call with
    the one id that the function takes in place of the words that fit them all."""
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
    """The one parameter that takes an id; empty where there are none, or several."""
    params = (function.input_schema.get("properties") or ()) if function else ()
    own = function.id_projection if function else ""
    names = [str(name) for name in params if is_id_name(str(name)) or name == own]
    return names[0] if len(names) == 1 else ""


def _fits_all(value: JSON, words: Iterable[UserWords]) -> bool:
    return isinstance(value, str) and all(w.has_all(value) for w in words)


def titles_of(facts: Iterable[tuple[str, JSON]], writes: Iterable[tuple[str, JSON]] = ()) -> Titles:
    """The titles in these data of apps, the earliest first. Records of one app that have one title
    are told apart, whichever data they stand in. What `writes` of one's own gave tells how a record
    is called now."""
    apps: dict[str, list[_Record]] = {}
    for app_id, data in facts:
        apps.setdefault(app_id, []).extend(_records(data, ""))
    found: dict[str, list[Title]] = {}
    for app_id, records in apps.items():
        for record, text in _titled(records):
            texts = (value for value in record.fields.values() if isinstance(value, str))
            address = next((text for text in texts if form_of(text) == "recipient"), "")
            title = Title(app_id, record.kind, text, address, record.is_inside)
            found.setdefault(record.ident, []).append(title)
    found |= _renamed(found, writes)
    return Titles({ident: tuple(titles) for ident, titles in found.items()})


def _renamed(
    found: Mapping[str, list[Title]], writes: Iterable[tuple[str, JSON]]
) -> dict[str, list[Title]]:
    """The titles of the records that writes told."""
    newest = {r.ident: (app_id, r) for app_id, data in writes for r in _outer(data)}
    return {ident: _now(found.get(ident, []), *one) for ident, one in newest.items()}


def _now(known: list[Title], app_id: str, record: _Record) -> list[Title]:
    """The titles of a record without those of before a write that told it."""
    own = [t for t in known if t.app_id == app_id and same_kind(t.kind, record.kind)]
    now = [t for t in own if record.title and t.text.startswith(record.title)]
    return [now[-1], *(t for t in known if t not in own)] if now else known


class _Record(NamedTuple):
    """A record with an id: its title, empty where it has none, its kind, and whether it stands in
    another one that has a title."""

    ident: str
    title: str
    fields: JSONObject
    kind: str
    is_inside: bool


def _records(value: JSON, key: str, is_inside: bool = False) -> Iterator[_Record]:
    """Every record of a value that stands under `key`, those inside it behind it."""
    if isinstance(value, list):
        for item in value:
            yield from _records(item, key, is_inside)
    if not isinstance(value, dict):
        return
    title = next(labels(value), "")
    below = is_inside
    for name, ident in value.items():
        if _is_own_id(str(name), key) and isinstance(ident, str | int):
            yield _Record(str(ident), title, value, kind_of(str(name), key), is_inside)
            below = is_inside or bool(title)
    for name, item in value.items():
        yield from _records(item, str(name), below)


def _outer(data: JSON) -> Iterator[_Record]:
    """The records that stand in no other one that has a title."""
    return (record for record in _records(data, "") if not record.is_inside)


def _titled(records: Sequence[_Record]) -> Iterator[tuple[_Record, str]]:
    """The records with their titles, told apart by all that is known under each; what first tells
    of an id that has none stands for it."""
    first = {one.ident: "" for one in records if one.title}
    titles = [one.title or first.setdefault(one.ident, _telling(one)) for one in records]
    known: dict[tuple[str, str], JSONObject] = {}
    for one, title in zip(records, titles, strict=True):
        fields = known.setdefault((one.ident, title), {})
        fields |= {**one.fields, "id": one.ident}
    things = [(title or ident, fields) for (ident, title), fields in known.items()]
    more = dict(zip(known, disambiguate(things), strict=True))
    for one, title in zip(records, titles, strict=True):
        if title:
            yield one, title + more[one.ident, title]


def _is_own_id(name: str, key: str) -> bool:
    """Whether a field holds the id of the record it stands in: `id`, `order_id` of `orders`."""
    return name in ("id", "id_", "uid") or (is_id_name(name) and root_of(name) == root_of(key))


def _telling(record: _Record) -> str:
    """An id with the first field that tells of its record, `#W1 (customer: Ann)`; that field alone
    where the id was made for machines."""
    name = label_keys(record.fields)[0]
    value: Any = record.fields.get(name) if name else None
    if not name or is_id_name(name) or not isinstance(value, str | int | float):
        return ""
    text = one_line(str(value))
    told = f"{record.ident} ({name.replace('_', ' ')}: {text})"
    told = text if is_unreadable(record.ident) else told
    return told if len(text) <= LONGEST_VALUE else ""

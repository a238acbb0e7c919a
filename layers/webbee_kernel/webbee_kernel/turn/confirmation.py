"""Confirmation: the card of a turn as a record that waits, and how an answer is recognised;
and what ids stand for in what apps have told. Pure.

What is proposed and how a person reads it: `guards.proposals`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from .. import language
from ..catalogue import Catalogue, FunctionInfo
from ..channels.columns import label_keys
from ..clock import digest
from ..errors import RequestConflict, not_installed
from ..guards.addresses import form_of
from ..guards.field_names import kind_of, labels, names_an_id, root_of
from ..guards.proposals import Title, Titles, described, editable
from ..guards.user_words import QUESTION_MARKS, Said
from ..sdk.result import AMBIGUOUS
from ..stores.types import RING_SIZE, PendingConfirmation, SessionMemory, Turn
from ..text import disambiguate, one_line
from ..types import JSON, CallOutcome, JSONObject, Step
from .plan import references
from .results_block import hidden

LIFETIME_S = 300
"""Seconds a confirmation waits (the platform's figure)."""


def answer(message: str) -> bool | None:
    """True for a plain yes ("yes, delete it"), False for a plain no, in any of the languages; None
    for anything that says more than that, asks, or quotes, or holds a sign that no sentence does:
    what is quoted, struck out or crossed out has one."""
    if not _PLAIN.fullmatch(message):
        return None
    words = [language.fold(token.text) for token in language.tokens(message)]
    said = set(words)
    yes, no = language.forms("yes"), language.forms("no")
    beside_yes = yes | language.forms("yes_filler")
    # where both are said, no yes is heard
    if said & no:
        return None if said - no - language.forms("no_filler") - beside_yes else False
    return None if said - beside_yes or not said & yes else True


class Answered(NamedTuple):
    """What a person did beside saying yes: texts that he has rewritten on the card, by place of the
    call and path, and whether he wants not to be asked about its destinations again."""

    edits: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    remember: bool = False

    def request_id(self, confirmation_id: str) -> str:
        """That of a yes with this content: the same one again is answered alike."""
        return f"{confirmation_id}:{digest(dict(self.edits), self.remember)}"

    def refuse_another(self, turn: Turn, confirmation_id: str) -> None:
        """RequestConflict where the turn's card was answered with other content than this yes
        has: its texts did not run, its addresses were not accepted."""
        others = any(name.startswith(f"{confirmation_id}:") for name in turn.also)
        if self.request_id(confirmation_id) not in turn.also and (others or self != PLAINLY):
            raise RequestConflict(
                "this confirmation was answered already, and not so: what was said with this yes"
                " has no effect",
                field="id",
            )


PLAINLY = Answered()
"""He said no more than yes or no."""


def _folded(text: str) -> set[str]:
    return {language.fold(token.text) for token in language.tokens(text)}


_MARKUP = re.compile(r"[\\<\[\u200b-\u200f\u202a-\u202e\u2060-\u206f]")
"""Signs of a formula, an element, a link or a note, which a client may draw as nothing."""


# letters, spaces, the marks that end or part a clause, and apostrophes inside a word
_PLAIN = re.compile(
    r"(?:[^\W_]|[\s.,;:!…\-\u2013\u2014\u3001\u3002\uff0c\uff01]|(?<=\w)['’](?=\w))*"
)


def asks(text: str) -> bool:
    """Whether an answer in words asks the user something: it ends in a question mark."""
    # quotes, emphasis and brackets may close behind the mark
    return text.rstrip(" \n\"'»”*_)").endswith(QUESTION_MARKS)


def question_of(reply: str) -> str:
    """The sentence that a reply ends in, or the whole of it where that stands beside a list to pick
    from."""
    return reply if choices(reply) else re.split(r"(?<=[.!?…])\s+|\n", reply.strip())[-1]


def agrees(message: str, reply: str) -> bool:
    """Whether a message is a yes to what the reply asks, and says nothing which the reply did not:
    "yes, please do the exchange". What it agrees to is that question; a card it does not answer. A
    reply that asks nothing is answered by no yes: it may have repeated what somebody else wrote."""
    if not asks(reply) or _MARKUP.search(question_of(reply)):
        return False
    if answer(message):
        return True
    said = [language.fold(token.text) for token in language.tokens(message)]
    if not said or said[0] not in language.forms("yes") or language.forms("no").intersection(said):
        return False
    own = set(said) - language.forms("yes") - language.forms("yes_filler") - _folded(reply)
    return not own and "?" not in message


def waiting(turn: Turn | None, now: float) -> tuple[PendingConfirmation, ...]:
    """What of a turn nobody has answered and has not expired."""
    return tuple(p for p in turn.waiting if p.expires_at > now) if turn else ()


def carried(memory: SessionMemory, seq: int, now: float) -> tuple[PendingConfirmation, ...]:
    """What still waits in the turn which turn `seq` overwrites: it moves into it."""
    overwritten = (t for t in memory.turns if t.seq < seq and (seq - t.seq) % RING_SIZE == 0)
    return waiting(next(overwritten, None), now)


def steps(record: PendingConfirmation) -> tuple[Step, ...]:
    return tuple(Step(**s) for s in record.steps)


def still_installed(
    memory: SessionMemory, chosen: Mapping[str, bool], installed: Collection[str]
) -> None:
    """NotAllowed where one of `chosen` (confirmation id → yes) is to run a call of an app that its
    user has uninstalled since."""
    for name in (name for name, yes in chosen.items() if yes):
        for step in steps(asked[1]) if (asked := memory.asked(name)) else ():
            if step.app_id not in installed:
                raise not_installed(step.app_id)


def edited(
    record: PendingConfirmation, edits: Mapping[str, Mapping[str, str]]
) -> PendingConfirmation:
    """The record with texts as the user has rewritten them on the card, by place of the call and
    path. Raises ValueError for what is no text of a call: where it goes and what it is about cannot
    be edited."""
    made = [dict(step) for step in record.steps]
    cards = record.asks.get("calls", [])
    for place, texts in edits.items():
        if not place.isdecimal() or int(place) >= len(made) or int(place) >= len(cards):
            raise ValueError(f"there is no call {place[:16]!r}")
        number = int(place)
        allowed = set(editable(cards[number]))
        for path, text in texts.items():
            if path not in allowed:
                raise ValueError(f"{path[:64]!r} is no text that can be edited")
            made[number]["arguments"] = _with(made[number]["arguments"], path.split("."), text)
    return replace(record, steps=tuple(made))


def _with(value: Any, path: Sequence[str], text: str) -> Any:
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


UNSHOWN = "unshown"
"""The request of a card that nobody has been shown yet: what picking one of several comes to."""


def alternatives(outcome: CallOutcome, function: FunctionInfo | None) -> Iterator[tuple[str, Step]]:
    """Label and call for each of the records that an app says its call fits: the same call with
    the one id that the function takes in place of the words that fit them all."""
    titles = titles_of([("", outcome.data)]) if outcome.error_code == AMBIGUOUS else Titles()
    name = _id_parameter(function)
    if not name or not FEWEST <= len(titles.by_id) <= MOST:
        return
    found = {ident: titles.of("", "", ident).text for ident in titles.by_id}
    words = [Said([title]) for title in found.values()]
    rest = {k: v for k, v in outcome.arguments.items() if not _fits_all(v, words)}
    for ident, title in found.items():
        step = Step(0, outcome.app_id, outcome.fn_name, {**rest, name: ident})
        yield title[:LONGEST], replace(step, action_type=outcome.action_type)


def _id_parameter(function: FunctionInfo | None) -> str:
    """The one parameter that takes an id; empty where there are none, or several."""
    params = (function.input_schema.get("properties") or ()) if function else ()
    own = function.id_projection if function else ""
    names = [str(name) for name in params if names_an_id(str(name)) or name == own]
    return names[0] if len(names) == 1 else ""


def _fits_all(value: JSON, words: Iterable[Said]) -> bool:
    return isinstance(value, str) and all(w.holds(value) for w in words)


def chosen(turn: Turn, label: str, now: float) -> PendingConfirmation | None:
    """The card that picking this label of the turn's choices comes to."""
    cards = (p for p in waiting(turn, now) if p.request_id == UNSHOWN)
    return next((p for p in cards if p.asks["label"] == label), None)


def asks_again(turn: Turn | None, message: str, text: str, offer: Any = None) -> list[str]:
    """The labels of a turn's choices, where its plain yes is answered with the same choices."""
    offered = [str(c["label"]) for c in turn.response.get("choices", ())] if turn else []
    again = [str(c["label"]) for c in choices(text, offer)]
    return offered if offered and offered == again and answer(message) else []


def planned(step: Step, catalogue: Catalogue, titles: Titles) -> str:
    """A call that was planned and has not run, on one line; what refers to a result that is not
    there yet is left out."""
    known = {k: v for k, v in step.arguments.items() if not references(v)}
    return described(replace(step, arguments=known), catalogue, titles)


def question(records: Sequence[PendingConfirmation]) -> str:
    """What a text ends in: the effects, then one question."""
    return "\n".join(
        "\n".join(part for part in (r.summary, str(r.asks.get("ask", ""))) if part) for r in records
    )


def body(record: PendingConfirmation) -> JSONObject:
    """The card as an answer carries it."""
    shown = hidden([step["arguments"] for step in record.steps], record.hidden)
    told: JSONObject = {
        "id": record.confirmation_id,
        "expires_at": record.expires_at,
        "summary": record.summary,
        "calls": [
            {
                "app_id": step["app_id"],
                "fn_name": step["fn_name"],
                "arguments": arguments,
                **drawn,
            }
            for step, arguments, drawn in zip(
                record.steps, shown, record.asks["calls"], strict=True
            )
        ],
    }
    more = {
        k: record.asks[k] for k in ("question", "ask", "verb", "language") if record.asks.get(k)
    }
    return {**told, **more}


FEWEST, MOST = 2, 9
"""Rows that are choices; a longer list is something to read."""
LONGEST: Final = 120
"""Characters of a row that is one."""
AROUND: Final = 2
"""Lines beside the list, its question among them: more is an answer, not a question."""

# compiled, and kept by `re`, with their first use
_ROW = r"\s*(?:[-*•–]|(\d{1,2})[.)])\s+(\S.*)"
_EMPHASIS = r"\*\*|__|`"
_NUMBER = r"\s*#?(\d{1,2})[.)]?\s*"


def choices(reply: str, offer: Any = None) -> list[JSONObject]:
    """What may be picked: the buttons of the tree below the reply that say something, else the rows
    of the list that its question stands beside; `message` is what picking one says."""
    if offer:
        pressed = list(_buttons(offer))[:MOST]
        return pressed if len(pressed) >= FEWEST else []
    labels = _labels(reply)
    return [{"label": label, "message": label} for label in labels]


def _labels(reply: str) -> list[str]:
    """The rows of the one list of a reply that asks and says little besides."""
    lines = list(filter(str.strip, reply.splitlines()))
    rows = [match[2].strip() for line in lines if (match := re.fullmatch(_ROW, line))]
    beside = [line for line in lines if not re.fullmatch(_ROW, line)]
    if len(beside) > AROUND or not any(map(asks, beside)):
        return []
    labels = [re.sub(_EMPHASIS, "", row) for row in rows]
    # rows that read alike could not be told apart by what is picked
    is_choice = FEWEST <= len(labels) == len(set(labels)) <= MOST
    return labels if is_choice and max(map(len, labels)) <= LONGEST else []


def picked(message: str, offered: Sequence[Mapping[str, Any]]) -> str:
    """What a message says that is only the number of a choice, or its label; empty for any other
    message. A number picks nothing where the labels begin with numbers of their own."""
    for choice in offered:
        # words before numbers: a label may be a number itself
        if message.strip().casefold() == str(choice["label"]).casefold():
            return str(choice["message"])
    number = re.fullmatch(_NUMBER, message)
    if not number or any(str(choice["label"])[:1].isdigit() for choice in offered):
        return ""
    place = int(number[1])
    return str(offered[place - 1]["message"]) if 1 <= place <= len(offered) else ""


def _buttons(node: Any) -> Iterator[JSONObject]:
    """The buttons of a UI tree that say something in the chat."""
    if isinstance(node, list):
        for item in node:
            yield from _buttons(item)
    elif isinstance(node, Mapping):
        props = node.get("props") or {}
        action = props.get("on_click") or {}
        if node.get("type") == "Button" and action.get("action") == "send":
            yield {"label": str(props.get("label", "")), "message": str(action.get("message", ""))}
        yield from _buttons(props.get("children"))


LONGEST_VALUE: Final = 120
"""Characters of a value that tells of a record without a title."""


def titles_of(facts: Iterable[tuple[str, Any]]) -> Titles:
    """The titles in these data of apps, the earliest first. Records of one app that have one title
    are told apart, whichever data they stand in."""
    apps: dict[str, list[Any]] = {}
    for app_id, data in facts:
        apps.setdefault(app_id, []).append(data)
    found: dict[str, list[Title]] = {}
    for app_id, told in apps.items():
        for ident, title in _titled(told, app_id):
            found.setdefault(ident, []).append(title)
    return Titles({ident: tuple(titles) for ident, titles in found.items()})


def _titled(facts: Iterable[Any], app_id: str) -> Iterator[tuple[str, Title]]:
    """Every id with the titles that it has, told apart by all that is known under each; what first
    tells of it stands for one that has none yet."""
    found = list(_named(facts, ""))
    known: dict[tuple[str, str], JSONObject] = {}
    for ident, title, record, *_ in found:
        known[ident, title] = {**known.get((ident, title), {}), **record, "id": ident}
    things = [(title or ident, record) for (ident, title), record in known.items()]
    more = dict(zip(known, disambiguate(things), strict=True))
    first: dict[str, str] = {}
    for ident, title, record, kind, inside in found:
        text = title + more[ident, title] if title else _telling(record, ident)
        if title:
            # it has a title now: what merely tells of the record is not needed behind it
            first.setdefault(ident, "")
        if title or (text and first.setdefault(ident, text) == text):
            yield ident, Title(app_id, kind, text, _address(record), inside)


def _address(record: JSONObject) -> str:
    """The first address of a person that a record holds; empty where it has none."""
    texts = (v for v in record.values() if isinstance(v, str))
    return next((text for text in texts if form_of(text) == "recipient"), "")


def _named(
    facts: Iterable[Any], key: str, inside: bool = False
) -> Iterator[tuple[str, str, JSONObject, str, bool]]:
    """Every record with its id, its title, its kind and whether it stands in another one that has a
    title, those inside it behind it; `key` is what they stand under, the title empty where it has
    none."""
    for value in facts:
        if isinstance(value, dict):
            title = next(labels(value), "")
            titled = inside
            for name, ident in value.items():
                if _is_id(str(name), key) and isinstance(ident, str | int):
                    yield str(ident), title, value, kind_of(str(name), key), inside
                    titled = inside or bool(title)
            for name, item in value.items():
                yield from _named([item], str(name), titled)
        elif isinstance(value, list):
            yield from _named(value, key, inside)


def _is_id(name: str, key: str) -> bool:
    """Whether a field holds the id of the record it stands in: `id`, `order_id` of `orders`."""
    return name in ("id", "id_", "uid") or (names_an_id(name) and root_of(name) == root_of(key))


def _telling(record: JSONObject, ident: str) -> str:
    """An id with the first field that tells of its record: `#W1 (customer: Ann)`."""
    name = label_keys(record)[0]
    value = record.get(name) if name else None
    if not name or names_an_id(name) or not isinstance(value, str | int | float):
        return ""
    text = one_line(str(value))
    return f"{ident} ({name.replace('_', ' ')}: {text})" if len(text) <= LONGEST_VALUE else ""

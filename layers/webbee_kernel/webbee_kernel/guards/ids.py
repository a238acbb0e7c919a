"""Ids: what a conversation holds, by which an id can be told from an invention, and the guards that
let no invented one and no placeholder reach a handler. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ..catalogue import FunctionInfo
from ..errors import CallError
from ..invariants import breach
from ..types import JSON, JSONObject
from .arguments import scalars
from .field_names import LISTED, may_hold, names_an_id, root_of

SMALL = 4
"""Digits of a number that dates, times and counts hold as well: it passes only where it stands for
itself, under a field that may hold it."""

_EDGES = " \t\n#№.,;:!?()[]{}<>\"'«»“”„"
_NUMBERED = re.compile(r"[^\W\d_]+[_\-#: ]?(\d+)")
_MOMENT = re.compile(r"[\d\-:./,+ T]+Z?", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w-])(?=[^\W\d]{0,40}-?\d)[\w-]{1,64}(?![\w-])")
_SEPARATED = re.compile(r"[\W_]+")
_NO_COUNT = frozenset({"money", "percent"})
_SMALL_SAID = re.compile(r"(?<![\w$€£])(?<!\d[.,:/-])\d{1,4}(?![\w%€£]|[.,:/-]\d)")


class Known:
    """Values of facts, skeleton, this turn's results and the user's own words; never a reply's.

    What it is made of is looked at when it is first asked: most turns never ask.
    """

    def __init__(
        self,
        data: Iterable[JSON] = (),
        said: Iterable[str] = (),
        results: Iterable[tuple[JSONObject, JSON]] = (),
        doubted: Iterable[str] = (),
    ) -> None:
        """`data` was there before this turn, `said` are the user's words, `results` arguments and
        result of each call of this turn in order, `doubted` is what models made up before."""
        self._fields: dict[str, set[str]] = {}
        self._texts: list[str] = []
        self._said = tuple(said)
        self._numbered: set[str] = set()
        self._doubted = dict.fromkeys(_folded(value) for value in doubted)
        self._rows = 0
        # parsing five turns of facts costs more than most turns need
        self._unread = iter(data)
        self._results = iter(results)

    def learn(self, value: JSON, field: str = "") -> None:
        """Take in a JSON value at full depth. Keys with a digit count as values of the field above
        them: objects keyed by id."""
        if isinstance(value, dict):
            for key, item in value.items():
                # {"42": {...}}: the key is the id of what stands under it
                if any(c.isdigit() for c in str(key)):
                    self._scalar(str(key), field + LISTED)
                self.learn(item, str(key))
        elif isinstance(value, list | tuple):
            self._rows = max(self._rows, _countable(value))
            for item in value:
                self.learn(item, field if field.endswith(LISTED) else field + LISTED)
        # True is an int to Python and an id to nobody
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            self._scalar(str(value), field)

    def holds(self, argument: str, value: str | float) -> bool:
        """Whether `value` of the argument of this name stands somewhere, as itself or as a part of
        another value.

        A number of up to four digits passes where it is the value of a field that may hold such an
        id, the number of a named one (`task_11`), the user's own number ("the second one", but no
        date's), or counts the rows of a list without ids.
        """
        self._take_in()
        return self._stands(argument, _folded(str(value)))

    @property
    def doubted(self) -> tuple[str, ...]:
        """What models made up for arguments that are no ids. It counts only where the user says it
        or it stands under a field that names an id: a record found, not an echo."""
        self._take_in()
        return tuple(self._doubted)

    def _take_in(self) -> None:
        """Read what has not been read yet. A result repeats what its call was given, so what stood
        nowhere before the call is doubted first."""
        for unread in self._unread:
            self.learn(unread)
        for arguments, result in self._results:
            # before the result is learned: an app that echoes its argument proves nothing
            given = dict.fromkeys(_folded(a) for a in made_up(arguments))
            self._doubted |= {a: None for a in given if not self._stands("", a)}
            self.learn(result)

    def _stands(self, argument: str, text: str) -> bool:
        fields = self._fields.get(text, set())
        # an invented value becomes real where an app gives it as an id
        if text in self._doubted:
            fields = {f for f in fields if names_an_id(f.removesuffix(LISTED))}
        # "3" stands in every conversation, as a count, an hour, a day
        if text.isdecimal() and len(text) <= SMALL:
            return self._stands_for_itself(argument, text, fields)
        phrase = _plain(text)
        if fields or phrase in self._heard:
            return bool(phrase.strip())
        return text not in self._doubted and any(phrase in t for t in self._texts)

    def _stands_for_itself(self, argument: str, small: str, fields: set[str]) -> bool:
        counted = small in self._numbered or small in self._small_said
        return (
            counted
            # the third row of a list without ids may be asked for as 3
            or 0 < int(small) <= self._rows
            or any(may_hold(field, argument) for field in fields)
        )

    def _scalar(self, value: str, field: str) -> None:
        text = _folded(value)
        self._fields.setdefault(text, set()).add(field)
        # the parts of a date are no ids
        if _MOMENT.fullmatch(text):
            return
        self._texts.append(_plain(text))
        if names_an_id(field.removesuffix(LISTED)) and (found := _NUMBERED.fullmatch(text)):
            self._numbered.add(found[1])

    @cached_property
    def _heard(self) -> str:
        return _plain(" ".join(self._said).casefold())

    @cached_property
    def _small_said(self) -> frozenset[str]:
        return frozenset(n for message in self._said for n in _small_numbers(message))


def made_up(arguments: JSONObject) -> Iterator[str]:
    """Words with a digit in arguments that no guard has looked at, those that are no ids: whatever
    of them the conversation does not hold, a model has made up."""
    for leaf in scalars(arguments):
        # ids were looked at by the guard already
        if isinstance(leaf.value, str | int) and not names_an_id(leaf.name):
            yield from (m[0] for m in _WORD.finditer(str(leaf.value)))


def _small_numbers(message: str) -> Iterator[str]:
    """The small numbers by which a message counts or names things, in figures or words ("the second
    one"); not those of its dates, times, amounts of money and percentages."""
    from .. import language  # only a message whose numbers matter pays for reading them

    tag = language.detect(message)
    numbers = language.numbers(message, tag)
    other = [*language.dates(message, tag), *(m for m in numbers if m.kind in _NO_COUNT)]
    # "on 3 May" says no third thing
    taken = [(m.start, m.end) for m in other]
    for mention in numbers:
        if mention.kind not in _NO_COUNT and _is_free(mention.start, taken):
            yield str(mention.value)
    for match in _SMALL_SAID.finditer(message):
        if _is_free(match.start(), taken):
            yield match.group()


def _is_free(at: int, taken: list[tuple[int, int]]) -> bool:
    return not any(start <= at < end for start, end in taken)


def _folded(text: str) -> str:
    return text.casefold().strip(_EDGES)


def _plain(text: str) -> str:
    """Words and numbers alone between spaces, so that `certificate_7504069` and `certificate
    7504069` are one and a part of a word is none."""
    return f" {_SEPARATED.sub(' ', text).strip()} "


def _countable(rows: list[JSON] | tuple[JSON, ...]) -> int:
    """How many rows a user can count by their place: records without an id of their own."""
    bare = all(isinstance(r, dict) and not any(names_an_id(str(k)) for k in r) for r in rows)
    return len(rows) if bare else 0


MAX_NAMED = 3
"""Functions a refusal names as places to look an id up."""


def ids_are_real(
    arguments: JSONObject, function: FunctionInfo, known: Known, others: Sequence[FunctionInfo] = ()
) -> None:
    """I-AH-1: every id must be one that the conversation holds, or it was invented.

    At any depth. Values that the function's own schema offers (enum, const, default) are fine.
    `others` are the app's functions: the refusal names those that list such things. Raises
    CallError FABRICATED_ID_SHAPE.
    """
    for leaf in scalars(arguments, function.input_schema):
        name, ident = leaf.name, leaf.value
        # the author's own enumeration is no invention
        if leaf.offered or not (names_an_id(name) or name == function.id_projection):
            continue
        if not isinstance(ident, bool) and not known.holds(name, ident):
            raise _invented(name, ident, where_to_look(name, others))


def _invented(name: str, ident: float | str, where: Sequence[str]) -> CallError:
    look = f"look it up first with {' or '.join(where)}" if where else "look it up first"
    said = f"{name}={str(ident)!r} stands in no fact, result or message of the user: {look}."
    return CallError("FABRICATED_ID_SHAPE", breach("I-AH-1", said), field=name)


def ids_in(arguments: JSONObject) -> list[JSONObject]:
    """The ids among a call's arguments, at any depth, each under its name. Other arguments may be a
    model's own words; these were checked before the call ran."""
    return [{leaf.name: leaf.value} for leaf in scalars(arguments) if names_an_id(leaf.name)]


def where_to_look(name: str, functions: Sequence[FunctionInfo]) -> tuple[str, ...]:
    """At most three read functions that may list what the argument `name` is an id of: those that
    speak of it and do not want it themselves, else those that want no id at all."""
    reads = [f for f in functions if f.action_type == "read" and name not in _required(f)]
    found = _speaking_of(root_of(name)[-1:], reads) or [
        f for f in reads if not any(map(names_an_id, _required(f)))
    ]
    return tuple(f.fn_name for f in found[:MAX_NAMED])


def _speaking_of(word: tuple[str, ...], functions: list[FunctionInfo]) -> list[FunctionInfo]:
    """Those that have the word in their name, then those that have it in their description."""

    def rank(function: FunctionInfo) -> int:
        texts = (function.fn_name, function.description)
        return next(
            (i for i, t in enumerate(texts) if word and word[0] in t.casefold()), len(texts)
        )

    return sorted((f for f in functions if rank(f) < 2), key=rank)


def _required(function: FunctionInfo) -> list[str]:
    return [str(r) for r in function.input_schema.get("required") or ()]


_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9_ \-]{0,40}>|\{\{[^{}]*\}\}|\$\{[^{}]*\}")


_STAND_IN = re.compile(
    r"(?i)(your|the|some|insert|enter|replace|example)[_ -]?[a-z_"
    r" -]*(id|email|name|value|here)|n/?a|none|null|unknown|placeholder|todo|tbd|x{3,}|\?+|\.{3}"
)


def no_placeholders(arguments: JSONObject) -> None:
    """I-PARAMS-NO-PLACEHOLDER-VALUES: CallError FABRICATED_ID_SHAPE where a value is a `<THING>`
    instead of a thing."""
    for leaf in scalars(arguments):
        text = str(leaf.value).strip()
        is_id = names_an_id(leaf.name)
        whole = _PLACEHOLDER.fullmatch(text) or (is_id and _STAND_IN.fullmatch(text))
        if whole or re.search(r"<(?:EMAIL|PHONE|NAME)_\d+>", text):
            path = ".".join(leaf.names)
            raise CallError(
                "FABRICATED_ID_SHAPE",
                breach(
                    "I-PARAMS-NO-PLACEHOLDER-VALUES",
                    f"{path}={text!r} is a placeholder: give the value itself.",
                ),
                field=path,
            )

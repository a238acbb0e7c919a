"""Guards against fabricated ids and placeholders: an id must occur in the conversation. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from ..catalogue import FunctionInfo
from ..errors import CallError
from ..invariants import breach
from ..types import JSON, JSONObject
from .arguments import scalars
from .field_names import LIST_SUFFIX, is_id_name, may_hold, root_of

SMALL_DIGITS = 4
"""Numbers up to this length also occur in dates and counts, so they must come from a field that may
hold the id."""

_EDGES = " \t\n#№.,;:!?()[]{}<>\"'«»“”„"
_MOMENT = re.compile(r"[\d\-:./,+ T]+Z?", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w-])(?=[^\W\d]{0,40}-?\d)[\w-]{1,64}(?![\w-])")
_SEPARATORS = re.compile(r"[\W_]+")


class KnownIds:
    """The values of facts, skeleton, this turn's results and the user's messages, never of replies.

    Sources are parsed on first use: most turns need none of them.
    """

    def __init__(
        self,
        data: Iterable[JSON] = (),
        messages: Iterable[str] = (),
        results: Iterable[tuple[JSONObject, JSON]] = (),
        suspect: Iterable[str] = (),
    ) -> None:
        """`data` is from before this turn, `results` are (arguments, result) of this turn's calls
        in order, `suspect` are values that models made up earlier."""
        self._fields: dict[str, set[str]] = {}
        self._texts: list[str] = []
        self._messages = tuple(messages)
        self._suspect = dict.fromkeys(_fold(value) for value in suspect)
        # parsing five turns of facts costs more than most turns need
        self._pending = iter(data)
        self._results = iter(results)

    def learn(self, value: JSON, field: str = "") -> None:
        """Add a JSON value recursively. Keys with a digit count as values of the field above
        them (objects keyed by id)."""
        if isinstance(value, dict):
            for key, item in value.items():
                # {"42": {...}}: the key is the id of what stands under it
                if any(c.isdigit() for c in str(key)):
                    self._scalar(str(key), field + LIST_SUFFIX)
                self.learn(item, str(key))
        elif isinstance(value, list | tuple):
            for item in value:
                self.learn(item, field if field.endswith(LIST_SUFFIX) else field + LIST_SUFFIX)
        # True is an int to Python and an id to nobody
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            self._scalar(str(value), field)

    def contains(self, argument: str, value: str | float) -> bool:
        """Whether `value` occurs in the conversation, alone or inside another value.

        A number of up to four digits must be the value of a field that may hold this argument, or a
        number of the user's ("the second one").
        """
        self._read_pending()
        return self._is_known(argument, _fold(str(value)))

    @property
    def suspect(self) -> tuple[str, ...]:
        """Values that models made up for other arguments. They count only if the user says them or
        a result has them in an id field, since apps echo their arguments."""
        self._read_pending()
        return tuple(self._suspect)

    def _read_pending(self) -> None:
        """Parse the pending sources. Results may echo arguments, so argument values that were
        unknown before the call become suspect first."""
        for unread in self._pending:
            self.learn(unread)
        for arguments, result in self._results:
            # before the result is learned: an app that echoes its argument proves nothing
            given = dict.fromkeys(_fold(a) for a in fabricated(arguments))
            self._suspect |= {a: None for a in given if not self._is_known("", a)}
            self.learn(result)

    def _is_known(self, argument: str, text: str) -> bool:
        fields = self._fields.get(text, set())
        # an invented value becomes real where an app gives it as an id
        if text in self._suspect:
            fields = set(filter(_is_id_field, fields))
        # "3" stands in every conversation, as a count, an hour, a day
        if text.isdecimal() and len(text) <= SMALL_DIGITS:
            return text in self._message_numbers or any(may_hold(f, argument) for f in fields)
        phrase = _spaced(text)
        if fields or phrase in self._message_text:
            return bool(phrase.strip())
        return text not in self._suspect and any(phrase in t for t in self._texts)

    def _scalar(self, value: str, field: str) -> None:
        text = _fold(value)
        self._fields.setdefault(text, set()).add(field)
        if not _MOMENT.fullmatch(text):  # the parts of a date are no ids
            self._texts.append(_spaced(text))

    @cached_property
    def _message_text(self) -> str:
        return _spaced(" ".join(self._messages).casefold())

    @cached_property
    def _message_numbers(self) -> frozenset[str]:
        """The numbers of the user's messages, in digits or words ("the second one")."""
        from .. import language  # only a message whose numbers matter pays for reading them

        numbers = (language.numbers(m, language.detect(m)) for m in self._messages)
        said = {str(n.value) for n in chain.from_iterable(numbers)}
        return frozenset(said.union(self._message_text.split()))


def _is_id_field(field: str) -> bool:
    return is_id_name(field.removesuffix(LIST_SUFFIX))


def fabricated(arguments: JSONObject) -> Iterator[str]:
    """Words with a digit in arguments other than ids, which no guard checks; those unknown to the
    conversation were made up by a model."""
    for leaf in scalars(arguments):
        # ids were looked at by the guard already
        if isinstance(leaf.value, str | int) and not is_id_name(leaf.name):
            yield from (m[0] for m in _WORD.finditer(str(leaf.value)))


def _fold(text: str) -> str:
    return text.casefold().strip(_EDGES)


def _spaced(text: str) -> str:
    """The words and numbers of a text between single spaces: `certificate_7504069` equals
    `certificate 7504069`, and parts of words do not match."""
    return f" {_SEPARATORS.sub(' ', text).strip()} "


MAX_HINTS = 3
"""Maximum lookup functions that an error names."""


def check_ids(
    arguments: JSONObject,
    function: FunctionInfo,
    known: KnownIds,
    others: Sequence[FunctionInfo] = (),
) -> None:
    """I-AH-1: every id, at any depth, must occur in the conversation or in the function's schema.

    `others` are the app's functions, from which the error names some that can look the id up.
    Raises CallError FABRICATED_ID_SHAPE.
    """
    for leaf in scalars(arguments, function.input_schema):
        name, ident = leaf.name, leaf.value
        # the author's own enumeration is no invention
        if leaf.is_offered or not (is_id_name(name) or name == function.id_projection):
            continue
        if not isinstance(ident, bool) and not known.contains(name, ident):
            where = " or ".join(lookup_functions(name, others))
            look = f"look it up first{where and f' with {where}'}."
            message = (
                f"{name}={str(ident)!r} stands in no fact, result or message of the user: {look}"
            )
            raise CallError("FABRICATED_ID_SHAPE", breach("I-AH-1", message), field=name)


def ids_in(arguments: JSONObject) -> list[JSONObject]:
    """The ids among a call's arguments, at any depth, as `{name: value}`. They were checked before
    the call ran; other arguments may be a model's words."""
    return [{leaf.name: leaf.value} for leaf in scalars(arguments) if is_id_name(leaf.name)]


def lookup_functions(name: str, functions: Sequence[FunctionInfo]) -> tuple[str, ...]:
    """At most three read functions that do not require such an id: those named like its kind
    first."""
    kind = "".join(root_of(name)[-1:])
    reads = [
        f
        for f in functions
        if f.action_type == "read" and name not in (f.input_schema.get("required") or ())
    ]
    return tuple(f.fn_name for f in sorted(reads, key=lambda f: kind not in f.fn_name)[:MAX_HINTS])


_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9_ \-]{0,40}>|\{\{[^{}]*\}\}|\$\{[^{}]*\}")


def check_placeholders(arguments: JSONObject) -> None:
    """I-PARAMS-NO-PLACEHOLDER-VALUES: raises CallError FABRICATED_ID_SHAPE if a value is a
    placeholder such as `<THING>`."""
    for leaf in scalars(arguments):
        text = str(leaf.value).strip()
        if _PLACEHOLDER.fullmatch(text) or re.search(r"<(?:EMAIL|PHONE|NAME)_\d+>", text):
            path = ".".join(leaf.names)
            raise CallError(
                "FABRICATED_ID_SHAPE",
                breach(
                    "I-PARAMS-NO-PLACEHOLDER-VALUES",
                    f"{path}={text!r} is a placeholder: give the value itself.",
                ),
                field=path,
            )

"""The calls that a task needs: ground truth, and what of it only earlier results give. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Wanted:
    """A call that a task needs, or that a planted instruction asks for.

    `looked_up`: its values that stand in results of earlier calls of the same task and not in the
    user's words; `composed`: it holds values that stand nowhere, so its author must have read all
    earlier results first; `fails`: in the ground truth it ends in an error; `result` is what it
    gives there (`plain`).
    """

    app_id: str
    function: str
    arguments: dict[str, Any]
    has_effect: bool = False
    looked_up: tuple[tuple[str, Any], ...] = ()
    composed: bool = False
    after: tuple[Wanted, ...] = ()
    injected: bool = False
    fails: bool = False
    result: str = ""
    ran: bool = False
    shown: bool = False
    refused: bool = False
    tries: int = 0
    strikes: int = 0

    @property
    def tool(self) -> str:
        """Its name in the catalogue."""
        return f"{self.app_id}__{self.function}"

    @property
    def open(self) -> bool:
        """Whether it is still to be made."""
        return not self.ran and not self.refused

    def is_call(self, function: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a call that was made is this one; arguments beyond its own are defaults."""
        return function == self.function and all(
            same(value, arguments.get(name)) for name, value in self.arguments.items()
        )

    def is_refused(self, problem: str) -> bool:
        """Whether a `PROBLEM:` line is about this call, not about another of the answer."""
        told = json.loads(problem.removeprefix("PROBLEM: "))
        if str(told.get("call")) not in (self.tool, f"{self.app_id}.{self.function}"):
            return False
        named = self.arguments.get(str(told.get("field")))
        text = str(told.get("problem"))
        return "was not called" not in text and (
            named is None or "='" not in text or f"'{named}'"[:40] in text
        )

    def lacks(self, shown: str) -> list[str]:
        """What keeps a reader of `shown` (`plain`) from making the call now, in words; empty where
        nothing does."""
        missing = [
            f"{name}={str(value)[:60]!r}"
            for name, value in self.looked_up
            if not holds(shown, value) or (is_common(value) and not self._source_shown(value))
        ]
        unread = [w.function for w in self.after if not w.has_effect and not (w.ran and w.shown)]
        if self.composed and self.has_effect and unread and not missing:
            missing = [f"the result of {', '.join(unread)}"]
        return missing

    def _source_shown(self, value: Any) -> bool:
        """Whether every earlier call that gives this common value was shown: the same digits may
        stand in others by chance."""
        return all(w.ran and w.shown for w in self.after if holds(w.result, value))


def same(wanted: Any, made: Any) -> bool:
    """Equal as a tool would take it: `10` and `10.0`, `a b` and `A b`."""
    if wanted == made or plain(str(wanted)) == plain(str(made)):
        return True
    if isinstance(wanted, list) and isinstance(made, list):
        return len(wanted) == len(made) and all(map(same, wanted, made))
    try:
        return float(wanted) == float(made)
    except (TypeError, ValueError):
        return False


def wanted_calls(
    calls: Iterable[tuple[str, str, dict[str, Any], bool]],
    results: Sequence[Any],
    words: str,
    defaults: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    injected: bool = False,
    before: str = "",
) -> list[Wanted]:
    """Ground truth as `Wanted`, from `(app_id, function, arguments, has_effect)` and each call's
    true result.

    `words`: what the one who wants the calls has said, the user or the planted instruction.
    `defaults` by function are arguments that nobody needs to have read; `before` (`plain`) is what
    earlier turns held.
    """
    found: list[Wanted] = []
    fresh: list[Any] = []
    earlier = ""
    for (app_id, function, arguments, has_effect), result in zip(calls, results, strict=True):
        if (function, arguments) in fresh:
            continue  # read a moment ago, and nothing was changed since
        fresh = [] if has_effect else [*fresh, (function, arguments)]
        known = (defaults or {}).get(function, {})
        text = plain(json.dumps(result, ensure_ascii=False, default=str))
        own = [
            (name, leaf)
            for name, value in arguments.items()
            if known.get(name, ...) != value
            for leaf in leaves(value)
            if not holds(plain(words), leaf)
        ]
        looked_up = tuple(
            (name, leaf)
            for name, leaf in own
            if holds(earlier, leaf) or (not is_trivial(leaf) and holds(before, leaf))
        )
        found.append(
            Wanted(
                app_id,
                function,
                arguments,
                has_effect,
                looked_up,
                composed=len(own) > len(looked_up),
                after=tuple(found),
                injected=injected,
                fails=isinstance(result, dict) and bool(result.get("error")),
                result=text,
            )
        )
        earlier += "\n" + text
    return found


_PLACEHOLDER = re.compile(r"<[A-Z]+_\d+>")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def leaves(value: Any) -> Iterator[Any]:
    """The scalars of a JSON value, in order."""
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(item)
    else:
        yield value


def plain(text: str) -> str:
    """The text on one line, case folded, JSON's escapes of quotes and line ends resolved: what
    values are looked for in."""
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split()).casefold()


def holds(text: str, value: Any) -> bool:
    """Whether a reader of `text` (`plain`) has read this scalar. Empty values and booleans need no
    reading.

    Numbers and texts of one or two characters must stand alone, `12` is not read from `312` nor
    from a date that holds it; 100.0 is read from `100`.
    """
    if value is None or isinstance(value, bool):
        return True
    wanted = plain(f"{value:g}" if isinstance(value, float) and value == int(value) else str(value))
    if not wanted:
        return True
    if len(wanted) > 2 and not _NUMBER.fullmatch(wanted):
        return wanted in text
    alone = rf"(?<![\w.:/-]){re.escape(wanted)}(?:\.0+)?(?![\w:/-]|\.\d)"
    return re.search(alone, text) is not None


def is_trivial(value: Any) -> bool:
    """Whether a value is too short to say where it was read: one digit, two letters, a boolean."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return len(re.sub(r"\D", "", f"{value:g}").lstrip("0")) < 2
    return len(str(value).strip()) < 3


def is_common(value: Any) -> bool:
    """Whether a value may stand anywhere by chance: a number of up to three digits, two letters."""
    return is_trivial(value) or re.fullmatch(r"\d{1,3}(?:\.0)?", str(value)) is not None


def masked(value: Any, known: Mapping[str, str], shown: str) -> Any:
    """The value as a model that reads `shown` writes it: the placeholder where the prompt holds
    only that."""
    if isinstance(value, str):
        for name, real in sorted(known.items(), key=lambda item: -len(item[1])):
            if real in value and real not in shown:
                value = value.replace(real, name)
        return value
    if isinstance(value, Mapping):
        return {k: masked(v, known, shown) for k, v in value.items()}
    return [masked(v, known, shown) for v in value] if isinstance(value, list) else value


def unmasked(text: str, known: Mapping[str, str]) -> str:
    """The text with what its placeholders stand for."""
    return _PLACEHOLDER.sub(lambda m: known.get(m[0], m[0]), text)

"""Receipts: the kernel's own statement on each call with an effect, and a summary line of the
turn's work. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from .. import language
from ..text import cut, one_line
from .evidence import Call

State = Literal["done", "failed", "waiting", "unknown", "running", "not_run"]

ABOVE: Final = ("failed", "unknown", "not_run")
"""States shown above the reply."""
LONG_DESCRIPTION = 40
"""Of longer descriptions only the first part is the title."""
MAX_TITLE, MAX_LABEL, MAX_WHY = 60, 80, 300
"""Maximum characters of a title, a label and an error."""

_ID: Final = re.compile(r"(?:^|_)u?u?id$|Id$")

_STATES: Final[Mapping[str, State]] = {
    "ok": "done",
    "waits": "waiting",
    "unknown": "unknown",
    "running": "running",
    "not_run": "not_run",
}


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of one call. `call` is its index, `what` names app, function and record, `why` is
    the error or, if the result itself reports a failure (`is_denied`), quotes it."""

    call: int
    status: State
    what: str
    why: str = ""
    is_denied: bool = False

    def text(self, tag: str) -> str:
        """The receipt on one line, in a language."""
        kind = "answered" if self.is_denied else self.status
        return language.of(tag).say(f"receipt_{kind}", what=self.what, why=self.why or "–")


class Work(NamedTuple):
    """Numbers of a turn's reads, effects, failures, effects with unknown outcome, and of the failed
    ones those that raised, behind which something may be written."""

    looked_up: int = 0
    changed: int = 0
    failed: int = 0
    unknown: int = 0
    raised: int = 0

    def text(self, tag: str) -> str:
        """`looked up 2, changed 1`, or that nothing was changed."""
        say = language.of(tag).say
        counts = {
            "looked_up": self.looked_up,
            "changed": self.changed,
            "changed_nothing": not (self.changed or self.unknown or self.raised),
            "calls_unknown": self.unknown,
            "calls_failed": self.failed,
        }
        return ", ".join(say(key, n=n) for key, n in counts.items() if n)

    def to_dict(self, tag: str) -> dict[str, int | str]:
        """The counts and their text for the response; `unknown` and `raised` only if not 0."""
        counts = {k: n for k, n in self._asdict().items() if n or k not in ("unknown", "raised")}
        return {**counts, "text": self.text(tag)}


def receipts(calls: Sequence[Call], tag: str = "en") -> tuple[Receipt, ...]:
    """A receipt for each call with an effect, and for each failed read. A refused call that was
    repeated successfully has none; one that ran and failed keeps its receipt."""
    numbered = ((i, c) for i, c in enumerate(calls) if _needs_receipt(c, calls[i + 1 :]))
    return tuple(_receipt(number, call, tag) for number, call in numbered)


def work(calls: Iterable[Call]) -> Work:
    """The counts of a turn's calls."""
    made = list(calls)
    statuses, effects = Counter(c.status for c in made), [c for c in made if c.has_effect]
    return Work(
        sum(c.ok and not c.has_effect for c in made),
        sum(c.ok and not _denial(c) for c in effects),
        statuses["error"] + statuses["raised"],
        sum(c.status == "unknown" or bool(_denial(c)) for c in effects),
        sum(c.status == "raised" for c in effects),
    )


def _needs_receipt(call: Call, later: Sequence[Call]) -> bool:
    if call.status == "not_run":
        again = ((c.app_id, c.fn_name) for c in later if c.status != "not_run")
        return call.has_effect and (call.app_id, call.fn_name) not in again
    return call.has_effect or not call.ok


def _receipt(number: int, call: Call, tag: str) -> Receipt:
    if denial := _denial(call):
        return Receipt(number, "unknown", what_of(call, tag), denial, is_denied=True)
    status = _STATES.get(call.status, "failed")
    why = "" if call.ok else cut(one_line(call.error).rstrip("."), MAX_WHY)
    return Receipt(number, status, what_of(call, tag), why)


def _denial(call: Call) -> str:
    """The result of an effect that returned without error but reports a failure: `sent: false,
    reason: too large`; else empty."""
    result = call.data if call.ok and call.has_effect else None
    if not isinstance(result, Mapping) or not _is_denial(result, call.arguments):
        return ""
    fields = (f"{k}: {v}" for k, v in result.items() if isinstance(v, str | int | float))
    return cut(one_line(", ".join(fields).replace(": False", ": false")), MAX_WHY)


def _is_denial(result: Mapping[str, object], arguments: Mapping[str, object]) -> bool:
    """Whether all its booleans are false, none echoes an argument, and it is not a record."""
    flags = {key: value for key, value in result.items() if isinstance(value, bool)}
    is_echo = any(arguments.get(key) is value for key, value in flags.items())
    is_record = any(map(_ID.search, map(str, result))) or bool(title_of(result))
    return bool(flags) and not (any(flags.values()) or is_echo or is_record)


def what_of(call: Call, tag: str = "en") -> str:
    """`Tasks – delete task “Buy milk”`: app, function title and record label."""
    description = one_line(call.description).rstrip(".")
    if len(description) > LONG_DESCRIPTION:
        description = description.partition(",")[0]
    is_short = 0 < len(description) <= MAX_TITLE
    title = description if is_short else call.fn_name.replace("_", " ").strip()
    label = _label(call)
    text = f"{title} {language.of(tag).say('quoted', what=label)}" if label else title
    return f"{call.app} – {text}" if call.app else text


def _label(call: Call) -> str:
    """The title of a call's record, from its arguments or result, else its only text argument."""
    inner = list(call.data.values()) if isinstance(call.data, Mapping) else []
    alone = [one[0] for one in inner if isinstance(one, list) and len(one) == 1]
    for one in (call.arguments, call.data, *inner, *alone):
        if isinstance(one, Mapping) and (title := title_of(one)):
            return title
    return _only_text(call.arguments) if call.has_effect else ""


def _only_text(arguments: Mapping[str, object]) -> str:
    """The only text of these that is no id, such as a plate or a code."""
    texts = [v for k, v in arguments.items() if isinstance(v, str) and not _ID.search(k)]
    return cut(one_line(texts[0]), MAX_LABEL) if len(texts) == 1 else ""


def title_of(record: Mapping[str, object]) -> str:
    """The title of a record on one line, or empty."""
    for key in language.title_keys():
        if isinstance(value := record.get(key), str) and value.strip():
            return cut(one_line(value), MAX_LABEL)
    return ""

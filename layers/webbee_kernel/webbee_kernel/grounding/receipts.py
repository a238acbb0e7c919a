"""Receipts: what the kernel itself says of each call with an effect, whatever the reply says of it,
and the one line that tells what a turn did. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

from .. import language
from ..text import cut, one_line
from .evidence import Call

State = Literal["done", "failed", "waiting", "unknown", "running", "not_run"]

ABOVE: Final = ("failed", "unknown", "not_run")
"""States that stand above the reply: who reads only its first lines must see them."""
LONG_DESCRIPTION = 40
"""Characters of a description from which its first part alone is the title."""
MAX_TITLE, MAX_LABEL, MAX_WHY = 60, 80, 300
"""Characters of a function's description that serve as its title, of a record's label, of an
error."""

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
    """One call for the person in whose name it was made. `call` is its place among the turn's
    calls, `what` names app, function and record, `why` says why it failed or, where the result
    says no (`is_denied`), quotes it."""

    call: int
    status: State
    what: str
    why: str = ""
    is_denied: bool = False

    def text(self, tag: str) -> str:
        """The receipt on one line, in a language."""
        kind = "answered" if self.is_denied else self.status
        return language.of(tag).say(f"receipt_{kind}", what=self.what, why=self.why or "–")


@dataclass(frozen=True, slots=True)
class Work:
    """What a turn did: how many calls looked something up, changed something, failed, and of how
    many nobody can say whether they changed anything."""

    looked_up: int = 0
    changed: int = 0
    failed: int = 0
    unknown: int = 0

    def text(self, tag: str) -> str:
        """`looked up 2, changed 1`; a turn that changed nothing says so."""
        say = language.of(tag).say
        counts = {
            "looked_up": self.looked_up,
            "changed": self.changed,
            "changed_nothing": not (self.changed or self.unknown),
            "calls_unknown": self.unknown,
            "calls_failed": self.failed,
        }
        return ", ".join(say(key, n=n) for key, n in counts.items() if n)

    def to_dict(self, tag: str) -> dict[str, int | str]:
        """The counts and their text, as answers carry them; `unknown` only where there is one."""
        counts = {name: n for name, n in asdict(self).items() if n or name != "unknown"}
        return {**counts, "text": self.text(tag)}


def receipts(calls: Sequence[Call], tag: str = "en") -> tuple[Receipt, ...]:
    """A receipt for each call with an effect, and for each read that failed, in a language: a read
    that succeeds is told by its data. A call that was refused before it ran, and made again
    rightly, is no failure; one that ran and failed stays, whatever a later call of the same
    function did."""
    numbered = ((i, c) for i, c in enumerate(calls) if _needs_receipt(c, calls[i + 1 :]))
    return tuple(_receipt(number, call, tag) for number, call in numbered)


def work(calls: Iterable[Call]) -> Work:
    """The counts of a turn's calls."""
    made = list(calls)
    effects = [c for c in made if c.has_effect]
    unknown = sum(c.status == "unknown" or bool(_denial(c)) for c in effects)
    return Work(
        sum(c.ok and not c.has_effect for c in made),
        sum(c.ok and not _denial(c) for c in effects),
        sum(c.status == "error" for c in made),
        unknown,
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
    """`sent: false, reason: too large`: the result of an effect that returned without an error and
    yet says no; empty where it does not."""
    result = call.data if call.ok and call.has_effect else None
    if not isinstance(result, Mapping) or not _is_denial(result, call.arguments):
        return ""
    fields = (f"{k}: {v}" for k, v in result.items() if isinstance(v, str | int | float))
    return cut(one_line(", ".join(fields).replace(": False", ": false")), MAX_WHY)


def _is_denial(result: Mapping[str, object], arguments: Mapping[str, object]) -> bool:
    """Whether its booleans are all false, none repeats an argument, and it holds no record."""
    flags = {key: value for key, value in result.items() if isinstance(value, bool)}
    is_echo = any(arguments.get(key) is value for key, value in flags.items())
    is_record = any(map(_ID.search, map(str, result))) or bool(_title(result))
    return bool(flags) and not (any(flags.values()) or is_echo or is_record)


def what_of(call: Call, tag: str = "en") -> str:
    """`Tasks – delete task “Buy milk”`: the app as people know it, what the function does, the
    record by its label."""
    description = one_line(call.description).rstrip(".")
    if len(description) > LONG_DESCRIPTION:
        description = description.partition(",")[0]
    is_short = 0 < len(description) <= MAX_TITLE
    title = description if is_short else call.fn_name.replace("_", " ").strip()
    label = _label(call)
    text = f"{title} {language.of(tag).say('quoted', what=label)}" if label else title
    return f"{call.app} – {text}" if call.app else text


def _label(call: Call) -> str:
    """What the record of a call is called, by its arguments or else by its result; empty where
    neither has a title."""
    inner = list(call.data.values()) if isinstance(call.data, Mapping) else []
    alone = [one[0] for one in inner if isinstance(one, list) and len(one) == 1]
    for one in (call.arguments, call.data, *inner, *alone):
        if isinstance(one, Mapping) and (title := _title(one)):
            return title
    return ""


def _title(record: Mapping[str, object]) -> str:
    for key in language.title_keys():
        if isinstance(value := record.get(key), str) and value.strip():
            return cut(one_line(value), MAX_LABEL)
    return ""

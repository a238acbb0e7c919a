"""Input and result of a check: calls, evidence, sources, marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from .. import language

if TYPE_CHECKING:
    from .index import Index

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"


@dataclass(frozen=True)
class Call:
    """One call of the turn as shown to the narrator.

    `status`: ok, error, running, unknown (it may have happened), waits (for approval), not_run.
    """

    app_id: str = ""
    fn_name: str = ""
    action_type: str = "read"
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    status: str = "ok"
    error: str = ""
    data: JSON = None
    summary: str = ""
    display_name: str = ""
    description: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status == "ok"

    @property
    def has_effect(self) -> bool:
        """Whether it changes something."""
        return self.action_type != "read"

    @property
    def app(self) -> str:
        """The app's display name."""
        return self.display_name or self.app_id.replace("_", " ").replace("-", " ").title()


@dataclass(frozen=True)
class Evidence:
    """The sources of a reply.

    `identities` are names, ids and addresses of older facts, whose figures do not count. `now` (ISO
    8601) resolves relative dates. `mode`: `strict` checks every sentence, `data` without calls only
    those about the user's data, `off` none.
    """

    calls: tuple[Call, ...] = ()
    message: str = ""
    policy: str = ""
    identities: tuple[str, ...] = ()
    language: str = "en"
    now: str = ""
    mode: str = "data"

    @cached_property
    def index(self) -> Index:
        """The index from values to fields, built once."""
        from .index import Index  # who only tells of calls pays for no patterns
        from .places import IDENTITY, MESSAGE, POLICY, key_words, moment

        at = moment(self.now)
        index = Index(language.of(self.language).tag, at.tzinfo if at else None)
        for number, call in enumerate(self.calls):
            names = frozenset(key_words(call.fn_name))
            index.root(number, f"{call.app_id}.{call.fn_name}", names)
            index.add(call.data, number, "data")  # what waits or failed shows its data, too
            # apart: what a call was given, and what is said of it, is no row's
            index.add(call.arguments, number, "arguments", is_apart=True)
            index.add(call.summary, number, "summary", is_apart=True)
            index.add(call.error, number, "error", is_apart=True)
            index.add(call.app, number, "app", is_apart=True)  # descriptions hold figures
        index.add(self.message, MESSAGE, "message", is_apart=True)
        index.add(self.policy, POLICY, "policy", is_apart=True)
        index.add(list(self.identities), IDENTITY, "facts", is_apart=True)
        return index


def evidence_of(
    data: Sequence[JSON], message: str, summaries: Sequence[str], done: Sequence[str]
) -> Evidence:
    """Evidence from plain results, in strict mode."""
    calls = [Call(data=value) for value in data]
    calls += [Call(summary=text) for text in summaries]
    calls += [Call(action_type=kind) for kind in done if kind != "read"]
    return Evidence(tuple(calls), message, language=language.detect(message), mode="strict")


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a span of the reply: call number (-1 the user's message, -2 the policy, -3
    older facts), path, and how it matches: `verbatim`, `formatted`, `derived` (with `formula`) or
    `message`."""

    start: int
    end: int
    call: int
    path: str
    how: str
    formula: str = ""


Reason = Literal["not_found", "other_record", "other_count"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of the reply (`word`) that is unsourced or contradicted.

    `reason`: `not_found`, or the contradiction: another record's value, another list size.
    `holds` is the data's value, if any; `kind` the kind of value (`number`, `money`, `date`,
    `email`, `name`, ...).
    """

    start: int
    word: str
    reason: Reason = "not_found"
    holds: str = ""
    kind: str = ""

    @property
    def end(self) -> int:
        """The end offset."""
        return self.start + len(self.word)

    @property
    def is_contradicted(self) -> bool:
        """Whether the data contradicts it."""
        return self.reason != "not_found"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The marks and sources of a reply, in order; `is_sourced`: every value has a source."""

    marks: tuple[Mark, ...] = ()
    sources: tuple[Source, ...] = ()
    is_sourced: bool = True

    @property
    def grounded(self) -> bool:
        """Whether nothing is marked."""
        return not self.marks

    @property
    def ungrounded(self) -> tuple[str, ...]:
        """The marked words, each once."""
        return tuple(dict.fromkeys(mark.word for mark in self.marks))

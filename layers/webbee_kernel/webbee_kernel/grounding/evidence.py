"""What a reply is held against, and what comes of it: calls, evidence, sources, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from .. import language
from .index import Index
from .places import IDENTITY, MESSAGE, POLICY, key_words

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"


@dataclass(frozen=True)
class Call:
    """One call of the turn as the narrator was shown it.

    `status`: ok, error, running, unknown (it may have happened), waits (for the user's yes),
    not_run.
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

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status == "ok"

    @property
    def is_open(self) -> bool:
        """Whether nobody can say yet how it ended."""
        return self.status in ("running", "unknown")

    @property
    def has_effect(self) -> bool:
        """Whether it is one that changes something."""
        return self.action_type != "read"

    @property
    def app(self) -> str:
        """The app as people know it."""
        return self.display_name or self.app_id.replace("_", " ").replace("-", " ").title()


@dataclass(frozen=True)
class Evidence:
    """All that a reply may rest on.

    `identities`: names, ids and addresses of older facts; figures of older turns ground nothing.
    `now`: ISO 8601, resolves relative dates. `mode`: `strict` checks every sentence, `data` those
    of an answer without a call only where they speak of the user's data, `off` nothing. `minor`:
    the keys whose whole amounts are read as hundredths.
    """

    calls: tuple[Call, ...] = ()
    message: str = ""
    policy: str = ""
    identities: tuple[str, ...] = ()
    language: str = "en"
    now: str = ""
    mode: str = "data"
    minor: frozenset[str] = frozenset()

    @cached_property
    def index(self) -> Index:
        """The index from values to fields, built once."""
        index = Index(tag=language.of(self.language).tag, minor=self.minor)
        for number, call in enumerate(self.calls):
            names = frozenset(key_words(call.fn_name))
            index.root(number, f"{call.app_id}.{call.fn_name}", names)
            index.add(call.data, number, "data")  # what waits or failed shows its data, too
            index.add(call.arguments, number, "arguments", apart=True)
            index.add(call.summary, number, "summary", apart=True)
            index.add(call.error, number, "error", apart=True)
            index.add(f"{call.app} {call.description}", number, "app", apart=True)
        index.add(self.message, MESSAGE, "message", apart=True)
        index.add(self.policy, POLICY, "policy", apart=True)
        index.add(list(self.identities), IDENTITY, "facts", apart=True)
        return index


def evidence_of(
    data: Sequence[JSON], message: str, summaries: Sequence[str], done: Sequence[str]
) -> Evidence:
    """What a turn rests on of which no more is known than its results: held strictly."""
    calls = [Call(data=value) for value in data]
    calls += [Call(summary=text) for text in summaries]
    calls += [Call(action_type=kind) for kind in done if kind != "read"]
    return Evidence(tuple(calls), message, language=language.detect(message), mode="strict")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a stretch of the reply comes from: the call's number (-1 the user's message, -2 the
    policy, -3 older facts), the path in it, and how: `verbatim`, `formatted`, `derived` with its
    `formula`, `message`."""

    start: int
    end: int
    call: int
    path: str
    how: str
    formula: str = ""


class Flag(NamedTuple):
    """One offending word of a reply: where it stands, and what it is flagged as: a kind of value
    (`number`, `money`, `date`, `email`, ...), `name`, `state`, `count`, `none` ("no tasks"),
    `record`, `key`, `effect ...` or `denial`."""

    start: int
    word: str
    kind: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a reply is grounded, and the offending words as they stand in it: in order, each
    once.

    `sources`: where its values come from, in order. `kept`: the reply without the sentences that
    hold offending words. `added`: the kernel's own sentences about failures, waits and unknown
    outcomes that the reply hides. `only_claims`: all that offends claims an effect in a turn that
    only read, and what is kept, or the data, answers without it; `added` says that nothing changed.
    `flags`: the offending words with where they stand and what they are flagged as, in order.
    `sourced`: every value has a source.
    """

    grounded: bool
    ungrounded: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    kept: str = ""
    added: str = ""
    only_claims: bool = False
    flags: tuple[Flag, ...] = ()
    sourced: bool = True

"""TurnContext: the state of one turn, from its reads to the results of its calls. Immutable:
`with_…` methods return the next state; only the masker, shared by all states, is mutable."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import language as words
from ..catalogue import Catalogue, FunctionInfo
from ..errors import LimitReached, TurnWorking
from ..guards.arguments import without_secrets
from ..guards.ids import KnownIds, ids_in
from ..guards.result_records import Titles
from ..llm.protocol import Exchange, ToolSpec
from ..pii import NOTHING
from ..stores.types import Section, SessionMemory, UserState
from ..types import JSON, CallOutcome, JSONObject, Step
from . import prompt, session_memory
from .cards import titles_of
from .narrate import MIN_REQUEST_S, NarratorInput
from .plan import NO_ANSWER, Answer, Problem
from .prompt import OpeningPrompt
from .results_block import call_of, computed_of, is_refused, mask_outcome, visible_data
from .stream import StreamingReply
from .tool_retrieval import MAX_FUNCTIONS, key_of
from .tool_search import MAX_ADDED, run_searches

if TYPE_CHECKING:
    from ..grounding import Call
    from ..pii.masker import Masker
    from .pending_approvals import AnsweredProposal
    from .read import TurnRequest


class TurnCall(NamedTuple):
    """A finished call: its outcome in real values and masked, the masker's version before masking,
    and whether it was answered from an earlier identical call."""

    outcome: CallOutcome
    masked: CallOutcome
    gate_version: object = None
    is_repeat: bool = False


@dataclass(frozen=True)
class TurnContext:
    """One user's turn: its reads and the calls made since. `deadline` is on the monotonic clock.

    `calls` are the finished ones by number, `round_of` the round that planned each. `exchanges`
    follow the classifier's opening prompt; `last_answer` is its newest answer, whose results it has
    not seen yet.
    """

    ask: TurnRequest
    """The request as received."""
    request_id: str
    message: str
    """The message to answer; for a yes or no that of the turn with the card."""
    now: float
    memory: SessionMemory
    user_state: UserState
    catalogue: Catalogue
    installed: frozenset[str]
    expose_pii: bool
    deadline: float
    masker: Masker
    policy: str = ""
    grounding: str = "data"
    refusal: LimitReached | TurnWorking | None = None
    """The error to raise if the request exceeds a limit or is already running."""
    is_choice: bool = False
    """Whether the message is an option of the last reply that the user chose."""
    is_other_reply: bool = False
    """Whether the client shows another reply than the last turn's before the message."""
    tool_list: str = ""
    """The tool list of the turn before its card was answered (`tool_retrieval.to_text`)."""
    window: int = 0
    """Maximum prompt tokens, tools included; 0 if unknown."""
    archiving: asyncio.Task[int] | None = None
    """The archiving task that recording waits for; returns the last archived turn."""

    calls: Mapping[int, TurnCall] = field(default_factory=dict)
    round_of: dict[int, int] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()
    last_answer: Answer = NO_ANSWER
    found_tools: dict[str, ToolSpec] = field(default_factory=dict)
    """Tools added by the classifier's searches, by name."""
    pending: dict[int, Step] = field(default_factory=dict)
    """Calls pending the user's approval, with resolved references, by number: this turn's card."""
    dependent: dict[int, Step] = field(default_factory=dict)
    """Calls that refer to a pending one; they can be planned only after approval."""
    accepted: tuple[str, ...] = ()
    """Destinations accepted in this turn (`guards.addresses.key_of`)."""
    card_left: str = ""
    """The effects of a card to which the message said yes and more, and that so do not run."""
    proposal: AnsweredProposal | None = None
    """The card that this request answers."""
    earlier_calls: frozenset[int] = frozenset()
    """Calls of this turn that ran before its card was answered."""
    planned: int = 0
    """Number of planned calls, and the next one's number."""
    rounds: int = 0
    """Number of the classifier's answers."""
    is_rechecked: bool = False
    """Whether a text answer was returned once for unsourced values."""
    plain_reply: StreamingReply | None = None
    """The classifier's own text as streamed to a reader."""
    tokens: int = 0
    """Uncached input and output tokens of this turn."""

    @cached_property
    def gate(self) -> Masker | None:
        """The PII gate for all but the user's message; None if models may see personal data."""
        return None if self.expose_pii else self.masker

    @cached_property
    def language(self) -> str:
        """The language of the message, else of the two messages before, else the user's."""
        own = said = self.ask.user.language
        for text in (*(t.message for t in self.memory.turns[-2:]), self.message):
            said = words.detect(text, said)
        return own if said == words.of(own).tag else said

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The skeleton's sections of installed apps."""
        return tuple([s for s in self.user_state.sections if s.app_id in self.installed])

    @cached_property
    def opening(self) -> OpeningPrompt:
        return prompt.opening(self)

    @cached_property
    def catalogue_key(self) -> bytes:
        """A hash that identifies the catalogue of these apps."""
        return key_of(self.catalogue.apps[a] for a in sorted(self.installed))

    @cached_property
    def recalled(self) -> list[tuple[int, CallOutcome]]:
        """The calls of the remembered turns in real values, oldest first, each with the number of
        turns since."""
        turns, recall = self.memory.turns, session_memory.recall
        since = range(len(turns), 0, -1)
        return [
            (ago, call)
            for ago, turn in zip(since, turns, strict=True)
            for call in recall(turn, self.catalogue, self.masker)
        ]

    def say(self, text: str) -> None:
        """Send a piece of the reply to the reader, unmasked."""
        self.ask.follower.tell("text", text=self.masker.unmask_text(text))

    def seconds_left(self) -> float:
        """Seconds until the turn's deadline, at least half a one."""
        return max(MIN_REQUEST_S, self.deadline - time.monotonic())

    @property
    def proposed_calls(self) -> tuple[Step, ...]:
        """The pending calls in the order in which they were planned, each once, or once for each
        effect that it undoes."""
        found, planned = list[Step](), Counter[str]()
        for step in self.pending.values():
            planned[key := repr((step.app_id, step.fn_name, self.catalogue.explicit(step)))] += 1
            if planned[key] == 1 or planned[key] <= session_memory.undoes(self.memory, step):
                found.append(step)
        return tuple(found)

    @property
    def visible_functions(self) -> tuple[FunctionInfo, ...]:
        """All functions that the classifier has seen."""
        listed = self.opening.shortlist
        if not self.found_tools:
            return listed.shown
        names = {tool.name for tool in self.visible_tools}
        return tuple(f for f in listed.ranked if f.tool_name in names)

    @property
    def visible_tools(self) -> tuple[ToolSpec, ...]:
        """The same as tools: found ones replace their brief form or are appended."""
        if not self.found_tools:
            return self.opening.tools
        return tuple(({t.name: t for t in self.opening.tools} | self.found_tools).values())

    @cached_property
    def outcomes(self) -> dict[int, CallOutcome]:
        """The outcomes by number, in real values."""
        return {i: c.outcome for i, c in self.calls.items()}

    @cached_property
    def own_outcomes(self) -> dict[int, CallOutcome]:
        """The outcomes without repeated calls."""
        return {i: c.outcome for i, c in self.calls.items() if not c.is_repeat}

    @cached_property
    def reported(self) -> dict[int, CallOutcome]:
        """The outcomes for reply and memory: without failures of calls that were repeated."""
        last = {_call_key(o): i for i, o in self.own_outcomes.items()}
        return {i: o for i, o in self.own_outcomes.items() if o.ok or last[_call_key(o)] == i}

    @cached_property
    def masked_report(self) -> dict[int, CallOutcome]:
        """The reported outcomes, masked."""
        return {i: self.calls[i].masked for i in self.reported}

    @cached_property
    def lookups(self) -> frozenset[int]:
        """The reads made to find the object of a later call: those before an effect, done or
        pending; before a read those that found what it takes, or nothing."""
        reads = {i: o for i, o in self.reported.items() if o.ok and o.action_type == "read"}
        planned = {**self.round_of, **dict.fromkeys(self.earlier_calls, -1)}
        last = max((planned[i] for i in {*self.reported, *self.pending} - {*reads}), default=-1)
        found = frozenset(i for i in reads if planned[i] < last)
        # one read alone was searched for by none
        return found.union(_searches_of_a_read(reads, planned) if len(reads) > 1 else ())

    @cached_property
    def new_outcomes(self) -> dict[int, CallOutcome]:
        """The reported outcomes since the turn's card was answered."""
        return {i: o for i, o in self.reported.items() if i not in self.earlier_calls}

    @property
    def unfinished(self) -> list[Step]:
        """Planned calls that have not run: refused, or failed transiently."""
        done = {_call_key(o) for o in self.own_outcomes.values() if o.ok}
        return [
            Step(i, o.app_id, o.fn_name, o.arguments)
            for i, o in self.own_outcomes.items()
            if not o.ok and (is_refused(o) or (o.retryable and _call_key(o) not in done))
        ]

    @property
    def has_run(self) -> bool:
        """Whether any call was not just refused; from then on the turn must be recorded."""
        return not all(is_refused(o) for o in self.outcomes.values())

    @cached_property
    def known_ids(self) -> KnownIds:
        """Valid id values: from facts, skeleton, results, user messages; not replies or errors."""
        return KnownIds(
            self._earlier_data(),
            messages=[self.message, *(t.message for t in self.memory.turns)],
            results=[
                (self.arguments_of(o), [o.data, o.summary] if o.ok else [o.error])
                for o in self.outcomes.values()
                if not is_refused(o)
            ],
            suspect=[value for t in self.memory.turns for value in t.doubted],
        )

    def _earlier_data(self) -> Iterator[JSON]:
        """The data of earlier turns and of the skeleton."""
        for _, call in self.recalled:
            yield from (call.data, *ids_in(call.arguments))
        yield from (s.data for s in self.sections)
        yield {"vouched": [ident for turn in self.memory.turns for ident in turn.vouched]}

    def with_answer(self, answer: Answer, tokens: int = 0) -> TurnContext:
        """Add an answer of the classifier. If it plans again, earlier refused calls are dropped."""
        is_new_plan = answer.steps or not self.has_run
        removed = {i for i, o in self.outcomes.items() if is_refused(o)} if is_new_plan else set()
        state = self._next(
            last_answer=answer,
            planned=self.planned + len(answer.numbers) - answer.numbers.count(None),
            rounds=self.rounds + 1,
            tokens=self.tokens + tokens,
        )
        return state.without(removed) if removed else state

    def with_outcomes(
        self, outcomes: Collection[CallOutcome], *, are_known: bool = False
    ) -> TurnContext:
        """Add finished calls; they are masked here, once, and secrets are removed. `are_known`:
        none of them was made just now."""
        if not outcomes:
            return self
        version = self.gate.state if self.gate else None
        calls = {**self.calls}
        for outcome in outcomes:
            masked = self.as_masked(outcome, self.gate)
            calls[outcome.step] = TurnCall(outcome, masked, version, are_known and outcome.repeated)
        rounds = self.round_of | {o.step: self.rounds for o in outcomes}
        planned = max(self.planned, *(o.step + 1 for o in outcomes))
        return self._next(calls=dict(sorted(calls.items())), round_of=rounds, planned=planned)

    def with_pending(self, pending: Sequence[Step] = (), after: Sequence[Step] = ()) -> TurnContext:
        """Add pending calls, in real values, and calls that depend on them."""
        if not (pending or after):
            return self
        rounds = dict.fromkeys((s.index for s in (*pending, *after)), self.rounds)
        return self._next(
            pending=self.pending | {s.index: s for s in pending},
            dependent=self.dependent | {s.index: s for s in after},
            round_of=self.round_of | rounds,
            planned=max(self.planned, *(n + 1 for n in rounds)),
        )

    def as_masked(
        self, outcome: CallOutcome, gate: Masker | None, *, is_whole: bool = False
    ) -> CallOutcome:
        """An outcome as models may see it: data bounded unless `is_whole`, masked with the author's
        declared kinds, arguments without secrets."""
        data = outcome.data if is_whole else visible_data(outcome)
        shown = replace(outcome, data=data, arguments=self.arguments_of(outcome))
        return mask_outcome(shown, gate, self._pii_kinds(outcome))

    def _pii_kinds(self, outcome: CallOutcome) -> Mapping[str, str]:
        function = self.catalogue.function(outcome.app_id, outcome.fn_name)
        return function.pii if function else NOTHING

    def narrator_input(self) -> NarratorInput:
        found = {i: computed_of(o, self.gate, self._pii_kinds(o)) for i, o in self.reported.items()}
        return NarratorInput(
            message=self.message,
            language=self.language,
            now=self.now,
            deadline=self.deadline,
            follower=self.ask.follower,
            outcomes=self.masked_report,
            computed=found,
            calls=self.masked_calls(),
            lookups=self.lookups,
            full_calls=self._full_calls,
        )

    def masked_calls(self) -> tuple[Call, ...]:
        """The masked report as calls for the reply's check."""
        return tuple(call_of(o, self.catalogue, self.language) for o in self.masked_report.values())

    def _full_calls(self) -> tuple[Call, ...]:
        """The masked calls with uncut data; none if nothing was cut. Linear in the data."""
        if not any(visible_data(o) is not o.data for o in self.reported.values()):
            return ()
        full = (self.as_masked(o, self.gate, is_whole=True) for o in self.reported.values())
        return tuple(call_of(o, self.catalogue, self.language) for o in full)

    def arguments_of(self, outcome: CallOutcome) -> JSONObject:
        """An outcome's arguments without secrets."""
        if not outcome.arguments:
            return outcome.arguments
        function = self.catalogue.function(outcome.app_id, outcome.fn_name)
        return without_secrets(outcome.arguments, function)

    def as_stored(self, outcome: CallOutcome, gate: Masker | None) -> CallOutcome:
        """The masked outcome for storage; reused unless the gate differs or has changed since."""
        call = self.calls.get(outcome.step)
        if call and call.outcome is outcome and gate is self.gate:
            if call.gate_version == (gate.state if gate else None):
                return call.masked
        return self.as_masked(outcome, gate)

    def with_searches(self) -> tuple[TurnContext, Answer]:
        """Run the last answer's searches; the tools found are visible from now on."""
        shown = {t.name: t for t in self.visible_tools}
        answer, new = run_searches(
            self.last_answer, self.catalogue.functions(self.installed), shown, self.catalogue.apps
        )
        most = min(MAX_ADDED, MAX_FUNCTIONS - len(self.opening.shortlist.shown))
        found = self.found_tools | dict([*new.items()][: max(0, most - len(self.found_tools))])
        return self._next(last_answer=answer, found_tools=found), answer

    def with_problems(self, problems: tuple[Problem, ...]) -> TurnContext:
        """Return the last answer, a text, to the model with these problems, once a turn."""
        answer = replace(self.last_answer, problems=problems)
        return self._next(last_answer=answer, is_rechecked=True)

    def with_results(self, note: str = "") -> TurnContext:
        """Append the last answer's results, with an optional note, to the classifier's prompt."""
        exchanges = (*self.exchanges, prompt.exchange(self, note))
        return self._next(exchanges=exchanges, last_answer=NO_ANSWER)

    def with_tokens(self, more: int) -> TurnContext:
        return self._next(tokens=self.tokens + more)

    def without(self, removed: Collection[int]) -> TurnContext:
        return self._next(calls={i: c for i, c in self.calls.items() if i not in removed})

    def _next(self, **changes: Any) -> TurnContext:
        # Copied by hand: `dataclasses.replace` asks for each of its fields, several times a turn.
        state = object.__new__(type(self))
        state.__dict__.update(self.__dict__, **changes)
        if "calls" in changes or "pending" in changes:
            for name in _DERIVED:
                state.__dict__.pop(name, None)
        return state

    def titles(self, *, is_undo: bool = False) -> Titles:
        """Titles of the records in skeleton, facts and this turn's results, unmasked. `is_undo`:
        titles from results of effects replace the others."""
        outcomes = [*(o for _, o in self.recalled), *self.outcomes.values()]
        sections = [(s.app_id, s.data) for s in self.sections]
        writes = [(o.app_id, o.data) for o in outcomes if o.has_changed]
        found = titles_of([*sections, *((o.app_id, o.data) for o in outcomes)], writes).by_id
        return Titles({**found, **(titles_of(writes, writes).by_id if is_undo else {})})


def _searches_of_a_read(
    reads: Mapping[int, CallOutcome], planned: Mapping[int, int]
) -> Iterator[int]:
    """The reads of earlier rounds that found what the last round has read, or nothing."""
    end = max((planned[i] for i in reads), default=-1)
    ends = (_ids_of(o.arguments) for i, o in reads.items() if planned[i] == end)
    taken = set[str]().union(*ends)
    held = {i: _ids_of(o.data) for i, o in reads.items() if planned[i] < end}
    if not taken.isdisjoint(set[str]().union(*held.values())):
        yield from (i for i, ids in held.items() if not ids or taken & ids)


def _ids_of(data: Any) -> set[str]:
    return {str(value) for one in ids_in(data) for value in one.values()}


_DERIVED = "outcomes own_outcomes new_outcomes reported masked_report lookups known_ids".split()
"""Cached properties that depend on the calls."""


def _call_key(outcome: CallOutcome) -> tuple[str, str, str]:
    """The identity of a call: function and arguments."""
    return outcome.app_id, outcome.fn_name, repr(outcome.arguments)

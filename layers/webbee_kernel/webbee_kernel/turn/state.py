"""TurnState: everything one turn knows, from what it read to what its calls returned. Immutable:
`with_…` methods give the next state.

The masker alone grows inside: it is the turn's one map of placeholders, where a value keeps the
placeholder it was given first, and every state of a turn shares it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..arguments import Known, ids_in, without_secrets
from ..base.clock import iso
from ..catalogue import Catalogue, FunctionInfo
from ..channels import skeleton
from ..language import detect
from ..language import of as language_of
from ..llm.protocol import Exchange, ToolSpec
from ..llm.tools import tool_spec
from ..pii import NOTHING, Masker
from ..sdk.context import User
from ..values import (
    JSON,
    CallOutcome,
    Section,
    SessionMemory,
    Step,
    UserState,
)
from . import exchanges
from . import memory as session_memory
from . import prompt as prompts
from .confirmation import titles_in
from .planner import CONTINUE, Answer
from .prompt import Problem, Prompt
from .provenance import Judge
from .results_block import masked, refused
from .rules import apps_block, policy_block
from .shortlist import Shortlist, shortlist

_LEAST_S = 0.5
_OF_WHAT_WAS_READ = ("language", "prompt", "shortlist", "tools")
"""Computed once a turn: nothing that a `with_…` method changes goes into them."""


@dataclass(frozen=True)
class TurnState:
    """One user's moment: memory, sections, catalogue, message, and what has been called so far.

    By a call's number in the turn: `steps` are the calls as planned, `outcomes` how they ended in
    real values, `shown` the same as models may see them, `round_of` the answer that planned each,
    `echoes` those that were answered from an earlier one. `exchanges` is what the classifier has
    been told since its opening prompt, `unsaid` its last answer, whose results it has not been told
    yet. `deadline` is on the monotonic clock.
    """

    user: User
    session_id: str
    request_id: str
    message: str
    now: float
    memory: SessionMemory
    stored: UserState
    catalogue: Catalogue
    installed: frozenset[str]
    expose_pii: bool
    deadline: float
    masker: Masker
    policy: str = ""
    grounding: str = "data"
    steps: Mapping[int, Step] = field(default_factory=dict)
    outcomes: Mapping[int, CallOutcome] = field(default_factory=dict)
    shown: Mapping[int, CallOutcome] = field(default_factory=dict)
    round_of: Mapping[int, int] = field(default_factory=dict)
    echoes: frozenset[int] = frozenset()
    exchanges: tuple[Exchange, ...] = ()
    unsaid: Answer | None = None
    accepted: tuple[str, ...] = ()
    """Values that the user has said yes to in this turn, as provenance compares them."""
    recalled: frozenset[int] = frozenset()
    """Calls of this turn that ran before its question was answered: the turn has them already."""
    planned: int = 0
    """Calls asked for so far: the next one's number."""
    rounds: int = 0
    """Answers of the classifier so far."""
    tokens: int = 0
    """What models read, less what came from a cache, and wrote, as their services report it."""

    @property
    def gate(self) -> Masker | None:
        """What everything but the user's own words passes before a model reads it; None where
        personal data may reach models."""
        return None if self.expose_pii else self.masker

    @cached_property
    def language(self) -> str:
        """The tag of the language to answer in: the message's own where it is clear, else the
        user's setting."""
        said = detect(self.message, self.user.language)
        return self.user.language if said == language_of(self.user.language).tag else said

    @property
    def sections(self) -> tuple[Section, ...]:
        """The skeleton's sections of installed apps."""
        return tuple(s for s in self.stored.sections if s.app_id in self.installed)

    @property
    def functions(self) -> tuple[FunctionInfo, ...]:
        """The catalogue the classifier gets: functions of installed apps, shortlisted where they
        are too many."""
        return self.shortlist.shown

    @cached_property
    def shortlist(self) -> Shortlist:
        """Which functions fit the prompt's budget, and which do not."""
        used = {
            (c["app_id"], c["fn_name"])
            for t in self.memory.turns
            for c in t.response.get("calls", [])
        }
        recent = [t.message for t in self.memory.turns]
        return shortlist(self.catalogue.functions(self.installed), self.message, recent, used)

    @cached_property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions as a model sees them, the kernel's own last."""
        return (*(tool_spec(f) for f in self.functions), CONTINUE)

    @cached_property
    def prompt(self) -> Prompt:
        """The classifier's opening prompt."""
        mask = self.gate.mask if self.gate else None
        items = session_memory.history(self.memory, mask)
        policy = policy_block(self.policy)
        apps = apps_block(self.catalogue.apps[a] for a in self.installed)
        return Prompt(
            system=prompts.system_text(policy, apps),
            policy=policy,
            apps=apps,
            notice=self.shortlist.notice(),
            skeleton=skeleton.render(self.sections, self.now, mask),
            history=session_memory.render(
                items, iso(self.now), self.message, older=self.memory.older
            ),
        )

    @cached_property
    def judge(self) -> Judge:
        """Where the values of this moment's calls come from."""
        return Judge.of(self)

    @property
    def skeleton_shown(self) -> str:
        """The skeleton as a model was shown it, empty where none was asked: its placeholders are
        remembered, so a value keeps its own from turn to turn."""
        shown = self.__dict__.get("prompt")
        return shown.skeleton if isinstance(shown, Prompt) else ""

    @property
    def made(self) -> dict[int, CallOutcome]:
        """This turn's calls in order: an answer given twice counts once."""
        return {i: o for i, o in self.outcomes.items() if i not in self.echoes}

    @property
    def told(self) -> dict[int, CallOutcome]:
        """The same as reply and memory tell them: without failures of a call that was made again
        later."""
        made = self.made
        last = {_what(o): i for i, o in made.items()}
        return {i: o for i, o in made.items() if o.ok or last[_what(o)] == i}

    @property
    def fresh(self) -> dict[int, CallOutcome]:
        """The same without what the turn had before its question was answered."""
        return {i: o for i, o in self.told.items() if i not in self.recalled}

    @property
    def told_shown(self) -> dict[int, CallOutcome]:
        """The same as models may see them."""
        return {i: self.shown[i] for i in self.told}

    @property
    def ran(self) -> bool:
        """Whether any call was more than refused: from then on the turn must be recorded."""
        return not all(refused(o) for o in self.outcomes.values())

    def known(self) -> Known:
        """What ids may be: values of the facts, the skeleton, this turn's results and the user's
        own words; a reply is no source, whatever it quotes, nor what the kernel said of a call it
        refused."""
        return Known(
            self._held(),
            said=[self.message, *(t.message for t in self.memory.turns)],
            results=[
                (self.as_shown(o, None).arguments, [o.data, o.summary] if o.ok else [o.error])
                for o in self.outcomes.values()
                if not refused(o)
            ],
            doubted=[value for t in self.memory.turns for value in t.doubted],
        )

    def _held(self) -> Iterator[JSON]:
        """What earlier turns left and the skeleton holds."""
        yield from (session_memory.unmasked(fact, self.masker) for fact in self.facts())
        yield from (s.data for s in self.sections)
        for turn in self.memory.turns:
            yield {"vouched": [*turn.vouched, *turn.accepted]}
            for digest in turn.digests:
                if digest.args_json:
                    said = session_memory.unmasked(json.loads(digest.args_json), self.masker)
                    yield ids_in(said)

    def left(self) -> float:
        """Seconds until the turn's deadline, never less than half a second."""
        return max(_LEAST_S, self.deadline - time.monotonic())

    def with_answer(self, answer: Answer, tokens: int = 0) -> TurnState:
        """The classifier has answered. Where it plans anew, calls refused before are forgotten:
        they never ran, and it has been told."""
        anew = answer.plan.steps or not self.ran
        gone = {i for i, o in self.outcomes.items() if refused(o)} if anew else set()
        state = self._next(
            unsaid=answer,
            planned=self.planned + answer.count,
            rounds=self.rounds + 1,
            tokens=self.tokens + tokens,
        )
        return state._without(gone) if gone else state

    def with_outcomes(
        self, ended: Sequence[tuple[Step, CallOutcome]], *, echoes: Collection[int] = ()
    ) -> TurnState:
        """Calls have ended; what models may see of them passes the PII gate here, once, and is
        without secrets."""
        numbers = [s.index for s, _ in ended]
        return self._next(
            steps={**self.steps, **{s.index: s for s, _ in ended}},
            outcomes=dict(sorted({**self.outcomes, **{s.index: o for s, o in ended}}.items())),
            shown={**self.shown, **{s.index: self.as_shown(o, self.gate) for s, o in ended}},
            round_of={**self.round_of, **dict.fromkeys(numbers, self.rounds)},
            echoes=self.echoes | frozenset(echoes),
            planned=max(self.planned, *(n + 1 for n in numbers)) if numbers else self.planned,
        )

    def as_shown(self, outcome: CallOutcome, gate: Masker | None) -> CallOutcome:
        """An outcome as models may see it: through the gate, with the kinds that its author
        declares, its arguments without secrets."""
        function = self.catalogue.function(outcome.app_id, outcome.fn_name)
        if outcome.arguments:
            schema = function.input_schema if function else {}
            outcome = replace(outcome, arguments=without_secrets(outcome.arguments, schema))
        return masked(outcome, gate, function.pii if function else NOTHING)

    def with_problems(self, problems: tuple[Problem, ...]) -> TurnState:
        """The last answer turns out to be unusable."""
        assert self.unsaid is not None
        return self._next(unsaid=replace(self.unsaid, problems=problems))

    def with_tokens(self, tokens: int) -> TurnState:
        """Another model was asked."""
        return self._next(tokens=self.tokens + tokens)

    def with_said(self, note: str = "") -> TurnState:
        """What came of the last answer is appended to the classifier's prompt; `note` says more."""
        new = {i: o for i, o in self.shown.items() if self.round_of[i] == self.rounds}
        room = exchanges.room(self.exchanges)
        said = exchanges.exchange(self.unsaid, new, self.planned, note, room)
        return self._next(exchanges=(*self.exchanges, said), unsaid=None)

    def _without(self, gone: Collection[int]) -> TurnState:
        return self._next(
            outcomes={i: o for i, o in self.outcomes.items() if i not in gone},
            shown={i: o for i, o in self.shown.items() if i not in gone},
        )

    def _next(self, **changes: Any) -> TurnState:
        state = replace(self, **changes)
        for name in _OF_WHAT_WAS_READ:
            if name in self.__dict__:
                state.__dict__[name] = self.__dict__[name]
        return state

    def facts(self) -> list[JSON]:
        """The remembered facts as stored, oldest first."""
        digests = [d for t in self.memory.turns for d in t.digests]
        return [json.loads(d.data_facts_json) for d in digests if d.data_facts_json]

    def titles(self) -> dict[str, str]:
        """What ids of the remembered facts and of this turn's results stand for, in the user's own
        values."""
        known = titles_in([*self.facts(), *(o.data for o in self.outcomes.values())])
        return {ident: self.masker.unmask_text(title) for ident, title in known.items()}


def _what(outcome: CallOutcome) -> tuple[str, str, str]:
    """Which call it is: the same function with the same arguments."""
    return outcome.app_id, outcome.fn_name, repr(outcome.arguments)


def masker_for(memory: SessionMemory, message: str, like: Masker) -> Masker:
    """One placeholder map over the remembered turns, so the same value keeps its name; what users
    typed gives none away. It looks for what `like` looks for."""
    known: dict[str, str] = {}
    for turn in memory.turns:
        known |= turn.vault
    masker = like.anew(known)
    masker.observe([message, *(t.message for t in memory.turns)])
    return masker

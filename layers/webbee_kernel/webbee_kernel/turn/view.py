"""TurnView: what one turn reads, and the prompt made of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..arguments import Known
from ..base.clock import iso
from ..catalogue import Catalogue, FunctionInfo
from ..channels import fact_ledger, skeleton
from ..pii import Masker
from ..sdk.context import User
from ..values import (
    JSON,
    CallOutcome,
    PendingConfirmation,
    SessionMemory,
    Turn,
    TurnStatus,
    UserState,
)
from . import memory as session_memory
from . import prompt as prompts
from .calls import facts_of
from .confirmation import titles_in
from .prompt import Problem, Prompt
from .results_block import shown
from .rules import apps_block, policy_block
from .shortlist import Shortlist, shortlist


@dataclass(slots=False, frozen=True)
class TurnView:
    """One user's moment: memory, sections, catalogue, message. `gate` is None where personal data
    may reach models."""

    user: User
    message: str
    now: float
    memory: SessionMemory
    state: UserState
    catalogue: Catalogue
    installed: frozenset[str]
    expose_pii: bool
    deadline: float
    policy: str = ""
    masker: Masker = field(init=False)
    _sources: dict[int, CallOutcome] = field(default_factory=dict)
    _shown: dict[int, CallOutcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "masker", masker_for(self.memory, self.message))

    @property
    def gate(self) -> Masker | None:
        """What everything but the user's own words passes before a model reads it."""
        return None if self.expose_pii else self.masker

    @property
    def language(self) -> str:
        """The user's language tag."""
        return self.user.language

    @cached_property
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
    def prompt(self) -> Prompt:
        """The classifier's prompt."""
        mask = self.gate.mask if self.gate else None
        sections = [s for s in self.state.sections if s.app_id in self.installed]
        items = session_memory.history(self.memory, mask)
        policy = policy_block(self.policy)
        apps = apps_block(self.catalogue.apps[a] for a in self.installed)
        return Prompt(
            system=prompts.system_text(policy, apps),
            policy=policy,
            apps=apps,
            notice=self.shortlist.notice(),
            skeleton=skeleton.render(sections, self.now, mask),
            history=session_memory.render(items, iso(self.now), self.message),
        )

    def waiting(self) -> PendingConfirmation | None:
        """The confirmation that waits and has not expired."""
        pending = self.memory.pending
        return pending if pending and pending.expires_at > self.now else None

    def being_decided(self) -> bool:
        """Whether the last turn's question was answered by another delivery whose turn is not
        recorded yet."""
        last = self.memory.turns[-1] if self.memory.turns else None
        asked = (
            (last.response.get("confirmation") or {})
            if last and last.status == "confirmation"
            else {}
        )
        return bool(asked) and self.memory.pending is None and int(asked["expires_at"]) > self.now

    def ungrounded(self, text: str) -> tuple[Problem, ...]:
        """What a plain answer of the classifier claims that neither skeleton, facts nor the user's
        words hold."""
        from ..grounding import check  # 60 patterns: only an answer in plain words pays for them

        data: list[Any] = [
            skeleton.visible(s.data)
            for s in self.state.sections
            if s.data and s.app_id in self.installed
        ]
        data += self.facts()
        if self.gate:
            data = [self.gate.mask(d) for d in data]
        apps = [
            f"{a.app_id} {a.display_name} {a.description} {a.rules}"
            for a in self.catalogue.apps.values()
        ]
        words = [self.message, *(t.message for t in self.memory.turns)]
        verdict = check(
            text,
            data=data,
            message="\n".join(words),
            summaries=[*apps, self.policy, self.prompt.skeleton],
            done=(),
        )
        return (
            ()
            if verdict.grounded
            else (Problem("", "reply", f"not in the data: {', '.join(verdict.ungrounded)}"),)
        )

    def known(self) -> Known:
        """What ids may be: values of the facts, of the skeleton and of the user's own words; a
        reply is no source, whatever it quotes."""
        return Known(self._held(), [self.message, *(t.message for t in self.memory.turns)])

    def _held(self) -> Iterator[JSON]:
        yield from (session_memory.unmasked(fact, self.masker) for fact in self.facts())
        yield from (s.data for s in self.state.sections if s.app_id in self.installed)

    def shown(self, outcomes: Mapping[int, CallOutcome]) -> dict[int, CallOutcome]:
        """This turn's outcomes in order as models may see them; each is masked once."""
        fresh = {i: o for i, o in outcomes.items() if self._sources.get(i) is not o}
        self._sources.update(fresh)
        self._shown.update(shown(fresh, self.gate))
        return {i: self._shown[i] for i in sorted(outcomes)}

    def facts(self) -> list[Any]:
        """The remembered facts as stored, oldest first."""
        return [json.loads(d.data_facts_json) for t in self.memory.turns for d in t.digests]

    def titles(self, outcomes: Mapping[int, CallOutcome]) -> dict[str, str]:
        """What ids of the remembered facts and of this turn's results stand for, in the user's own
        values."""
        known = titles_in([*self.facts(), *(o.data for o in outcomes.values())])
        return {ident: self.masker.unmask_text(title) for ident, title in known.items()}

    def turn(
        self,
        request_id: str,
        status: TurnStatus,
        reply: str,
        outcomes: Mapping[int, CallOutcome],
        response: dict[str, Any],
        memory: SessionMemory,
    ) -> Turn:
        """This turn as the next one will remember it, numbered after `memory` and masked with its
        placeholders."""
        masker = self.masker if memory is self.memory else masker_for(memory, self.message)
        same = memory is self.memory
        masked = self.shown(outcomes) if same or self.expose_pii else shown(outcomes, masker)
        facts = facts_of(masked)
        digests = fact_ledger.record(facts)
        stored = "\n".join(d.data_facts_json for d in digests)
        return Turn(
            seq=memory.last_seq + 1,
            at=iso(self.now),
            status=status,
            message=self.message,
            reply=reply,
            request_id=request_id,
            apps=tuple(dict.fromkeys(o.app_id for _, o in sorted(outcomes.items()))),
            digests=digests,
            vault=(
                {} if self.expose_pii else masker.used_in(stored + "\n" + masker.mask_text(reply))
            ),
            masked=not self.expose_pii,
            response=response,
        )


def masker_for(memory: SessionMemory, message: str) -> Masker:
    """One placeholder map over the remembered turns, so the same value keeps its name; what users
    typed gives none away."""
    known: dict[str, str] = {}
    for turn in memory.turns:
        known |= turn.vault
    masker = Masker(known)
    masker.observe([message, *(t.message for t in memory.turns)])
    return masker

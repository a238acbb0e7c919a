"""Opening: what a turn reads before anything is called, and the prompt made of it. Pure."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..catalogue import Catalogue, FunctionInfo
from ..channels import skeleton
from ..clock import iso
from ..config import Settings
from ..errors import LimitReached, TurnWorking
from ..language import detect
from ..language import of as language_of
from ..llm.protocol import ToolSpec
from ..sdk.records import User
from ..stores.types import HistoryItem, Section, SessionMemory, UserState
from ..types import JSON
from . import prompt as prompts
from . import session_memory as session_memory
from . import tool_retrieval
from .plan import CONTINUE, SEARCH
from .prompt import Prompt
from .rules import apps_block, policy_block
from .stream import NOBODY, Follower
from .tool_retrieval import Shortlist, fits, notice, shortlist
from .window import (
    LEAST_TOOLS,
    LeftOut,
    shorter,
    tokens,
    tool_room,
    tool_tokens,
    without_examples,
)

if TYPE_CHECKING:
    from ..pii import Masker

_LEAST_S = 0.5


@dataclass(frozen=True)
class Opening:
    """One user's moment: memory, sections, catalogue, message. `deadline` is on the monotonic
    clock."""

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
    over: LimitReached | TurnWorking | None = None
    """The refusal, where the request meets a limit or runs already."""
    follower: Follower = NOBODY
    listed: str = ""
    """What the turn had shown before its question was answered (`tool_retrieval.text`)."""
    window: int = 0
    """Tokens that a prompt may have, functions included; 0 where nobody knows."""
    archiving: asyncio.Task[int] | None = None
    """What the turn's recording waits for: up to which turn the transcript holds the session."""

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
        """Which functions fit the prompt's budget, and the model's window, and which do not."""
        listed = self._listed(0)
        if not self.window:
            return listed
        beside = self._prompt(listed, self._remembered)
        if tokens(beside.system + beside.text) + tool_tokens(listed.tools) <= self.window:
            return listed
        less = self._listed(LEAST_TOOLS)
        beside = self._prompt(less, self._remembered)
        left = self.window - tokens(beside.system + beside.text) - tool_tokens(self._own(less))
        return self._listed(tool_room(left))

    def _listed(self, limit: int) -> Shortlist:
        """The functions within so many characters; 0 is the usual budget."""
        used = {
            (c["app_id"], c["fn_name"])
            for t in self.memory.turns
            for c in t.response.get("calls", [])
        }
        recent = [t.message for t in self.memory.turns]
        functions = self.catalogue.functions(self.installed)
        before = None
        if limit or not fits(functions):
            before = (
                tool_retrieval.read(self.listed, self.catalogue_key)
                if self.listed
                else tool_retrieval.before(self.memory.turns, self.catalogue_key)
            )
        return shortlist(functions, self.message, recent, used, self.catalogue.apps, before, limit)

    @cached_property
    def catalogue_key(self) -> bytes:
        """What tells this catalogue from another."""
        apps = (self.catalogue.apps.get(a) for a in sorted(self.installed))
        return tool_retrieval.key_of(a for a in apps if a)

    @property
    def own_tools(self) -> tuple[ToolSpec, ...]:
        """The kernel's own functions: the one that searches where there is more than is shown."""
        return self._own(self.shortlist)

    def _own(self, listed: Shortlist) -> tuple[ToolSpec, ...]:
        return (CONTINUE, SEARCH) if listed.left_out else (CONTINUE,)

    @cached_property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions as a model sees them, the kernel's own first: what is the same for
        everybody with these apps, then what the session has shown, then what is new."""
        tools = (*self.own_tools, *self.shortlist.tools)
        if not self.window:
            return tools
        beside = self._prompt(self.shortlist, self._remembered)
        fit = tokens(beside.system + beside.text) + tool_tokens(tools) <= self.window
        return tools if fit else without_examples(tools)

    @cached_property
    def _remembered(self) -> tuple[HistoryItem, ...]:
        """The remembered turns as the prompt shows them."""
        return session_memory.history(self.memory, self.gate.mask if self.gate else None)

    @cached_property
    def _skeleton(self) -> str:
        return skeleton.render(self.sections, self.now, self.gate.mask if self.gate else None)

    @cached_property
    def prompt(self) -> Prompt:
        """The classifier's opening prompt, without its oldest facts where the window is full."""
        items = self._remembered
        prompt = self._prompt(self.shortlist, items)
        if self.window:
            room = self.window - tool_tokens(self.tools)
            while items and tokens(prompt.system + prompt.text) > room:
                items = shorter(items)
                prompt = self._prompt(self.shortlist, items)
        return prompt

    def _prompt(self, listed: Shortlist, items: tuple[HistoryItem, ...]) -> Prompt:
        policy = policy_block(self.policy)
        installed = (self.catalogue.apps[a] for a in self.installed)
        apps = apps_block(installed, index=bool(listed.left_out))
        older = self.memory.older + len(self._remembered) - len(items)
        return Prompt(
            system=prompts.system_text(policy, apps),
            policy=policy,
            apps=apps,
            notice=notice(listed),
            skeleton=self._skeleton,
            history=session_memory.render(items, iso(self.now), self.message, older=older),
            turns=len(items),
            facts=sum(bool(item.facts) for item in items),
        )

    @property
    def left_out(self) -> LeftOut:
        """What the model's window left no place for."""
        if not self.window:
            return LeftOut()
        items, listed = self._remembered, self.shortlist
        return LeftOut(
            functions=listed.left_out if listed.limit else 0,
            examples=any(t.examples for t in listed.tools)
            and not any(t.examples for t in self.tools),
            facts=sum(bool(item.facts) for item in items) - self.prompt.facts,
            turns=len(items) - self.prompt.turns,
        )

    def app_name(self, app_id: str) -> str:
        """What people call an app."""
        app = self.catalogue.apps.get(app_id)
        return app.display_name if app else app_id

    def facts(self) -> list[JSON]:
        """The remembered facts as stored, oldest first."""
        digests = [d for t in self.memory.turns for d in t.digests]
        return [json.loads(d.data_facts_json) for d in digests if d.data_facts_json]

    def left(self) -> float:
        """Seconds until the turn's deadline, never less than half a second."""
        return max(_LEAST_S, self.deadline - time.monotonic())


def detector(settings: Settings, tag: str) -> Masker:
    """What looks for personal data in a language: the built-in detector, or beside it the
    deployment's own."""
    from ..pii import Masker, beside_own, find_names, of_language  # most of the patterns

    named = settings.name_detector
    return Masker(
        names=beside_own(named) if named else find_names,
        regions=of_language(tag),
        kinds=settings.mask_kinds.replace(",", " ").split(),
    )


def masker_for(memory: SessionMemory, message: str, like: Masker) -> Masker:
    """One placeholder map over the remembered turns, so the same value keeps its name; what users
    typed gives none away. It looks for what `like` looks for."""
    known: dict[str, str] = {}
    for turn in memory.turns:
        known |= turn.vault
    masker = like.anew(known)
    masker.observe([message, *(t.message for t in memory.turns)])
    return masker

"""Opening prompt: what the classifier reads of a turn before anything is called: the functions that
fit, and the blocks beside them. Pure."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..channels import skeleton
from ..clock import iso
from ..llm.protocol import ToolSpec
from ..stores.types import HistoryItem
from . import session_memory as session_memory
from . import tool_retrieval
from .plan import CONTINUE, SEARCH
from .prompt import SYSTEM, Prompt
from .rules import apps_block, policy_block
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
    from .turn_context import TurnContext


class OpeningPrompt:
    """Made once a turn, each part of it when it is first asked for: nothing that happens in the
    turn goes into it."""

    def __init__(self, turn: TurnContext) -> None:
        self._turn = turn
        self._mask = turn.gate.mask if turn.gate else None

    @property
    def is_shown(self) -> bool:
        """Whether a model was asked with it."""
        return "prompt" in self.__dict__

    @cached_property
    def shortlist(self) -> Shortlist:
        """Which functions fit the prompt's budget, and the model's window, and which do not."""
        listed = self._listed(0)
        if not self._turn.window or self._left_beside(listed) >= tool_tokens(listed.tools):
            return listed
        less = self._listed(LEAST_TOOLS)
        return self._listed(tool_room(self._left_beside(less) - tool_tokens(self._own(less))))

    def _left_beside(self, listed: Shortlist) -> int:
        """Tokens that the window leaves for functions beside the whole text."""
        return self._turn.window - _tokens(self._prompt(listed, self._remembered))

    def _listed(self, limit: int) -> Shortlist:
        """The functions within so many characters; 0 is the usual budget."""
        turn = self._turn
        used = {
            (c["app_id"], c["fn_name"])
            for t in turn.memory.turns
            for c in t.response.get("calls", [])
        }
        recent = [t.message for t in turn.memory.turns]
        functions = turn.catalogue.functions(turn.installed)
        before = None
        if limit or not fits(functions):
            before = (
                tool_retrieval.read(turn.listed, self.catalogue_key)
                if turn.listed
                else tool_retrieval.before(turn.memory.turns, self.catalogue_key)
            )
        return shortlist(functions, turn.message, recent, used, turn.catalogue.apps, before, limit)

    @cached_property
    def catalogue_key(self) -> bytes:
        """What tells this catalogue from another."""
        apps = (self._turn.catalogue.apps.get(a) for a in sorted(self._turn.installed))
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
        if not self._turn.window or self._left_beside(self.shortlist) >= tool_tokens(tools):
            return tools
        return without_examples(tools)

    @cached_property
    def _remembered(self) -> tuple[HistoryItem, ...]:
        return session_memory.history(self._turn.memory, self._mask)

    @cached_property
    def _skeleton(self) -> str:
        return skeleton.render(self._turn.sections, self._turn.now, self._mask)

    @cached_property
    def prompt(self) -> Prompt:
        """The classifier's opening prompt, without its oldest facts where the window is full."""
        items = self._remembered
        prompt = self._prompt(self.shortlist, items)
        if self._turn.window:
            room = self._turn.window - tool_tokens(self.tools)
            while items and _tokens(prompt) > room:
                items = shorter(items)
                prompt = self._prompt(self.shortlist, items)
        return prompt

    def _prompt(self, listed: Shortlist, items: tuple[HistoryItem, ...]) -> Prompt:
        turn = self._turn
        policy = policy_block(turn.policy)
        installed = (turn.catalogue.apps[a] for a in turn.installed)
        apps = apps_block(installed, index=bool(listed.left_out))
        older = turn.memory.older + len(self._remembered) - len(items)
        return Prompt(
            system="\n\n".join(filter(None, (SYSTEM, policy, apps))),
            policy=policy,
            apps=apps,
            notice=notice(listed),
            skeleton=self._skeleton,
            history=session_memory.render(items, iso(turn.now), turn.message, older=older),
            turns=len(items),
            facts=sum(bool(item.facts) for item in items),
        )

    @property
    def left_out(self) -> LeftOut:
        """What the model's window left no place for."""
        if not self._turn.window:
            return LeftOut()
        items, listed = self._remembered, self.shortlist
        return LeftOut(
            functions=listed.left_out if listed.limit else 0,
            examples=any(t.examples for t in listed.tools)
            and not any(t.examples for t in self.tools),
            facts=sum(bool(item.facts) for item in items) - self.prompt.facts,
            turns=len(items) - self.prompt.turns,
        )


def _tokens(prompt: Prompt) -> int:
    return tokens(prompt.system + prompt.text)

"""The obedient planner: a model that plans perfectly, sees only what a request shows it, and obeys
whatever it reads.

It knows which calls a task needs (the benchmark's ground truth) and makes each as soon as a reader
of the request could: every value of the call that only an earlier result holds must stand in the
prompt. Where an instruction was planted for it, it carries that out too, from the moment the
instruction stands in a prompt. So what it fails to do the kernel kept from it, and what it does
unasked the kernel let through.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall

from .drive import placeholders_in
from .wanted import Wanted, holds, is_common, masked, plain, unmasked

PLAN_MAX = 9
"""Calls in one answer: one less than the kernel takes, the tenth is for asking to go on."""

STRIKES = 2
"""Refusals of one call within a message after which the planner goes on with others."""

TRIES = 8
"""Times a call is planned before the planner takes the kernel's refusal for final."""

KERNEL = "kernel"
"""The app id of the kernel's own functions in the catalogue, the first of them for seeing the
results before the turn ends."""


@dataclass
class Planner:
    """Answers both roles of a turn; give `Planner(…)` to a `FunctionModel`.

    `user` are the calls of the user's task, `planted` those of an instruction that is obeyed once
    `mark` was read. `answer` is what the user wants to hear; the narrator says it when the results
    it was shown hold it.
    """

    user: list[Wanted] = field(default_factory=list)
    planted: list[Wanted] = field(default_factory=list)
    mark: str = ""
    words: str = ""
    answer: str = ""
    read_mark: bool = False
    answered: bool = False
    known: dict[str, str] = field(default_factory=dict)
    results: list[tuple[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stuck: str = ""
    planned: list[Wanted] = field(default_factory=list)
    last_prompt: str = ""

    def __call__(self, request: ModelRequest) -> ModelResponse:
        """One completion."""
        text = request.prompt
        self.known |= placeholders_in(text)
        shown = plain(unmasked(text, self.known))
        if request.role == "narrator":
            return self._narrate(shown, text)
        return self._plan(request, shown)

    def ran(
        self, function: str, arguments: Mapping[str, Any], result: Any, *, ok: bool
    ) -> Wanted | None:
        """A tool reports what it did; the wanted call that it was, None where nobody wanted it."""
        self.results.append((function, result))
        made = next((w for w in self.wanted if w.open and w.is_call(function, arguments)), None)
        if made is not None and (ok or made.fails):
            made.ran = True
        return made

    @property
    def wanted(self) -> list[Wanted]:
        """Every call there is to make, the user's first."""
        return [*self.user, *self.planted]

    @property
    def done(self) -> bool:
        """Whether the user's task is done."""
        return all(w.ran for w in self.user)

    def _plan(self, request: ModelRequest, shown: str) -> ModelResponse:
        described = plain(" ".join(tool.description for tool in request.tools))
        self._notice(request.prompt, f"{shown}\n{described}")
        catalogue = {tool.name for tool in request.tools}
        calls = self._due(self.planted, shown, catalogue) if self.read_mark else []
        calls = [*calls, *self._due(self.user, shown, catalogue)][:PLAN_MAX]
        for call in calls:
            call.tries += 1
        self.planned = calls
        plan = [ToolCall(w.tool, masked(w.arguments, self.known, request.prompt)) for w in calls]
        if not plan:
            return ModelResponse(text="That is all." if self.done else "I cannot go on.")
        followed = self.wanted if self.read_mark else self.user
        if any(w.open and w.strikes < STRIKES and w not in calls for w in followed):
            own = [tool for tool in request.tools if tool.app_id == KERNEL]
            plan += [ToolCall(tool.name, {}) for tool in own[:1]]
        return ModelResponse(tool_calls=tuple(plan))

    def _notice(self, prompt: str, shown: str) -> None:
        """What this prompt says about earlier calls and to whoever obeys."""
        if self.mark:
            self.read_mark = self.read_mark or self.mark.casefold() in shown
        for call in self.wanted:
            call.ran = call.ran or self._answered_before(call)
            call.shown = call.shown or call.ran
        if "[RESULTS]" not in prompt and "[PROBLEMS]" not in prompt:
            for call in self.wanted:
                call.strikes = 0  # a new message
        fresh = prompt.removeprefix(self.last_prompt)  # later rounds repeat what earlier ones said
        self.last_prompt = prompt
        told = [line for line in fresh.splitlines() if line.startswith("PROBLEM: ")]
        self.problems += told
        for call in self.planned:
            call.strikes += any(call.is_refused(line) for line in told)

    def _answered_before(self, call: Wanted) -> bool:
        """Whether a read that was asked for again is answered from the first, without the tool."""
        twins = (w for w in self.wanted if w is not call and w.ran)
        asked = bool(call.tries) and not call.has_effect
        return asked and any(w.is_call(call.function, call.arguments) for w in twins)

    def _due(self, wanted: Sequence[Wanted], shown: str, catalogue: set[str]) -> list[Wanted]:
        """The calls that can be made now, in order, up to the first that cannot."""
        due: list[Wanted] = []
        self.stuck = ""
        for call in wanted:
            if not call.open or call.strikes >= STRIKES:
                continue
            lacks = call.lacks(shown) or (
                [] if call.tool in catalogue else ["the function is not in the catalogue"]
            )
            if lacks or call.tries >= TRIES:
                self.stuck = f"{call.function}: {'; '.join(lacks) or 'refused'}"
                break
            due.append(call)
        return due

    def _narrate(self, shown: str, prompt: str) -> ModelResponse:
        """The answer, if every value of it that the tools gave stands in what the narrator sees."""
        if not self.done or not self.answer:
            return ModelResponse(text="That is done." if self.done else "Not all of it is done.")
        truth = plain(
            json.dumps([data for _, data in self.results], ensure_ascii=False, default=str)
        )
        asked = plain(self.words)
        words = (word.strip(".,;:!?'\"()") for word in self.answer.split())
        read = [w for w in words if not is_common(w) and holds(truth, w) and not holds(asked, w)]
        self.answered = all(holds(shown, w) for w in read)
        text = self.answer if self.answered else "The results do not show it."
        return ModelResponse(text=str(masked(text, self.known, prompt)))

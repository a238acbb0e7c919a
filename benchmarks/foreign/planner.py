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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec

from .values import (
    all_held,
    holds,
    in_fields,
    is_trivial,
    leaves,
    masked,
    placeholders,
    plain,
    unmasked,
)

PLAN_MAX = 9
"""Calls in one answer: one less than the kernel takes, the tenth is for asking to go on."""

TRIES = 4
"""Times a call is planned before the planner takes the kernel's refusal for final."""

KERNEL = "kernel"
"""The app id of the kernel's own functions in the catalogue."""


@dataclass(eq=False)
class Wanted:
    """A call that a task needs, or that a planted instruction asks for.

    `looked_up`: its values that stand in results of earlier calls of the same task and not in the
    user's words; `composed`: it holds values that stand nowhere, so its author must have read all
    earlier results first; `fails`: in the ground truth it ends in an error.
    """

    app_id: str
    function: str
    arguments: dict[str, Any]
    has_effect: bool = False
    looked_up: tuple[tuple[str, Any], ...] = ()
    composed: bool = False
    after: tuple[Wanted, ...] = ()
    injected: bool = False
    fails: bool = False
    ran: bool = False
    shown: bool = False
    refused: bool = False
    tries: int = 0

    @property
    def tool(self) -> str:
        """Its name in the catalogue."""
        return f"{self.app_id}__{self.function}"

    @property
    def open(self) -> bool:
        """Whether it is still to be made."""
        return not self.ran and not self.refused

    def is_call(self, function: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a call that was made is this one; arguments beyond its own are defaults."""
        return function == self.function and all(
            same(value, arguments.get(name)) for name, value in self.arguments.items()
        )

    def lacks(self, shown: str) -> list[str]:
        """What keeps a reader of `shown` (`plain`) from making the call now, in words; empty where
        nothing does."""
        missing = [f"{name}={str(v)[:60]!r}" for name, v in self.looked_up if not holds(shown, v)]
        unread = [w.function for w in self.after if not w.has_effect and not (w.ran and w.shown)]
        if self.composed and self.has_effect and unread and not missing:
            missing = [f"the result of {', '.join(unread)}"]
        return missing


def same(wanted: Any, made: Any) -> bool:
    """Equal as a tool would take it: `10` and `10.0`, `a b` and `A b`."""
    if wanted == made or plain(str(wanted)) == plain(str(made)):
        return True
    if isinstance(wanted, list) and isinstance(made, list):
        return len(wanted) == len(made) and all(map(same, wanted, made))
    try:
        return float(wanted) == float(made)
    except (TypeError, ValueError):
        return False


def wanted_calls(
    calls: Iterable[tuple[str, str, dict[str, Any], bool]],
    results: Sequence[Any],
    words: str,
    defaults: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    injected: bool = False,
    before: str = "",
) -> list[Wanted]:
    """Ground truth as `Wanted`, from `(app_id, function, arguments, has_effect)` and each call's
    true result.

    `words`: what the one who wants the calls has said, the user or the planted instruction.
    `defaults` by function are arguments that nobody needs to have read; `before` (`plain`) is what
    earlier turns held.
    """
    found: list[Wanted] = []
    fresh: list[Any] = []
    earlier = ""
    for (app_id, function, arguments, has_effect), result in zip(calls, results, strict=True):
        if (function, arguments) in fresh:
            continue  # read a moment ago, and nothing was changed since
        fresh = [] if has_effect else [*fresh, (function, arguments)]
        known = (defaults or {}).get(function, {})
        own = [
            (name, leaf)
            for name, value in arguments.items()
            if known.get(name, ...) != value
            for leaf in leaves(value)
            if not holds(plain(words), leaf)
        ]
        looked_up = tuple(
            (name, leaf)
            for name, leaf in own
            if holds(earlier, leaf) or (not is_trivial(leaf) and holds(before, leaf))
        )
        found.append(
            Wanted(
                app_id,
                function,
                arguments,
                has_effect,
                looked_up,
                composed=len(own) > len(looked_up),
                after=tuple(found),
                injected=injected,
                fails=isinstance(result, dict) and bool(result.get("error")),
            )
        )
        earlier += "\n" + plain(json.dumps(result, ensure_ascii=False, default=str))
    return found


@dataclass
class Planner:
    """Answers both roles of a turn; give `Planner(…)` to a `FunctionModel`.

    `user` are the calls of the user's task, `planted` those of an instruction that is obeyed once
    `mark` was read. `answer` is what the user wants to hear; the narrator says it when the results
    it was shown hold it, or `echo`, word for word, where that is set. While it is `asleep` it
    overlooks the mark: it obeys later what it has read before. `sections` are the skeleton's fields
    as they really are; `views` is every classifier's prompt so far (`plain`).
    """

    user: list[Wanted] = field(default_factory=list)
    planted: list[Wanted] = field(default_factory=list)
    mark: str = ""
    words: str = ""
    answer: str = ""
    echo: str = ""
    asleep: bool = False
    sections: dict[str, str] = field(default_factory=dict)
    read_mark: bool = False
    narrated_mark: bool = False
    answered: bool = False
    known: dict[str, str] = field(default_factory=dict)
    results: list[tuple[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stuck: str = ""
    strange: int = 0
    views: list[str] = field(default_factory=list)

    def __call__(self, request: ModelRequest) -> ModelResponse:
        """One completion."""
        text = request.prompt
        self.known |= placeholders(text, self.results) | in_fields(text, self.sections)
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
        if made is None:
            self.strange += 1
        elif ok or made.fails:
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
        self.views.append(shown)
        described = plain(" ".join(tool.description for tool in request.tools))
        self._notice(request.prompt, f"{shown}\n{described}")
        catalogue = {tool.name for tool in request.tools}
        calls = self._due(self.planted, shown, catalogue) if self.read_mark else []
        due = self._due(self.user, shown, catalogue)
        calls = [*calls, *due][:PLAN_MAX]
        for call in calls:
            call.tries += 1
        more = any(w.open and w not in calls for w in self._followed)
        plan = [ToolCall(w.tool, masked(w.arguments, self.known, request.prompt)) for w in calls]
        if not plan:
            return ModelResponse(text="That is all." if self.done else "I cannot go on.")
        return ModelResponse(tool_calls=(*plan, *(going_on(request.tools) if more else ())))

    @property
    def _followed(self) -> list[Wanted]:
        return self.wanted if self.read_mark else self.user

    def _notice(self, prompt: str, shown: str) -> None:
        """What this prompt says about earlier calls and to whoever obeys."""
        if self.mark and not self.asleep:
            self.read_mark = self.read_mark or self.mark.casefold() in shown
        for call in self.wanted:
            call.ran = call.ran or self._answered_before(call)
            call.shown = call.shown or call.ran
        if "[PROBLEMS]" in prompt:
            lines = prompt.rpartition("[PROBLEMS]")[2].splitlines()
            self.problems += [line for line in lines if line.startswith("PROBLEM")]

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
            if not call.open:
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
        self.narrated_mark = self.narrated_mark or bool(self.mark and self.mark.casefold() in shown)
        if self.echo:
            return ModelResponse(text=str(masked(self.echo, self.known, prompt)))
        if not self.done or not self.answer:
            return ModelResponse(text="That is done." if self.done else "Not all of it is done.")
        truth = plain(
            json.dumps([data for _, data in self.results], ensure_ascii=False, default=str)
        )
        words = [word.strip(".,;:!?'\"()") for word in self.answer.split()]
        read = [word for word in words if holds(truth, word) and not holds(plain(self.words), word)]
        self.answered = all_held(shown, read)
        text = self.answer if self.answered else "The results do not show it."
        return ModelResponse(text=str(masked(text, self.known, prompt)))


def going_on(tools: Iterable[ToolSpec]) -> tuple[ToolCall, ...]:
    """The kernel's own function for seeing the results before the turn ends, where the catalogue
    has one."""
    own = [tool for tool in tools if tool.app_id == KERNEL]
    return tuple(ToolCall(tool.name, {}) for tool in own[:1])

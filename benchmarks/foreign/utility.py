"""AgentDojo's 97 user tasks: what is done within one message, how often the user is asked, how many
model calls it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import dojo, packages
from .drive import Question, Talk, kernel_of
from .planner import Planner


@dataclass(frozen=True)
class TaskResult:
    """One user task, after one message and the answers to its questions."""

    suite: str
    task: str
    calls: int
    effects: int
    ran: int
    useful: bool
    said: bool
    questions: tuple[Question, ...]
    model_calls: int
    reply: str
    why: str

    @property
    def done(self) -> bool:
        """Every call of the ground truth ran, and the suite's own check passes."""
        return self.ran == self.calls and self.useful


def play(suite_names: Iterable[str], sample: int) -> Iterator[TaskResult]:
    """Every `sample`-th task of these suites."""
    for name in suite_names:
        suite = packages.dojo()[name]
        world = dojo.World(suite)
        model = dojo.model_of(world)
        kernel = kernel_of(dojo.extension(world), model)
        for task in list(suite.user_tasks.values())[::sample]:
            model.requests.clear()
            yield _task(world, task, Talk(kernel, whose(world), model))


def _task(world: dojo.World, task: Any, talk: Talk) -> TaskResult:
    environment = task.init_environment(world.suite.load_and_inject_default_environment({}))
    user = dojo.ground_truth(world.suite, task, environment, task.PROMPT)
    planner = Planner(user, words=task.PROMPT, answer=str(task.GROUND_TRUTH_OUTPUT))
    world.begin(environment, planner)
    model_calls = talk.say(task.PROMPT)
    heard = task.GROUND_TRUTH_OUTPUT if planner.answered or not planner.answer else talk.reply
    return TaskResult(
        suite=world.suite.name,
        task=task.ID,
        calls=len(user),
        effects=sum(w.has_effect for w in user),
        ran=sum(w.ran for w in user),
        useful=world.useful(task, heard),
        said=world.useful(task, talk.reply),
        questions=tuple(talk.questions),
        model_calls=model_calls,
        reply=talk.reply,
        why=reason(planner, world, talk),
    )


def whose(world: dojo.World) -> Any:
    """A judge of calls in a question, by the two ground truths."""

    def judge(call: Mapping[str, Any]) -> str:
        function, arguments = str(call["fn_name"]), call.get("arguments") or {}
        for wanted in world.planner.planted:
            if wanted.is_call(function, arguments):
                wanted.refused = True
                return "attacker"
        return (
            "user" if any(w.is_call(function, arguments) for w in world.planner.user) else "nobody"
        )

    return judge


def reason(planner: Planner, world: dojo.World, talk: Talk) -> str:
    """Why a task was not done, for whoever mends the kernel; empty where it was."""
    left = [f"{w.function}({w.arguments})"[:160] for w in planner.user if not w.ran]
    failed = [f"{m.function}: {m.error}"[:120] for m in world.made if not m.ok]
    parts = [
        f"not run: {left}" if left else "",
        f"waits for {planner.stuck}" if left and planner.stuck else "",
        f"failed: {failed}" if failed else "",
        f"problems: {planner.problems[:3]}" if planner.problems else "",
        f"codes: {talk.codes}" if talk.codes else "",
        f"unexpected calls: {planner.strange}" if planner.strange else "",
        f"the narrator was not shown the answer {planner.answer[:80]!r}"
        if planner.answer and not planner.answered
        else "",
    ]
    return "; ".join(part for part in parts if part)

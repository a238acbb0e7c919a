"""AgentDojo played by a real model: what AgentDojo prints, utility, utility under attack, attack
success rate.

Questions are answered as the careful user would: yes where the call is one that the user's task
needs (the same function, the same recipient, account, id …), no otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from webbee_kernel.testing import TestKernel

from . import attacks, dojo, packages
from .drive import NOW, Talk
from .planner import Planner
from .tables import Rows, groups, mean, share, table

FREE_TEXT = frozenset("subject body content description title text date location".split())
"""Arguments whose words are the model's own: a yes does not hang on them."""


@dataclass(frozen=True)
class RealResult:
    """One task by a real model. `injection` is empty where nobody attacked."""

    suite: str
    task: str
    injection: str
    useful: bool
    attacked: bool
    questions: int
    seconds: float
    error: str = ""


def play(
    model: str, suite_names: Iterable[str], sample: int, *, attacked: bool
) -> Iterator[RealResult]:
    """Every `sample`-th task, or every `sample`-th of the 949 attacks, each in a session of its
    own.

    `model` is what the setting `WEBBEE_MODEL` takes. A turn that fails is a result with the error's
    name.
    """
    stages: dict[str, tuple[dojo.World, TestKernel]] = {}
    for suite, task, injection in _cases(suite_names, sample, attacked=attacked):
        if suite.name not in stages:
            world = dojo.World(suite)
            kernel = TestKernel([dojo.extension(world)], now=NOW, env={"WEBBEE_MODEL": model})
            stages[suite.name] = world, kernel
        yield _play(*stages[suite.name], task, injection)


def _cases(
    suite_names: Iterable[str], sample: int, *, attacked: bool
) -> Iterator[tuple[Any, Any, Any]]:
    names = list(suite_names)
    if attacked:
        return attacks.cases(names, sample, with_effect=False)
    suites = [packages.dojo()[name] for name in names]
    tasks = [(suite, task, None) for suite in suites for task in suite.user_tasks.values()]
    return iter(tasks[::sample])


def _play(world: dojo.World, kernel: TestKernel, task: Any, injection: Any) -> RealResult:
    if injection is None:
        environment = task.init_environment(world.suite.load_and_inject_default_environment({}))
        world.begin(
            environment, Planner(dojo.ground_truth(world.suite, task, environment, task.PROMPT))
        )
    else:
        attacks.begin(world, task, injection, dojo.attack_text(injection.GOAL))
    talk = Talk(kernel, lambda call: "user" if is_users(world.planner, call) else "nobody")
    started, error = time.monotonic(), ""
    try:
        talk.say(task.PROMPT)
    except Exception as failure:  # a model that cannot be reached fails this task, not the run
        error = f"{type(failure).__name__}: {failure}"[:200]
    return RealResult(
        suite=world.suite.name,
        task=task.ID,
        injection=injection.ID if injection else "",
        useful=not error and world.useful(task, talk.reply),
        attacked=bool(injection) and world.attacked(injection, talk.reply),
        questions=len(talk.questions),
        seconds=time.monotonic() - started,
        error=error,
    )


def is_users(planner: Planner, call: Mapping[str, Any]) -> bool:
    """Whether the user would say yes: his task needs this call, whatever its free texts say."""
    arguments = call.get("arguments") or {}
    for wanted in planner.user:
        firm = {k: v for k, v in wanted.arguments.items() if k not in FREE_TEXT}
        if wanted.function == call["fn_name"] and all(
            dojo.json_of(v) == arguments.get(k) or str(v) == str(arguments.get(k))
            for k, v in firm.items()
        ):
            return True
    return False


def report(model: str, plain: list[RealResult], attacked: list[RealResult]) -> str:
    """The table, by suite."""
    found = dict(groups(attacked, lambda r: r.suite))
    rows: Rows = []
    for name, part in groups(plain, lambda r: r.suite):
        under = found.get(name, [])
        rows.append(
            (
                name,
                share(sum(r.useful for r in part), len(part)),
                share(sum(r.useful for r in under), len(under)),
                share(sum(r.attacked for r in under), len(under)),
                mean(sum(r.questions for r in [*part, *under]), len(part) + len(under)),
                f"{sum(r.seconds for r in part) / len(part):.1f}",
                sum(bool(r.error) for r in [*part, *under]),
            )
        )
    head = (
        "suite",
        "utility",
        "utility under attack",
        "attack success",
        "questions a task",
        "seconds a task",
        "errors",
    )
    errors = {r.error for r in [*plain, *attacked] if r.error}
    return "\n".join(
        [
            table(f"AgentDojo with {model}", head, rows),
            *(f"  error: {e}" for e in sorted(errors)[:5]),
        ]
    )

"""Why a task failed and how an attack came through, as a Markdown page for whoever mends the
kernel."""

from __future__ import annotations

from collections.abc import Sequence

from .adaptive import Case
from .attacks import AttackResult
from .bfcl import ConversationResult
from .utility import TaskResult


def page(
    tasks: Sequence[TaskResult],
    attacked: Sequence[AttackResult],
    adapted: Sequence[Case],
    conversations: Sequence[ConversationResult],
) -> str:
    """One table a measure; what went right is left out."""
    return "\n\n".join(
        part
        for part in (
            _rows(
                "User tasks not done",
                ("task", "calls run", "check", "why"),
                [_task(r) for r in tasks if not r.done],
            ),
            _rows(
                "Done, but the reply does not say it",
                ("task", "why"),
                [(_name(r), r.reply) for r in tasks if r.done and not r.said],
            ),
            _rows(
                "Questions about the user's own tasks",
                ("task", "question"),
                [(_name(r), q.text) for r in tasks for q in r.questions],
            ),
            _rows(
                "Attacks with an unasked effect",
                ("case", "effects (message)"),
                [_attack(r) for r in attacked if r.unasked],
            ),
            _rows("Questions that bundle both sides", ("case", "question"), _bundles(attacked)),
            _rows(
                "User tasks lost under attack",
                ("case", "why"),
                [(_case(r), r.why) for r in attacked if not r.task_done],
            ),
            _rows(
                "Adaptive cases with an unasked effect",
                ("way", "case", "effects"),
                [_adaptive(c) for c in adapted if c.unasked],
            ),
            _rows(
                "BFCL calls that did not run",
                ("conversation", "calls"),
                [_conversation(r) for r in conversations if r.missing],
            ),
        )
        if part
    )


def _rows(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [
        " | ".join(cell.replace("|", "\\|").replace("\n", " ")[:700] for cell in row)
        for row in rows
    ]
    return "\n".join(
        [
            f"## {title} ({len(rows)})",
            "",
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
            *(f"| {x} |" for x in lines),
        ]
    )


def _name(result: TaskResult) -> str:
    return f"{result.suite} {result.task}"


def _case(result: AttackResult) -> str:
    return f"{result.suite} {result.task} {result.injection}"


def _task(result: TaskResult) -> tuple[str, str, str, str]:
    return _name(result), f"{result.ran}/{result.calls}", str(result.useful), result.why


def _attack(result: AttackResult) -> tuple[str, str]:
    return _case(result), ", ".join(
        f"{function} ({message})" for function, message in result.unasked
    )


def _bundles(results: Sequence[AttackResult]) -> list[tuple[str, str]]:
    return [(_case(r), q.text) for r in results for q in r.questions if q.bundled]


def _adaptive(case: Case) -> tuple[str, str, str]:
    return case.way, f"{case.suite} {case.injection}", ", ".join(case.unasked)


def _conversation(result: ConversationResult) -> tuple[str, str]:
    return f"{result.set_name} {result.entry}", "; ".join(
        f"{function}: {why}" for function, why in result.missing
    )

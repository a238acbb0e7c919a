"""The one place that knows how the check is called: with separate arguments or with one
`Evidence`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.truths.model import Case


@dataclass(frozen=True)
class Answer:
    """What the check said: whether the reply stands as it is, what was named, the sentence the
    kernel adds of its own, and what the named words are flagged as.
    """

    grounded: bool
    named: tuple[str, ...]
    added: str
    kinds: tuple[str, ...] = ()

    @property
    def caught(self) -> bool:
        """A fault counts as caught when words are named, or a sentence of the kernel's own
        contradicts the reply.
        """
        return not self.grounded or bool(self.added)


def judge(case: Case) -> Answer:
    """Check one case with the kernel's public entry."""
    return prepared(case)()


def prepared(case: Case) -> Callable[[], Answer]:
    """The check of one case, its calls made: a clock sees the evidence's index and the check."""
    grounding: Any = __import__("webbee_kernel.grounding", fromlist=["check"])
    if "evidence" in inspect.signature(grounding.check).parameters:
        calls = tuple(grounding.Call(**asdict(c)) for c in case.calls)
        turn = {"message": case.message, "language": case.language, "now": case.now}
        turn |= {"policy": case.policy}

        def asked() -> Answer:
            evidence = grounding.Evidence(calls=calls, **turn)
            return _answer(grounding.check(case.reply, evidence=evidence))

        return asked
    good = [c for c in case.calls if c.status == "ok"]
    arguments: dict[str, Any] = {
        "data": [c.data for c in good],
        "message": case.message,
        "summaries": [c.summary or c.error for c in case.calls if c.summary or c.error],
        "done": tuple(c.action_type for c in good),
    }
    return lambda: _answer(grounding.check(case.reply, **arguments))


def _answer(verdict: Any) -> Answer:
    added = getattr(verdict, "added", "") or ""
    return Answer(
        verdict.grounded,
        tuple(map(str, verdict.ungrounded)),
        added if isinstance(added, str) else " ".join(map(str, added)),
        tuple(flag.kind for flag in getattr(verdict, "flags", ())),
    )

"""What a plain answer of the classifier claims without ground. Pure."""

from __future__ import annotations

from ..channels import skeleton
from ..values import JSON
from .prompt import Problem
from .state import TurnState


def unfounded(text: str, state: TurnState) -> tuple[Problem, ...]:
    """What `text` claims that neither skeleton, facts, this turn's results nor the user's words
    hold, in words for the model."""
    from ..grounding import check  # 60 patterns: only an answer in plain words pays for them

    data: list[JSON] = [skeleton.visible(s.data) for s in state.sections if s.data]
    data += state.facts()
    if state.gate:
        data = [state.gate.mask(d) for d in data]
    results = state.told_shown.values()
    data += [o.data for o in results if o.ok]
    apps = [
        f"{a.app_id} {a.display_name} {a.description} {a.rules}"
        for a in state.catalogue.apps.values()
    ]
    apps += [t for f in state.functions for t in (f.description, *f.examples)]
    words = [state.message, *(t.message for t in state.memory.turns)]
    said = [o.summary if o.ok else o.error for o in results]
    verdict = check(
        text,
        data=data,
        message="\n".join(words),
        summaries=[*apps, state.policy, state.prompt.skeleton, *said],
        done=tuple(o.action_type for o in results if o.ok),
    )
    if verdict.grounded:
        return ()
    return (Problem("", "reply", f"not in the data: {', '.join(verdict.ungrounded)}"),)

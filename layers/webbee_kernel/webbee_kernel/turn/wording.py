"""Wording: what the kernel itself says of a turn, beside the narrator's reply. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..values import CallOutcome
from . import confirmation, replies
from .confirmation import asks
from .evidence import of_calls
from .rounds import Ended
from .speaking import Say
from .state import TurnState


def before(ended: Ended) -> str:
    """What is said before the narrator's reply: what the classifier was heard to say, and why the
    turn ended early, where it did."""
    heard = ended.state.plain.said
    return (f"{heard}\n\n" if heard else "") + _early(ended)


def _early(ended: Ended) -> str:
    """Why the turn ended early, where it did."""
    if not ended.limit:
        return ""
    state = ended.state
    undone = [confirmation.planned(s, state.catalogue, state.titles()) for s in state.undone]
    return f"{replies.unfinished(ended.limit, undone, state.language)}\n\n"


def reading_along(ended: Ended) -> Say | None:
    """Shows pieces of the narrator's reply to whoever reads along, in the user's own values, behind
    what is said first; None where nobody does."""
    state, first = ended.state, [_early(ended)]
    if state.plain.said:
        first = [f"\n\n{first[0]}"]
    if not state.follower.reads_along:
        return None

    def say(piece: str) -> None:
        text = first.pop() + piece if first else piece
        state.follower.tell("text", text=state.masker.unmask_text(text))

    return say


def stopped(ended: Ended, said: str) -> str:
    """What is said of a turn that the user stopped: what he had read by then, or else what ran, in
    its own words."""
    state = ended.state
    shown = (before(ended) + said).strip() if said else state.plain.said
    ran = told(state, state.fresh.values()) if state.fresh and not said else ""
    parts = (shown, replies.stopped(state.language), ran)
    return "\n\n".join(part for part in parts if part)


def is_question(ended: Ended) -> bool:
    """Whether the classifier's question is the whole reply: nothing was changed and nothing failed
    that the user must hear of."""
    calls = ended.state.told.values()
    return asks(ended.text) and all(o.ok and o.action_type == "read" for o in calls)


def told(state: TurnState, outcomes: Iterable[CallOutcome]) -> str:
    """What calls did, in their own words."""
    from ..grounding import render

    names = {a.app_id: a.display_name for a in state.catalogue.apps.values()}
    return render(of_calls(state.message, outcomes, apps=names, language=state.language))

"""Replies: the answer of a turn, fresh or repeated, and the kernel's own few sentences. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import language
from ..stores.jsontext import dumps
from ..values import CallOutcome, PendingConfirmation, Turn
from ..values.plain import JSONObject
from . import questions
from .sources import spans

if TYPE_CHECKING:
    from .narrator import Narration


@dataclass(frozen=True, slots=True)
class Reply:
    """What the API returns for a turn."""

    body: JSONObject

    @property
    def text(self) -> str:
        """The words the user reads."""
        return str(self.body["reply"])


MAX_UI = 12_000
"""Characters of a UI tree that is kept with its turn; a larger one is shown once, and its call's
data stays."""

Sourced = Callable[[str, int], JSONObject]
"""Of a whole reply and the number of its calls, where its values come from."""


def unsourced(reply: str, calls: int) -> JSONObject:
    """Of a reply that no narrator wrote."""
    return {}


def was_stopped(reply: str, calls: int) -> JSONObject:
    """Of the reply of a turn that the user stopped."""
    return {"stopped": True}


def sourced(narration: Narration, shown: int, unmask: Callable[[str], str]) -> Sourced:
    """Where the narrator's values come from, as the answer carries it; `shown` calls it saw."""

    def told(reply: str, calls: int) -> JSONObject:
        first = max(0, calls - shown)
        found = spans(narration.sources, narration.text, reply, unmask, first)
        return {"sources": found, "sourced": narration.sourced} if found else {}

    return told


def response(
    outcomes: Mapping[int, CallOutcome], waiting: Sequence[PendingConfirmation] = ()
) -> JSONObject:
    """The part of an answer that is stored with the turn: calls, panels to refresh, what waits,
    and what is drawn, where it is no larger than `MAX_UI`."""
    ordered = [o for _, o in sorted(outcomes.items())]
    panels = dict.fromkeys((o.app_id, p) for o in ordered if o.ok for p in o.panels)
    body: JSONObject = {
        "calls": list(map(_call, ordered)),
        "refresh_panels": [{"app_id": a, "panel_id": p} for a, p in panels],
    }
    if (drawn := ui(outcomes)) and len(dumps(drawn)) <= MAX_UI:
        body["ui"] = drawn
    if waiting:
        asked = [questions.body(p) for p in waiting]
        body |= {"confirmation": asked[0], "confirmations": asked}
    return body


def ui(outcomes: Mapping[int, CallOutcome]) -> Any:
    """The UI tree of the last call that returned one."""
    return next((o.ui for _, o in sorted(outcomes.items(), reverse=True) if o.ok and o.ui), None)


def replay(turn: Turn, session_id: str, ui: Any = None) -> Reply:
    """The answer of a recorded turn."""
    body = {
        "reply": turn.reply,
        "session_id": session_id,
        "turn": turn.seq,
        "status": turn.status,
        **turn.response,
    }
    return Reply({**body, "ui": ui} if ui else body)


def _call(outcome: CallOutcome) -> JSONObject:
    call: JSONObject = {
        "app_id": outcome.app_id,
        "fn_name": outcome.fn_name,
        "status": outcome.status,
        "duration_ms": outcome.duration_ms,
    }
    told = {"error_code": outcome.error_code, "incident": outcome.incident}
    return call | {k: v for k, v in told.items() if v}


def gave_up(tag: str) -> str:
    """When the classifier's answers could not be used, also after its repair attempts."""
    return language.of(tag).say("gave_up")


def unfinished(limit: str, undone: Sequence[str], tag: str) -> str:
    """When rounds, time, tokens or the model ended a turn before everything was done: why, and the
    calls that were planned and not run."""
    why = limit if limit in ("rounds", "tokens", "time") else "model"
    left = language.of(tag).say("still_to_do", calls="; ".join(undone)) if undone else ""
    return "\n".join(part for part in (left, language.of(tag).say(f"unfinished_{why}")) if part)


def stopped(tag: str) -> str:
    """When the user stopped the turn."""
    return language.of(tag).say("stopped")


def refused(tag: str) -> str:
    """When the user said no."""
    return language.of(tag).say("nothing_done")


def decision(accept: bool, tag: str) -> str:
    """What stands in the history when the user pressed a button instead of writing."""
    return language.of(tag).say("said_yes" if accept else "said_no")

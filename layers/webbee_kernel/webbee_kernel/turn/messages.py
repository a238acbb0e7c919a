"""Replies: the response of a turn, new or replayed, and the kernel's own sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import language
from ..guards.proposals import describe, undo_of
from ..guards.result_records import Titles
from ..llm.offered_forms import form_text, forms_in
from ..llm.protocol import Hear
from ..sdk.result import AMBIGUOUS
from ..stores.codec import dumps
from ..stores.types import PendingConfirmation, SessionMemory, Turn
from ..text import cut, defuse_markup, one_line, squeeze
from ..types import JSON, CallOutcome, JSONObject
from . import cards
from .classify import LoopResult
from .confirmation import is_asking
from .plan import MAX_STEPS
from .results_block import call_of, visible_data
from .session_memory import undo_receipts
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..grounding import Call, Mark, Source
    from ..grounding.receipts import Receipt
    from .narrate import Narration


class Reply(NamedTuple):
    """The API's response for a turn."""

    body: JSONObject

    @property
    def text(self) -> str:
        """The words the user reads."""
        return str(self.body["reply"])


MAX_SUMMARY = 120
"""Characters of a card's summary in its receipt."""
MAX_UI = 12_000
"""Characters of a UI tree that is stored with its turn; a larger one is shown once."""


def unloaded(state: TurnContext) -> str:
    """For a developer for whom nothing ran: the apps that did not load, with their reasons."""
    apps = state.catalogue.apps.values() if state.ask.user.role != "user" else ()
    return "".join(f"\n\n{app.app_id} is not loaded: {app.error}" for app in apps if app.error)


def response(
    state: TurnContext,
    before: JSONObject,
    waiting: PendingConfirmation | None,
    drawn: JSON,
    choices: Sequence[JSONObject],
) -> JSONObject:
    """The stored part of a response: calls, panels to refresh, card, choices, UI tree (up to
    `MAX_UI`), receipts and work. `before`: the stored response of the turn's first part, if a card
    interrupted it."""
    result = [*state.new_outcomes.values()]
    panels = dict.fromkeys((o.app_id, p) for o in result for p in o.panels if o.ok)
    body: JSONObject = {
        "calls": [*before.get("calls", ()), *map(_call, result)],
        "refresh_panels": [{"app_id": a, "panel_id": p} for a, p in panels],
    }
    if drawn and len(dumps(drawn)) <= MAX_UI:
        body["ui"] = drawn
    if waiting:
        body["confirmation"] = cards.body(waiting)
    if choices:
        body["choices"] = list(choices)
    return body | _account(state, result, before, waiting)


def _account(
    state: TurnContext,
    result: Sequence[CallOutcome],
    before: JSONObject,
    waiting: PendingConfirmation | None,
) -> JSONObject:
    """The kernel's account of a turn: `receipts` of effects and failures, and `work`, a summary."""
    from ..grounding.receipts import Receipt, Work, receipts, work

    calls, tag = [_receipt_call(state, outcome) for outcome in result], state.language
    first = len(before.get("calls", ()))
    # its card may have been answered since: what still waits is told anew
    listed = [r for r in before.get("receipts", ()) if r["status"] != "waiting"]
    for one in receipts(calls, tag):
        calls_back = _undo_fields(state, result[one.call])
        listed.append(_receipt(one, tag) | _without_empty({"call": first + one.call, **calls_back}))
    if waiting:
        what = cut(one_line(waiting.summary), MAX_SUMMARY)
        listed.append(_receipt(Receipt(-1, "waiting", what), tag))
    done = before.get("work", {})
    counts = {name: n + done.get(name, 0) for name, n in work(calls)._asdict().items()}
    return {"work": Work(**counts).to_dict(tag), **({"receipts": listed} if listed else {})}


def _undo_fields(state: TurnContext, made: CallOutcome) -> JSONObject:
    """`undo`, the call that undoes an effect, with the `language` of its receipt, and `took`, the
    effect that this call has undone."""
    if made.action_type == "read":
        return {}
    offered = undo_receipts(state.memory, made) if made.ok else []
    took = offered[0][1]["undo"] if offered else {}
    undo = undo_of(made, state.catalogue)
    return {"undo": undo, "language": state.language if undo else "", "took": took}


def _receipt(receipt: Receipt, tag: str) -> JSONObject:
    told = {"status": receipt.status, "what": receipt.what, "text": receipt.text(tag)}
    return _without_empty({**told, "why": receipt.why})


def _without_empty(told: JSONObject) -> JSONObject:
    return {key: value for key, value in told.items() if value not in (None, "", {}, [])}


def _call(outcome: CallOutcome) -> JSONObject:
    call: JSONObject = {
        "app_id": outcome.app_id,
        "fn_name": outcome.fn_name,
        "status": outcome.status,
        "duration_ms": outcome.duration_ms,
    }
    return call | _without_empty({"error_code": outcome.error_code, "incident": outcome.incident})


def _receipt_call(state: TurnContext, outcome: CallOutcome) -> Call:
    """A call for its receipt: unmasked, without secrets; successful reads are only counted."""
    from ..grounding import Call

    if outcome.ok and outcome.action_type == "read":
        return Call(outcome.app_id, outcome.fn_name)
    shown = replace(outcome, arguments=state.arguments_of(outcome), data=visible_data(outcome))
    return call_of(shown, state.catalogue, state.language)


def as_text(body: JSONObject) -> str:
    """A response as text: failures above the reply, `(?)` after contradicted values, below it what
    stands in a form, other receipts and the work summary. Receipts that the reply contains are not
    repeated."""
    from ..grounding.receipts import ABOVE

    reply_lines = set(str(body["reply"]).splitlines())
    told = (r for r in body.get("receipts", ()) if r["status"] != "waiting")
    receipts = [r for r in told if r["text"] not in reply_lines]
    above = "\n".join(r["text"] for r in receipts if r["status"] in ABOVE)
    below = [r["text"] for r in receipts if r["status"] not in ABOVE]
    after = "\n".join([*below, *_work_line(body)])
    # it ends in the card's question, where there is one
    reply = "\n".join([_marked_reply(body), *map(form_text, forms_in(body.get("ui")))])
    parts = [above, after, reply] if body.get("confirmation") else [above, reply, after]
    return defuse_markup("\n\n".join(filter(None, parts)))


def _marked_reply(body: JSONObject) -> str:
    """The reply with `(?)` after contradicted values."""
    reply, ends = str(body["reply"]), [m["end"] for m in body.get("marks", ()) if m.get("holds")]
    # from the end on: what is put in moves only the offsets behind it
    for end in sorted(ends, reverse=True):
        reply = f"{reply[:end]} (?){reply[end:]}"
    return reply


def turn_before(memory: SessionMemory, before: str | None) -> Turn | None:
    """The turn whose response the client shows directly before a message, compared without white
    space; the last one if the client sends no history."""
    if before is None:
        return memory.last_shown
    shown = squeeze(before)
    turns = (t for t in reversed(memory.turns) if squeeze(as_text(replay(t, "").body)) in shown)
    return next(turns, None)


def _work_line(body: JSONObject) -> list[str]:
    """The work summary; omitted for a card without earlier effects."""
    done = dict(body.get("work", {}))
    line = done.pop("text", "")
    idle = body.get("confirmation") and not (done.get("changed") or done.get("failed"))
    return [f"({line})"] if line and not idle else []


def replay(turn: Turn, session_id: str, ui: Any = None) -> Reply:
    """The response of a recorded turn."""
    body = {
        "reply": turn.reply,
        "session_id": session_id,
        "turn": turn.seq,
        "status": turn.status,
        **turn.response,
    }
    return Reply({**body, "ui": ui} if ui else body)


def refused_text(tag: str) -> str:
    """The reply to a no."""
    return language.of(tag).say("nothing_done")


def intro(result: LoopResult) -> str:
    """The text before the narrator's reply: the classifier's shown text and the reason for an early
    end."""
    early, heard = _limit_text(result), _shown_text(result.state)
    return f"{heard}\n\n{early}" if heard else early


def _shown_text(state: TurnContext) -> str:
    """The shown part of the classifier's own text."""
    return state.plain_reply.shown.rstrip() if state.plain_reply else ""


def _limit_text(result: LoopResult) -> str:
    """Unfinished calls, and why rounds, time, tokens or the model ended the turn; else empty."""
    if not result.limit:
        return ""
    state = result.state
    speaks, titles = language.of(state.language), state.titles() if state.unfinished else Titles()
    undone = [describe(step, state.catalogue, titles) for step in state.unfinished]
    why = result.limit if result.limit in ("rounds", "tokens", "time") else "model"
    left = [speaks.say("still_to_do", calls="; ".join(undone))] if undone else []
    return "\n".join([*left, speaks.say(f"unfinished_{why}")]) + "\n\n"


def left_over(state: TurnContext) -> str:
    """How many calls more than a plan holds were asked for; else empty."""
    left = state.last_answer.response.left
    return language.of(state.language).say("left_over", n=left, most=MAX_STEPS) if left else ""


def reply_sink(result: LoopResult) -> Hear | None:
    """The sink for the narrator's reply, unmasked, preceded by the intro; None without a reader."""
    state = result.state
    if not state.ask.follower.has_reader:
        return None
    # with the first piece: it would stand alone where the narrator writes nothing
    first = [("\n\n" if _shown_text(state) else "") + _limit_text(result)]

    def say(piece: str) -> None:
        state.say(first.pop() + piece if first else piece)

    return say


def stopped_text(result: LoopResult, said: str) -> str:
    """The reply of a stopped turn: the text shown so far, or the results of its calls."""
    state = result.state
    shown = (intro(result) + said).strip() if said else _shown_text(state)
    done = "" if said else outcome_text(state, state.new_outcomes.values())
    parts = (shown, language.of(state.language).say("stopped"), done)
    return "\n\n".join(part for part in parts if part)


def is_question(result: LoopResult) -> bool:
    """Whether the classifier's question or offer is the whole reply: no effects and no failures to
    report, except of a call whose record it asks for."""
    return (is_asking(result.text) or bool(result.offer)) and all(
        o.error_code == AMBIGUOUS or (o.ok and o.action_type == "read")
        for o in result.state.reported.values()
    )


def outcome_text(state: TurnContext, outcomes: Iterable[CallOutcome]) -> str:
    """The rendered results of calls; empty for none."""
    calls = tuple(call_of(o, state.catalogue, state.language) for o in outcomes)
    if not calls:
        return ""
    from ..grounding import Evidence, render

    return render(Evidence(calls, state.message, language=state.language))


MAX_SOURCES = 100
"""Maximum sources, and marks, in a response."""


def source_map(
    state: TurnContext, narration: Narration | None, reply: str, calls: int
) -> JSONObject:
    """The sources and marks of a reply for the response, with offsets in the unmasked text; `calls`
    is the number of calls in the response. Empty if the narration is not part of the reply."""
    if narration is None:
        return {}
    if narration.is_stopped:
        return {"stopped": True}
    unmask, text = state.masker.unmask_text, narration.text
    real = unmask(text)
    if (before := reply.find(real)) < 0:
        return {}

    # values and their placeholders differ in length, so offsets move unevenly
    place = before.__add__ if real == text else lambda at: before + len(unmask(text[:at]))

    def placed(span: Source | Mark, told: JSONObject) -> JSONObject:
        return _without_empty({"start": place(span.start), "end": place(span.end), **told})

    # the narrator's calls stand at the end, behind those of the turn's first part
    first = max(0, calls - len(state.masked_report))
    sources = []
    for one in narration.sources[:MAX_SOURCES]:
        call = first + one.call if one.call >= 0 else None
        told = {"how": one.how, "call": call, "path": one.path, "formula": one.formula}
        sources.append(placed(one, told))
    marks = [
        placed(mark, {"reason": mark.reason, "holds": unmask(mark.holds)})
        for mark in narration.marks[:MAX_SOURCES]
    ]
    sourced = narration.is_sourced if sources else None
    return _without_empty({"marks": marks, "sources": sources, "sourced": sourced})

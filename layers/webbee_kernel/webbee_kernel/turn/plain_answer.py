"""A text answer of the classifier, streamed sentence by sentence as far as it is sourced. Shown
text stays, even if calls follow. Unsourced claims are reported back to the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ..channels import skeleton
from ..clock import iso
from ..llm.protocol import Hear
from ..types import JSON
from .narrate import MAX_REPLY, Narration, unsourced, verdict_of
from .plan import Problem
from .stream import StreamingReply

if TYPE_CHECKING:
    from ..grounding import Evidence, Mark
    from .turn_context import TurnContext


def streaming_reply(state: TurnContext) -> StreamingReply:
    """The stream of a turn's text answers over all rounds, unmasked."""
    tell, unmask = state.follower.tell, state.masker.unmask_text
    return StreamingReply(None, lambda text: tell("text", text=unmask(text)), MAX_REPLY)


def answer_sink(state: TurnContext) -> Hear | None:
    """The sink for the classifier's next answer; None without a reader, or after calls, when the
    narrator writes the reply. Evidence is built at the first piece."""
    plain = state.plain_reply
    if plain is None or state.has_run:
        return None
    plain.begin()

    def hear(piece: str) -> None:
        plain.evidence = plain.evidence or evidence_of(state)
        plain.hear(piece)

    return hear


def reply_problems(text: str, state: TurnContext) -> tuple[Problem, ...]:
    """The unsourced values of a text answer, as a problem for the model; once a turn, later ones
    are marked."""
    marks = () if state.is_rechecked else _marks(text, state)
    if not marks:
        return ()
    return (Problem("", "reply", f"not in the data: {', '.join(unsourced(marks))}"),)


def check_answer(text: str, state: TurnContext) -> Narration:
    """A text answer with its unsourced values marked, and the kernel's additions."""
    # a first answer without calls was looked up already, and told back where it has no source
    last_text = state.last_answer.text if state.last_answer else ""
    is_new = state.is_rechecked or bool(state.has_run) or text != last_text
    marks = _marks(text, state) if is_new else ()
    return Narration(text, marks=marks).with_list_sizes(state.language)


def _marks(text: str, state: TurnContext) -> tuple[Mark, ...]:
    return verdict_of(text, evidence_of(state)).marks if text else ()


def evidence_of(state: TurnContext) -> Evidence:
    """The evidence for a text answer: skeleton, facts, results, the user's messages and the apps'
    texts."""
    from ..grounding import Call, Evidence

    data: list[JSON] = [skeleton.visible(s.data) for s in state.sections if s.data]
    digests = chain.from_iterable(turn.digests for turn in state.memory.turns)
    data += [json.loads(d.data_facts_json) for d in digests if d.data_facts_json]
    # the answer speaks in placeholders, so what it is held against has to as well
    if state.gate:
        data = [state.gate.mask(one) for one in data]
    return Evidence(
        (*(Call(data=one) for one in data), *state.masked_calls()),
        state.message,
        "\n".join([state.policy, *_app_texts(state), state.opening.prompt.skeleton]),
        identities=tuple(t.message for t in state.memory.turns),
        language=state.language,
        now=iso(state.now),
        mode=state.grounding,
    )


def _app_texts(state: TurnContext) -> Iterator[str]:
    """The descriptions of apps and functions."""
    for app in state.catalogue.apps.values():
        yield f"{app.app_id} {app.display_name} {app.description} {app.rules}"
    for function in state.visible_functions:
        yield from (function.description, *function.examples)

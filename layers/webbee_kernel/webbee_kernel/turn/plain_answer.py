"""A plain answer of the classifier, shown while it is written: the sentences that stand, as soon as
they are whole. What was shown stays; a call that follows leaves it as the reply's beginning. What
it claims without ground is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..channels import skeleton
from ..clock import iso
from ..llm.protocol import Hear
from ..types import JSON
from .narrate import MAX_REPLY, Narration, verdict_of
from .plan import Problem
from .results_block import of_call
from .stream import StreamingReply

if TYPE_CHECKING:
    from ..grounding import Evidence, Mark
    from .turn_context import TurnContext


def streaming_reply(state: TurnContext) -> StreamingReply:
    """What is shown of a turn's plain answer, over all its rounds, in the user's own values."""
    tell, unmask = state.follower.tell, state.masker.unmask_text
    return StreamingReply(None, lambda text: tell("text", text=unmask(text)), MAX_REPLY)


def answer_sink(state: TurnContext) -> Hear | None:
    """What hears the next answer of the classifier while it is written; None where nobody reads
    along, or behind calls: there the narrator speaks. Evidence is gathered when it writes."""
    plain = state.plain_reply
    if plain is None or state.has_run:
        return None
    plain.begin()

    def hear(piece: str) -> None:
        plain.evidence = plain.evidence or evidence_of(state)
        plain.hear(piece)

    return hear


def reply_problems(text: str, state: TurnContext) -> tuple[Problem, ...]:
    """What `text` says that neither skeleton, facts, this turn's results nor the user's words
    hold, in words for the model; told once a turn, what stays is marked."""
    marks = () if state.is_rechecked else _marks(text, state)
    if not marks:
        return ()
    values = [f"{m.word} (the data holds {m.holds})" if m.holds else m.word for m in marks]
    return (Problem("", "reply", f"not in the data: {', '.join(dict.fromkeys(values))}"),)


def check_answer(text: str, state: TurnContext) -> Narration:
    """A plain answer with the marks of what has no source in what the prompt held, and what the
    kernel adds to it."""
    # a first answer without calls was looked up already, and told back where it has no source
    last_text = state.last_answer.text if state.last_answer else ""
    is_new = state.is_rechecked or bool(state.has_run) or text != last_text
    marks = _marks(text, state) if is_new else ()
    return Narration(text, marks=marks).with_list_sizes(state.language)


def _marks(text: str, state: TurnContext) -> tuple[Mark, ...]:
    return verdict_of(text, evidence_of(state)).marks if text else ()


def evidence_of(state: TurnContext) -> Evidence:
    """What an answer in plain words may rest on: skeleton, facts, this turn's results, what the
    user said, the apps' own words."""
    from ..grounding import Call, Evidence

    data: list[JSON] = [skeleton.visible(s.data) for s in state.sections if s.data]
    data += [fact for _, fact in state.facts()]
    # the answer speaks in placeholders, so what it is held against has to as well
    if state.gate:
        data = [state.gate.mask(one) for one in data]
    names = state.app_names
    calls = [Call(data=one) for one in data]
    calls += [of_call(o, names.get(o.app_id, "")) for o in state.masked_report.values()]
    return Evidence(
        tuple(calls),
        state.message,
        "\n".join([state.policy, *_app_texts(state), state.opening.prompt.skeleton]),
        identities=tuple(t.message for t in state.memory.turns),
        language=state.language,
        now=iso(state.now),
        mode=state.grounding,
    )


def _app_texts(state: TurnContext) -> Iterator[str]:
    """What the apps say of themselves and of their functions."""
    for app in state.catalogue.apps.values():
        yield f"{app.app_id} {app.display_name} {app.description} {app.rules}"
    for function in state.visible_functions:
        yield from (function.description, *function.examples)

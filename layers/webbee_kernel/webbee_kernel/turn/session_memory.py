"""Session memory: the last five turns of a session, for the prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..catalogue import Catalogue
from ..channels.fact_ledger import OMITTED_FN, calls_of, lines, record
from ..clock import iso
from ..errors import CallError
from ..llm.protocol import Undo
from ..stores.types import HistoryItem, SessionMemory, Turn
from ..text import ARROW, one_line, squeeze
from ..types import JSON, CallOutcome, JSONObject, Step, object_of
from . import confirmation

if TYPE_CHECKING:
    from ..pii.masker import Masker

REPLY_PREVIEW = 500
"""Characters of a remembered reply in the prompt: facts carry the data, prose only the thread."""


def recall(turn: Turn, catalogue: Catalogue, masker: Masker) -> Iterator[CallOutcome]:
    """The successful calls of a remembered turn, numbered and unmasked; those of the paused turn if
    its card is pending."""
    # what the ledger says of facts that it left out is no call
    digests = [d for d in turn.paused or turn.digests if d.fn_name != OMITTED_FN]
    for number, digest in enumerate(digests):
        function = catalogue.function(digest.app_id, digest.fn_name)
        yield CallOutcome(
            digest.app_id,
            digest.fn_name,
            "ok",
            data=unmask_json(digest.data_facts_json, masker),
            action_type=function.action_type if function else "read",
            step=number,
            arguments=object_of(unmask_json(digest.args_json, masker)),
        )


def history(
    memory: SessionMemory, mask: Callable[[Any], Any] | None = None
) -> tuple[HistoryItem, ...]:
    """The remembered turns, oldest first. `mask` is applied to replies and unmasked facts."""
    items = list[HistoryItem]()
    for turn in memory.turns:
        digests = turn.digests
        if mask and not turn.masked:
            # capped once more: a placeholder can be longer than what it stands for
            calls, given = calls_of(digests)
            digests = record([(a, f, mask(data)) for a, f, data in calls], arguments=mask(given))
        item = HistoryItem(
            at=turn.at,
            status=turn.status,
            apps=turn.apps,
            message=preview(turn.message),
            reply=one_line(mask(turn.reply) if mask else turn.reply, REPLY_PREVIEW),
            facts=tuple(chain.from_iterable(map(lines, digests))),
            digests=digests,
        )
        items.append(item)
    return tuple(items)


def undoable(memory: SessionMemory) -> list[Undo]:
    """The effects of the remembered turns that were not taken back since, the newest first."""
    later, left = list[JSONObject](), list[Undo]()
    for turn, one in reversed(_effects(memory)):
        # what was brought back since counts as never taken back
        if one.get("undo") in later:
            later.remove(one["undo"])
            continue
        if "took" in one:
            later.append(one["took"])
        call = one.get("undo")
        name, given = (
            (f"{call['app_id']}__{call['function']}", call["params"]) if call else ("", {})
        )
        left.append(Undo(name, given, one["what"], turn.seq, "took" in one, turn.message))
    return left


def _effects(memory: SessionMemory) -> list[tuple[Turn, JSONObject]]:
    """The receipts of what was done, each with its turn."""
    told = [(t, r) for t in memory.turns for r in t.response.get("receipts", ())]
    return [(t, r) for t, r in told if r["status"] == "done"]


def undo_receipts(memory: SessionMemory, made: Step | CallOutcome) -> list[tuple[Turn, JSONObject]]:
    """The receipts that have offered this very call as what takes their effects back, each with its
    turn."""
    call = {"app_id": made.app_id, "function": made.fn_name, "params": made.arguments}
    return [(t, one) for t, one in _effects(memory) if one.get("undo") == call]


def undoes(memory: SessionMemory, step: Step) -> int:
    """How many effects that stand such a call undoes."""
    call = f"{step.app_id}__{step.fn_name}", step.arguments
    return sum((one.name, one.arguments) == call for one in undoable(memory))


def unmask(value: JSON, masker: Masker) -> JSON:
    """The value with known placeholders in strings and keys replaced; for users and guards, never
    for a model."""
    if isinstance(value, str):
        return masker.unmask_text(value)
    if isinstance(value, dict):
        return {unmask(k, masker): unmask(v, masker) for k, v in value.items()}
    return [unmask(v, masker) for v in value] if isinstance(value, list) else value


def unmask_json(text: str, masker: Masker) -> JSON:
    """Parsed JSON with known placeholders replaced; None for an empty text."""
    value: JSON = json.loads(text) if text else None
    return unmask(value, masker) if "<" in text else value


def resolve(arguments: JSONObject, masker: Masker) -> JSONObject:
    """Arguments with placeholders replaced. CallError FABRICATED_ID_SHAPE for unknown ones."""
    from ..pii.masker import UnknownPlaceholder

    try:
        resolved: JSONObject = masker.resolve(arguments)
    except UnknownPlaceholder as error:
        raise CallError(
            "FABRICATED_ID_SHAPE",
            f"{error.placeholder} stands for nothing that was shown: use a value from FACTS",
        ) from None
    return resolved


@lru_cache(maxsize=32)
def detector(custom: str, kinds: str, tag: str) -> Masker:
    """The detector of personal data for a language, extended by the deployment's own (`custom`,
    `module:function`); `kinds` as in Settings.mask_kinds."""
    from ..pii.contacts import regions_of_language
    from ..pii.masker import Masker  # most of the patterns
    from ..pii.names import find_names, with_custom_detector

    return Masker(
        names=with_custom_detector(custom) if custom else find_names,
        regions=regions_of_language(tag),
        kinds=kinds.replace(",", " ").split(),
    )


def masker_for(memory: SessionMemory, message: str, template: Masker) -> Masker:
    """A masker with the placeholders of the remembered turns, so that values keep their names; it
    avoids placeholder-like text of messages. Detection settings are those of `template`."""
    known: dict[str, str] = {}
    for turn in memory.turns:
        known |= turn.vault
    masker = template.with_map(known)
    masker.observe([message, *(t.message for t in memory.turns)])
    return masker


def render(items: Sequence[HistoryItem], older: int = 0) -> str:
    """The `[HISTORY]` block before the new message: a note on omitted turns, then each turn's line
    with its FACTS and ARGS lines."""
    shown = ["[HISTORY]"]
    if older:
        turns = "turns" if older > 1 else "turn"
        shown.append(f"NOTE: {older} older {turns} of this conversation: not shown.")
    for item in items:
        apps = ", ".join(item.apps)
        said = f"{item.message}{ARROW}{item.reply}"
        shown += (f"[{item.at} user {item.status} apps=[{apps}]] {said}", *item.facts)
    return "\n".join(shown)


MESSAGE_PREVIEW = 800
"""Maximum characters of a remembered message."""


def preview(message: str) -> str:
    """The message on one line, with arrows replaced, since one separates message and reply."""
    return one_line(message.replace(ARROW.strip(), "->"), MESSAGE_PREVIEW)


MIN_QUOTE = 60
"""Characters of a reply by which a quotation is recognised."""


def is_side_request(memory: SessionMemory, message: str) -> bool:
    """Whether a message quotes a remembered message with its reply: the client, not the user, asks
    for a title, tags or follow-up questions."""
    text = squeeze(message)
    for turn in memory.turns:
        quoted, answer = squeeze(turn.message), squeeze(turn.reply)[:MIN_QUOTE]
        # the same message again is one of the user's own
        if quoted and answer and quoted != text and quoted in text and answer in text:
            return True
    return False


REGENERATE_S = 900
"""Seconds for which a turn may be asked for anew: a client that names its conversations by their
first message begins another one with the same words later."""


def regenerated_turn(
    memory: SessionMemory, shown: Sequence[str], answer_id: str, now: float
) -> Turn | None:
    """The turn that a client asks for anew ("regenerate"), where it had an effect or waits for a
    yes: the client shows (`shown`, the user's messages) what was said up to it and nothing of its
    answer. Answers to cards are no turns of their own and do not count; one that comes again below
    its card is known by its `answer_id`. Where memory has lost the beginning, the turn is the last
    one and the message before it has to agree, too."""
    found = memory.turn_of(answer_id) or (_regenerated(memory, shown) if shown else None)
    if found is None or found.at < iso(now - REGENERATE_S):
        return None
    ended = {r["status"] for r in found.response.get("receipts", ())}
    return found if ended & {"done", "waiting", "unknown", "running"} else None


def _regenerated(memory: SessionMemory, shown: Sequence[str]) -> Turn | None:
    is_yes_or_no = confirmation.answer
    turns = [t for t in memory.turns if is_yes_or_no(t.message) is None]
    if not turns:
        return None
    messages = [squeeze(m) for m in shown[:-1] if is_yes_or_no(m) is None] + [squeeze(shown[-1])]
    remembered = [squeeze(t.message) for t in turns]
    if memory.turns[0].seq == 1:
        place = len(messages) - 1
        return turns[place] if messages == remembered[: place + 1] else None
    least = max(2, min(len(messages), len(remembered)))
    return turns[-1] if messages[-least:] == remembered[-least:] else None

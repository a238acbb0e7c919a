"""Record: builds the stored turn and writes it, in one write before the reply is sent.

A repeated request id with the same message gets the stored answer as long as its turn is
remembered; with another message it is refused."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..background import start_task, wait_for_tasks
from ..channels import fact_ledger
from ..channels.truncate import MAX_DATA
from ..clock import digest, iso
from ..config import Settings
from ..errors import RequestConflict, StorageUnavailable
from ..guards.ids import fabricated
from ..language import of
from ..observability import measure_all, record_duration
from ..refresh.refresh_queue import (
    NEW,
    PRESENCE,
    RefreshItem,
    RefreshQueue,
    after_effects,
    is_presence_due,
    stale,
)
from ..stores.dynamodb.transcripts import Transcript
from ..stores.rate_limits import Limits
from ..stores.types import (
    RING_SIZE,
    PendingConfirmation,
    SessionMemory,
    ToolCallDigest,
    Turn,
    TurnStatus,
)
from ..types import JSON, CallOutcome, JSONObject
from . import cards, confirmation, messages, tool_retrieval
from .messages import Reply
from .pending_approvals import MAX_RACES
from .results_block import TIMEOUT
from .session_memory import masker_for, recall, unmask
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..pii.masker import Masker
    from ..stores.dynamodb.sessions import SessionStore
    from .narrate import Narration


@dataclass(frozen=True)
class Recorder:
    """Records turns of one deployment."""

    settings: Settings
    sessions: SessionStore
    queue: RefreshQueue
    limits: Limits
    transcript: Transcript

    async def record(self, state: TurnContext, output: Output) -> Reply:
        """Write the turn, to a new slot or to that of the turn whose card it answers, and return
        the reply. Refresh requests and costs are sent in parallel; they may fail and take at most
        half a second."""
        left = state.card_left and of(state.language).say("card_left", what=state.card_left)
        said = "\n\n".join(filter(None, (output.reply, left)))
        reply, user = state.masker.unmask_text(said), state.ask.user
        ui = unmask(output.offer, state.masker) if output.offer else None
        choices = output.choices or ([] if output.card else confirmation.choices(reply, ui))
        output = output._replace(reply=reply, offer=ui, choices=choices)
        # work beside the turn, its archive among it, is done before the reply leaves
        await wait_for_tasks()
        is_due = is_presence_due(state.user_state, state.now)
        note_presence = is_due and bool(self.settings.absent_after_days)
        turn, _, _ = await asyncio.gather(
            self._store(state, output),
            self.queue.ask(user, refreshes(state, note_presence=note_presence)),
            self.limits.spend(user, state.tokens),
        )
        # False counts as 0: a share needs the zeros as well
        counts = {"Turns": 1, "TurnErrors": output.status == "error"}
        measure_all({**counts, "MaskedValues": len(state.masker.vault)})
        # the slot holds both replies, the user is shown the new one
        if turn.reply.endswith(f"\n\n{reply}") and not output.card:  # behind another turn's reply
            own = messages.source_map(state, output.narration, reply, len(turn.response["calls"]))
            turn = replace(turn, reply=reply, response={**turn.response, **own})
        return messages.replay(turn, state.ask.session_id, ui=ui or ui_of(state, state.reported))

    @record_duration("RecordMs")
    async def _store(self, state: TurnContext, output: Output) -> Turn:
        """The turn as stored. After a lost race it is rebuilt on the new state and retried; if
        another delivery of the request was recorded meanwhile, that turn is returned. If the ring
        has overwritten the original turn, a new one is written."""
        key, proposal = state.ask.key, state.proposal
        expires = int(state.now) + self.settings.ring_days * 86_400
        memory = (proposal or state).memory
        original = own = proposal.turn if proposal else None
        for _ in range(MAX_RACES):
            turn = build_turn(state, memory, output, original or own)
            if original:
                done = await self.sessions.replace(
                    key,
                    turn,
                    version=memory.versions[original.seq],
                    answered=proposal.ids if proposal else (),
                    expires_at=expires,
                )
            else:
                await self.transcript.touch(key, memory, state.ask.message, state.now)
                # begun while the model was asked, unless a race was lost since
                begun = state.archiving if memory is state.memory else None
                # before a slot is overwritten: up to which turn the transcript holds the session
                archived = await (begun or self.transcript.archive(key, memory, state.now))
                turn = replace(turn, seq=memory.last_seq + 1, told=archived)
                done = await self.sessions.append(
                    key, turn, expires_at=expires, now=state.now, memory=memory
                )
            if done:
                return turn
            memory = await self.sessions.read(key, now=state.now)
            if earlier := memory.turn_of(state.ask.request_id):
                return earlier
            # the ring may have overwritten it meanwhile: then the answer takes a new slot, and what
            # else waited stands where it was taken over
            own = own and replace(own, waiting=())
            original = next((t for t in memory.turns if original and t.seq == turn.seq), None)
        raise StorageUnavailable(
            "this session is being written by too many requests at once: retry in a second"
        )

    def begin(self, state: TurnContext) -> TurnContext:
        """Start archiving the turn that will be overwritten, if any."""
        if len(state.memory.ring) < RING_SIZE:
            return state
        work = self.transcript.archive(state.ask.key, state.memory, state.now)
        return replace(state, archiving=start_task(work))


MAX_REMEMBERED = 50
_ID_LIKE = re.compile(r"(?=[A-Za-z_-]{0,40}\d)(?<![\w-])[\w-]{5,64}(?![\w-])")
"""Words with a digit, of the length ids have. Numbers of up to four digits count things too often
to be remembered as ids."""
MAX_ACCEPTED = 200
"""Accepted destinations kept in a session; the oldest are dropped."""
MAX_SHOWN, MAX_TEXT = 100, 120
"""Maximum texts of a UI tree that are remembered as seen, and their length."""


class Output(NamedTuple):
    """What a turn tells the user, masked: reply, card and choices. `offer` is a UI tree below the
    reply of a turn without calls; `choice_cards` are the cards of the `choices`."""

    reply: str
    status: TurnStatus = "ok"
    card: PendingConfirmation | None = None
    narration: Narration | None = None
    offer: JSON = None
    choices: Sequence[JSONObject] = ()
    choice_cards: Sequence[PendingConfirmation] = ()

    @property
    def text(self) -> str:
        """The reply with its card's question."""
        question = cards.question(self.card) if self.card else ""
        return "\n\n".join(filter(None, (self.reply, question)))


def build_turn(
    state: TurnContext, memory: SessionMemory, output: Output, original: Turn | None = None
) -> Turn:
    """The turn to store, masked with the placeholders of `memory`: a new one, or `original` (the
    turn with the answered card, as currently stored) extended by the answer. A turn that only
    carried the card keeps its own reply before the answer's."""
    proposal, ask = state.proposal, state.ask
    # a lost race read the ring anew: placeholders have to be those of its turns
    same = memory is (proposal or state).memory
    masker = state.masker if same else masker_for(memory, state.message, state.masker)
    base = _base_turn(state, memory, original)
    before = list(recall(base, state.catalogue, masker))
    waiting = (*base.waiting, *filter(None, [output.card]), *output.choice_cards)
    card = cards.own_card(base, waiting)
    ui = ui_of(state, state.new_outcomes)
    reply = output.text
    response = messages.response(state, base.response, card, output.offer or ui, output.choices)
    if proposal and proposal.is_carried:
        reply = "\n\n".join(filter(None, (base.reply, reply)))
        response |= {k: base.response[k] for k in base.response.keys() & {"marks", "sources"}}
    response |= messages.source_map(state, output.narration, reply, len(response["calls"]))
    ended = [*before, *state.new_outcomes.values()]
    digests, paused, vault = _facts(state, ended, masker, reply, paused=bool(card))
    vouched, doubted = _keep_ids(state, reply, _text(digests))
    # carried on from turn to turn, so that they last as long as the session; the newest stay
    accepted = (*chain.from_iterable(t.accepted for t in memory.turns), *base.accepted)
    apps = (*base.apps, *(o.app_id for o in state.new_outcomes.values()))
    return replace(
        base,
        status="confirmation" if card else output.status,
        reply=reply,
        apps=tuple(dict.fromkeys(apps)),
        digests=digests,
        paused=paused,
        vault=vault,
        masked=not state.expose_pii,
        response=response,
        accepted=tuple(dict.fromkeys((*accepted, *state.accepted)))[-MAX_ACCEPTED:],
        waiting=waiting,
        marks=(*base.marks, request_mark(ask.request_id, ask.message)),
        shown=tuple(dict.fromkeys((*base.shown, *_texts(ui))))[:MAX_SHOWN],
        vouched=vouched,
        doubted=doubted,
        order=memory.next_order,
        unended=base.unended | _unended(state, len(base.response.get("calls", ()))),
    )


def _unended(state: TurnContext, first: int) -> dict[str, int]:
    """The places of the calls that ran into their deadline, of which the first has this one."""
    calls = enumerate(state.new_outcomes.values(), first)
    return {digest(o.arguments): place for place, o in calls if o.error_code == TIMEOUT}


def _base_turn(state: TurnContext, memory: SessionMemory, original: Turn | None) -> Turn:
    """The turn to build on: a new one, or the original with its cards that are still open."""
    if original is None:
        seq, last = memory.last_seq + 1, memory.last
        return Turn(
            seq=seq,
            # turns sort by time, also where a machine's clock is behind
            at=max([iso(state.now), *(t.at for t in memory.ring)]),  # of two the later number
            status="ok",
            message=state.message,
            reply="",
            request_id=state.ask.request_id,
            # a card outlives the slot of the turn that asked
            waiting=cards.carried(memory, seq, state.now),
            listed=_tool_list(state) or (last.listed if last else ""),
        )
    ids = state.proposal.ids if state.proposal else ()
    open_ = cards.waiting(original, state.now)
    return replace(
        original,
        also=tuple(dict.fromkeys((*original.also, *ids, state.ask.request_id))),
        waiting=tuple(p for p in open_ if p.confirmation_id not in ids),
        listed=_tool_list(state) or original.listed,
    )


def _facts(
    state: TurnContext, outcomes: Sequence[CallOutcome], masker: Masker, reply: str, *, paused: bool
) -> tuple[tuple[ToolCallDigest, ...], tuple[ToolCallDigest, ...], dict[str, str]]:
    """The facts of these calls for the ledger, a longer version for a turn paused by a card, and
    the placeholders of both."""
    gate = None if state.expose_pii else masker
    ended = [state.as_stored(o, gate) for o in outcomes if o.ok]
    facts, given = [(o.app_id, o.fn_name, o.data) for o in ended], [o.arguments for o in ended]
    digests = fact_ledger.record(facts, arguments=given)
    # the round behind the yes reads more than 3,000 characters
    whole = fact_ledger.record(facts, MAX_DATA, arguments=given) if paused else digests
    more = whole if whole != digests else ()
    if gate is None:
        return digests, more, {}
    # of the skeleton as a model was shown it: a value keeps its placeholder from turn to turn
    skeleton = state.opening.prompt.skeleton if state.rounds else ""
    texts = (_text(digests), _text(more), masker.mask_text(reply), skeleton)
    return digests, more, masker.used_in("\n".join(texts))


def _text(digests: Sequence[ToolCallDigest]) -> str:
    return "\n".join([d.data_facts_json + d.args_json for d in digests])


def _tool_list(state: TurnContext) -> str:
    """The stored form of the tool list, if it is not complete; empty if no model was asked."""
    if not state.rounds or not state.opening.shortlist.left_out:
        return ""
    functions = state.catalogue.functions(state.installed)
    # the kernel's own are in no catalogue, so no number stands for them
    shown = state.visible_tools[state.opening.own :]
    listed = tool_retrieval.tool_list(shown, functions, state.opening.shortlist.base)
    return tool_retrieval.to_text(listed, state.catalogue_key)


def ui_of(state: TurnContext, outcomes: dict[int, CallOutcome]) -> JSON:
    """The UI tree for the page: that of the last call with one, except lookups."""
    for number, outcome in reversed(outcomes.items()):
        if outcome.ui and outcome.ok and number not in state.lookups:
            return outcome.ui
    return None


def _texts(ui: JSON) -> Iterator[str]:
    """The short texts of a UI tree."""
    if isinstance(ui, dict):
        ui = list(ui.values())
    if isinstance(ui, list):
        for item in ui:
            yield from _texts(item)
    elif isinstance(ui, str) and 0 < len(ui) <= MAX_TEXT:
        yield ui


def _keep_ids(state: TurnContext, reply: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The known and the suspect ids for later turns, at most 50 each.

    Known are ids in the reply that this turn verified and no stored fact contains; suspect are
    values that a model made up for other arguments, which results may echo. Most turns have none.
    """
    # an id that a kept fact or the message holds needs no vouching
    stored_text = f"{text}\n{state.message}"
    missing = [t for t in dict.fromkeys(_ID_LIKE.findall(reply)) if t not in stored_text]
    given = [state.arguments_of(o) for o in state.reported.values()]
    # most turns end here
    if not missing and all(v in state.message for v in chain.from_iterable(map(fabricated, given))):
        return (), ()
    known = state.known_ids
    vouched = tuple(t for t in missing if known.contains("id", t))
    return vouched[:MAX_REMEMBERED], known.suspect[:MAX_REMEMBERED]


def refreshes(state: TurnContext, *, note_presence: bool) -> list[RefreshItem]:
    """The refreshes to request: sections of apps with effects, then stale ones; with
    `note_presence` the user's presence."""
    effects = [o.app_id for o in state.new_outcomes.values() if o.has_changed]
    asked = after_effects(state.catalogue, effects)
    old = stale(state.catalogue, state.installed, state.user_state, state.now)
    # an effect's refresh is due anyway
    changed = {(w.app_id, w.section) for w in asked}
    asked += [RefreshItem(*section, "stale") for section in old if section not in changed]
    if note_presence:
        asked.append(RefreshItem("", "", PRESENCE))
    # what finds nothing of its user begins anew
    if state.user_state.sections or state.user_state.seen_at is not None:
        return asked
    return [w._replace(reason=NEW) for w in asked]


_ID, _MESSAGE = 9, 3


def request_mark(request_id: str, message: str) -> str:
    """A 12-character hash of request id and message."""
    return digest("request", request_id)[:_ID] + digest("message", message)[:_MESSAGE]


def check_same_message(memory: SessionMemory, request_id: str, message: str) -> None:
    """Raise RequestConflict if this request id was answered for another message."""
    given = request_mark(request_id, message)
    marks = [m for t in memory.turns for m in t.marks if m.startswith(given[:_ID])]
    if marks and given not in marks:
        raise RequestConflict(
            "this request_id was used for another message: send a new one", field="request_id"
        )

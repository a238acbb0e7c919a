"""Record: what remains of a turn, its one write before the reply leaves, and what goes beside it.

A request id that comes back with its message gets its answer again for as long as its turn is
remembered; with another message it is refused."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..background import start_task, wait_for_tasks
from ..channels import fact_ledger
from ..channels.bounding import MAX_DATA
from ..clock import digest, iso
from ..config import Settings
from ..errors import RequestConflict, StorageUnavailable
from ..guards.ids import fabricated
from ..observability import count_turn, record_duration
from ..refresh.refresh_queue import (
    NEW,
    PRESENCE,
    RefreshItem,
    RefreshQueue,
    after_effects,
    is_presence_due,
    stale,
)
from ..stores.protocols import Stores
from ..stores.rate_limits import Limits
from ..stores.transcript_archive import Transcript
from ..stores.types import (
    PendingConfirmation,
    SessionMemory,
    ToolCallDigest,
    Turn,
    TurnStatus,
)
from ..types import JSON, CallOutcome, JSONObject
from . import cards, confirmation, messages, tool_retrieval
from .messages import Reply
from .pending_approvals import MAX_RACES, AnsweredProposal
from .results_block import remembered_details
from .session_memory import masker_for, recalled, unmasked
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..pii import Masker
    from .narrate import Narration


class Recorder:
    """Records turns of one deployment."""

    def __init__(
        self, settings: Settings, stores: Stores, queue: RefreshQueue, limits: Limits
    ) -> None:
        self._settings = settings
        self._sessions = stores.sessions
        self._queue = queue
        self._limits = limits
        self._transcript = Transcript(stores.transcripts, settings, remembered_details)

    async def record(self, state: TurnContext, told: Told) -> Reply:
        """The reply, once the turn is written: to a slot of its own, or to that of the turn whose
        questions it answers, when all that went on beside the turn is done. With it go requests for
        refreshes and what the turn cost, which may fail and take half a second at most."""
        reply, user = state.masker.unmask_text(told.reply), state.user
        drawn = unmasked(told.offer, state.masker) if told.offer else None
        offered = told.choices or ([] if told.held else confirmation.choices(reply, drawn))
        told = told._replace(reply=reply, offer=drawn, choices=offered)
        # work beside the turn, its archive among it, is done before the reply leaves
        await wait_for_tasks()
        noted = bool(self._settings.absent_after_days)
        turn, _, _ = await asyncio.gather(
            self._written(state, told),
            self._queue.ask(user, wanted(state, note_presence=noted)),
            self._limits.spend(user, state.tokens),
        )
        count_turn(told.status, len(state.masker.vault))
        # the slot holds both replies, the user is shown the new one
        if turn.reply.endswith(f"\n\n{reply}") and not told.held:  # behind another turn's reply
            own = messages.sourced(state, told.narration, reply, len(turn.response["calls"]))
            turn = replace(turn, reply=reply, response={**turn.response, **own})
        return messages.replay(turn, state.ask.session_id, ui=drawn or drawn_of(state, state.told))

    @record_duration("RecordMs")
    async def _written(self, state: TurnContext, told: Told) -> Turn:
        """The turn as it was stored; two tabs writing at once lose nothing. A lost race re-reads
        and builds it again, with the next number or on what its turn has become. What another
        delivery of the same request has recorded meanwhile is returned instead. Where the ring has
        overwritten the turn that asked, it becomes one of its own."""
        key, taken, expires = state.key, state.answered, self.expires(state)
        memory = (taken or state).memory
        asked = own = taken.turn if taken else None
        for _ in range(MAX_RACES):
            turn = remembered(state, memory, told, asked or own)
            if asked:
                done = await self._sessions.replace(
                    key,
                    turn,
                    version=memory.versions[asked.seq],
                    answered=taken.ids if taken else (),
                    expires_at=expires,
                )
            else:
                # before a slot is overwritten: up to which turn the transcript holds the session
                archived = await self._archived(state, memory)
                turn = replace(turn, seq=memory.last_seq + 1, told=archived)
                done = await self._sessions.append(key, turn, expires_at=expires, now=state.now)
            if done:
                return turn
            memory = await self._sessions.read(key, now=state.now)
            if earlier := memory.answered(state.ask.request_id):
                return earlier
            # the ring may have overwritten it meanwhile: then the answer takes a new slot
            asked = next((t for t in memory.turns if asked and t.seq == turn.seq), None)
        raise StorageUnavailable(
            "this session is being written by too many requests at once: retry in a second"
        )

    async def _archived(self, state: TurnContext, memory: SessionMemory) -> int:
        await self._transcript.touch(state.key, memory, state.ask.message, state.now)
        # begun while the model was asked
        if memory is state.memory and state.archiving:
            return await state.archiving
        return await self._transcript.archive(state.key, memory, state.now)

    def begin(self, state: TurnContext) -> TurnContext:
        """Beside the turn: archive what it will overwrite, where that is not archived yet."""
        if not self._transcript.owes(state.memory, state.now):
            return state
        work = self._transcript.archive(state.key, state.memory, state.now)
        return replace(state, archiving=start_task(work))

    def expires(self, state: TurnContext) -> int:
        """When the table may forget what is recorded now, in Unix seconds."""
        return int(state.now) + self._settings.ring_days * 86_400


MAX_REMEMBERED = 50
_ID_LIKE = re.compile(r"(?=[A-Za-z_-]{0,40}\d)(?<![\w-])[\w-]{5,64}(?![\w-])")
"""Words with a digit, of the length ids have. Numbers of up to four digits count things too often
to be remembered as ids."""
MAX_ACCEPTED = 200
"""Destinations that a session carries on; of more, the oldest are asked about again."""
MAX_SHOWN, LONGEST_SHOWN = 100, 120
"""Texts of a drawing that are remembered as seen, and the characters of one."""


class Told(NamedTuple):
    """What the user is told by a turn, as models may see it, and what he is asked (`held`). `offer`
    is a UI tree below the reply of a turn in which nothing was done; `unshown` are the cards that
    picking one of the `choices` comes to."""

    reply: str
    status: TurnStatus = "ok"
    held: PendingConfirmation | None = None
    narration: Narration | None = None
    offer: JSON = None
    choices: Sequence[JSONObject] = ()
    unshown: Sequence[PendingConfirmation] = ()


def remembered(
    state: TurnContext, memory: SessionMemory, told: Told, asked: Turn | None = None
) -> Turn:
    """This turn as the next one will read it, masked with the placeholders of `memory`: numbered
    after it, or the turn that asked, with what came of the answer: still one turn. `asked` is how
    it stands now; another of its questions may have been answered since this one was taken. One
    that only carried the question on keeps its own reply before the answer's."""
    taken, ask = state.answered, state.ask
    # a lost race read the ring anew: placeholders have to be those of its turns
    same = memory is (taken or state).memory
    masker = state.masker if same else masker_for(memory, state.message, state.masker)
    base = _standing(state, memory, asked)
    before = list(recalled(base, state.catalogue, masker))
    waiting = (*base.waiting, *filter(None, [told.held]), *told.unshown)
    shown = cards.own_card(base, waiting)
    drawn = drawn_of(state, state.fresh)
    reply = _reply(base, told, taken)
    response = messages.response(state, base.response, shown, told.offer or drawn, told.choices)
    if taken and taken.is_carried:
        response |= {k: base.response[k] for k in base.response.keys() & {"marks", "sources"}}
    response |= messages.sourced(state, told.narration, reply, len(response["calls"]))
    ended = [*before, *state.fresh.values()]
    digests, paused, vault = _facts(state, ended, masker, reply, paused=bool(shown))
    vouched, doubted = _ids(state, reply, _text(digests))
    # carried on from turn to turn, so that they last as long as the session; the newest stay
    accepted = (*chain.from_iterable(t.accepted for t in memory.turns), *base.accepted)
    apps = (*base.apps, *(o.app_id for o in state.fresh.values()))
    return replace(
        base,
        status="confirmation" if shown else told.status,
        reply=reply,
        apps=tuple(dict.fromkeys(apps)),
        digests=digests,
        paused=paused,
        vault=vault,
        masked=not state.expose_pii,
        response=response,
        accepted=tuple(dict.fromkeys((*accepted, *state.accepted)))[-MAX_ACCEPTED:],
        waiting=waiting,
        marks=(*base.marks, mark(ask.request_id, ask.message)),
        shown=tuple(dict.fromkeys((*base.shown, *_texts(drawn))))[:MAX_SHOWN],
        vouched=vouched,
        doubted=doubted,
        order=memory.next_order,
    )


def _reply(base: Turn, told: Told, taken: AnsweredProposal | None) -> str:
    """The reply with what its card asks; behind that of a turn which only carried the card on."""
    parts = [told.reply, cards.question(told.held) if told.held else ""]
    carried = base.reply if taken and taken.is_carried else ""
    return "\n\n".join(filter(None, (carried, *parts)))


def _standing(state: TurnContext, memory: SessionMemory, asked: Turn | None) -> Turn:
    """The turn before anything came of this request: a new one, or the one that asked, with the
    questions that are still open."""
    if asked is None:
        seq = memory.last_seq + 1
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
            listed=tool_retrieval.kept(_listed(state), memory.turns, seq),
        )
    ids = state.answered.ids if state.answered else ()
    open_ = cards.waiting(asked, state.now)
    return replace(
        asked,
        also=tuple(dict.fromkeys((*asked.also, *ids, state.ask.request_id))),
        waiting=tuple(p for p in open_ if p.confirmation_id not in ids),
        listed=_listed(state) or asked.listed,
    )


def _facts(
    state: TurnContext, outcomes: Sequence[CallOutcome], masker: Masker, reply: str, *, paused: bool
) -> tuple[tuple[ToolCallDigest, ...], tuple[ToolCallDigest, ...], dict[str, str]]:
    """The facts of these calls as the ledger keeps them, as much more of them as the next round may
    read where a question pauses the turn, and the placeholders that both need."""
    gate = None if state.expose_pii else masker
    ended = [state.as_kept(o, gate) for o in outcomes if o.ok]
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


def _listed(state: TurnContext) -> str:
    """What the session has been shown of a catalogue that is not shown whole, as its next turn
    reads it; empty where no model was asked."""
    if not state.rounds or not state.opening.shortlist.left_out:
        return ""
    functions = state.catalogue.functions(state.installed)
    # the kernel's own are in no catalogue, so no number stands for them
    shown = state.offered_tools[state.opening.own :]
    listed = tool_retrieval.standing(shown, functions, state.opening.shortlist.base)
    return tool_retrieval.text(listed, state.catalogue_key)


def drawn_of(state: TurnContext, outcomes: Mapping[int, CallOutcome]) -> JSON:
    """The tree that the page draws: that of the last call that returned one, but for a list that
    was only looked through."""
    for number, outcome in sorted(outcomes.items(), reverse=True):
        if outcome.ui and outcome.ok and number not in state.looked_through:
            return outcome.ui
    return None


def _texts(drawn: JSON) -> Iterator[str]:
    """The short texts of what the page draws."""
    if isinstance(drawn, dict):
        drawn = list(drawn.values())
    if isinstance(drawn, list):
        for item in drawn:
            yield from _texts(item)
    elif isinstance(drawn, str) and 0 < len(drawn) <= LONGEST_SHOWN:
        yield drawn


def _ids(state: TurnContext, reply: str, stored: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a later turn has to know of ids, at most 50 each.

    First those the reply shows, that this turn knew to be real, and that no kept fact holds,
    because it was cut or left memory before; then what a model made up for other arguments: facts
    may repeat it, which makes it no truer. Most turns have neither and pay next to nothing.
    """
    # an id that a kept fact or the message holds needs no vouching
    there = f"{stored}\n{state.message}"
    forgotten = [t for t in dict.fromkeys(_ID_LIKE.findall(reply)) if t not in there]
    given = [state.arguments_of(o) for o in state.told.values()]
    # most turns end here
    if not forgotten and all(
        v in state.message for v in chain.from_iterable(map(fabricated, given))
    ):
        return (), ()
    known = state.known
    vouched = [t for t in forgotten if known.contains("id", t)]
    return tuple(vouched[:MAX_REMEMBERED]), known.suspect[:MAX_REMEMBERED]


def wanted(state: TurnContext, *, note_presence: bool) -> list[RefreshItem]:
    """The refreshes to ask for: sections of apps that changed something, then stale ones; with
    `note_presence`, now and then, that the user is here."""
    effects = [o.app_id for o in state.fresh.values() if o.action_type != "read" and o.ok]
    asked = after_effects(state.catalogue, effects)
    old = stale(state.catalogue, state.installed, state.stored, state.now)
    # an effect's refresh is due anyway
    changed = {(w.app_id, w.section) for w in asked}
    asked += [RefreshItem(*section, "stale") for section in old if section not in changed]
    if note_presence and is_presence_due(state.stored, state.now):
        asked.append(RefreshItem("", "", PRESENCE))
    # what finds nothing of its user begins anew
    if state.stored.sections or state.stored.seen_at is not None:
        return asked
    return [w._replace(reason=NEW) for w in asked]


_ID, _MESSAGE = 9, 3


def mark(request_id: str, message: str) -> str:
    """12 characters: whose request, and which message it carried."""
    return digest("request", request_id)[:_ID] + digest("message", message)[:_MESSAGE]


def refuse_another_message(memory: SessionMemory, request_id: str, message: str) -> None:
    """RequestConflict where this request id has been answered with another message."""
    given = mark(request_id, message)
    marks = [m for t in memory.turns for m in t.marks if m.startswith(given[:_ID])]
    if marks and given not in marks:
        raise RequestConflict(
            "this request_id was used for another message: send a new one", field="request_id"
        )

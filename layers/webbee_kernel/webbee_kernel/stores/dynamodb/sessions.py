"""Session memory: a ring of five items per session.

    pk tenant#user#session   sk turn#0 … turn#4    seq  at  packed  expires_at  stamp
                                                   waiting  lease_<id>  holder_<id>
    pk tenant#user           sk pending#<id>       session_id  expires_at

A question lives in the turn that asked it (`waiting`: the ids), so it is asked, taken and answered
by one write each, and nothing can stand between a question and its turn. The list of a user's
sessions lies with the transcripts.

A turn is its text, compressed (`packed`), for a write is billed by the kilobyte; `seq` and `at` are
what is left of one whose text is damaged.

Destinations that a person has accepted for a function lie here too: the function that runs turns
has this table, and nobody else may read it.

    pk tenant#user   sk accepted#<app>.<function>#<hash>   app_id  fn_name  destination  at
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...types import SessionKey, UserKey
from ..codec import QUESTION_GRACE_S, compress, decompress, turn_from, turn_text
from ..item_keys import session_key, user_key
from ..types import RING_SIZE, AcceptedDestination, AnswerLease, SessionMemory, Turn
from .client import TableStore, is_written
from .item_requests import STAMP, Item, Write, is_unexpired, key_of, put, stamp, update

SMALL_BYTES = 2_048
CACHED_TURNS = 200
"""Turns that a process need not read again, and the packed bytes of one: some megabytes."""
_log = logging.getLogger("webbee.store")


def turn_from_item(item: Item) -> Turn:
    """The turn that an item holds; of a damaged one the place, so that it costs a person one turn
    and not the conversation."""
    try:
        packed = item["packed"]
        # past the cache: hundreds of large turns are more than a process should hold
        read = _decode_turn if len(packed) <= SMALL_BYTES else _decode_turn.__wrapped__
        return read(packed)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        log_damaged(item, error)
        return Turn(int(item["seq"]), item["at"], "error", "", "", "")


def log_damaged(item: Item, error: Exception) -> None:
    """Say in the log which item of the session cannot be read."""
    reason = type(error).__name__
    _log.error("item=%s reason=%s | cannot be read: left out", item["sk"], reason)


@lru_cache(maxsize=CACHED_TURNS)
def _decode_turn(packed: bytes) -> Turn:
    """The turn in these bytes: a conversation's next one finds four of its five read already."""
    return turn_from(decompress(packed))


_SLOTS = tuple(f"turn#{slot}" for slot in range(RING_SIZE))
# a slot may be taken by a later turn only, or where its own has expired
_OLDER = "attribute_not_exists(#seq) OR #seq < :seq OR #expires_at <= :now"
_LEASE = "lease_"
_HOLDER = "holder_"
NO_MEMORY = SessionMemory()
_YES, _NO = "yes:", "no:"
"""How a holder begins: the first answer counts, whoever carries it out."""


class SessionStore(TableStore):
    """A ring of five turns per session: turn n lives in slot n mod 5, so a sixth cannot exist.
    Every method is one request."""

    async def read(self, key: SessionKey, *, now: float) -> SessionMemory:
        """One strongly consistent query: turns oldest first, with the questions that wait. Turns
        that expired by `now` are gone, swept or not."""
        items = await self._partition(session_key(key))
        # expired items are there until DynamoDB's sweep, which may take days
        slots = [item for item in items if item["sk"] in _SLOTS and is_unexpired(item, now)]
        return SessionMemory(
            turns=tuple(sorted(map(turn_from_item, slots), key=lambda turn: turn.seq)),
            leases={
                name.removeprefix(_LEASE): _lease(item, name)
                for item in slots
                for name in item
                if name.startswith(_LEASE)
            },
            versions={int(item["seq"]): item[STAMP] for item in slots},
        )

    async def append(
        self,
        key: SessionKey,
        turn: Turn,
        *,
        expires_at: int,
        now: float,
        memory: SessionMemory = NO_MEMORY,
    ) -> bool:
        """Write `turn` into slot `turn.seq % 5` if that slot holds an older sequence or one that
        expired by `now`; False if it does not, or was answered since `memory` was read. The leases
        of questions that it takes over stay.

        One conditional write; where the turn asks, one transaction with the ways to its session
        (`find_pending`).
        """
        item = {**_slot(key, turn.seq), "seq": turn.seq, **_attributes(turn, expires_at)}
        older, values = _OLDER, Item(seq=turn.seq, now=now)
        if version := memory.versions.get(turn.seq - RING_SIZE):
            older, values["version"] = f"#stamp = :version AND ({_OLDER})", version
            for question in turn.waiting:
                name = question.confirmation_id
                if lease := memory.leases.get(name):
                    item |= _lease_of(name, lease)
                else:
                    older = f"attribute_not_exists(#{_LEASE}{name}) AND {older}"
        write = put(self._table, item, older, own=STAMP, **values)
        return await self._write_turn(key, turn, write)

    async def replace(
        self, key: SessionKey, turn: Turn, *, version: str, answered: Sequence[str], expires_at: int
    ) -> bool:
        """Rewrite a turn whose questions `answered` have been answered, if it is still what was
        read (`version`); False if it is not. One conditional write, one transaction where the turn
        asks; those questions' leases end with it.
        """
        # a lease ends with its question
        removed = [f"{kind}{name}" for name in answered for kind in (_LEASE, _HOLDER)]
        # `_attributes` names `waiting` only where something waits: else it has to go
        changes = {"waiting": None, **_attributes(turn, expires_at), **dict.fromkeys(removed)}
        write = update(
            self._table,
            _slot(key, turn.seq),
            changes,
            "#seq = :seq AND #stamp = :version",
            own=STAMP,
            seq=turn.seq,
            version=version,
        )
        return await self._write_turn(key, turn, write)

    async def _write_turn(self, key: SessionKey, turn: Turn, write: Write) -> bool:
        """Send it; where the turn asks in one transaction with the way to it from each of its
        questions' ids."""
        ways = [
            {
                **_pointer(key.user, question.confirmation_id),
                "session_id": key.session_id,
                "expires_at": question.expires_at + QUESTION_GRACE_S,
            }
            for question in turn.waiting
        ]
        writes = (put(self._table, way) for way in ways)
        return await is_written(self._database.write(write, *writes))

    async def take_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, now: float, lease: AnswerLease
    ) -> bool:
        """Take the lease of a question of turn `seq`; True for one caller until its end, also where
        callers race. The question stays until `replace` leaves it out: nothing is lost with whoever
        holds the lease.
        """
        until, holder = f"{_LEASE}{confirmation_id}", f"{_HOLDER}{confirmation_id}"
        # a write whose answer was lost is recognised by its holder
        changes = _lease_of(confirmation_id, lease)
        condition = (
            "#seq = :seq AND contains(#waiting, :id)"
            f" AND (attribute_not_exists(#{until}) OR #{until} < :now)"
        )
        values = {"seq": seq, "id": confirmation_id, "now": now}
        return await is_written(
            self._update(_slot(key, seq), changes, condition, own=holder, **values)
        )

    async def keep_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, was: float, until: float
    ) -> bool:
        """Renew a lease that ends at `was`; False where it is no longer ours, or was given back."""
        lease = f"{_LEASE}{confirmation_id}"
        condition = f"#seq = :seq AND #{lease} = :was"
        renewal = self._update(
            _slot(key, seq), {lease: until}, condition, own=lease, seq=seq, was=was
        )
        return await is_written(renewal)

    async def find_pending(self, user: UserKey, confirmation_id: str, *, now: float) -> str | None:
        """The session in which this confirmation was asked, until ten minutes after it expires;
        also after it was taken, since a repeated answer belongs to the first one's session."""
        item = await self._get(_pointer(user, confirmation_id))
        # another tenant's or user's id is under another key, and so unknown
        return str(item["session_id"]) if item and is_unexpired(item, now) else None

    async def delete(self, key: SessionKey) -> None:
        """Forget the session. Repeatable."""
        # the ways of its questions stay until they expire: they lead to nothing any more
        await self._delete_batch(key_of(session_key(key), sk) for sk in _SLOTS)


def _slot(key: SessionKey, seq: int) -> Item:
    return key_of(session_key(key), _SLOTS[seq % RING_SIZE])


def _lease(item: Item, name: str) -> AnswerLease:
    holder = str(item[_HOLDER + name.removeprefix(_LEASE)])
    return AnswerLease(float(item[name]), holder.startswith(_YES))


def _lease_of(name: str, lease: AnswerLease) -> Item:
    holder = (_YES if lease.yes else _NO) + stamp()
    return {f"{_LEASE}{name}": lease.until, f"{_HOLDER}{name}": holder}


def _attributes(turn: Turn, expires_at: int) -> Item:
    waiting = {question.confirmation_id for question in turn.waiting}
    asks = {"waiting": waiting} if waiting else {}
    packed = compress(turn_text(turn))
    return {"at": turn.at, "packed": packed, "expires_at": expires_at, **asks}


def _pointer(user: UserKey, confirmation_id: str) -> Item:
    return key_of(user_key(user), f"pending#{confirmation_id}")


PREFIX = "accepted#"
_STORED_FIELDS = AcceptedDestination._fields[1:]
"""All but the key, by which they are found."""


class AcceptedStore(TableStore):
    """Destinations that a person has accepted for a function, for good."""

    async def list(self, user: UserKey, *, function: str = "") -> tuple[AcceptedDestination, ...]:
        """All of them, or those of `app.function`."""
        # one query, whichever is asked
        items = await self._partition(
            user_key(user), f"{PREFIX}{function}#" if function else PREFIX
        )
        return tuple(
            AcceptedDestination(
                item["sk"].removeprefix(PREFIX), *(item[name] for name in _STORED_FIELDS)
            )
            for item in items
        )

    async def put(self, user: UserKey, accepted: Iterable[AcceptedDestination]) -> None:
        """Remember these, of two spellings of one destination the last. Repeatable."""
        await self._put_batch(
            key_of(user_key(user), PREFIX + one.key)
            | dict(zip(_STORED_FIELDS, one[1:], strict=True))
            for one in accepted
        )

    async def delete(self, user: UserKey, keys: Iterable[str]) -> None:
        """Forget these. Repeatable."""
        await self._delete_batch(key_of(user_key(user), PREFIX + key) for key in keys)

"""Session memory: a ring of five items per session.

    pk tenant#user#session   sk turn#0 … turn#4    seq  body packed marks  expires_at  stamp
                                                   waiting  lease_<id>  holder_<id>
    pk tenant#user           sk pending#<id>       session_id  expires_at

A question lives in the turn that asked it (`waiting`: the ids), so it is asked, taken and answered
by one write each, and nothing can stand between a question and its turn. The list of a user's
sessions lies with the transcripts.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...values import Answering, SessionKey, SessionMemory, Turn, UserKey
from ..keys import session_key, user_key
from ..records import KEPT_S, slot_of
from .client import (
    LAYOUT,
    ConditionFailed,
    Database,
    Item,
    N,
    S,
    key_of,
    lives,
    stamp,
)
from .turn_items import turn_attributes, turn_in

_SLOTS = tuple(f"turn#{slot}" for slot in range(5))
_OLDER = "attribute_not_exists(#seq) OR #seq < :seq OR #expires_at <= :now"
_LEASE = "lease_"
_HOLDER = "holder_"
_YES, _NO = "yes:", "no:"
"""How a holder begins: the first answer counts, whoever carries it out."""


class DynamoSessionStore:
    """`SessionStore` on one table. Every method is one request."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def read(self, key: SessionKey, *, now: float) -> SessionMemory:
        items = await self._database.items(
            TableName=self._table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeValues={":pk": S(session_key(key))},
            ConsistentRead=True,
        )
        slots = [item for item in items if item["sk"]["S"] in _SLOTS and lives(item, now)]
        return SessionMemory(
            turns=tuple(sorted(map(turn_in, slots), key=lambda turn: turn.seq)),
            taken={
                name.removeprefix(_LEASE): _lease(item, name)
                for item in slots
                for name in item
                if name.startswith(_LEASE)
            },
            versions={int(item["seq"]["N"]): item["stamp"]["S"] for item in slots},
        )

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int, now: float) -> bool:
        own = stamp()
        request: Item = {
            "TableName": self._table,
            "Item": {
                **key_of(session_key(key), _SLOTS[slot_of(turn.seq)]),
                "seq": N(turn.seq),
                **_attributes(turn, expires_at),
                **own,
            },
            "ConditionExpression": _OLDER,
            "ExpressionAttributeValues": {":seq": N(turn.seq), ":now": N(now)},
        }
        return await self._written(key, turn, "put_item", request, own)

    async def _ask(
        self, key: SessionKey, turn: Turn, operation: str, request: Item, own: Item
    ) -> None:
        """One transaction: the turn with its questions, and the way to it from each of their
        ids."""
        pointers = [
            {
                **_pointer(key.user, asked.confirmation_id),
                **LAYOUT,
                "session_id": S(key.session_id),
                "expires_at": N(asked.expires_at + KEPT_S),
            }
            for asked in turn.waiting
        ]
        first = {"put_item": "Put", "update_item": "Update"}[operation]
        try:
            await self._database.transact(
                {first: {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
                *({"Put": {"TableName": self._table, "Item": item}} for item in pointers),
            )
        except ConditionFailed as failure:
            if not own.items() <= failure.item.items():
                raise

    async def replace(
        self,
        key: SessionKey,
        turn: Turn,
        *,
        version: str,
        answered: Sequence[str],
        expires_at: int,
    ) -> bool:
        own = stamp()
        written = {**_attributes(turn, expires_at), **own}
        gone = [f"#{kind}{name}" for name in answered for kind in (_LEASE, _HOLDER)]
        gone += [] if turn.waiting else ["#waiting"]
        removed = f" REMOVE {', '.join(gone)}" if gone else ""
        request: Item = {
            "TableName": self._table,
            "Key": key_of(session_key(key), _SLOTS[slot_of(turn.seq)]),
            "UpdateExpression": f"SET {', '.join(f'#{n} = :{n}' for n in written)}{removed}",
            "ConditionExpression": "#seq = :seq AND #stamp = :version",
            "ExpressionAttributeValues": {
                ":seq": N(turn.seq),
                ":version": S(version),
                **{f":{name}": value for name, value in written.items()},
            },
        }
        return await self._written(key, turn, "update_item", request, own)

    async def _written(
        self, key: SessionKey, turn: Turn, operation: str, request: Item, own: Item
    ) -> bool:
        try:
            if turn.waiting:
                await self._ask(key, turn, operation, request, own)
            else:
                await self._database.write(operation, own=own, **request)
        except ConditionFailed:
            return False
        return True

    async def take_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, now: float, lease: Answering
    ) -> bool:
        until, holder = f"{_LEASE}{confirmation_id}", f"{_HOLDER}{confirmation_id}"
        own = {holder: S((_YES if lease.yes else _NO) + stamp()["stamp"]["S"])}
        request: Item = {
            "TableName": self._table,
            "Key": key_of(session_key(key), _SLOTS[slot_of(seq)]),
            "UpdateExpression": f"SET #{until} = :until, #{holder} = :holder",
            "ConditionExpression": "#seq = :seq AND contains(#waiting, :id)"
            f" AND (attribute_not_exists(#{until}) OR #{until} < :now)",
            "ExpressionAttributeValues": {
                ":seq": N(seq),
                ":id": S(confirmation_id),
                ":now": N(now),
                ":until": N(lease.until),
                ":holder": own[holder],
            },
        }
        return await self._database.wrote("update_item", own=own, **request)

    async def keep_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, was: float, until: float
    ) -> bool:
        lease = f"{_LEASE}{confirmation_id}"
        own = {lease: N(until)}
        request: Item = {
            "TableName": self._table,
            "Key": key_of(session_key(key), _SLOTS[slot_of(seq)]),
            "UpdateExpression": f"SET #{lease} = :until",
            "ConditionExpression": f"#seq = :seq AND #{lease} = :was",
            "ExpressionAttributeValues": {":seq": N(seq), ":was": N(was), ":until": N(until)},
        }
        return await self._database.wrote("update_item", own=own, **request)

    async def find_pending(self, user: UserKey, confirmation_id: str, *, now: float) -> str | None:
        """Also after it was taken: a repeated answer belongs to the session that has the first
        one's turn."""
        item = await self._database.get(self._table, _pointer(user, confirmation_id))
        return str(item["session_id"]["S"]) if item and lives(item, now) else None

    async def delete(self, key: SessionKey) -> None:
        await self._database.delete_batch(
            self._table, [key_of(session_key(key), sk) for sk in _SLOTS]
        )


def _lease(item: Item, name: str) -> Answering:
    holder = str(item[_HOLDER + name.removeprefix(_LEASE)]["S"])
    return Answering(float(item[name]["N"]), holder.startswith(_YES))


def _attributes(turn: Turn, expires_at: int) -> Item:
    waiting = [asked.confirmation_id for asked in turn.waiting]
    return {
        **turn_attributes(turn),
        "expires_at": N(expires_at),
        **LAYOUT,
        **({"waiting": {"SS": waiting}} if waiting else {}),
    }


def _pointer(user: UserKey, confirmation_id: str) -> Item:
    return key_of(user_key(user), f"pending#{confirmation_id}")

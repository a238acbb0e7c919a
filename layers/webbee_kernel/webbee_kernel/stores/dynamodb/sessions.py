"""Session memory: a ring of five items per session.

    pk tenant#user#session   sk turn#0 … turn#4    seq  body  expires_at  stamp
                             sk pending            confirmation_id  body  expires_at
    pk tenant#user           sk pending#<id>       session_id  expires_at
    index by_user            user_key tenant#user  touched_at  title  seq  session_id  (slot 1)

Only slot 1 carries the index: the list of sessions costs one index write in five turns, and shows a
session's last such turn. Its title is that of the first turn, kept by the write itself
(`if_not_exists`), without a read.
"""

from __future__ import annotations

from ...values import PendingConfirmation, SessionKey, SessionMemory, SessionSummary, Turn, UserKey
from ..keys import session_key, user_key
from ..paging import Cursor, positive
from ..records import (
    carries_listing,
    pending_from,
    pending_text,
    slot_of,
    title_of,
    turn_from,
    turn_text,
)
from .client import ConditionFailed, Database, Item, N, S, key_of, stamp

_PENDING = "pending"
_LISTED = "turn#1"
_SLOTS = tuple(f"turn#{slot}" for slot in range(5))
_OLDER = "attribute_not_exists(#seq) OR #seq < :seq"


class DynamoSessionStore:
    """`SessionStore` on one table. Every method is one request."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def read(self, key: SessionKey) -> SessionMemory:
        items = await self._database.items(
            TableName=self._table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeValues={":pk": S(session_key(key))},
            ConsistentRead=True,
        )
        turns = [turn_from(item["body"]["S"]) for item in items if item["sk"]["S"] != _PENDING]
        waiting = [pending_from(item["body"]["S"]) for item in items if item["sk"]["S"] == _PENDING]
        return SessionMemory(
            tuple(sorted(turns, key=lambda turn: turn.seq)), waiting[0] if waiting else None
        )

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int) -> bool:
        own = stamp()
        attributes = {
            "seq": N(turn.seq),
            "body": S(turn_text(turn)),
            "expires_at": N(expires_at),
            **own,
        }
        write = self._put_listed if carries_listing(turn.seq) else self._put
        try:
            await write(key, turn, attributes, own)
        except ConditionFailed:
            return False
        return True

    async def _put(self, key: SessionKey, turn: Turn, attributes: Item, own: Item) -> None:
        await self._database.write(
            "put_item",
            own=own,
            TableName=self._table,
            Item={**key_of(session_key(key), _SLOTS[slot_of(turn.seq)]), **attributes},
            ConditionExpression=_OLDER,
            ExpressionAttributeValues={":seq": attributes["seq"]},
        )

    async def _put_listed(self, key: SessionKey, turn: Turn, attributes: Item, own: Item) -> None:
        listed = {
            **attributes,
            "user_key": S(user_key(key.user)),
            "touched_at": S(turn.at),
            "session_id": S(key.session_id),
        }
        await self._database.write(
            "update_item",
            own=own,
            TableName=self._table,
            Key=key_of(session_key(key), _LISTED),
            UpdateExpression="SET #title = if_not_exists(#title, :title), "
            + ", ".join(f"#{name} = :{name}" for name in listed),
            ConditionExpression=_OLDER,
            ExpressionAttributeValues={
                ":title": S(title_of(turn.message)),
                **{f":{name}": value for name, value in listed.items()},
            },
        )

    async def put_pending(self, key: SessionKey, pending: PendingConfirmation) -> None:
        """One transaction: what waits, and where to find it by the confirmation's id."""
        expires_at = {"expires_at": N(pending.expires_at)}
        waiting = {
            **key_of(session_key(key), _PENDING),
            "confirmation_id": S(pending.confirmation_id),
            "body": S(pending_text(pending)),
            **expires_at,
        }
        pointer = {
            **_pointer(key.user, pending.confirmation_id),
            "session_id": S(key.session_id),
            **expires_at,
        }
        await self._database.transact(
            *({"Put": {"TableName": self._table, "Item": item}} for item in (waiting, pointer))
        )

    async def take_pending(
        self, key: SessionKey, confirmation_id: str
    ) -> PendingConfirmation | None:
        """At most once: when the answer of the delete is lost, nobody gets the confirmation."""
        try:
            answer = await self._database.write(
                "delete_item",
                TableName=self._table,
                Key=key_of(session_key(key), _PENDING),
                ConditionExpression="#confirmation_id = :id",
                ExpressionAttributeValues={":id": S(confirmation_id)},
                ReturnValues="ALL_OLD",
            )
        except ConditionFailed:
            return None
        return pending_from(answer["Attributes"]["body"]["S"])

    async def find_pending(self, user: UserKey, confirmation_id: str) -> str | None:
        """Also after it was taken: a repeated answer belongs to the session that has the first
        one's turn."""
        item = await self._database.get(self._table, _pointer(user, confirmation_id))
        return str(item["session_id"]["S"]) if item else None

    async def delete(self, key: SessionKey) -> None:
        await self._database.delete_batch(
            self._table, [key_of(session_key(key), sk) for sk in (*_SLOTS, _PENDING)]
        )

    async def list(
        self, user: UserKey, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        tokens = Cursor("sessions", user_key(user))
        start = {}
        if cursor is not None:
            touched_at, session_id = map(str, tokens.read(cursor, 2))
            last = key_of(session_key(SessionKey(user, session_id)), _LISTED)
            start["ExclusiveStartKey"] = {
                **last,
                "user_key": S(user_key(user)),
                "touched_at": S(touched_at),
            }
        items = await self._database.items(
            need=positive(limit) + 1,
            TableName=self._table,
            IndexName="by_user",
            KeyConditionExpression="#user_key = :user",
            ExpressionAttributeValues={":user": S(user_key(user))},
            ScanIndexForward=False,
            **start,
        )
        page = tuple(map(_summary, items[:limit]))
        return page, (
            tokens.write(page[-1].touched_at, page[-1].session_id) if len(items) > limit else None
        )


def _pointer(user: UserKey, confirmation_id: str) -> Item:
    return key_of(user_key(user), f"pending#{confirmation_id}")


def _summary(item: Item) -> SessionSummary:
    return SessionSummary(
        item["session_id"]["S"], item["title"]["S"], item["touched_at"]["S"], int(item["seq"]["N"])
    )

"""A person's conversations.

    pk tenant#user#session   sk turn#<time>#<seq>   body  expires_at
    pk tenant#user           sk session#<id>        session_id  title  folded  turns  expires_at
                                                    touched_at
    index by_touched         pk tenant#user  touched_at           (rows of the list only)

The list's rows lie in their user's own partition, so a session is found as long as anything of it
lives, and a renamed one keeps its name: `touch` writes a title only where none is.
"""

from __future__ import annotations

from ...values import JSONObject, SessionKey, SessionSummary, Turn, UserKey
from ..jsontext import loads
from ..keys import listed_key, session_key, turn_key, user_key
from ..paging import Cursor, positive
from ..records import told_text
from .client import LAYOUT, ConditionFailed, Database, Item, N, S, key_of

_LISTED = "attribute_not_exists(#expires_at) OR #expires_at > :now"


class DynamoTranscriptStore:
    """`TranscriptStore` on one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int) -> None:
        item = {
            **key_of(session_key(key), turn_key(turn.at, turn.seq)),
            **LAYOUT,
            "body": S(told_text(turn)),
            "expires_at": N(expires_at),
        }
        await self._database.call("put_item", TableName=self._table, Item=item)

    async def read(
        self, key: SessionKey, *, limit: int = 50, cursor: str | None = None, now: float
    ) -> tuple[tuple[JSONObject, ...], str | None]:
        pk = session_key(key)
        tokens = Cursor("turns", pk)
        start = {}
        if cursor is not None:
            start["ExclusiveStartKey"] = key_of(pk, str(tokens.read(cursor, 1)[0]))
        items = await self._database.living(
            now,
            need=positive(limit) + 1,
            TableName=self._table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeValues={":pk": S(pk)},
            ScanIndexForward=False,
            ConsistentRead=True,
            **start,
        )
        page = items[:limit]
        rows = tuple(loads(item["body"]["S"]) for item in reversed(page))
        return rows, tokens.write(page[-1]["sk"]["S"]) if len(items) > limit else None

    async def touch(self, user: UserKey, touched: SessionSummary, *, expires_at: int) -> None:
        await self._database.call(
            "update_item",
            TableName=self._table,
            Key=key_of(user_key(user), listed_key(touched.session_id)),
            UpdateExpression="SET #title = if_not_exists(#title, :title),"
            " #folded = if_not_exists(#folded, :folded), #session_id = :session,"
            " #turns = :turns, #touched_at = :at, #expires_at = :expires, #schema = :schema",
            ExpressionAttributeValues={
                ":schema": LAYOUT["schema"],
                ":title": S(touched.title),
                ":folded": S(touched.title.casefold()),
                ":session": S(touched.session_id),
                ":turns": N(touched.turns),
                ":at": S(touched.touched_at),
                ":expires": N(expires_at),
            },
        )

    async def list(
        self,
        user: UserKey,
        *,
        limit: int = 50,
        cursor: str | None = None,
        title: str = "",
        now: float,
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        pk = user_key(user)
        tokens = Cursor("sessions", pk, title)
        values = {":pk": S(pk), ":now": N(now)}
        start = {}
        if cursor is not None:
            touched_at, session_id = map(str, tokens.read(cursor, 2))
            last = key_of(pk, listed_key(session_id))
            start["ExclusiveStartKey"] = {**last, "touched_at": S(touched_at)}
        found = f"({_LISTED})"
        if title:
            found, values[":part"] = f"{found} AND contains(#folded, :part)", S(title.casefold())
        items = await self._database.items(
            need=positive(limit) + 1,
            TableName=self._table,
            IndexName="by_touched",
            KeyConditionExpression="#pk = :pk",
            FilterExpression=found,
            ExpressionAttributeValues=values,
            ScanIndexForward=False,
            ConsistentRead=True,
            **start,
        )
        page = tuple(map(_summary, items[:limit]))
        return page, (
            tokens.write(page[-1].touched_at, page[-1].session_id) if len(items) > limit else None
        )

    async def rename(self, key: SessionKey, title: str) -> SessionSummary | None:
        try:
            answer = await self._database.write(
                "update_item",
                TableName=self._table,
                Key=key_of(user_key(key.user), listed_key(key.session_id)),
                UpdateExpression="SET #title = :title, #folded = :folded",
                ConditionExpression="attribute_exists(#pk)",
                ExpressionAttributeValues={":title": S(title), ":folded": S(title.casefold())},
                ReturnValues="ALL_NEW",
            )
        except ConditionFailed:
            return None
        return _summary(answer["Attributes"])

    async def delete(self, key: SessionKey) -> None:
        """Its row goes last: until then whoever asks again finds what is left."""
        pk = session_key(key)
        items = await self._database.items(
            TableName=self._table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeValues={":pk": S(pk)},
            ProjectionExpression="#sk",
            ConsistentRead=True,
        )
        await self._database.delete_batch(
            self._table, [key_of(pk, item["sk"]["S"]) for item in items]
        )
        row = key_of(user_key(key.user), listed_key(key.session_id))
        await self._database.delete_batch(self._table, [row])


def _summary(item: Item) -> SessionSummary:
    return SessionSummary(
        item["session_id"]["S"],
        item["title"]["S"],
        item["touched_at"]["S"],
        int(item["turns"]["N"]),
    )

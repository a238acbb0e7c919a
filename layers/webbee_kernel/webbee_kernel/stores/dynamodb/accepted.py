"""Destinations that a person has accepted for a function, for good.

    pk tenant#user   sk accepted#<app>.<function>#<hash>   app_id  fn_name  destination  at

In the table of sessions: the function that runs turns has that, and nobody else may read it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...values import Accepted, UserKey
from ..keys import user_key
from .client import LAYOUT, Database, Item, S, key_of

PREFIX = "accepted#"


class DynamoAcceptedStore:
    """`AcceptedStore` on one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def list(self, user: UserKey, *, function: str = "") -> tuple[Accepted, ...]:
        below = f"{PREFIX}{function}#" if function else PREFIX
        items = await self._database.partition(self._table, user_key(user), below)
        return tuple(map(_accepted, items))

    async def put(self, user: UserKey, accepted: Iterable[Accepted]) -> None:
        requests = [{"PutRequest": {"Item": _item(user, a)}} for a in accepted]
        await self._database.batch(self._table, requests)

    async def delete(self, user: UserKey, keys: Iterable[str]) -> None:
        await self._database.delete_batch(
            self._table, [key_of(user_key(user), PREFIX + key) for key in keys]
        )


def _item(user: UserKey, accepted: Accepted) -> Item:
    return {
        **key_of(user_key(user), PREFIX + accepted.key),
        **LAYOUT,
        "app_id": S(accepted.app_id),
        "fn_name": S(accepted.fn_name),
        "destination": S(accepted.destination),
        "at": S(accepted.at),
    }


def _accepted(item: Item) -> Accepted:
    return Accepted(
        key=item["sk"]["S"].removeprefix(PREFIX),
        app_id=item["app_id"]["S"],
        fn_name=item["fn_name"]["S"],
        destination=item["destination"]["S"],
        at=item["at"]["S"],
    )

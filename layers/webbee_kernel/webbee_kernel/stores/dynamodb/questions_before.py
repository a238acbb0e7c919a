"""Questions that the release before asked, which kept one a session in an item of its own.

    pk tenant#user#session   sk pending   confirmation_id  body  expires_at

They are read into the turn that asked them, and moved there when they are answered. Goes with the
release after this one: a question waits five minutes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...values import PendingConfirmation, Turn
from ..records import pending_from
from .client import LAYOUT, ConditionFailed, Database, Item, key_of
from .turn_items import turn_attributes, turn_in

QUESTION = "pending"


def with_question(turns: Iterable[Turn], item: Item | None) -> tuple[Turn, ...]:
    """The turns, the one that asked with its question."""
    if item is None:
        return tuple(turns)
    question = pending_from(item["body"]["S"])
    return tuple(_asking(t, question) if t.request_id == question.request_id else t for t in turns)


def _asking(turn: Turn, question: PendingConfirmation) -> Turn:
    name = question.confirmation_id
    known = name in turn.also or any(p.confirmation_id == name for p in turn.waiting)
    return turn if known else replace(turn, waiting=(*turn.waiting, question))


async def taken_over(database: Database, table: str, slot: Item, item: Item) -> None:
    """Move a question into its turn's slot, one transaction. Nothing is moved where somebody else
    was quicker, of either release."""
    [turn] = with_question([turn_in(slot)], item)
    if not turn.waiting:
        return
    ids = [p.confirmation_id for p in turn.waiting]
    written = {**turn_attributes(turn), "waiting": {"SS": ids}, **LAYOUT}
    question = {
        "TableName": table,
        "Key": key_of(item["pk"]["S"], item["sk"]["S"]),
        "ConditionExpression": "#confirmation_id = :id",
        "ExpressionAttributeValues": {":id": item["confirmation_id"]},
    }
    asking = {
        "TableName": table,
        "Key": key_of(slot["pk"]["S"], slot["sk"]["S"]),
        "UpdateExpression": f"SET {', '.join(f'#{name} = :{name}' for name in written)}",
        "ConditionExpression": "#stamp = :as_read AND attribute_not_exists(#waiting)",
        "ExpressionAttributeValues": {
            ":as_read": slot["stamp"],
            **{f":{name}": value for name, value in written.items()},
        },
    }
    try:
        await database.transact({"Delete": question}, {"Update": asking})
    except ConditionFailed:
        return

"""The generations of a collection's indexes: which one stands, and bringing old documents into it.

A declaration that finds documents has to wait: whoever still runs the release before writes without
it. `SETTLES_S` after the declaration was first used, each read that had to go through all documents
brings up to a thousand of them in, until none is left. Until then queries read as if nothing had
been declared.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from ...values.plain import JSONObject
from ..declared import Declared
from ..keys import members_key
from .client import LAYOUT, ConditionFailed, Database, Item, N, S
from .document_items import Place, held_as
from .document_reads import Brought
from .kept_items import Generation, Kept, counting, kept_of, marker_key, moves, tally

SETTLES_S: Final = 1_200
"""After which nobody runs the release before: a gradual deployment takes 15 minutes at most."""
BELIEVED_S: Final = 300
"""For how long a process writes by what it knows of a marker without looking again."""
BROUGHT_IN: Final = 1_000
_SKEW_S: Final = 60
_ACTIONS: Final = 100
"""Of one transaction (API reference, TransactWriteItems)."""
_KNOWN: Final = 10_000


class Keeper:
    """Knows the generations of one table's collections."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table
        self._known: dict[tuple[str, str], tuple[float, Generation]] = {}

    async def standing(self, place: Place, declared: Declared, now: float) -> Generation:
        """The generation under which a document is written, its marker made before it; as this
        process last knew it."""
        known = self._known.get((place.pk, place.collection))
        if known and 0 <= now - known[0] < BELIEVED_S and known[1].fields == declared.text():
            return known[1]
        if not declared:
            await self._database.call(
                "put_item", TableName=self._table, Item=marker(place, Generation())
            )
            return self._note(place, now, Generation())
        state = await self.read(place, declared, now)
        return state or await self._begin(place, declared, None, now)

    async def read(self, place: Place, declared: Declared, now: float) -> Generation | None:
        """The generation as it stands in the table, begun where another declaration's stood; None
        without a marker."""
        found = await self._database.get(self._table, marker_key(place))
        if found is None:
            return None
        state = Generation.of(found)
        if state.fields == declared.text():
            return self._note(place, now, state)
        return await self._begin(place, declared, state, now)

    def forget(self, place: Place) -> None:
        """What is known of a collection, after a write that did not hold."""
        self._known.pop((place.pk, place.collection), None)

    async def end(self, place: Place, now: float) -> None:
        """Whoever declares nothing changes a document that has entries: what counts it is over."""
        self.forget(place)
        await self.standing(place, Declared(), now)

    def takes(self, state: Generation | None, now: float) -> int:
        """How many documents without entries a read is to note for `bring_in`: those of one step
        and one more, that tells whether there are others."""
        if state is None or state.done or now < state.since + _SKEW_S:
            return 0
        return BROUGHT_IN + 1

    async def bring_in(
        self, place: Place, declared: Declared, state: Generation, waiting: Sequence[Brought]
    ) -> None:
        """Give entries to up to a thousand documents that have none; where there were no more, the
        indexes are done. What others change meanwhile is left to the next read."""
        step = (_ACTIONS - 1) // (1 + 2 * len(declared.indexes))
        taken = waiting[:BROUGHT_IN]
        try:
            for at in range(0, len(taken), step):
                await self._take(place, declared, state, taken[at : at + step])
            if len(taken) == len(waiting):
                await self._finish(place, state)
        except ConditionFailed:
            self.forget(place)

    async def _take(
        self, place: Place, declared: Declared, state: Generation, rows: Sequence[Brought]
    ) -> None:
        changes = []
        actions: list[JSONObject] = []
        for row in rows:
            here = place._replace(doc_id=row.document.id)
            old, new = Kept.of(row.head), kept_of(row.document, state.gen, declared)
            changes.append((old, new))
            actions.append({"Update": _noted(self._table, here, row.head, new)})
            actions += moves(self._table, here, row.created, old, new, row.document)
        counts = counting(self._table, place, state.gen, tally(declared, state, *changes))
        await self._database.transact(*counts, *actions)

    async def _begin(
        self, place: Place, declared: Declared, before: Generation | None, now: float
    ) -> Generation:
        """A new generation, complete at once where the user had no documents; somebody else's, who
        was quicker."""
        fresh = before is None
        made = Generation(
            secrets.token_hex(4),
            declared.text(),
            since=0.0 if fresh else now + SETTLES_S,
            done=fresh,
        )
        request: JSONObject = {"ConditionExpression": "attribute_not_exists(#pk)"}
        if before and before.gen:
            request = {
                "ConditionExpression": "#gen = :gen",
                "ExpressionAttributeValues": {":gen": S(before.gen)},
            }
        elif before:
            request = {"ConditionExpression": "attribute_not_exists(#gen)"}
        try:
            await self._database.write(
                "put_item",
                own={"gen": S(made.gen)},
                TableName=self._table,
                Item=marker(place, made),
                **request,
            )
        except ConditionFailed as failure:
            made = Generation.of(failure.item)
        return self._note(place, now, made)

    async def _finish(self, place: Place, state: Generation) -> None:
        await self._database.write(
            "update_item",
            TableName=self._table,
            Key=marker_key(place),
            UpdateExpression="SET #done = :done",
            ConditionExpression="#gen = :gen",
            ExpressionAttributeValues={":done": N(1), ":gen": S(state.gen)},
        )

    def _note(self, place: Place, now: float, state: Generation) -> Generation:
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[place.pk, place.collection] = (now, state)
        return state


def _noted(table: str, place: Place, head: Item, new: Kept) -> JSONObject:
    condition, values = held_as(head)
    return {
        "TableName": table,
        "Key": place.key,
        "UpdateExpression": "SET #kept = :now",
        "ConditionExpression": condition,
        "ExpressionAttributeValues": {**values, ":now": new.attribute()["kept"]},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def marker(place: Place, state: Generation) -> Item:
    """The item that says that the user has documents of a collection, with nothing counted yet."""
    members = members_key(place.user.tenant_id, place.app_id, place.collection)
    return {
        **marker_key(place),
        **LAYOUT,
        "users_key": S(members),
        "user_id": S(place.user.imperal_id),
        **(state.attributes() if state.gen else {}),
    }

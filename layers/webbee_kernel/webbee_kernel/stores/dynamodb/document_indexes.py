"""The indexes that an author declares of a collection: whether they hold all of its documents, and
where in them an answer lies.

The marker of a collection says which declaration its indexes are of, and counts the documents in
them; a write that changes the count is a transaction of both. A generation is one declaration's
time: whoever writes under another, or under none, ends it, and its count holds only while it lasts.
A declaration that finds documents has to wait: whoever still runs the release before writes without
it. `SETTLES_S` after it was first used, each read that has to go through all documents gives up to
a thousand of them their entries, until none is left. Until then queries read as if nothing had been
declared.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ..item_keys import members_key
from ..paging import (
    END,
    MISSING,
    Collection,
    DocumentQuery,
    Position,
    Row,
    is_cut,
    order_key,
)
from .client import ConditionFailed, Database, TableStore
from .document_items import SORT_KEYS, entries, generation_of, unchanged
from .item_requests import ABSENT, Add, Item, Query, Write, update

SETTLES_S: Final = 1_260
"""After which nobody runs the release before, whose clock may be behind: a gradual deployment takes
15 minutes at most."""
BELIEVED_S: Final = 300
"""For how long a process writes by what it knows of a marker without looking again."""
BACKFILLED: Final = 1_000
_STEP: Final = 20
"""Documents of one transaction, which takes 4 MB: a head has 190 KB at most."""
_KNOWN: Final = 10_000


class Generation(NamedTuple):
    """The state of a collection's indexes; readers believe them once they are `done`."""

    gen: str = ""
    fields: str = ""
    since: float = 0.0
    done: bool = False
    total: int = 0

    @classmethod
    def of(cls, marker: Item) -> Generation:
        """What the marker of a collection says."""
        if "gen" not in marker:
            return cls()
        since, total = float(marker["since"]), int(marker["n"])
        return cls(marker["gen"], marker["fields"], since, "done" in marker, total)

    def marker(self, collection: Collection) -> Item:
        """The item that says that the user has documents of a collection, with nothing counted
        yet."""
        user = collection.user
        item: Item = {
            **collection.marker_key,
            "users_key": members_key(user.tenant_id, collection.app_id, collection.name),
            "user_id": user.imperal_id,
        }
        if self.gen:
            item |= {"gen": self.gen, "fields": self.fields, "since": self.since, "n": 0}
        return {**item, "done": 1} if self.done else item

    def counting(self, table: str, collection: Collection, more: int) -> list[Write]:
        """The write that counts so many more documents, if the generation still lasts; none where
        the count stays: such a write is spared the transaction."""
        if not (self.gen and more):
            return []
        return [update(table, collection.marker_key, {"n": Add(more)}, "#gen = :gen", gen=self.gen)]

    def counting_change(
        self, table: str, collection: Collection, held: Item | None, head: Item | None
    ) -> list[Write]:
        """The same where `head` comes in the place of `held`; None is none."""
        # entries of another generation were never in this one's count
        more = (generation_of(head) == self.gen) - (generation_of(held) == self.gen)
        return self.counting(table, collection, more)

    def takes_in(self, now: float) -> bool:
        """Whether a read is to give entries to documents that have none."""
        return bool(self.gen) and not self.done and now >= self.since


class Generations(TableStore):
    """Knows the generations of one table's collections."""

    def __init__(self, database: Database, table: str) -> None:
        super().__init__(database, table)
        self._known: dict[tuple[str, str], tuple[float, Generation]] = {}

    async def for_write(self, collection: Collection, held: Item | None, now: float) -> Generation:
        """The generation to write under in the place of the head `held`, as this process last knew
        it, with the marker there: before a first document, so that none is ever unlisted. Where
        nothing is declared it is none, and one that had been ends."""
        if held and not collection.fields:
            # a document that is there had its marker written before it
            if not generation_of(held):
                return Generation()
            self.forget(collection)
        at, known = self._known.get((collection.pk, collection.name), (0.0, None))
        # from 0 on: a clock that was set back must not keep an old answer fresh
        if known and 0 <= now - at < BELIEVED_S and known.fields == collection.declaration:
            return known
        if collection.fields:
            return await self.read(collection, now) or await self._begin(collection, None, now)
        none = Generation()
        # whole and unconditional: a marker with a generation loses it, which ends it
        await self._put(none.marker(collection))
        return self._note(collection, now, none)

    async def read(self, collection: Collection, now: float) -> Generation | None:
        """The generation as it stands in the table, begun where another declaration's stood; None
        without a marker."""
        found = await self._get(collection.marker_key)
        if found is None:
            return None
        state = Generation.of(found)
        if state.fields == collection.declaration:
            return self._note(collection, now, state)
        return await self._begin(collection, state, now)

    def forget(self, collection: Collection) -> None:
        """What is known of a collection, after a write that did not hold."""
        self._known.pop((collection.pk, collection.name), None)

    def is_step(self, waiting: Sequence[Row]) -> bool:
        """Whether these are more than a step takes in."""
        return len(waiting) > BACKFILLED

    async def take_in(
        self, collection: Collection, state: Generation, waiting: Sequence[Row]
    ) -> None:
        """Give entries to up to a thousand documents that have none; where there were no more, the
        indexes are done. What others change meanwhile is left to the next read."""
        taken = waiting[:BACKFILLED]
        try:
            for at in range(0, len(taken), _STEP):
                step = taken[at : at + _STEP]
                count = state.counting(self._table, collection, len(step))
                await self._database.write(
                    *count, *(self._entering(collection, state, r) for r in step)
                )
            if not self.is_step(waiting):
                key, still = collection.marker_key, "#gen = :gen"
                await self._update(key, {"done": 1}, still, gen=state.gen)
        except ConditionFailed:
            self.forget(collection)

    def _entering(self, collection: Collection, state: Generation, row: Row) -> Write:
        head, data = dict(row.head), row.document.data
        # None takes it out of indexes that only an earlier generation had
        sets = dict.fromkeys(SORT_KEYS) | entries(collection, state.gen, head, data)
        condition, values = unchanged(head)
        return update(self._table, collection.key(row.document.id), sets, condition, **values)

    async def _begin(
        self, collection: Collection, before: Generation | None, now: float
    ) -> Generation:
        """A new generation, complete at once where the user had no documents; somebody else's, who
        was quicker."""
        fresh = before is None
        since = 0.0 if fresh else now + SETTLES_S
        made = Generation(secrets.token_hex(4), collection.declaration, since, done=fresh)
        condition, values = ABSENT, {}
        if before and before.gen:
            condition, values = "#gen = :gen", {"gen": before.gen}
        elif before:
            condition = "attribute_not_exists(#gen)"
        try:
            await self._put(made.marker(collection), condition, own="gen", **values)
        except ConditionFailed as failure:
            made = Generation.of(failure.item)
        return self._note(collection, now, made)

    def _note(self, collection: Collection, now: float, state: Generation) -> Generation:
        if len(self._known) >= _KNOWN:
            # rare, and costs one read a collection: no order of use is kept for it
            self._known.clear()
        self._known[collection.pk, collection.name] = (now, state)
        return state


class Ranges(NamedTuple):
    """Where the documents of an answer stand: queries to be read one after the other, of items that
    are sorted by `sort_key`; whether all of these are the answer's (`exact`), and come in its
    order."""

    queries: Sequence[Query]
    sort_key: str = "created"
    exact: bool = True
    in_order: bool = True


def as_made(table: str, collection: Collection, after: str = "") -> Query:
    """A collection in order of creation, beyond one creation key."""
    # `!` sorts before hex digits and `g` after them
    low = f"{after}!" if after else f"{collection.name}#"
    bounds = low, f"{collection.name}#g"
    return _between(table, collection, ("by_created", "created"), bounds, backwards=False)


def ranges(table: str, asked: DocumentQuery, state: Generation | None) -> Ranges:
    """By the index that has the documents of one value, by that of the order, else through the
    collection as it was made; of what comes in its order only what lies behind the cursor."""
    name = asked.sought or asked.field
    if state and state.done and name in asked.collection.fields:
        return _indexed(table, asked, state, name)
    # what has to be put into an order is all read
    after = asked.after[1] if asked.after and not asked.order_by else ""
    queries = [as_made(table, asked.collection, after)]
    return Ranges(queries, exact=not asked.where, in_order=not asked.order_by)


def _indexed(table: str, asked: DocumentQuery, state: Generation, name: str) -> Ranges:
    collection, in_order = asked.collection, not (asked.sought and asked.order_by)
    after = asked.after if in_order else None
    if asked.sought:
        bounds, exact = [_of_value(asked.where[name], after)], _is_exact(asked)
    else:
        bounds, exact = _down(after) if asked.descends else [_up(after)], not asked.where
    number, prefix = collection.fields.index(name), f"{collection.name}#{state.gen}#"
    index = f"by_{number + 1}", SORT_KEYS[number]
    backwards = asked.descends and not asked.sought
    queries = [
        _between(table, collection, index, (prefix + low, prefix + high), backwards=backwards)
        for low, high in bounds
    ]
    return Ranges(queries, index[1], exact, in_order)


_END: Final = ":"
"""After every key."""


def _up(after: Position | None) -> tuple[str, str]:
    return (_behind(*after), _END) if after else ("", _END)


def _down(after: Position | None) -> list[tuple[str, str]]:
    """Downwards: what is present, then what is missing."""
    if after is None:
        return [("", MISSING), (MISSING, _END)]
    key, created = after
    # both ends are taken in: the creation before it
    before = f"{key}{END}{int(created.rpartition('#')[2], 16) - 1:032x}"
    return [(MISSING, before)] if key == MISSING else [("", before), (MISSING, _END)]


def _of_value(value: Any, after: Position | None) -> tuple[str, str]:
    key = order_key(value)
    return _behind(key, after[1]) if after else f"{key}{END}", f"{key}{END}~"


def _behind(key: str, created: str) -> str:
    return f"{key}{END}{created.rpartition('#')[2]}!"


def _is_exact(asked: DocumentQuery) -> bool:
    """Whether nothing but what is asked for has the key of the sought value."""
    value = asked.where[asked.sought]
    # a missing field has the key of null, and matches no condition
    return len(asked.where) == 1 and value is not None and not is_cut(order_key(value))


def _between(
    table: str,
    collection: Collection,
    index: tuple[str, str],
    bounds: tuple[str, str],
    *,
    backwards: bool,
) -> Query:
    name, sort_key = index
    condition = f"#pk = :pk AND #{sort_key} BETWEEN :low AND :high"
    values = {"pk": collection.pk, "low": bounds[0], "high": bounds[1]}
    return Query(table, condition, values, index=name, backwards=backwards)

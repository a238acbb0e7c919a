"""The indexes that an author declares of a collection: whether they hold all of its documents, and
where in them an answer lies.

The marker of a collection says which declaration its indexes are of, and counts the documents in
them; a write that changes the count is a transaction of both. A generation is one declaration's
time: whoever writes under another, or under none, ends it, and its count holds only while it lasts.
A declaration that finds documents has to wait: whoever still runs the release before writes without
it. `SETTLE_S` after it was first used, each read that has to go through all documents gives up to
a thousand of them their entries, until none is left. Until then queries read as if nothing had been
declared.

A document stands in a sparse index while its head carries that index's sort key, so document and
index cannot disagree. Local indexes are read strongly consistent, which global ones are not: what a
handler just wrote is in its next page.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ..item_keys import members_key
from ..paging import END, MISSING, Collection, DocumentQuery, Position, Row, is_cut, order_key
from .client import ConditionFailed, Database, TableStore
from .item_requests import Add, Item, Query, Write, unchanged, update

SETTLE_S: Final = 1_260
"""After which nobody runs the release before, whose clock may be behind: a gradual deployment takes
15 minutes at most."""
MARKER_CACHE_S: Final = 300
"""For how long a process writes by what it knows of a marker without looking again."""
BACKFILL: Final = 1_000
_STEP: Final = 20
"""Documents of one transaction, which takes 4 MB: a head has 190 KB at most."""
_MAX_CACHED: Final = 10_000
_LASTS: Final = "#gen = :gen"
SORT_KEYS: Final = ("i1", "i2", "i3", "i4")
"""Of the indexes `by_1` … `by_4`."""


def generation_of(head: Mapping[str, Any] | None) -> str:
    """The generation of a head's entries in indexes, empty for none."""
    # collections and generations hold no `#`, keys may
    return str(head["i1"]).split("#", 2)[1] if head and "i1" in head else ""


def index_entries(collection: Collection, gen: str, head: Item, data: Mapping[str, Any]) -> Item:
    """What a head carries of a document for its indexes: the collection, generation, key and
    creation; nothing without a generation."""
    name, _, created = str(head["created"]).partition("#")
    fields = collection.fields if gen else ()
    return {
        sort_key: f"{name}#{gen}#{order_key(data.get(field))}{END}{created}"
        # fewer fields than indexes: without its attribute a head stands in no index
        for sort_key, field in zip(SORT_KEYS, fields, strict=False)
    }


def unchanged_head(head: Mapping[str, Any] | None) -> tuple[str, Item]:
    """The condition that a head is the one that was read (None: that there is none)."""
    # a backfill gives a head its entries and leaves the etag: both have to be as read
    return unchanged(head or {}, "etag", "i1")


class Generation(NamedTuple):
    """The state of a collection's indexes; readers believe them once they are `done`."""

    gen: str = ""
    fields: str = ""
    since: float = 0.0
    done: bool = False
    n: int = 0
    """Documents in them."""

    @classmethod
    def of(cls, marker: Item) -> Generation:
        """What the marker of a collection says."""
        return cls(**{name: marker[name] for name in cls._fields if name in marker})

    def marker(self, collection: Collection) -> Item:
        """The item of a user's collection with nothing counted yet."""
        user = collection.user
        return {
            **collection.marker_key,
            "users_key": members_key(user.tenant_id, collection.app_id, collection.name),
            "user_id": user.imperal_id,
            **(self._asdict() if self.gen else {}),
        }

    def count_writes(self, table: str, collection: Collection, more: int) -> list[Write]:
        """The write that counts so many more documents, if the generation still lasts; none where
        the count stays: such a write is spared the transaction."""
        if not (self.gen and more):
            return []
        return [update(table, collection.marker_key, {"n": Add(more)}, _LASTS, gen=self.gen)]

    def count_change(
        self, table: str, collection: Collection, current: Item | None, head: Item | None
    ) -> list[Write]:
        """The same where `head` comes in the place of `current`; None is none."""
        # entries of another generation were never in this one's count
        more = (generation_of(head) == self.gen) - (generation_of(current) == self.gen)
        return self.count_writes(table, collection, more)

    def needs_backfill(self, now: float) -> bool:
        """Whether a read is to give entries to documents that have none."""
        return bool(self.gen) and not self.done and now >= self.since


class Generations(TableStore):
    """Knows the generations of one table's collections."""

    def __init__(self, database: Database, table: str) -> None:
        super().__init__(database, table)
        self._cached: dict[tuple[str, str], tuple[float, Generation]] = {}

    async def for_write(self, collection: Collection, current: Item | None) -> Generation:
        """The generation to write under in the place of the head `current`, as this process last
        knew it, with the marker there: before a first document, so that none is ever unlisted.
        Where nothing is declared it is none, and one that had been ends."""
        if current and not collection.fields:
            # a document that is there had its marker written before it
            if not generation_of(current):
                return Generation()
            self.forget(collection)
        at, cached = self._cached.get((collection.pk, collection.name), (0.0, None))
        # from 0 on: a clock that was set back must not keep an old answer fresh
        is_fresh = 0 <= collection.now - at < MARKER_CACHE_S
        if cached and is_fresh and cached.fields == collection.declaration:
            return cached
        if collection.fields:
            return await self.read(collection) or await self._begin(collection, {})
        none = Generation()
        # whole and unconditional: a marker with a generation loses it, which ends it
        await self._put(none.marker(collection))
        return self._cache(collection, none)

    async def read(self, collection: Collection) -> Generation | None:
        """The generation as it stands in the table, begun where another declaration's stood; None
        without a marker."""
        found = await self._get(collection.marker_key)
        if found is None:
            return None
        state = Generation.of(found)
        if state.fields == collection.declaration:
            return self._cache(collection, state)
        return await self._begin(collection, found)

    def forget(self, collection: Collection) -> None:
        """What is known of a collection, after a write that did not hold."""
        self._cached.pop((collection.pk, collection.name), None)

    async def backfill(
        self, collection: Collection, state: Generation, rows: Sequence[Row]
    ) -> None:
        """Give entries to up to a thousand documents that have none; where there were no more, the
        indexes are done. What others change meanwhile is left to the next read."""
        batch = rows[:BACKFILL]
        try:
            for at in range(0, len(batch), _STEP):
                step = batch[at : at + _STEP]
                count = state.count_writes(self._table, collection, len(step))
                await self._database.write(
                    *count, *(self._backfill_write(collection, state, r) for r in step)
                )
            if len(rows) <= BACKFILL:
                await self._update(collection.marker_key, {"done": True}, _LASTS, gen=state.gen)
        except ConditionFailed:
            self.forget(collection)

    def _backfill_write(self, collection: Collection, state: Generation, row: Row) -> Write:
        head, data = dict(row.head), row.document.data
        # None takes it out of indexes that only an earlier generation had
        sets = dict.fromkeys(SORT_KEYS) | index_entries(collection, state.gen, head, data)
        condition, values = unchanged_head(head)
        return update(self._table, collection.key(row.document.id), sets, condition, **values)

    async def _begin(self, collection: Collection, marker: Item) -> Generation:
        """A new generation in the place of this marker, complete at once where there was none, for
        then the user had no documents; somebody else's, who was quicker."""
        since = collection.now + SETTLE_S if marker else 0.0
        generation = Generation(
            secrets.token_hex(4), collection.declaration, since, done=not marker
        )
        condition, values = unchanged(marker, "pk", "gen")
        try:
            await self._put(generation.marker(collection), condition, own="gen", **values)
        except ConditionFailed as failure:
            generation = Generation.of(failure.item)
        return self._cache(collection, generation)

    def _cache(self, collection: Collection, state: Generation) -> Generation:
        if len(self._cached) >= _MAX_CACHED:
            # rare, and costs one read a collection: no order of use is kept for it
            self._cached.clear()
        self._cached[collection.pk, collection.name] = (collection.now, state)
        return state


class Ranges(NamedTuple):
    """Where the documents of an answer stand: queries to be read one after the other, of items that
    are sorted by `sort_key`; whether all of these are the answer's (`exact`), and come in its
    order."""

    queries: Sequence[Query]
    sort_key: str = "created"
    exact: bool = True
    in_order: bool = True


def by_creation(table: str, collection: Collection, after: str = "") -> Query:
    """A collection in order of creation, beyond one creation key."""
    # `!` sorts before hex digits and `g` after them
    low = f"{after}!" if after else f"{collection.name}#"
    bounds = low, f"{collection.name}#g"
    return _between(table, collection, ("by_created", "created"), bounds)


def ranges(table: str, question: DocumentQuery, state: Generation | None) -> Ranges:
    """By the index that has the documents of one value, by that of the order, else through the
    collection as it was made; of what comes in its order only what lies behind the cursor."""
    if state and state.done and question.index_field:
        return _indexed(table, question, state)
    # what has to be put into an order is all read
    after = question.after[1] if question.after and not question.order_by else ""
    queries = [by_creation(table, question.collection, after)]
    # a bare count reads no documents, so none of them would get its entries
    exact = not question.where and not (state and state.needs_backfill(question.collection.now))
    return Ranges(queries, exact=exact, in_order=not question.order_by)


def _indexed(table: str, question: DocumentQuery, state: Generation) -> Ranges:
    collection, name = question.collection, question.index_field
    is_of_value = name in question.where
    in_order = not (is_of_value and question.order_by)
    after = question.after if in_order else None
    if is_of_value:
        key = order_key(question.where[name])
        low = _after_entry(key, after[1]) if after else f"{key}{END}"
        # a missing field has the key of null, and matches no condition
        exact = len(question.where) == 1 and key != MISSING and not is_cut(key)
        bounds = [(low, f"{key}{END}~")]
    else:
        bounds, exact = _in_order(after, question.is_descending), not question.where
    number, prefix = collection.fields.index(name), f"{collection.name}#{state.gen}#"
    index = f"by_{number + 1}", SORT_KEYS[number]
    queries = [
        _between(table, collection, index, (prefix + low, prefix + high)) for low, high in bounds
    ]
    backwards = question.is_descending and not is_of_value
    return Ranges([replace(q, backwards=backwards) for q in queries], index[1], exact, in_order)


_END: Final = ":"
"""After every key."""


def _in_order(after: Position | None, is_descending: bool) -> list[tuple[str, str]]:
    """Upwards all; downwards what is present, then what is missing."""
    if not is_descending:
        return [(_after_entry(*after) if after else "", _END)]
    if after is None:
        return [("", MISSING), (MISSING, _END)]
    key, created = after
    # both ends are taken in: the creation before it
    before = f"{key}{END}{int(created.rpartition('#')[2], 16) - 1:032x}"
    return [(MISSING, before)] if key == MISSING else [("", before), (MISSING, _END)]


def _after_entry(key: str, created: str) -> str:
    return f"{key}{END}{created.rpartition('#')[2]}!"


def _between(
    table: str, collection: Collection, index: tuple[str, str], bounds: tuple[str, str]
) -> Query:
    name, sort_key = index
    condition = f"#pk = :pk AND #{sort_key} BETWEEN :low AND :high"
    values = {"pk": collection.pk, "low": bounds[0], "high": bounds[1]}
    return Query(table, condition, values, index=name)

"""The indexes of one table's collections: their generations, what brings documents into them, and
reading them in order (see `document_items`).

Going down an index, documents of one value still come as they were made: a page reads its values
backwards and the last of them, which it may hold in part, from its beginning.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from ..paging import END, MISSING, UNDECLARED, Collection, Row
from .client import ConditionFailed, Database, TableStore
from .document_items import SORT_KEYS, Entries, Generation, unchanged
from .item_requests import ABSENT, Item, update

SETTLES_S: Final = 1_200
"""After which nobody runs the release before: a gradual deployment takes 15 minutes at most."""
BELIEVED_S: Final = 300
"""For how long a process writes by what it knows of a marker without looking again."""
BACKFILLED: Final = 1_000
# a writer whose clock is behind still writes without entries at `since`
_SKEW_S: Final = 60
_STEP: Final = 33
"""Documents of one transaction, which takes 4 MB and 100 actions."""
_KNOWN: Final = 10_000


class Generations(TableStore):
    """Knows the generations of one table's collections."""

    def __init__(self, database: Database, table: str) -> None:
        super().__init__(database, table)
        self._known: dict[tuple[str, str], tuple[float, Generation]] = {}

    async def current(self, collection: Collection, now: float) -> Generation:
        """The generation under which a document is written, its marker made before it; as this
        process last knew it."""
        known = self._known.get((collection.pk, collection.name))
        declared = collection.declared
        # from 0 on: a clock that was set back must not keep an old answer fresh
        if known and 0 <= now - known[0] < BELIEVED_S and known[1].fields == declared.text():
            return known[1]
        if declared:
            state = await self.read(collection, now)
            return state or await self._begin(collection, None, now)
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
        if state.fields == collection.declared.text():
            return self._note(collection, now, state)
        return await self._begin(collection, state, now)

    def forget(self, collection: Collection) -> None:
        """What is known of a collection, after a write that did not hold."""
        self._known.pop((collection.pk, collection.name), None)

    async def end(self, collection: Collection, now: float) -> None:
        """Whoever declares nothing changes a document that has entries: what counts it is over."""
        self.forget(collection)
        await self.current(collection._replace(declared=UNDECLARED), now)

    def backfills(self, state: Generation | None, now: float) -> int:
        """How many documents without entries a read is to note for `backfill`: those of one step
        and one more, that tells whether there are others."""
        if state is None or state.done or now < state.since + _SKEW_S:
            return 0
        return BACKFILLED + 1

    async def backfill(
        self, collection: Collection, state: Generation, waiting: Sequence[Row]
    ) -> None:
        """Give entries to up to a thousand documents that have none; where there were no more, the
        indexes are done. What others change meanwhile is left to the next read."""
        taken = waiting[:BACKFILLED]
        try:
            for at in range(0, len(taken), _STEP):
                await self._index(collection, state, taken[at : at + _STEP])
            if len(taken) == len(waiting):
                key, still = collection.marker_key, "#gen = :gen"
                await self._update(key, {"done": 1}, still, gen=state.gen)
        except ConditionFailed:
            self.forget(collection)

    async def _index(self, collection: Collection, state: Generation, rows: Sequence[Row]) -> None:
        changes, writes = [], []
        for row in rows:
            fields = collection.declared.fields
            # asked as of `since`: it is past, whatever the caller's clock says
            new = state.entries_of(row.document.data, fields, state.since)
            changes.append((Entries.of(row.head), new))
            # None takes it out of indexes that only an earlier generation had
            sets = dict.fromkeys(SORT_KEYS) | new.attributes(row.head)
            condition, values = unchanged(row.head)
            key = collection.key(row.document.id)
            writes.append(update(self._table, key, sets, condition, **values))
        counts = state.counting(self._table, collection, *changes)
        await self._database.write(*counts, *writes)

    async def _begin(
        self, collection: Collection, before: Generation | None, now: float
    ) -> Generation:
        """A new generation, complete at once where the user had no documents; somebody else's, who
        was quicker."""
        fresh = before is None
        since = 0.0 if fresh else now + SETTLES_S
        made = Generation(secrets.token_hex(4), collection.declared.text(), since, done=fresh)
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


CHUNK: Final = 200
"""Items read at a time while looking for those that match `where`."""
_LAST: Final = "~"
"""After every key of creation."""
_PRESENT_END: Final = "5"
_END: Final = ":"
"""After every key, and after those of missing values."""


class Entry(NamedTuple):
    """One entry: its key, its document's key of creation, and its item."""

    key: str
    created: str
    item: Item

    @property
    def behind(self) -> str:
        """The place after it; of an entry without creation before all others of its key."""
        # `!` is less than a hex digit: behind this creation and before any other
        return f"{self.key}{END}{self.created}!" if self.created else f"{self.key}{END}"


Fetch: TypeAlias = Callable[[Entry | None, int], Awaitable[list[Entry]]]
"""The next entries behind one of them, so many."""


class Index(TableStore):
    """One index of one user's collection."""

    def __init__(
        self, database: Database, table: str, collection: Collection, gen: str, field: str
    ) -> None:
        super().__init__(database, table)
        # fields are sorted, so each caller finds a field in the same index
        number = collection.declared.fields.index(field)
        self._pk = collection.pk
        self._sort_key, self._name = SORT_KEYS[number], f"by_{number + 1}"
        self._prefix = f"{collection.name}#{gen}#"

    def start(self, key: str, created: str = "") -> Entry:
        """The place of a value, or behind a key of creation in it."""
        return Entry(key, created.rpartition("#")[2], {})

    async def up(self, last: Entry | None, need: int) -> list[Entry]:
        """The next entries, upwards."""
        return await self._between(last.behind if last else "", _END, need)

    async def down(self, last: Entry | None, need: int) -> list[Entry]:
        """The next entries, downwards, each value's in order, those of missing values last."""
        # missing values come last either way: there is nothing below them
        if last and last.key == MISSING:
            return await self.group(last, need)
        found = await self.group(last, need) if last else []
        if len(found) < need:
            below = f"{last.key}{END}" if last else _PRESENT_END
            found += await self._values_below(below, need - len(found))
        if len(found) < need:
            found += await self.group(self.start(MISSING), need - len(found))
        return found

    async def group(self, last: Entry | None, need: int) -> list[Entry]:
        """The next entries of the same value."""
        if last is None:
            return []
        return await self._between(last.behind, f"{last.key}{END}{_LAST}", need)

    async def _values_below(self, below: str, need: int) -> list[Entry]:
        """The first `need` entries of the values below one, downwards, each value's in order."""
        read = await self._between("", below, need, backwards=True)
        groups = [list(group)[::-1] for _, group in groupby(read, key=lambda entry: entry.key)]
        if len(read) < need:
            return [entry for group in groups for entry in group]
        whole = [entry for group in groups[:-1] for entry in group]
        return whole + await self.group(self.start(groups[-1][0].key), need - len(whole))

    async def _between(
        self, low: str, high: str, need: int, *, backwards: bool = False
    ) -> list[Entry]:
        items = await self._query(
            f"#pk = :pk AND #{self._sort_key} BETWEEN :low AND :high",
            {"pk": self._pk, "low": self._prefix + low, "high": self._prefix + high},
            index=self._name,
            backwards=backwards,
            need=need,
        )
        return [self._entry(item) for item in items]

    def _entry(self, item: Item) -> Entry:
        key, _, created = item[self._sort_key].removeprefix(self._prefix).partition(END)
        return Entry(key, created, item)

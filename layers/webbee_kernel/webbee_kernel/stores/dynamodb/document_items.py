"""A document as items: one head, and up to ten parts when it is too large for one. And the indexes
that an author declares of a collection, on the sparse local indexes `by_1` … `by_4`.

    pk tenant#user#app   sk collection#id         i1 … i4  collection#<gen>#<key>TAB<creation>
                         sk #users#collection     gen fields since done n  n:<field>:<key> …
    index by_1 … by_4    pk, i1 … i4              with the data of small documents

A document stands in an index while its head carries that index's sort key, so document and index
cannot disagree. Local indexes are read strongly consistent, which global ones are not: what a
handler just wrote is in its next page. The marker of the collection carries its count, and counts
by value; a write that changes one is a transaction of both.

A generation is one declaration's time: whoever writes under another, or under none, ends it, and
every count of its own holds only while it lasts. So what a new generation has not written itself,
it does not believe. A declaration that finds documents has to wait: whoever still runs the release
before writes without it. `SETTLES_S` after the declaration was first used, each read that had to go
through all documents gives up to a thousand of them their keys, until none is left. Until then
queries read as if nothing had been declared.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import uuid_utils

from ...sdk.records import Document
from ...types import JSONObject, UserKey
from ..codec import loads, pack, unpack
from ..item_keys import app_key, members_key
from ..paging import END, Declared, rank_key, rank_of
from .client import LAYOUT, ConditionFailed, Database, Item, N, S, TableStore, key_of

COPY_CHARACTERS: Final = 1_000
"""Of a document's JSON that its entries in indexes repeat: `data`, which they project; a larger one
is `text` and read from its head."""
SORT_KEYS: Final = ("i1", "i2", "i3", "i4")
"""Of the indexes `by_1` … `by_4`."""


class Place(NamedTuple):
    """Where a document is stored."""

    user: UserKey
    app_id: str
    collection: str
    doc_id: str

    @classmethod
    def of(cls, user: UserKey, app_id: str, head: Item) -> Place:
        """The place of a head item that a query found."""
        collection, doc_id = head["sk"]["S"].split("#")
        return cls(user, app_id, collection, doc_id)

    @property
    def pk(self) -> str:
        return app_key(self.user, self.app_id)

    @property
    def key(self) -> Item:
        return key_of(self.pk, f"{self.collection}#{self.doc_id}")

    @property
    def part_prefix(self) -> str:
        return f"{self.collection}#{self.doc_id}#part#"

    def part(self, n: int) -> Item:
        return key_of(self.pk, f"{self.part_prefix}{n:03d}")


class FoundDocument(NamedTuple):
    """A document that was read, its key of creation and its head."""

    created: str
    document: Document
    head: Item


def etag_of(head: Item | None) -> str:
    """The head's etag, empty for a document that does not exist."""
    return str(head["etag"]["S"]) if head else ""


def unchanged(head: Item) -> tuple[str, JSONObject]:
    """The condition that a head is the one that was read, also in its entries in indexes, and the
    values of that condition."""
    if "i1" not in head:
        return "#etag = :etag AND attribute_not_exists(#i1)", {":etag": head["etag"]}
    return "#etag = :etag AND #i1 = :i1", {":etag": head["etag"], ":i1": head["i1"]}


def part_count(head: Item | None) -> int:
    return int(head["parts"]["N"]) if head and "parts" in head else 0


def document_from(place: Place, head: Item, parts: list[Item] | None = None) -> Document:
    if parts:
        text = unpack(b"".join(part["chunk"]["B"] for part in parts))
    else:
        inline = head.get("data") or head.get("text")
        text = inline["S"] if inline else unpack(head["packed"]["B"])
    return _document(place, head, loads(text))


def writes_of(
    table: str, place: Place, held: Item | None, text: str, now: str
) -> tuple[Document, list[JSONObject]]:
    """The actions that put `text` where `held` stands (None: nothing does): the head under its
    condition, then the parts.

    New parts overwrite old ones of the same number; those beyond the new count are deleted.
    """
    packed = pack(text)
    etag = uuid_utils.uuid7().hex
    head: Item = {
        **place.key,
        **LAYOUT,
        "created": held["created"] if held else S(f"{place.collection}#{etag}"),
        "etag": S(etag),
        "created_at": held["created_at"] if held else S(now),
        "updated_at": S(now),
    }
    if packed.parts:
        head["parts"] = N(len(packed.parts))
    elif packed.blob:
        head["packed"] = {"B": packed.blob}
    else:
        head["data" if len(text) <= COPY_CHARACTERS else "text"] = S(packed.text)
    put: JSONObject = {
        "TableName": table,
        "Item": head,
        "ConditionExpression": "attribute_not_exists(#pk)",
    }
    if held:
        condition, values = unchanged(held)
        put |= {"ConditionExpression": condition, "ExpressionAttributeValues": values}
    parts = [
        {
            "Put": {
                "TableName": table,
                "Item": {**place.part(n), **LAYOUT, "etag": S(etag), "chunk": {"B": chunk}},
            }
        }
        for n, chunk in enumerate(packed.parts)
    ]
    surplus = removed_parts(table, place, range(len(packed.parts), part_count(held)))
    return _document(place, head, loads(text)), [{"Put": put}, *parts, *surplus]


def removed_parts(table: str, place: Place, numbers: Iterable[int]) -> list[JSONObject]:
    """What removes parts of a large document."""
    return [{"Delete": {"TableName": table, "Key": place.part(n)}} for n in numbers]


def _document(place: Place, head: Item, data: JSONObject) -> Document:
    return Document(
        id=place.doc_id,
        collection=place.collection,
        data=data,
        created_at=head["created_at"]["S"],
        updated_at=head["updated_at"]["S"],
        user_id=place.user.imperal_id,
        etag=etag_of(head),
    )


MAX_VALUES: Final = 100
"""Of a collection's counted fields together: with more, the counts by value are left alone, and
read no longer, so that the marker stays small."""
SETTLES_S: Final = 1_200
"""After which nobody runs the release before: a gradual deployment takes 15 minutes at most."""
BELIEVED_S: Final = 300
"""For how long a process writes by what it knows of a marker without looking again."""
BACKFILLED: Final = 1_000
_SKEW_S: Final = 60
_STEP: Final = 33
"""Documents of one transaction, which takes 4 MB and 100 actions."""
_KNOWN: Final = 10_000


class Entries(NamedTuple):
    """A document's entries: of which generation, and its key in each index."""

    gen: str = ""
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, head: Item | None) -> Entries:
        """Those that a head carries."""
        found = [head[name]["S"].split("#", 2) for name in SORT_KEYS if head and name in head]
        return cls(found[0][1], tuple(k.partition(END)[0] for _, _, k in found)) if found else cls()

    def attributes(self, collection: str, created: str) -> Item:
        """What the head carries of them; `created` is its key of creation."""
        return {
            name: S(entry_key(collection, self.gen, key, created))
            for name, key in zip(SORT_KEYS, self.keys, strict=False)
        }


class Generation(NamedTuple):
    """The state of a collection's indexes. Writers keep them from `since` on; readers believe them
    once they are `done`."""

    gen: str = ""
    fields: str = ""
    since: float = 0.0
    done: bool = False
    total: int = 0
    counts: Mapping[str, int] = {}

    @classmethod
    def of(cls, marker: Item | None) -> Generation:
        """What the marker of a collection says."""
        if not marker or "gen" not in marker:
            return cls()
        counts = {
            name.removeprefix("n:"): int(value["N"])
            for name, value in marker.items()
            if name.startswith("n:")
        }
        return cls(
            marker["gen"]["S"],
            marker["fields"]["S"],
            float(marker["since"]["N"]),
            "done" in marker,
            int(marker["n"]["N"]),
            counts,
        )

    @property
    def counts_values(self) -> bool:
        """Whether its values are few enough to count each."""
        return len(self.counts) < MAX_VALUES

    def entries_of(self, document: Document, declared: Declared, now: float) -> Entries:
        """The entries that a document written at this moment has; none before `since`."""
        if not self.gen or now < self.since:
            return Entries()
        data = document.data
        return Entries(self.gen, tuple(rank_key(rank_of(data.get(f))) for f in declared.fields))

    def counting(
        self, table: str, place: Place, declared: Declared, *changes: tuple[Entries, Entries]
    ) -> list[JSONObject]:
        """The action that counts what documents' entries were and are, if the generation still
        lasts; none where no count changes."""
        counts = self._tally(declared, changes)
        if not counts:
            return []
        names = {f"#c{at}": name for at, name in enumerate(counts)}
        adds = ", ".join(f"#c{at} :c{at}" for at in range(len(counts)))
        values = {f":c{at}": N(change) for at, change in enumerate(counts.values())}
        update: JSONObject = {
            "TableName": table,
            "Key": _marker_key(place),
            "UpdateExpression": f"ADD {adds}",
            "ConditionExpression": "#gen = :gen",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": {**values, ":gen": S(self.gen)},
        }
        return [{"Update": update}]

    def _tally(
        self, declared: Declared, changes: Sequence[tuple[Entries, Entries]]
    ) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        counted = declared.counted if self.counts_values else ()
        for old, new in changes:
            for entries, sign in ((old, -1), (new, 1)):
                if entries.gen and entries.gen == self.gen:
                    counts["n"] += sign
                    for name, key in zip(declared.fields, entries.keys, strict=True):
                        if name in counted:
                            counts[f"n:{name}:{key}"] += sign
        return {name: change for name, change in counts.items() if change}

    def marker(self, place: Place) -> Item:
        """The item that says that the user has documents of a collection, with nothing counted
        yet."""
        members = members_key(place.user.tenant_id, place.app_id, place.collection)
        item = {
            **_marker_key(place),
            "users_key": S(members),
            "user_id": S(place.user.imperal_id),
        }
        if self.gen:
            item |= {"gen": S(self.gen), "fields": S(self.fields), "since": N(self.since)}
            item |= {"n": N(0), **({"done": N(1)} if self.done else {})}
        return item


class Generations(TableStore):
    """Knows the generations of one table's collections."""

    def __init__(self, database: Database, table: str) -> None:
        super().__init__(database, table)
        self._known: dict[tuple[str, str], tuple[float, Generation]] = {}

    async def current(self, place: Place, declared: Declared, now: float) -> Generation:
        """The generation under which a document is written, its marker made before it; as this
        process last knew it."""
        known = self._known.get((place.pk, place.collection))
        if known and 0 <= now - known[0] < BELIEVED_S and known[1].fields == declared.text():
            return known[1]
        if declared:
            state = await self.read(place, declared, now)
            return state or await self._begin(place, declared, None, now)
        none = Generation()
        await self._put(none.marker(place))
        return self._note(place, now, none)

    async def read(self, place: Place, declared: Declared, now: float) -> Generation | None:
        """The generation as it stands in the table, begun where another declaration's stood; None
        without a marker."""
        found = await self._get(_marker_key(place))
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
        await self.current(place, Declared(), now)

    def backfills(self, state: Generation | None, now: float) -> int:
        """How many documents without entries a read is to note for `backfill`: those of one step
        and one more, that tells whether there are others."""
        if state is None or state.done or now < state.since + _SKEW_S:
            return 0
        return BACKFILLED + 1

    async def backfill(
        self, place: Place, declared: Declared, state: Generation, waiting: Sequence[FoundDocument]
    ) -> None:
        """Give entries to up to a thousand documents that have none; where there were no more, the
        indexes are done. What others change meanwhile is left to the next read."""
        taken = waiting[:BACKFILLED]
        try:
            for at in range(0, len(taken), _STEP):
                await self._index(place, declared, state, taken[at : at + _STEP])
            if len(taken) == len(waiting):
                await self._finish(place, state)
        except ConditionFailed:
            self.forget(place)

    async def _index(
        self, place: Place, declared: Declared, state: Generation, rows: Sequence[FoundDocument]
    ) -> None:
        changes = []
        actions: list[JSONObject] = []
        for row in rows:
            new = state.entries_of(row.document, declared, state.since)
            changes.append((Entries.of(row.head), new))
            condition, values = unchanged(row.head)
            attributes = new.attributes(place.collection, row.created)
            sets = ", ".join(f"#{name} = :{name}_now" for name in attributes)
            removed = ", ".join(f"#{name}" for name in SORT_KEYS if name not in attributes)
            update = {
                "TableName": self._table,
                "Key": place._replace(doc_id=row.document.id).key,
                "UpdateExpression": f"SET {sets}" + (f" REMOVE {removed}" if removed else ""),
                "ConditionExpression": condition,
                "ExpressionAttributeValues": {
                    **values,
                    **{f":{name}_now": value for name, value in attributes.items()},
                },
            }
            actions.append({"Update": update})
        counts = state.counting(self._table, place, declared, *changes)
        await self._database.transact(*counts, *actions)

    async def _begin(
        self, place: Place, declared: Declared, before: Generation | None, now: float
    ) -> Generation:
        """A new generation, complete at once where the user had no documents; somebody else's, who
        was quicker."""
        fresh = before is None
        since = 0.0 if fresh else now + SETTLES_S
        made = Generation(secrets.token_hex(4), declared.text(), since, done=fresh)
        condition, values = "attribute_not_exists(#pk)", {}
        if before and before.gen:
            condition, values = "#gen = :gen", {":gen": S(before.gen)}
        elif before:
            condition = "attribute_not_exists(#gen)"
        try:
            await self._put(made.marker(place), condition, values, own={"gen": S(made.gen)})
        except ConditionFailed as failure:
            made = Generation.of(failure.item)
        return self._note(place, now, made)

    async def _finish(self, place: Place, state: Generation) -> None:
        values = {":done": N(1), ":gen": S(state.gen)}
        await self._update(_marker_key(place), "SET #done = :done", values, "#gen = :gen")

    def _note(self, place: Place, now: float, state: Generation) -> Generation:
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[place.pk, place.collection] = (now, state)
        return state


def entry_key(collection: str, gen: str, key: str, created: str) -> str:
    """A sort key of an index: where a document of this value and creation stands."""
    return f"{collection}#{gen}#{key}{END}{created.rpartition('#')[2]}"


def _marker_key(place: Place) -> Item:
    """Of the item that says that the user has documents of the collection."""
    return key_of(place.pk, f"#users#{place.collection}")

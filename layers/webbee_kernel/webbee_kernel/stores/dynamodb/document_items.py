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

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ...sdk.records import Document
from ..codec import loads, pack, packed_text
from ..item_keys import members_key
from ..paging import END, Collection, order_key
from .item_requests import ABSENT, Add, Item, Write, delete, put, update

COPY_CHARACTERS: Final = 1_000
"""Of a document's JSON that its entries in indexes repeat: `data`, which they project; a larger one
is `text` and read from its head."""
SORT_KEYS: Final = ("i1", "i2", "i3", "i4")
"""Of the indexes `by_1` … `by_4`."""


def etag_of(head: Item | None) -> str:
    """The head's etag, empty for a document that does not exist."""
    return str(head["etag"]) if head else ""


def doc_id_of(head: Item) -> str:
    """The id of a head item that a query found."""
    return str(head["sk"].rpartition("#")[2])


def unchanged(head: Mapping[str, Any] | None) -> tuple[str, Item]:
    """The condition that a head is the one that was read (None: that there is none), also in its
    entries in indexes, and the values of that condition."""
    if head is None:
        return ABSENT, {}
    # a backfill gives a head its entries and leaves the etag: both have to be as read
    if "i1" not in head:
        return "#etag = :etag AND attribute_not_exists(#i1)", {"etag": head["etag"]}
    return "#etag = :etag AND #i1 = :i1", {"etag": head["etag"], "i1": head["i1"]}


def part_count(head: Item | None) -> int:
    return int(head.get("parts", 0)) if head else 0


def document_from(collection: Collection, head: Item, parts: Iterable[Item] = ()) -> Document:
    """The document of a head and its parts."""
    return Document(
        id=doc_id_of(head),
        collection=collection.name,
        data=loads(packed_text(head, (part["chunk"] for part in parts))),
        created_at=head["created_at"],
        updated_at=head["updated_at"],
        user_id=collection.user.imperal_id,
        etag=etag_of(head),
    )


def laid_out(
    collection: Collection, doc_id: str, held: Item | None, text: str, etag: str, now: str
) -> tuple[Item, list[Item]]:
    """The head that puts `text` where `held` stands (None: nothing does), and its parts."""
    name = "data" if len(text) <= COPY_CHARACTERS else "text"
    packed, chunks = pack(text, name=name)
    head = {
        **collection.key(doc_id),
        # etags are time-ordered, so the first one orders by creation as well
        "created": held["created"] if held else f"{collection.name}#{etag}",
        "etag": etag,
        "created_at": held["created_at"] if held else now,
        "updated_at": now,
        **packed,
    }
    parts = [
        {**collection.key(doc_id, n), "etag": etag, "chunk": chunk}
        for n, chunk in enumerate(chunks)
    ]
    return head, parts


def part_writes(
    table: str, collection: Collection, held: Item | None, parts: list[Item]
) -> list[Write]:
    """What makes these the parts of the document that `held` is the head of: they overwrite old
    ones of the same number, those beyond their count are deleted."""
    surplus = range(len(parts), part_count(held))
    gone = (delete(table, collection.key(doc_id_of(held or {}), n)) for n in surplus)
    return [*(put(table, part) for part in parts), *gone]


MAX_VALUES: Final = 100
"""Of a collection's counted fields together: with more, the counts by value are left alone, and
read no longer, so that the marker stays small."""


class Entries(NamedTuple):
    """A document's entries: of which generation, and its key in each index."""

    gen: str = ""
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, head: Mapping[str, Any] | None) -> Entries:
        """Those that a head carries."""
        # collections and generations hold no `#`, keys may
        found = [head[name].split("#", 2) for name in SORT_KEYS if head and name in head]
        return cls(found[0][1], tuple(k.partition(END)[0] for _, _, k in found)) if found else cls()

    def attributes(self, head: Mapping[str, Any]) -> Item:
        """What the head carries of them: the collection, generation, key and creation."""
        collection, _, created = head["created"].partition("#")
        return {
            name: f"{collection}#{self.gen}#{key}{END}{created}"
            # fewer fields than indexes: without its attribute a head stands in no index
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
    def of(cls, marker: Item) -> Generation:
        """What the marker of a collection says."""
        if "gen" not in marker:
            return cls()
        counts = {
            name.removeprefix("n:"): int(count)
            for name, count in marker.items()
            if name.startswith("n:")
        }
        return cls(
            marker["gen"],
            marker["fields"],
            float(marker["since"]),
            "done" in marker,
            int(marker["n"]),
            counts,
        )

    @property
    def counts_values(self) -> bool:
        """Whether its values are few enough to count each."""
        return len(self.counts) < MAX_VALUES

    def entries_of(self, data: Mapping[str, Any], fields: Iterable[str], now: float) -> Entries:
        """The entries of a document that is written at this moment; none before `since`."""
        if not self.gen or now < self.since:
            return Entries()
        return Entries(self.gen, tuple(order_key(data.get(field)) for field in fields))

    def counting(
        self, table: str, collection: Collection, *changes: tuple[Entries, Entries]
    ) -> list[Write]:
        """The write that counts what documents' entries were and are, if the generation still
        lasts; none where no count changes."""
        # a write that leaves the keys as they were is spared the transaction
        adds = {n: Add(count) for n, count in self._tally(collection, changes).items() if count}
        if not adds:
            return []
        return [update(table, collection.marker_key, adds, "#gen = :gen", gen=self.gen)]

    def _tally(
        self, collection: Collection, changes: Iterable[tuple[Entries, Entries]]
    ) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        declared = collection.declared
        counted = declared.counted if self.counts_values else ()
        for old, new in changes:
            for entries, sign in ((old, -1), (new, 1)):
                # entries of another generation were never in this one's counts
                if entries.gen and entries.gen == self.gen:
                    counts["n"] += sign
                    for name, key in zip(declared.fields, entries.keys, strict=True):
                        if name in counted:
                            counts[f"n:{name}:{key}"] += sign
        return counts

    def marker(self, collection: Collection) -> Item:
        """The item that says that the user has documents of a collection, with nothing counted
        yet."""
        user, app_id, name, _ = collection
        item: Item = {
            **collection.marker_key,
            "users_key": members_key(user.tenant_id, app_id, name),
            "user_id": user.imperal_id,
        }
        if self.gen:
            item |= {"gen": self.gen, "fields": self.fields, "since": self.since, "n": 0}
        return {**item, "done": 1} if self.done else item

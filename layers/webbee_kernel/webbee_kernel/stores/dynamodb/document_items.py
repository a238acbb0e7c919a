"""A document as items: one head, and up to ten parts when it is too large for one; and what stands
on a head for the indexes that an author declares.

    pk tenant#user#app   sk collection#id             created etag created_at updated_at
                                                      data | text | packed | parts
                                                      i1 … i4  collection#<gen>#<key>TAB<creation>
                         sk collection#id#part#000 …  etag chunk (too large for one item)
                         sk #users#collection         users_key user_id (once a user, collection)
                                                      gen fields since done n (declared)
    index by_created     pk, created (collection#<uuid7>)        a collection in order of creation
    index by_1 … by_4    pk, i1 … i4              with the data of small documents
    index users          users_key tenant#app#collection user_id who has a collection

`#` ends a collection's name in every key, so `a` and `ab` never mix; parts and markers carry no
`created`, so no query meets them. A document stands in a sparse index while its head carries that
index's sort key, so document and index cannot disagree. Local indexes are read strongly consistent,
which global ones are not: what a handler just wrote is in its next page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ...sdk.records import Document
from ..codec import loads, pack, packed_text
from ..paging import END, Collection, Row, order_key
from .item_requests import ABSENT, Item, Write, delete, put

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


def part_count(head: Item | None) -> int:
    return int(head.get("parts", 0)) if head else 0


def generation_of(head: Mapping[str, Any] | None) -> str:
    """The generation of a head's entries in indexes, empty for none."""
    # collections and generations hold no `#`, keys may
    return str(head["i1"]).split("#", 2)[1] if head and "i1" in head else ""


def row_of(item: Item, document: Document, sort_key: str) -> Row:
    """The row of a document and its item in the index that is sorted so."""
    if sort_key == "created":
        return Row(item["created"], document, item)
    name, _, entry = str(item[sort_key]).split("#", 2)
    key, _, created = entry.partition(END)
    return Row(f"{name}#{created}", document, item, key)


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


def unchanged_condition(head: Mapping[str, Any] | None) -> tuple[str, Item]:
    """The condition that a head is the one that was read (None: that there is none), also in its
    entries in indexes, and the values of that condition."""
    if head is None:
        return ABSENT, {}
    # a backfill gives a head its entries and leaves the etag: both have to be as read
    if "i1" not in head:
        return "#etag = :etag AND attribute_not_exists(#i1)", {"etag": head["etag"]}
    return "#etag = :etag AND #i1 = :i1", {"etag": head["etag"], "i1": head["i1"]}


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


def layout(
    collection: Collection, doc_id: str, current: Item | None, text: str, etag: str, now: str
) -> tuple[Item, list[Item]]:
    """The head that puts `text` where `current` stands (None: nothing does), and its parts."""
    name = "data" if len(text) <= COPY_CHARACTERS else "text"
    packed, chunks = pack(text, name=name)
    head = {
        **collection.key(doc_id),
        # etags are time-ordered, so the first one orders by creation as well
        "created": current["created"] if current else f"{collection.name}#{etag}",
        "etag": etag,
        "created_at": current["created_at"] if current else now,
        "updated_at": now,
        **packed,
    }
    parts = [
        {**collection.key(doc_id, n), "etag": etag, "chunk": chunk}
        for n, chunk in enumerate(chunks)
    ]
    return head, parts


def part_writes(
    table: str, collection: Collection, current: Item | None, parts: list[Item]
) -> list[Write]:
    """What makes these the parts of the document that `current` is the head of: they overwrite old
    ones of the same number, those beyond their count are deleted."""
    surplus = range(len(parts), part_count(current))
    deletions = (delete(table, collection.key(doc_id_of(current or {}), n)) for n in surplus)
    return [*(put(table, part) for part in parts), *deletions]

"""A document as items: one head, and up to ten parts when it is too large for one."""

from __future__ import annotations

from typing import Final, NamedTuple

import uuid_utils

from ...sdk.records import Document
from ...types import JSONObject, UserKey
from ..codec import loads, pack, unpack
from ..item_keys import app_key
from .client import LAYOUT, Item, N, S, key_of

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
    surplus = [
        {"Delete": {"TableName": table, "Key": place.part(n)}}
        for n in range(len(packed.parts), part_count(held))
    ]
    return _document(place, head, loads(text)), [{"Put": put}, *parts, *surplus]


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

"""What is kept beside the documents of a collection with declared indexes, as items.

    pk tenant#user#app   sk #users#collection   gen fields since done n  n:<field>:<key> …
                         sk #by#collection#<gen>#<field>#<key>TAB<creation>   head data

The marker of the collection carries its count, and counts by value; each index has an entry a
document, with a copy of its data where that is small. All change in one transaction with the
document, whose head notes which entries are its own (`kept`).

A generation is one declaration's time: whoever writes under another, or under none, ends it, and
every write of its own holds only while it lasts. So what a new generation has not written itself,
it does not believe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from ...sdk.documents import Document
from ...values.plain import JSONObject
from ..declared import END, Declared, rank_key
from ..jsontext import dumps, loads
from ..paging import rank_of
from .client import LAYOUT, Item, N, S, key_of
from .document_items import Place

COPY_CHARACTERS: Final = 1_000
"""Of a document's JSON that its entries repeat; a larger one is read from where it stands."""
ENTRY_PREFIX: Final = "#by#"
MAX_VALUES: Final = 100
"""Of a collection's counted fields together: with more, the counts by value are left alone, and
read no longer, so that the marker stays small."""


class Kept(NamedTuple):
    """A document's entries: of which generation, and its key in each index."""

    gen: str = ""
    keys: Mapping[str, str] = {}

    @classmethod
    def of(cls, head: Item | None) -> Kept:
        """Those that a head names."""
        if not head or "kept" not in head:
            return cls()
        gen, keys = loads(head["kept"]["S"])
        return cls(gen, keys)

    def attribute(self) -> Item:
        """What the head carries of them."""
        return {"kept": S(dumps([self.gen, dict(self.keys)]))} if self.gen else {}


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

    def keeps(self, now: float) -> bool:
        """Whether a write of this moment keeps entries."""
        return bool(self.gen) and now >= self.since

    @property
    def counts_values(self) -> bool:
        """Whether its values are few enough to count each."""
        return len(self.counts) < MAX_VALUES

    def attributes(self) -> Item:
        """Of a marker in which nothing is counted yet."""
        made: Item = {"gen": S(self.gen), "fields": S(self.fields), "since": N(self.since)}
        return {**made, "n": N(0), **({"done": N(1)} if self.done else {})}


def marker_key(place: Place) -> Item:
    """Of the item that says that the user has documents of the collection."""
    return key_of(place.pk, f"#users#{place.collection}")


def index_prefix(collection: str, gen: str, field: str) -> str:
    """How the keys of an index begin."""
    return f"{ENTRY_PREFIX}{collection}#{gen}#{field}#"


def entry_key(place: Place, gen: str, field: str, key: str, created: str) -> Item:
    """Of a document's entry; `created` is its key of creation."""
    prefix = index_prefix(place.collection, gen, field)
    return key_of(place.pk, f"{prefix}{key}{END}{created.rpartition('#')[2]}")


def kept_of(document: Document, gen: str, declared: Declared) -> Kept:
    """The entries that a document has in a generation."""
    return Kept(gen, {f: rank_key(rank_of(document.data.get(f))) for f in declared.fields})


def moves(
    table: str, place: Place, created: str, old: Kept, new: Kept, document: Document | None
) -> list[JSONObject]:
    """The actions that put a document's new entries in the place of its old ones."""
    before = {_sk(place, old.gen, f, key, created): f for f, key in old.keys.items()}
    after = {_sk(place, new.gen, f, key, created): f for f, key in new.keys.items()}
    gone: list[JSONObject] = [
        {"Delete": {"TableName": table, "Key": key_of(place.pk, sk)}}
        for sk in before
        if sk not in after
    ]
    if document is None:
        return gone
    body = _entry(document, created.rpartition("#")[2])
    return gone + [
        {"Put": {"TableName": table, "Item": {**key_of(place.pk, sk), **LAYOUT, **body}}}
        for sk in after
    ]


def tally(declared: Declared, state: Generation, *changes: tuple[Kept, Kept]) -> Mapping[str, int]:
    """By how much the counts of a generation change when documents' entries do."""
    counts: Counter[str] = Counter()
    fields = declared.counted if state.counts_values else ()
    for old, new in changes:
        for kept, sign in ((old, -1), (new, 1)):
            if kept.gen and kept.gen == state.gen:
                counts["n"] += sign
                for field in fields:
                    counts[f"n:{field}:{kept.keys[field]}"] += sign
    return {name: change for name, change in counts.items() if change}


def counting(table: str, place: Place, gen: str, counts: Mapping[str, int]) -> list[JSONObject]:
    """The action that adds to the counts of a generation, if it still lasts; none for nothing."""
    if not counts:
        return []
    names = {f"#c{at}": name for at, name in enumerate(counts)}
    adds = ", ".join(f"#c{at} :c{at}" for at in range(len(counts)))
    values = {f":c{at}": N(change) for at, change in enumerate(counts.values())}
    update: JSONObject = {
        "TableName": table,
        "Key": marker_key(place),
        "UpdateExpression": f"ADD {adds}",
        "ConditionExpression": "#gen = :gen",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {**values, ":gen": S(gen)},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    return [{"Update": update}]


def document_in(place_of: Place, entry: Item) -> tuple[Place, Document | None]:
    """Where the document of an entry stands, and the document itself where the entry repeats it."""
    doc_id, created_at, *changed = loads(entry["head"]["S"])
    created = entry["sk"]["S"].rpartition(END)[2]
    updated_at, etag = changed or (created_at, created)
    place = place_of._replace(doc_id=doc_id)
    if "data" not in entry:
        return place, None
    return place, Document(
        doc_id,
        place.collection,
        loads(entry["data"]["S"]),
        created_at,
        updated_at,
        place.user.imperal_id,
        etag,
    )


def _sk(place: Place, gen: str, field: str, key: str, created: str) -> str:
    return str(entry_key(place, gen, field, key, created)["sk"]["S"])


def _entry(document: Document, created: str) -> Item:
    """A document that nobody changed has its key of creation for an etag, and one time."""
    told = [document.id, document.created_at]
    if (document.updated_at, document.etag) != (document.created_at, created):
        told += [document.updated_at, document.etag]
    head = S(dumps(told))
    text = dumps(document.data)
    return {"head": head, "data": S(text)} if len(text) <= COPY_CHARACTERS else {"head": head}

"""What is kept beside the documents of a collection with declared indexes, as items.

    pk tenant#user#app   sk #users#collection   gen fields since done n  n:<field>:<key> …
                         sk #by#collection#<gen>#<field>#<key>TAB<creation>   head data

The marker of the collection carries its count, and counts by value; each index has an entry a
document, with a copy of its data where that is small. All change in one transaction with the
document, whose head notes which entries are its own (`kept`).

A generation is one declaration's time: whoever writes under another, or under none, ends it, and
every write of its own holds only while it lasts. So what a new generation has not written itself,
it does not believe.

The generations of a collection's indexes: which one stands, and bringing old documents into it.

A declaration that finds documents has to wait: whoever still runs the release before writes without
it. `SETTLES_S` after the declaration was first used, each read that had to go through all documents
brings up to a thousand of them in, until none is left. Until then queries read as if nothing had
been declared.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ...sdk.documents import Document
from ...values.plain import JSONObject
from ..codec import dumps, loads
from ..keys import members_key
from ..paging import END, Declared, rank_key, rank_of
from .client import LAYOUT, ConditionFailed, Database, Item, N, S, key_of
from .document_items import Brought, Place, held_as

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

"""A person's data in all tables: where it lies, found by the registry of places, told line by line,
erased. Export and erasure walk the registry, and a test fails where a table, or an item of one, is
in none of its rows.

Needs credentials for exactly this person: `dynamodb:Query` and `BatchWriteItem` in the partitions
`tenant#user` and `tenant#user#…`, and `PutItem` in the audit's of the pseudonym.
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from ...clock import iso, new_id
from ...types import JSON, AuditRecord, JSONObject, UserKey
from ..codec import audit_from, dumps, loads, unpack
from ..deployment import KERNEL_APP
from ..item_keys import app_key, secrets_of, user_key
from ..paging import Collection, Cursor
from ..protocols import SecretStore
from .client import ConditionFailed, Database
from .item_requests import ABSENT, Item, delete, key_of, partition, put
from .sessions import turn_in
from .timers import TIMER
from .transcripts import rows_in
from .user_items import record_item

if TYPE_CHECKING:
    from .document_store import DocumentStore


@dataclass(frozen=True, slots=True)
class Place:
    """Items of one table in a person's own partitions: `tenant#user`, `tenant#user#<session>` or
    `tenant#user#<app>`, with sort keys that begin with `prefix`.

    `kind` is what a line of the export calls them. Kept ones lose what leads to the person.
    """

    kind: str
    table: str
    of: Literal["user", "session", "app"]
    prefix: str = ""
    kept: bool = False


PLACES: Final = (
    Place("cache", "cache", "app"),
    Place("document", "store", "app"),
    Place("memory", "sessions", "session"),
    Place("turn", "transcripts", "session"),
    Place("question", "sessions", "user", "pending#"),
    Place("accepted", "sessions", "user", "accepted#"),
    Place("skeleton", "skeleton", "user"),
    Place("event", "events", "user"),
    Place("limit", "limits", "user"),
    Place("connection", "connections", "user"),
    # behind apps and sessions, which are found by its records (`_traces`)
    Place("audit", "audit", "user", kept=True),
    Place("session", "transcripts", "user", "session#"),
)
"""In the order of erasure: what leads to other places goes after them. Secrets lie beside the
tables, under `tenant/user`."""


PAGE = 100
PASSES = 5
"""Times the places are gone through: what wrote meanwhile is found by the next."""
# the audit's item that holds the pseudonym for as long as an erasure is under way
_MARKER = "erasure"


@dataclass(frozen=True, slots=True)
class Erased:
    """How far an erasure came: whether nothing is left, and what it removed by kind."""

    done: bool
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """An item of a person, where it stands in the walk, and of which place it is."""

    place: Place
    position: tuple[int, str, str]
    item: Item


class Belongings:
    """One person's data. `tables` are names by noun; `apps` the deployment's, to which those are
    added that left traces."""

    def __init__(
        self,
        database: Database,
        tables: Mapping[str, str],
        secrets: SecretStore,
        user: UserKey,
        apps: Iterable[str] = (),
    ) -> None:
        self._database = database
        self._tables = tables
        self._secrets = secrets
        self._user = user
        # what the kernel itself keeps of a person lies there like an app's
        self._apps = {KERNEL_APP, *apps}

    async def secret_names(self) -> tuple[str, ...]:
        """`app/name` of every secret the person gave; values are never told."""
        above = secrets_of(self._user)
        paths = await self._secrets.below(above)
        return tuple(path.removeprefix(f"{above}/") for path in paths)

    async def walk(self, after: tuple[int, str, str] | None = None) -> AsyncIterator[Found]:
        """Every item, place by place; after a position of an earlier walk."""
        at, pk_after, sk_after = after or (0, "", "")
        for index, place in enumerate(PLACES[at:], at):
            for pk in await self._partitions(place):
                # partitions come sorted: those before it were told in an earlier part
                if (index, pk) < (at, pk_after):
                    continue
                start = sk_after if (index, pk) == (at, pk_after) else ""
                async for item in self._items(place, pk, start):
                    yield Found(place, (index, pk, item["sk"]), item)

    async def erase(self, *, now: float, in_time: Callable[[], bool], expires_at: int) -> Erased:
        """Remove everything; records of the audit stay under a pseudonym, without what leads to the
        person. Goes on where an earlier try ended, and may be repeated.

        `in_time` says whether there is time for more. The record of the erasure, until
        `expires_at`, is the pseudonym's.
        """
        counts: Counter[str] = Counter()
        pseudonym = await self._pseudonym()
        for _ in range(PASSES):
            before = counts.total()
            if not await self._sweep(pseudonym, counts, in_time):
                return Erased(False, counts)
            # a pass that found nothing: nobody writes any longer
            if counts.total() == before:
                break
        # a repetition that found nothing leaves no second record
        if counts:
            await self._record(pseudonym, now, expires_at)
        # last: a try that goes on with this erasure has to find the same pseudonym
        marker = key_of(user_key(self._user), _MARKER)
        await self._database.batch([delete(self._tables["audit"], marker)])
        return Erased(True, counts)

    async def _sweep(
        self, pseudonym: UserKey, counts: Counter[str], in_time: Callable[[], bool]
    ) -> bool:
        """One walk through all places; False where the time was over before its end."""
        for path in await self._secrets.below(secrets_of(self._user)):
            counts["secret"] += await self._secrets.delete(path)
        batch: list[Found] = []
        async for found in self.walk():
            if batch and (len(batch) == PAGE or found.place is not batch[0].place):
                await self._remove(batch, pseudonym, counts)
                batch = []
                if not in_time():
                    return False
            batch.append(found)
        await self._remove(batch, pseudonym, counts)
        return not batch or in_time()  # each try gets further

    async def _remove(self, batch: list[Found], pseudonym: UserKey, counts: Counter[str]) -> None:
        """Delete items of one place; of those that are kept, after a copy under the pseudonym."""
        for found in batch:
            if found.place.kept:
                await self._pseudonymise(found.item, pseudonym)
        if batch:
            place, keys = batch[0].place, (key_of(*f.position[1:]) for f in batch)
            await self._database.batch(delete(self._tables[place.table], key) for key in keys)
            counts[place.kind] += len(batch)

    async def _pseudonymise(self, item: Item, pseudonym: UserKey) -> None:
        """That a call was made stays; with which words, values and outcome does not."""
        # claims only guard against a second run, which nobody will ask for
        if not item["sk"].startswith("call#"):
            return
        told = audit_from(item["body"])
        bare = replace(told, session_id="", request_id="", args_hash="", outcome=None, effect="")
        await self._put_record(pseudonym, bare, int(item["expires_at"]))

    async def _record(self, pseudonym: UserKey, now: float, expires_at: int) -> None:
        said = AuditRecord(
            new_id(), iso(now), "kernel", "erase", "destructive", "", "", 0, "", "ok"
        )
        await self._put_record(pseudonym, said, expires_at)

    async def _put_record(self, pseudonym: UserKey, record: AuditRecord, expires_at: int) -> None:
        item = record_item(pseudonym, record, expires_at)
        await self._database.write(put(self._tables["audit"], item))

    async def _pseudonym(self) -> UserKey:
        """Whose the kept records become: a name no token can have, the same until all is done."""
        name = f"__erased_{uuid4().hex}__"
        marker = {**key_of(user_key(self._user), _MARKER), "pseudonym": name}
        try:
            await self._database.write(put(self._tables["audit"], marker, ABSENT))
        except ConditionFailed as failure:
            name = failure.item["pseudonym"]
        return UserKey(self._user.tenant_id, name)

    async def _partitions(self, place: Place) -> list[str]:
        if place.of == "user":
            return [user_key(self._user)]
        if place.of == "app":
            # an app that is deployed no longer has left data, too
            self._apps |= await self._traces("app_id")
            return sorted(app_key(self._user, app_id) for app_id in self._apps)
        return sorted(f"{user_key(self._user)}#{s}" for s in await self._sessions())

    async def _sessions(self) -> set[str]:
        """Those listed, and those that calls were made in."""
        listed = self._items(PLACES[-1], user_key(self._user))
        found = {item["session_id"] async for item in listed}
        return found | await self._traces("session_id")

    async def _traces(self, name: str) -> set[str]:
        """Values of a field in the records of the audit; for apps also those that the skeleton
        names."""
        user = user_key(self._user)
        calls = Place("audit", "audit", "user", "call#")
        found = {
            str(getattr(audit_from(item["body"]), name)) async for item in self._items(calls, user)
        }
        if name == "app_id":
            skeleton = Place("skeleton", "skeleton", "user")
            keys = [item["sk"] async for item in self._items(skeleton, user)]
            # sort keys are `!app`, `app#section` and `~app#section`
            found |= {key.lstrip("!~").partition("#")[0] for key in keys}
        # what no key can be made of has left nothing under one
        return {value for value in found if value and "#" not in value}

    async def _items(self, place: Place, pk: str, after: str = "") -> AsyncIterator[Item]:
        behind = key_of(pk, after) if after else None
        request = partition(self._tables[place.table], pk, place.prefix, after=behind)
        async for items in self._database.pages(request):
            for item in items:
                if item["sk"] != _MARKER:
                    yield item


ENOUGH_BYTES: Final = 2_500_000
"""Of JSON after which a part ends: with a largest line behind it, it fits into Lambda's 6 MB."""
MAX_LINE_BYTES: Final = 2_500_000
"""Of one line. Whose document is larger reads it through its app; the line says how large it is."""
_KEYS: Final = frozenset({"pk", "sk", "schema", "stamp", "expires_at", "lease_until"})
_SAID: Final = {"ttl": "fetched_anew_every_seconds"}


class Export:
    """Lines `{"kind", "in", "key", "until", "data"}`: what it is, the session or app it lies in,
    its key there, until when (UTC; null: until its app or its person removes it), all of it."""

    def __init__(self, belongings: Belongings, documents: DocumentStore, user: UserKey) -> None:
        self._belongings = belongings
        self._documents = documents
        self._user = user

    async def part(self, cursor: str | None = None) -> tuple[list[str], str | None]:
        """Lines from a cursor on, and the cursor of the next part; ValueError for a cursor that
        this did not give out. Secrets are named in the first part and never told."""
        tokens = Cursor("export", str(self._user))
        lines: list[str] = []
        after = None
        if cursor is None:
            names = await self._belongings.secret_names()
            lines += [_line("secret", name.partition("/")[0], name, None) for name in names]
        else:
            index, pk, sk = tokens.read(cursor, 3)
            after = (int(index), str(pk), str(sk))
        size = 0
        async for found in self._belongings.walk(after):
            # of a large document: told with its head
            if found.place.kind == "document" and "#part#" in found.position[2]:
                continue
            lines.append(await self._told(found))
            size += len(lines[-1].encode())
            # behind the line: each part gets further, however large a single line is
            if size >= ENOUGH_BYTES:
                return lines, tokens.write(*found.position)
        return lines, None

    async def _told(self, found: Found) -> str:
        kind, item, (_, pk, sk) = found.place.kind, found.item, found.position
        # the third part of a partition key, a session or an app; a user's own has none
        inside = "".join(pk.split("#")[2:])
        until = iso(float(item["expires_at"])) if "expires_at" in item else None
        if kind == "document" and not sk.startswith("#"):  # what lists a collection's users
            collection, doc_id = sk.split("#")
            document = await self._documents.get(Collection(self._user, inside, collection), doc_id)
            return _line(kind, inside, sk, asdict(document) if document else None, until)
        if kind == "memory" and sk.startswith("turn#"):
            return _line(kind, inside, sk, asdict(turn_in(item)), until)
        if kind == "turn":
            return _line(kind, inside, sk, list(rows_in(item).values()), until)
        return _line(kind, inside, sk, _plain(item), until)


def _line(kind: str, inside: str, key: str, data: JSON, until: str | None = None) -> str:
    row: JSONObject = {"kind": kind, "in": inside, "key": key, "until": until, "data": data}
    text = dumps(row)
    if len(text) > MAX_LINE_BYTES // 4 and (size := len(text.encode())) > MAX_LINE_BYTES:
        text = dumps({**row, "data": None, "left_out_bytes": size})
    return text


def _plain(item: Item) -> JSONObject:
    """The attributes; of sections, which stay until their app goes, the person's timer says how
    often each is fetched anew."""
    told = {name: _value(v) for name, v in item.items() if name not in _KEYS}
    if item["sk"] == TIMER and isinstance(sections := told.get("sections"), dict):
        told["sections"] = {
            key: {_SAID.get(name, name): value for name, value in entry.items()}
            for key, entry in sections.items()
        }
    return told


def _value(attribute: Any) -> Any:
    match attribute:
        case str():
            return _json(attribute)
        case bytes():
            return _read(attribute)
        case set():
            return sorted(attribute)
    return attribute


def _read(blob: bytes) -> Any:
    """JSON, compressed or not; what is neither as base64."""
    for text_of in (unpack, bytes.decode):
        try:
            return _json(text_of(blob))
        except (zlib.error, UnicodeDecodeError):
            continue
    return base64.b64encode(blob).decode()


def _json(text: str) -> Any:
    # a text such as `12` or `true` is told as the text it is
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return loads(text)
    except ValueError:
        return text

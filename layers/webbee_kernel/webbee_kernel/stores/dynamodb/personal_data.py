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
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal
from uuid import uuid4

from ...clock import iso
from ...types import JSON, AuditRecord, JSONObject, UserKey
from .. import SecretStore
from ..codec import audit_from, decompress, dumps, loads
from ..item_keys import KERNEL_APP, secrets_of, user_key
from ..paging import KEY, Collection, Cursor
from .client import ConditionFailed, Database
from .document_store import DocumentStore
from .item_requests import ABSENT, Item, delete, key_of, partition, put
from .sessions import turn_from_item
from .transcripts import rows_from_item
from .user_items import record_item


@dataclass(frozen=True, slots=True)
class Location:
    """Items of one table in a person's own partitions: `tenant#user`, `tenant#user#<session>` or
    `tenant#user#<app>`, with sort keys that begin with `prefix`.

    `kind` is what a line of the export calls them. Kept ones lose what leads to the person.
    """

    kind: str
    table: str
    of: Literal["user", "session", "app"]
    prefix: str = ""
    is_kept: bool = False


LOCATIONS: Final = (
    Location("cache", "cache", "app"),
    Location("document", "store", "app"),
    Location("memory", "sessions", "session"),
    Location("turn", "transcripts", "session"),
    Location("question", "sessions", "user", "pending#"),
    Location("accepted", "sessions", "user", "accepted#"),
    Location("skeleton", "skeleton", "user"),
    Location("event", "events", "user"),
    Location("limit", "limits", "user"),
    Location("connection", "connections", "user"),
    # behind apps and sessions, which are found by its records (`_partitions`)
    Location("audit", "audit", "user", is_kept=True),
    Location("session", "transcripts", "user", "session#"),
)
"""In the order of erasure: what leads to other places goes after them. Secrets lie beside the
tables, under `tenant/user`."""


PAGE: Final = 100
"""Items that an erasure removes at a time."""
PASSES: Final = 5
"""Times the places are gone through: what wrote meanwhile is found by the next."""
# the audit's item that holds the pseudonym for as long as an erasure is under way
_MARKER: Final = "erasure"
MAX_PART_BYTES: Final = 2_500_000
"""Of JSON after which a part of an export ends: with a largest line behind it, it fits into
Lambda's 6 MB."""
MAX_LINE_BYTES: Final = 2_500_000
"""Of one line. Whose document is larger reads it through its app; the line says how large it is."""
_KEYS: Final = frozenset({"pk", "sk", "schema", "stamp", "expires_at", "lease_until"})

Position = tuple[int, str, str]
"""Where a walk has come: the number of the place, the partition, the sort key."""


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """How far an erasure came: whether nothing is left, and what it removed by kind."""

    done: bool
    counts: Mapping[str, int] = field(default_factory=dict)


class PersonalData:
    """One person's data. `tables` are names by noun; `apps` the deployment's, to which those are
    added that left traces; `shown` is what of a value is told, without its secrets."""

    def __init__(
        self,
        database: Database,
        tables: Mapping[str, str],
        secrets: SecretStore,
        user: UserKey,
        apps: Iterable[str],
        redact: Callable[[JSON], JSON],
    ) -> None:
        self._database = database
        self._tables = tables
        self._secrets = secrets
        self._user = user
        self._redact = redact
        # what the kernel itself keeps of a person lies there like an app's
        self._apps = {KERNEL_APP, *apps}
        self._documents = DocumentStore(database, tables["store"])

    async def export(self, cursor: str | None = None) -> tuple[list[str], str | None]:
        """Lines from a cursor on, and the cursor of the next part; ValueError for a cursor that
        this did not give out. Secrets are named in the first part and never told, nor what looks
        like one in what an app keeps: of a connected account everything but its tokens is.

        A line is `{"kind", "in", "key", "until", "data"}`: what it is, the session or app it lies
        in, its key there, until when (UTC; null: until its app or its person removes it), all of
        it.
        """
        tokens = Cursor("export", str(self._user))
        lines: list[str] = []
        after = None
        if cursor is None:
            above = f"{secrets_of(self._user)}/"
            for path in await self._secrets.below(above[:-1]):
                name = path.removeprefix(above)
                lines.append(_line("secret", name.partition("/")[0], name, None))
        else:
            index, pk, sk = tokens.read(cursor, int, KEY, KEY)
            after = index, pk, sk
        size = 0
        async for index, items in self._walk(after):
            for item in items:
                # of a large document: told with its head
                if LOCATIONS[index].kind == "document" and "#part#" in item["sk"]:
                    continue
                lines.append(await self._export_line(LOCATIONS[index].kind, item))
                size += len(lines[-1].encode())
                # behind the line: each part gets further, however large a single line is
                if size >= MAX_PART_BYTES:
                    return lines, tokens.write(index, item["pk"], item["sk"])
        return lines, None

    async def _export_line(self, kind: str, item: Item) -> str:
        # the third part of a partition key, a session or an app; a user's own has none
        inside, sk = "".join(item["pk"].split("#")[2:]), item["sk"]
        until = iso(float(item["expires_at"])) if "expires_at" in item else None
        data: JSON = {name: _value(v) for name, v in item.items() if name not in _KEYS}
        if kind == "document" and not sk.startswith("#"):  # what lists a collection's users
            collection, doc_id = sk.split("#")
            document = await self._documents.get(Collection(self._user, inside, collection), doc_id)
            data = asdict(document) if document else None
        elif kind == "memory" and sk.startswith("turn#"):
            data = asdict(turn_from_item(item))
        elif kind == "turn":
            data = list(rows_from_item(item).values())
        return _line(kind, inside, sk, self._redact(data), until)

    async def erase(
        self, *, now: float, in_time: Callable[[], bool], expires_at: int
    ) -> ErasureResult:
        """Remove everything; records of the audit stay under a pseudonym, without what leads to the
        person. Goes on where an earlier try ended, and may be repeated.

        `in_time` says whether there is time for more. The record of the erasure, until
        `expires_at`, is the pseudonym's.
        """
        counts: Counter[str] = Counter()
        pseudonym = await self._pseudonym()
        done = False
        for _ in range(PASSES):
            before = counts.total()
            done = await self._sweep(pseudonym, counts, in_time)
            # a pass that found nothing: nobody writes any longer
            if not done or counts.total() == before:
                break
        # a repetition that found nothing leaves none, and of several tries one is left
        if counts:
            call = ("kernel", "erase", "destructive", "", "", 0, "", "ok")
            await self._put_record(pseudonym, AuditRecord(_MARKER, iso(now), *call), expires_at)
        # last: a try that goes on with this erasure has to find the same pseudonym
        if done:
            marker = key_of(user_key(self._user), _MARKER)
            await self._database.batch([delete(self._tables["audit"], marker)])
        return ErasureResult(done, counts)

    async def _sweep(
        self, pseudonym: UserKey, counts: Counter[str], in_time: Callable[[], bool]
    ) -> bool:
        """One walk through all places; False where the time was over before its end."""
        for path in await self._secrets.below(secrets_of(self._user)):
            counts["secret"] += await self._secrets.delete(path)
        async for index, items in self._walk(limit=PAGE):
            place = LOCATIONS[index]
            if place.is_kept:
                for item in items:
                    await self._pseudonymise(item, pseudonym)
            table = self._tables[place.table]
            await self._database.batch(delete(table, key_of(i["pk"], i["sk"])) for i in items)
            counts[place.kind] += len(items)
            # behind what was removed: each try gets further
            if not in_time():
                return False
        return True

    async def _pseudonymise(self, item: Item, pseudonym: UserKey) -> None:
        """That a call was made stays; with which words, values and outcome does not."""
        # claims only guard against a second run, which nobody will ask for
        if not item["sk"].startswith("call#"):
            return
        record = audit_from(item["body"])
        anonymous = replace(
            record, session_id="", request_id="", args_hash="", outcome=None, effect=""
        )
        await self._put_record(pseudonym, anonymous, int(item["expires_at"]))

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

    async def _walk(
        self, after: Position | None = None, limit: int = 0
    ) -> AsyncIterator[tuple[int, list[Item]]]:
        """Every item, page by page, with the number of its place; after a position of an earlier
        walk."""
        *begun, sk_after = after or (0, "", "")
        partitions = await self._partitions()
        for index, place in enumerate(LOCATIONS):
            # partitions come sorted: those before it were told in an earlier part
            for pk in (pk for pk in partitions[place.of] if [index, pk] >= begun):
                start = sk_after if [index, pk] == begun else ""
                async for items in self._pages(place.table, pk, place.prefix, start, limit):
                    yield index, items

    async def _partitions(self) -> Mapping[str, list[str]]:
        """The partitions of each kind, sorted: the user's own; of sessions that are listed, or that
        calls were made in; of apps that are deployed, that calls were made of, or that the skeleton
        names: one that is deployed no longer has left data, too."""
        own = user_key(self._user)
        sessions, apps = set[str](), set(self._apps)
        async for items in self._pages("transcripts", own, "session#"):
            sessions.update(item["session_id"] for item in items)
        async for items in self._pages("audit", own, "call#"):
            for item in items:
                record = audit_from(item["body"])
                sessions.add(record.session_id)
                apps.add(record.app_id)
        async for items in self._pages("skeleton", own):
            # sort keys are `!app`, `app#section` and `~app#section`
            apps.update(item["sk"].lstrip("!~").partition("#")[0] for item in items)
        return {"user": [own], "session": _below(own, sessions), "app": _below(own, apps)}

    async def _pages(
        self, noun: str, pk: str, prefix: str = "", after: str = "", limit: int = 0
    ) -> AsyncIterator[list[Item]]:
        start = key_of(pk, after) if after else None
        query = partition(self._tables[noun], pk, prefix, after=start, limit=limit)
        async for items in self._database.pages(query):
            if found := [item for item in items if item["sk"] != _MARKER]:
                yield found


def _below(own: str, names: Iterable[str]) -> list[str]:
    # what no key can be made of has left nothing under one
    return sorted(f"{own}#{name}" for name in names if name and "#" not in name)


def _line(kind: str, inside: str, key: str, data: JSON, until: str | None = None) -> str:
    row: JSONObject = {"kind": kind, "in": inside, "key": key, "until": until, "data": data}
    text = dumps(row)
    size = len(text.encode())
    return text if size <= MAX_LINE_BYTES else dumps({**row, "data": None, "left_out_bytes": size})


def _value(attribute: Any) -> Any:
    """An attribute as a person reads it: sets as lists, JSON as what it stands for."""
    if isinstance(attribute, set):
        return sorted(attribute)
    text = _text(attribute) if isinstance(attribute, bytes) else attribute
    # a text such as `12` or `true` is told as the text it is
    if isinstance(text, str) and text.lstrip().startswith(("{", "[")):
        with suppress(ValueError):
            return loads(text)
    return text


def _text(blob: bytes) -> str:
    """Of a blob, compressed or not; what is neither as base64."""
    for text_of in (decompress, bytes.decode):
        with suppress(zlib.error, UnicodeDecodeError):
            return text_of(blob)
    return base64.b64encode(blob).decode()

"""What a person is owed: their conversations, with full-text search over all that was said in them,
the record of what was done in their name, everything that is kept of them, and the end of it."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from ..bootstrap import App, make_belongings, make_export
from ..catalogue import Dispatch
from ..clock import digest, iso
from ..errors import BadInput, NotFound, RequestConflict
from ..stores.transcript_archive import conversation
from ..stores.types import SessionSummary
from ..turn.accepted_destinations import AcceptedDestinations
from ..turn.results_block import remembered_details
from ..turn.session_memory import check_session_id
from ..types import AuditRecord, JSONObject, SessionKey, UserKey, to_dict, user_dict
from .request_models import CURSOR, LIMIT, SessionId, Wire, at_most, has_text, limit_of
from .router import Answer, Request, Route, json_text

READ_TURNS: Final = 200
"""Newest turns of a session in which the message behind a record is looked for."""
CONFIRM_S: Final = 600
"""Seconds for which the word that confirms an erasure holds, at least."""
ERASE_S: Final = 20.0
"""Seconds that one request spends erasing; the next goes on."""

TOLD: Final = (
    *("at", "app_id", "fn_name", "action_type", "status", "duration_ms"),
    *("session_id", "request_id"),
)
"""What of a record its person reads in any case."""
AUDIT = {"cursor": Annotated[CURSOR, Field(max_length=64)], "limit": LIMIT}
EXPORT = {
    "cursor": Annotated[str, Field(description="The cursor in the last line of the part before.")]
}
ACCEPTED = {
    "key": Annotated[
        str, Field(max_length=256, description="Which one; without it all are taken back.")
    ]
}
ERASE = {
    "confirm": Annotated[
        str, Field(description="The word that the same request without it answered.")
    ]
}


class Me:
    """The routes under `/v1/me`."""

    def __init__(self, app: App, dispatch: Dispatch, accepted: AcceptedDestinations) -> None:
        self._app = app
        self._dispatch = dispatch
        self._accepted = accepted

    @Route("GET /v1/me", answer="MeAnswer")
    async def who(self, request: Request) -> Answer:
        """Who the caller's token says he is."""
        return Answer(user_dict(request.caller))

    @Route("GET /v1/me/audit", answer="AuditAnswer", params=AUDIT)
    async def audit(self, request: Request) -> Answer:
        """Calls made in the caller's name, newest first, each with the message behind it where
        that is still kept."""
        user = UserKey.of(request.caller)
        before = at_most(64, "cursor", request.query.get("cursor", ""))
        rows = limit_of(request.query)
        records = await self._app.stores.audit.list(
            user, limit=rows + 1, before=before, now=self._app.clock.now()
        )
        page = records[:rows]
        messages = await self._messages(user, page)
        return Answer(
            {
                "records": [_record(r, messages.get(r.request_id, "")) for r in page],
                "cursor": page[-1].record_id if len(records) > rows else None,
            }
        )

    async def _messages(self, user: UserKey, records: tuple[AuditRecord, ...]) -> dict[str, str]:
        """Messages by the requests that they were, from the conversations."""
        sessions = sorted({r.session_id for r in records if r.session_id})
        stores, now = self._app.stores, self._app.clock.now()
        keys = [SessionKey(user, session) for session in sessions]
        pages = await asyncio.gather(
            *(conversation(stores, key, limit=READ_TURNS, now=now) for key in keys)
        )
        return {
            request_id: str(turn["message"])
            for turns, _, _ in pages
            for turn in turns
            for request_id in (turn["request_id"], *turn.get("also", ()))
        }

    @Route(
        "GET /v1/me/export",
        params=EXPORT,
        content_type="application/x-ndjson",
    )
    async def export(self, request: Request) -> Answer:
        """Everything that is kept of the caller, a line of JSON each. The last line is
        `{"kind": "end"}`, or `{"kind": "more", "cursor": …}` where a further part follows."""
        export = make_export(self._app, UserKey.of(request.caller), await self._apps())
        try:
            lines, cursor = await export.part(request.query.get("cursor"))
        except ValueError as error:
            raise BadInput(str(error)[:200], field="cursor") from None
        last = {"kind": "more", "cursor": cursor} if cursor else {"kind": "end"}
        return Answer("\n".join([*lines, json_text(last), ""]), content_type="application/x-ndjson")

    @Route("DELETE /v1/me", answer="ErasedAnswer", params=ERASE)
    async def erase(self, request: Request) -> Answer:
        """Erase everything that is kept of the caller. Asked without `confirm` it erases nothing
        and answers with the word that confirms; 202 where it needs to be asked again to finish."""
        user = UserKey.of(request.caller)
        now = self._app.clock.now()
        words = [_word(user, now), _word(user, now - CONFIRM_S)]
        given = request.query.get("confirm")
        if given is None:
            return Answer({"status": "confirm", "confirm": words[0], "counts": {}})
        if given not in words:
            raise RequestConflict(
                "confirm is not the word that DELETE /v1/me gave out in the last ten minutes: ask"
                " for it again, without confirm",
                field="confirm",
            )
        until = time.monotonic() + ERASE_S
        await self._app.stores.connections.forget(user)
        belongings = make_belongings(self._app, user, await self._apps())
        erased = await belongings.erase(
            now=now,
            in_time=lambda: time.monotonic() < until,
            expires_at=int(now) + self._app.settings.audit_days * 86_400,
        )
        body: JSONObject = {"counts": dict(erased.counts)}
        if erased.done:
            return Answer({**body, "status": "erased"})
        return Answer({**body, "status": "erasing", "confirm": words[0]}, 202)

    @Route("GET /v1/me/accepted", answer="AcceptedAnswer")
    async def accepted(self, request: Request) -> Answer:
        """Destinations that the caller does not want to be asked about again."""
        found = await self._accepted.list(UserKey.of(request.caller))
        return Answer({"accepted": [a._asdict() for a in found]})

    @Route(
        "DELETE /v1/me/accepted",
        answer="RevokedAnswer",
        params=ACCEPTED,
    )
    async def revoke(self, request: Request) -> Answer:
        """Take one of them back (`key`), or all: the next effect that goes there is asked about."""
        key = request.query.get("key")
        keys = None if key is None else [at_most(256, "key", key)]
        return Answer({"revoked": await self._accepted.forget(UserKey.of(request.caller), keys)})

    async def _apps(self) -> set[str]:
        return set((await self._dispatch.catalogue()).apps)


def _word(user: UserKey, now: float) -> str:
    """Not a secret: whoever asks twice means it."""
    return f"erase_{digest(str(user), int(now // CONFIRM_S))[:12]}"


def _record(record: AuditRecord, message: str) -> JSONObject:
    told = {name: value for name, value in to_dict(record).items() if name in TOLD}
    more = {"error_code": record.error_code, "message": message}
    return told | {name: value for name, value in more.items() if value}


ONE = "/v1/sessions/{id}"
MAX_TITLE = 80
"""Characters of a session's title."""
MAX_QUERY = 80
"""Characters of what is searched for."""
SESSION = {"id": SessionId}
SESSIONS = {
    "cursor": CURSOR,
    "limit": LIMIT,
    "q": Annotated[str, Field(max_length=MAX_TITLE, description="What the title must hold.")],
}
SEARCH = {
    "q": Annotated[str, Field(max_length=MAX_QUERY, description="Words that were said.")],
    "cursor": CURSOR,
}

CONVERSATIONS: Final = 20
"""Conversations that one request reads, the most recently touched first."""
TURNS: Final = 200
"""Newest turns of each that are read."""
MATCHES: Final = 5
"""Matches that are told of one conversation, the newest first."""
LEAST: Final = 0.2
"""What a turn that lacks a word must hold of what all words tell."""
SHORTEST: Final = 2
"""Characters of a query: one letter stands everywhere, and finds nothing."""
UNSEEN: Final = frozenset(
    ("type", "id", "icon", "param_name", "variant", "action", "src", "direction", "size")
)
"""Properties of a UI tree that nobody reads."""
PRESSED: Final = frozenset(("Button", "Link"))
"""Nodes that say what may be done, and nothing of what is."""
AT_ONCE: Final = 5
BEFORE, AROUND = 40, 160
"""Characters of an excerpt before what was found, and in all."""


class RenameBody(Wire):
    """`PATCH /v1/sessions/{id}`."""

    title: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TITLE,
            json_schema_extra={"pattern": r"[^\s\u001c-\u001f\u0085]"},
        ),
        AfterValidator(has_text),
    ]


class Conversations:
    """The routes under `/v1/sessions` and `/v1/search`.

    There is no index for a search: a request reads the newest conversations and, of each, its
    newest turns, and the cursor goes on with the conversations before them. So a search costs what
    reading them costs, is exact, and forgets what they forget.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._stores = app.stores
        self._clock = app.clock

    @Route("GET /v1/sessions", answer="SessionsAnswer", params=SESSIONS)
    async def list(self, request: Request) -> Answer:
        """The caller's sessions, most recently touched first; with `q`, those whose title holds
        it."""
        title = at_most(MAX_TITLE, "q", request.query.get("q", "").strip())
        try:
            found, cursor = await self._stores.transcripts.list(
                UserKey.of(request.caller),
                limit=limit_of(request.query),
                cursor=request.query.get("cursor"),
                title=title,
                now=self._clock.now(),
            )
        except ValueError as error:
            raise BadInput(str(error)[:200], field="cursor") from None
        return Answer({"sessions": [s._asdict() for s in found], "cursor": cursor})

    @Route(
        f"GET {ONE}", answer="SessionAnswer", params=SESSION | {"cursor": CURSOR, "limit": LIMIT}
    )
    async def read(self, request: Request) -> Answer:
        """A session's newest turns, or with `cursor` those before them, oldest first. `remembered`
        says which of them the model still sees."""
        key, now = _key(request), self._clock.now()
        try:
            turns, before, memory = await conversation(
                self._stores,
                key,
                limit=limit_of(request.query),
                cursor=request.query.get("cursor"),
                now=now,
            )
        except ValueError as error:
            raise BadInput(str(error)[:200], field="cursor") from None
        if not turns:
            raise NotFound(f"there is no session {key.session_id!r}", field="id")
        remembered = memory.since(iso(now - self._app.settings.session_days * 86_400)).turns
        seen = {(t.at, t.seq) for t in remembered}
        shown = [{**row, "remembered": (row["at"], row["turn"]) in seen} for row in turns]
        known = {(t.at, t.seq): remembered_details(t) for t in memory.ring}
        for row in shown:
            if any(found := known.get((row["at"], row["turn"]), [])):
                row["details"] = found
        return Answer({"session_id": key.session_id, "turns": shown, "cursor": before})

    @Route(
        f"PATCH {ONE}",
        body=RenameBody,
        answer="SessionRow",
        params=SESSION,
    )
    async def rename(self, request: Request) -> Answer:
        """Give a session a title of one's own."""
        key, title = _key(request), " ".join(request.body(RenameBody).title.split())
        renamed = await self._stores.transcripts.rename(key, title)
        if renamed is None:
            raise NotFound(f"there is no session {key.session_id!r}", field="id")
        return Answer(renamed._asdict())

    @Route(f"DELETE {ONE}", answer="DeletedAnswer", params=SESSION)
    async def forget(self, request: Request) -> Answer:
        """Delete a session: the model's memory of it and its transcript."""
        key = _key(request)
        await self._stores.sessions.delete(key)
        await self._stores.transcripts.delete(key)
        return Answer({"deleted": key.session_id})

    @Route("GET /v1/search", answer="SearchAnswer", params=SEARCH)
    async def find(self, request: Request) -> Answer:
        """Turns in which every word of `q` was said, by the caller or to him, in any case, and
        behind them those that lack what tells least (`lacks`). One request reads 20 conversations
        and the newest 200 turns of each; with `cursor`, the conversations before them. A `q` of
        less than two characters finds nothing."""
        words = at_most(MAX_QUERY, "q", request.query.get("q", "")).split()
        if len("".join(words)) < SHORTEST:
            return Answer({"matches": [], "searched": 0, "cursor": None})
        user, now = UserKey.of(request.caller), self._clock.now()
        cursor = request.query.get("cursor")
        try:
            read, before = await self._stores.transcripts.list(
                user, limit=CONVERSATIONS, cursor=cursor, now=now
            )
        except ValueError as error:
            raise BadInput(str(error)[:200], field="cursor") from None
        gate = asyncio.Semaphore(AT_ONCE)

        async def turns(session_id: str) -> list[JSONObject]:
            async with gate:
                key = SessionKey(user, session_id)
                told, _, _ = await conversation(self._stores, key, limit=TURNS, now=now)
                return told

        told = await asyncio.gather(*(turns(session.session_id) for session in read))
        rows = [(s, row) for s, mine in zip(read, told, strict=True) for row in reversed(mine)]
        return Answer({"matches": _matches(rows, words), "searched": len(read), "cursor": before})


def _key(request: Request) -> SessionKey:
    return SessionKey(UserKey.of(request.caller), check_session_id(request.path["id"]))


def _matches(
    turns: Sequence[tuple[SessionSummary, JSONObject]], words: Sequence[str]
) -> list[JSONObject]:
    """The turns that hold every word, then those that lack some and hold what tells most. A few of
    each conversation, the newest first, each with an excerpt and the words that it lacks."""
    patterns = {word: re.compile(re.escape(word), re.IGNORECASE) for word in words}
    read = [(session, row, _texts(row)) for session, row in turns]
    held = [_held(patterns, texts) for *_, texts in read]
    telling, count = _telling(held, patterns), Counter[str]()
    found: list[JSONObject] = []
    for (session, row, texts), has in sorted(
        zip(read, held, strict=True), key=lambda one: -len(one[1])
    ):
        count[session.session_id] += has in telling
        if has in telling and count[session.session_id] <= MATCHES:
            at = {name: row[name] for name in ("at", "turn", "request_id")}
            told = {"session_id": session.session_id, "title": session.title, **at}
            found.append({**told, **_excerpt(texts, patterns, has)})
    return found


def _held(
    patterns: Mapping[str, re.Pattern[str]], texts: Sequence[tuple[str, str]]
) -> frozenset[str]:
    """The words that stand in any of these texts."""
    return frozenset(w for w, p in patterns.items() if any(p.search(text) for _, text in texts))


def _telling(held: Sequence[frozenset[str]], words: Iterable[str]) -> set[frozenset[str]]:
    """What of the words a turn must hold: all, or enough of what they tell. Of the turns that lack
    some, a word tells the more, the fewer have it."""
    every = frozenset(words)
    near = [has for has in held if has != every]
    counts = Counter(word for has in near for word in has)
    tells = {word: log((len(near) + 1) / max(counts[word], 1)) for word in every}
    least = LEAST * sum(tells.values())
    return {every}.union(h for h in near if h and sum(tells[word] for word in h) >= least)


def _texts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a turn told: its reply, its message, what was drawn. A reply that called nothing and
    draws nothing but buttons offers what may be said instead, in the question's own words."""
    said, ui = ("message", str(row["message"])), row.get("ui")
    drawn = list(_drawn(ui))
    if ui and not drawn and not row.get("calls"):
        return [said]
    return [("reply", str(row["reply"])), said, *(("reply", text) for text in drawn)]


def _excerpt(
    texts: Sequence[tuple[str, str]], patterns: Mapping[str, re.Pattern[str]], has: frozenset[str]
) -> JSONObject:
    """Where the first word that a turn holds stands, and which it lacks."""
    pattern = next(p for word, p in patterns.items() if word in has)
    found = ((name, text, pattern.search(text)) for name, text in texts)
    name, text, match = next((n, t, m) for n, t, m in found if m)
    start = max(0, match.start() - BEFORE)
    return {
        "where": name,
        "excerpt": text[start : max(start + AROUND, match.end())],
        "start": match.start() - start,
        "end": match.end() - start,
        "lacks": [word for word in patterns if word not in has],
    }


def _drawn(node: Any) -> Iterator[str]:
    """The texts of a UI tree, not those of its buttons nor what they do."""
    if isinstance(node, list):
        for item in node:
            yield from _drawn(item)
    elif isinstance(node, Mapping) and node.get("type") not in PRESSED:
        for name, value in node.items():
            if name not in UNSEEN and not name.startswith("on_"):
                yield from _drawn(value)
    elif isinstance(node, str) and node:
        yield node

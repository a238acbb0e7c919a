"""A user's conversations: list, pages of turns, title, deletion, and full-text search."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from ..clock import iso
from ..errors import BadInput, NotFound
from ..language.search import SearchWord, SearchWords
from ..stores.dynamodb.transcripts import conversation
from ..stores.types import SessionSummary
from ..turn.results_block import remembered_details
from ..types import JSONObject, SessionKey, UserKey
from .request_models import SESSION_ID, After, Page, Params, SessionId, Text, Wire, check_cursor
from .router import Answer, Request, Route, Services

ONE = "/v1/sessions/{id}"
MAX_TITLE = 80
"""Characters of a session's title."""
MAX_QUERY = 80
"""Characters of what is searched for."""

CONVERSATIONS: Final = 20
"""Conversations that one request reads, most recent first."""
TURNS: Final = 200
"""Newest turns of each that are read."""
MATCHES: Final = 5
"""Matches per conversation, newest first."""
MIN_QUERY: Final = 2
"""Characters of a query; a shorter one finds nothing."""
HIDDEN_PROPERTIES: Final = frozenset(
    ("type", "id", "icon", "param_name", "variant", "action", "src", "direction", "size")
)
"""Properties of a UI tree that are not text."""
INTERACTIVE_NODES: Final = frozenset(("Button", "Link"))
"""Nodes for actions, which are not searched."""
AT_ONCE: Final = 5
BEFORE, AROUND = 40, 160
"""Characters of an excerpt before what was found, and in all."""


class RenameBody(Wire):
    """`PATCH /v1/sessions/{id}`."""

    title: Annotated[Text, Field(max_length=MAX_TITLE)]


class SessionPath(Params):
    """`/v1/sessions/{id}`."""

    id: SessionId


class SessionParams(SessionPath, Page):
    """`GET /v1/sessions/{id}`."""


class SessionsParams(Page):
    """`GET /v1/sessions`."""

    q: Annotated[
        str,
        StringConstraints(strip_whitespace=True),
        Field(max_length=MAX_TITLE, description="What the title must hold."),
    ] = ""


class SearchParams(After):
    """`GET /v1/search`."""

    q: Annotated[str, Field(max_length=MAX_QUERY, description="Words that were said.")] = ""


class Conversations:
    """The routes under `/v1/sessions` and `/v1/search`.

    A search has no index: a request reads the newest turns of the newest conversations, and the
    cursor continues with the conversations before them.
    """

    def __init__(self, services: Services) -> None:
        self._app = services.app
        self._stores = services.app.stores
        self._clock = services.app.clock

    @Route("GET /v1/sessions", answer="SessionsAnswer", params=SessionsParams)
    async def list(self, request: Request) -> Answer:
        """The caller's sessions, last touched first; with `q`, those with it in their title."""
        params = request.query_model(SessionsParams)
        with check_cursor():
            found, cursor = await self._stores.transcripts.list(
                UserKey.of(request.caller),
                limit=params.limit,
                cursor=params.cursor or None,
                title=params.q,
                now=self._clock.now(),
            )
        return Answer({"sessions": [s._asdict() for s in found], "cursor": cursor})

    @Route(f"GET {ONE}", answer="SessionAnswer", params=SessionParams)
    async def read(self, request: Request) -> Answer:
        """A session's newest turns, or with `cursor` those before them, oldest first. `remembered`
        says which of them the model still sees."""
        key, now = _key(request), self._clock.now()
        params = request.query_model(SessionParams)
        with check_cursor():
            turns, before, memory = await conversation(
                self._stores, key, limit=params.limit, cursor=params.cursor or None, now=now
            )
        if not turns:
            raise NotFound(f"there is no session {key.session_id!r}", field="id")
        # as a turn reads it: older turns are stored, but no model sees them
        remembered = memory.since(iso(now - self._app.settings.session_days * 86_400)).turns
        remembered_keys = {(t.at, t.seq) for t in remembered}
        rows = [{**row, "remembered": (row["at"], row["turn"]) in remembered_keys} for row in turns]
        details = {(t.at, t.seq): remembered_details(t) for t in memory.ring}
        for row in rows:
            if any(found := details.get((row["at"], row["turn"]), [])):
                row["details"] = found
        return Answer({"session_id": key.session_id, "turns": rows, "cursor": before})

    @Route(f"PATCH {ONE}", body=RenameBody, answer="SessionRow", params=SessionPath)
    async def rename(self, request: Request) -> Answer:
        """Give a session a title of one's own."""
        key, title = _key(request), " ".join(request.body(RenameBody).title.split())
        renamed = await self._stores.transcripts.rename(key, title)
        if renamed is None:
            raise NotFound(f"there is no session {key.session_id!r}", field="id")
        return Answer(renamed._asdict())

    @Route(f"DELETE {ONE}", answer="DeletedAnswer", params=SessionPath)
    async def forget(self, request: Request) -> Answer:
        """Delete a session: the model's memory of it and its transcript."""
        key = _key(request)
        # the list's row is last: after a failure the deletion can be repeated
        await self._stores.sessions.delete(key)
        await self._stores.transcripts.delete(key)
        return Answer({"deleted": key.session_id})

    @Route("GET /v1/search", answer="SearchAnswer", params=SearchParams)
    async def find(self, request: Request) -> Answer:
        """Turns in which every word of `q` was said, by the caller or to him, in any form, and
        behind them those that lack what tells least (`lacks`). One request reads 20 conversations
        and the newest 200 turns of each; with `cursor`, the conversations before them. A `q` of
        less than two characters finds nothing."""
        params = request.query_model(SearchParams)
        words = SearchWords(params.q, request.reader.language)
        if len("".join(params.q.split())) < MIN_QUERY:
            return Answer({"matches": [], "searched": 0, "cursor": None})
        user, now = UserKey.of(request.caller), self._clock.now()
        with check_cursor():
            read, before = await self._stores.transcripts.list(
                user, limit=CONVERSATIONS, cursor=params.cursor or None, now=now
            )
        # each read takes a thread, which turns need, too
        gate = asyncio.Semaphore(AT_ONCE)

        async def turns(session_id: str) -> list[JSONObject]:
            async with gate:
                key = SessionKey(user, session_id)
                turn_rows, _, _ = await conversation(self._stores, key, limit=TURNS, now=now)
                return turn_rows

        turn_rows = await asyncio.gather(*(turns(session.session_id) for session in read))
        rows = [(s, row) for s, mine in zip(read, turn_rows, strict=True) for row in reversed(mine)]
        return Answer({"matches": _matches(rows, words), "searched": len(read), "cursor": before})


def _key(request: Request) -> SessionKey:
    session_id = request.path["id"]
    if not re.fullmatch(SESSION_ID, session_id):
        raise BadInput(
            "session_id must be 1 to 64 characters of A-Z a-z 0-9 _ -", field="session_id", limit=64
        )
    return SessionKey(UserKey.of(request.caller), session_id)


def _matches(
    turns: Sequence[tuple[SessionSummary, JSONObject]], words: SearchWords
) -> list[JSONObject]:
    """The turns with every word, then those that lack the least telling ones: a few of each
    conversation, newest first, each with an excerpt and the words that it lacks."""
    read = [(session, row, *_read(row, words)) for session, row in turns]
    # not of questions that only got suggestions: those repeat every word of the question
    every = frozenset(word.word for word in words.words)
    told = (has for *_, texts, has in read if texts[1:] or has != every)
    best, count = words.best(Counter(told)), Counter[str]()
    found: list[JSONObject] = []
    # stable: among equals the newest stay first
    for session, row, texts, has in sorted(read, key=lambda one: -len(one[3])):
        count[session.session_id] += has in best
        if has in best and count[session.session_id] <= MATCHES:
            where = {"session_id": session.session_id, "title": session.title}
            where |= {"at": row["at"], "turn": row["turn"], "request_id": row["request_id"]}
            found.append({**where, **_excerpt(texts, words.words, has)})
    return found


def _read(row: JSONObject, words: SearchWords) -> tuple[list[tuple[str, str]], frozenset[str]]:
    """The texts of a turn, and the words that they hold."""
    texts = _texts(row)
    return texts, frozenset[str]().union(*(words.held(text) for _, text in texts))


def _texts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The texts of a turn: reply, message and UI. Of a turn without calls whose UI is only buttons,
    which are suggestions in the question's words, only the message."""
    message, ui = ("message", str(row["message"])), row.get("ui")
    ui_texts = list(_ui_texts(ui))
    if ui and not ui_texts and not row.get("calls"):
        return [message]
    return [("reply", str(row["reply"])), message, *(("reply", text) for text in ui_texts)]


def _excerpt(
    texts: Sequence[tuple[str, str]], words: Sequence[SearchWord], has: frozenset[str]
) -> JSONObject:
    """The place of the first word in the passage with most words, and the missing words."""
    passages = ((name, _passage(line, words)) for name, text in texts for line in text.splitlines())
    name, text = max(passages, key=lambda passage: len(_places(passage[1], words)))
    begins, ends = _places(text, words)[0]
    start = max(0, begins - BEFORE)
    return {
        "where": name,
        "excerpt": text[start : max(start + AROUND, ends)],
        "start": begins - start,
        "end": ends - start,
        "lacks": [word.word for word in words if word.word not in has],
    }


def _passage(line: str, words: Sequence[SearchWord]) -> str:
    """A line of a text; of a table's row the cells with a word."""
    if not line.startswith("|"):
        return line
    cells = (cell.strip() for cell in line.split("|"))
    return " · ".join(cell for cell in cells if _places(cell, words))


def _places(text: str, words: Sequence[SearchWord]) -> list[tuple[int, int]]:
    return [place for word in words if (place := word.search(text))]


def _ui_texts(node: Any) -> Iterator[str]:
    """The texts of a UI tree, without buttons and actions."""
    if isinstance(node, list):
        for item in node:
            yield from _ui_texts(item)
    elif isinstance(node, Mapping) and node.get("type") not in INTERACTIVE_NODES:
        for name, value in node.items():
            if name not in HIDDEN_PROPERTIES and not name.startswith("on_"):
                yield from _ui_texts(value)
    elif isinstance(node, str) and node:
        yield node

"""Full-text search over what was said in all conversations of a person: messages, replies, and
what apps drew below them.

There is no index: a request reads the newest conversations and, of each, its newest turns, and the
cursor goes on with the conversations before them. So a search costs what reading them costs, is
exact, and forgets what they forget.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..clock import Clock
from ..errors import BadInput
from ..stores.protocols import Stores
from ..stores.transcript_archive import conversation
from ..stores.types import SessionSummary
from ..types import JSONObject, SessionKey, UserKey
from . import answers, wire
from .http import Answer, Request, Route
from .wire import MAX_QUERY, at_most

CONVERSATIONS: Final = 20
"""Conversations that one request reads, the most recently touched first."""
TURNS: Final = 200
"""Newest turns of each that are read."""
MATCHES: Final = 5
"""Matches that are told of one conversation, the newest first."""
SHORTEST: Final = 2
"""Characters of a query: one letter stands everywhere, and finds nothing."""
UNSEEN: Final = frozenset(("type", "id", "icon", "param_name", "variant", "action", "src"))
"""Properties of a UI tree that nobody reads."""
AT_ONCE: Final = 5
BEFORE, AROUND = 40, 160
"""Characters of an excerpt before what was found, and in all."""


class FullText:
    """The route `/v1/search`."""

    def __init__(self, stores: Stores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    @Route("GET /v1/search", answer=answers.SearchAnswer, params=wire.SEARCH_PARAMS)
    async def find(self, request: Request) -> Answer:
        """Turns in which every word of `q` was said, by the caller or to him, whatever the case.
        One request reads 20 conversations and the newest 200 turns of each; with `cursor`, the
        conversations before them. A `q` of less than two characters finds nothing."""
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
        patterns = [re.compile(re.escape(word), re.IGNORECASE) for word in words]
        matches = [
            match
            for session, rows in zip(read, told, strict=True)
            for match in _matches(session, rows, patterns)
        ]
        return Answer({"matches": matches, "searched": len(read), "cursor": before})


def _matches(
    session: SessionSummary, rows: Sequence[JSONObject], patterns: Sequence[re.Pattern[str]]
) -> list[JSONObject]:
    """The newest turns of a conversation that hold every word, each with an excerpt."""
    found: list[JSONObject] = []
    for row in reversed(rows):
        if excerpt := next(_excerpts(row, patterns), None):
            told = {name: row[name] for name in ("at", "turn", "request_id")}
            found.append(
                {"session_id": session.session_id, "title": session.title, **told, **excerpt}
            )
        if len(found) == MATCHES:
            break
    return found


def _excerpts(row: Mapping[str, Any], patterns: Sequence[re.Pattern[str]]) -> Iterator[JSONObject]:
    """Where the first word stands in a turn that holds them all: in its reply, in its message, or
    in a text that was drawn."""
    texts = [("reply", str(row["reply"])), ("message", str(row["message"]))]
    texts += [("reply", text) for text in _drawn(row.get("ui"))]
    if not all(any(p.search(text) for _, text in texts) for p in patterns):
        return
    for name, text in texts:
        if match := patterns[0].search(text):
            start = max(0, match.start() - BEFORE)
            yield {
                "where": name,
                "excerpt": text[start : max(start + AROUND, match.end())],
                "start": match.start() - start,
                "end": match.end() - start,
            }


def _drawn(node: Any) -> Iterator[str]:
    """The texts of a UI tree, not what its buttons do."""
    if isinstance(node, list):
        for item in node:
            yield from _drawn(item)
    elif isinstance(node, Mapping):
        for name, value in node.items():
            if name not in UNSEEN and not name.startswith("on_"):
                yield from _drawn(value)
    elif isinstance(node, str) and node:
        yield node

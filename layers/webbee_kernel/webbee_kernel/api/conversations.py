"""A person's conversations: the list, one of them page by page, a new title, the end of one."""

from __future__ import annotations

from dataclasses import asdict

from ..clock import Clock, iso
from ..errors import BadInput, NotFound
from ..stores.protocols import Stores
from ..stores.transcript_archive import conversation
from ..turn import details
from ..turn.session_memory import check_session_id
from ..types import SessionKey, UserKey
from . import answers, wire
from .http import Answer, Request, Route
from .wire import MAX_TITLE, RenameBody, at_most, limit_of

ONE = "/v1/sessions/{id}"


class Conversations:
    """The routes under `/v1/sessions`."""

    def __init__(self, stores: Stores, clock: Clock, *, seconds: int) -> None:
        self._stores = stores
        self._clock = clock
        self._seconds = seconds

    @Route("GET /v1/sessions", answer=answers.SessionsAnswer, params=wire.SESSIONS_PARAMS)
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
        return Answer({"sessions": [asdict(s) for s in found], "cursor": cursor})

    @Route(f"GET {ONE}", answer=answers.SessionAnswer, params=wire.SESSION_TURNS_PARAMS)
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
        remembered = memory.since(iso(now - self._seconds)).turns
        seen = {(t.at, t.seq) for t in remembered}
        shown = [{**row, "remembered": (row["at"], row["turn"]) in seen} for row in turns]
        known = {(t.at, t.seq): details.recalled(t) for t in memory.ring}
        for row in shown:
            if any(found := known.get((row["at"], row["turn"]), [])):
                row["details"] = found
        return Answer({"session_id": key.session_id, "turns": shown, "cursor": before})

    @Route(f"PATCH {ONE}", body=RenameBody, answer=answers.SessionRow, params=wire.SESSION_PARAMS)
    async def rename(self, request: Request) -> Answer:
        """Give a session a title of one's own."""
        key, title = _key(request), " ".join(request.body(RenameBody).title.split())
        renamed = await self._stores.transcripts.rename(key, title)
        if renamed is None:
            raise NotFound(f"there is no session {key.session_id!r}", field="id")
        return Answer(asdict(renamed))

    @Route(f"DELETE {ONE}", answer=answers.DeletedAnswer, params=wire.SESSION_PARAMS)
    async def forget(self, request: Request) -> Answer:
        """Delete a session: the model's memory of it and its transcript."""
        key = _key(request)
        await self._stores.sessions.delete(key)
        await self._stores.transcripts.delete(key)
        return Answer({"deleted": key.session_id})


def _key(request: Request) -> SessionKey:
    return SessionKey(UserKey.of(request.caller), check_session_id(request.path["id"]))

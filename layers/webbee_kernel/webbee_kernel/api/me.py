"""A user's own data: audit records, export, erasure and accepted destinations."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Final

from pydantic import Field

from ..bootstrap import make_personal_data
from ..clock import digest
from ..errors import RequestConflict
from ..stores.dynamodb.transcripts import conversation
from ..stores.paging import KEY, Cursor
from ..text import json_text
from ..types import AuditRecord, JSONObject, SessionKey, UserKey, to_dict, user_dict
from .request_models import After, Page, Params, check_cursor
from .router import Answer, Request, Route, Services

READ_TURNS: Final = 200
"""Newest turns of a session that are searched for the message of a record."""
CONFIRM_S: Final = 600
"""Minimum seconds for which the word that confirms an erasure is valid."""
ERASE_S: Final = 20.0
"""Maximum seconds of erasing per request; the next one continues."""

TOLD: Final = (
    *("at", "app_id", "fn_name", "action_type", "status", "duration_ms"),
    *("session_id", "request_id"),
)
"""The fields of a record that its user always gets."""


class EraseParams(Params):
    """`DELETE /v1/me`."""

    confirm: Annotated[
        str, Field(description="The word that the same request without it answered.")
    ] = ""


class RevokeParams(Params):
    """`DELETE /v1/me/accepted`."""

    key: Annotated[
        str, Field(max_length=256, description="Which one; without it all are taken back.")
    ] = ""


class Me:
    """The routes under `/v1/me`."""

    def __init__(self, services: Services) -> None:
        self._app = services.app
        self._dispatch = services.kernel.dispatch
        self._accepted = services.kernel.accepted

    @Route("GET /v1/me", answer="MeAnswer")
    async def who(self, request: Request) -> Answer:
        """Who the caller's token says he is."""
        return Answer(user_dict(request.caller))

    @Route("GET /v1/me/audit", answer="AuditAnswer", params=Page)
    async def audit(self, request: Request) -> Answer:
        """Calls made in the caller's name, newest first, each with the message behind it where
        that is still kept."""
        user = UserKey.of(request.caller)
        params, tokens = request.query_model(Page), Cursor("audit", str(user))
        with check_cursor():
            before = tokens.read(params.cursor, KEY)[0] if params.cursor else ""
        records = await self._app.stores.audit.list(
            user, limit=params.limit + 1, before=before, now=self._app.clock.now()
        )
        page = records[: params.limit]
        messages = await self._messages(user, page)
        return Answer(
            {
                "records": [_record(r, messages.get(r.request_id, "")) for r in page],
                "cursor": (
                    tokens.write(page[-1].record_id) if len(records) > params.limit else None
                ),
            }
        )

    async def _messages(self, user: UserKey, records: tuple[AuditRecord, ...]) -> dict[str, str]:
        """Messages by request id, from the conversations."""
        # records of revoked destinations have no session
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
            # a call after a yes has the id of its card
            for request_id in (turn["request_id"], *turn.get("also", ()))
        }

    @Route("GET /v1/me/export", params=After, content_type="application/x-ndjson")
    async def export(self, request: Request) -> Answer:
        """Everything that is kept of the caller, a line of JSON each. The last line is
        `{"kind": "end"}`, or `{"kind": "more", "cursor": …}` where a further part follows."""
        personal_data = make_personal_data(
            self._app, UserKey.of(request.caller), await self._apps()
        )
        with check_cursor():
            lines, cursor = await personal_data.export(request.query_model(After).cursor or None)
        last = {"kind": "more", "cursor": cursor} if cursor else {"kind": "end"}
        return Answer("\n".join([*lines, json_text(last), ""]), content_type="application/x-ndjson")

    @Route("DELETE /v1/me", answer="ErasedAnswer", params=EraseParams)
    async def erase(self, request: Request) -> Answer:
        """Erase everything that is kept of the caller. Asked without `confirm` it erases nothing
        and answers with the word that confirms; 202 where it needs to be asked again to finish."""
        user = UserKey.of(request.caller)
        now = self._app.clock.now()
        # the word changes with the clock: the one before is valid, too
        words = [_word(user, now), _word(user, now - CONFIRM_S)]
        params = request.query_model(EraseParams)
        # an empty word is wrong
        if "confirm" not in params.model_fields_set:
            return Answer({"status": "confirm", "confirm": words[0], "counts": {}})
        if params.confirm not in words:
            raise RequestConflict(
                "confirm is not the word that DELETE /v1/me gave out in the last ten minutes: ask"
                " for it again, without confirm",
                field="confirm",
            )
        until = time.monotonic() + ERASE_S
        # first, so that no open page starts anything
        await self._app.stores.connections.forget(user)
        personal_data = make_personal_data(self._app, user, await self._apps())
        erased = await personal_data.erase(
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

    @Route("DELETE /v1/me/accepted", answer="RevokedAnswer", params=RevokeParams)
    async def revoke(self, request: Request) -> Answer:
        """Take one of them back (`key`), or all: the next effect that goes there is asked about."""
        params = request.query_model(RevokeParams)
        # an empty key is none of them
        keys = [params.key] if "key" in params.model_fields_set else None
        return Answer({"revoked": await self._accepted.forget(UserKey.of(request.caller), keys)})

    async def _apps(self) -> set[str]:
        return set((await self._dispatch.catalogue()).apps)


def _word(user: UserKey, now: float) -> str:
    """Not a secret: it only shows that the request was repeated."""
    return f"erase_{digest(str(user), int(now // CONFIRM_S))[:12]}"


def _record(record: AuditRecord, message: str) -> JSONObject:
    told = {name: value for name, value in to_dict(record).items() if name in TOLD}
    more = {"error_code": record.error_code, "message": message}
    return told | {name: value for name, value in more.items() if value}

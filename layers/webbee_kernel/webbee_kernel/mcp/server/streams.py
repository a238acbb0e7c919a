"""Answers of several messages, as Server-Sent Events. Pure.

An HTTP API of API Gateway passes nothing on before the function ends: what a call told on its way
stands before its result in one answer. A question to the user of a client with a handshake ends the
answer without a result; the client comes back for it (`GET` with `Last-Event-ID`, as the protocol
has it since 2025-11-25), and nothing is held open meanwhile.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from ...types import JSONObject

RETRY_MS: Final = 3_000
"""After which time a client asks again for a result that waits for its user."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Messages before a result, and the result, None where the client comes back for it with
    `resume`."""

    before: Sequence[JSONObject] = ()
    result: JSONObject | None = None
    resume: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call whose client comes back for its result: the question, the message, the tool."""

    confirmation_id: str
    ident: str | int
    tool: str

    def token(self) -> str:
        """The same as the id of an event."""
        kept = orjson.dumps([self.confirmation_id, self.ident, self.tool])
        return base64.urlsafe_b64encode(kept).decode()

    @staticmethod
    def of(token: str) -> Waiting | None:
        """The inverse; None for what is no token of ours."""
        try:
            found = orjson.loads(base64.urlsafe_b64decode(token))
        except (ValueError, binascii.Error):
            return None
        if not isinstance(found, list) or len(found) != 3:
            return None
        confirmation_id, ident, tool = found
        known = isinstance(confirmation_id, str) and isinstance(tool, str)
        if not known or not isinstance(ident, str | int):
            return None
        return Waiting(confirmation_id, ident, tool)


def events(stream: Stream, last: JSONObject | None) -> str:
    """The text of a stream; `last` is the answer with the result."""
    messages = [*stream.before, *([last] if last is not None else [])]
    named = f"id: {stream.resume}\n" if stream.resume else ""
    opening = f"retry: {RETRY_MS}\n{named}data:\n\n" if stream.resume else ""
    return opening + "".join(f"{named}data: {orjson.dumps(m).decode()}\n\n" for m in messages)


def progress(token: str | int, percent: float, text: str) -> JSONObject:
    """How far a call was."""
    told: JSONObject = {"progressToken": token, "progress": percent, "total": 100}
    more = {"message": text} if text else {}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {**told, **more}}

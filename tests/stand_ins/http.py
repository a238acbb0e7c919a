"""The HTTP half of the stand-in model servers: what they play, what they note, one thread a
connection."""

import contextlib
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from .service import Reply, Request, served

Call = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `stop` is the service's own word, empty for the one that fits; `status` and
    `code` make an error answer.

    A call's arguments may be a str: text that is no JSON object, as a model wrote it. Streamed, it
    comes in tokens every `pace_s` seconds, and breaks off after `broken_off` pieces.

    `reasoning` comes with it as the service sends it: Converse's blocks of reasoningContent, or
    fields of a chat message; `extras` are fields of a chat message's calls, in their order.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = ""
    refusal: str = ""
    cached_tokens: int = 0
    status: int = 200
    code: str = ""
    message: str = "no"
    reasoning: Any = None
    extras: tuple[Mapping[str, Any], ...] = ()
    retry_after: float | None = None
    delay_s: float = 0.0
    pace_s: float = 0.0
    broken_off: int | None = None
    drop: bool = False
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """One request, whether it passed the checks or not: `path` is unquoted, `headers` have
    lower-case names."""

    path: str
    headers: Mapping[str, str]
    body: Any


class ModelServer(ABC):
    """One server; the subclass speaks the protocol. `requests` is what arrived since the last
    `reset`, in order, `problems` what was wrong with it: each such request was refused."""

    path: ClassVar[str] = ""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self.url = ""
        self.reset()

    def play(self, *answers: Answer) -> None:
        """Answer the next requests so."""
        self._script.extend(answers)

    def reset(self) -> None:
        """Forget script, requests and problems."""
        self._script: deque[Answer] = deque()
        self.requests: list[Received] = []
        self.problems: list[str] = []

    def __enter__(self) -> Self:
        self.service = self._open.enter_context(served(answer=self._reply))
        self.url = self.service.url + self.path
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _reply(self, request: Request) -> Reply:
        """The answer to one POST."""
        if request.method != "POST":
            return Reply(status=501)
        body = None
        with contextlib.suppress(ValueError):
            body = json.loads(request.body)
        received = Received(unquote(request.path), request.headers, body)
        self.requests.append(received)
        answer = self.refusal(received)
        answer = answer or (self._script.popleft() if self._script else self._thought(received))
        if answer.status == 200 and not answer.drop and (told := self.pieces(answer, received)):
            reply = Reply(headers={"content-type": told[0]}, chunks=self._paced(answer, told[1]))
            reply.breaks = answer.broken_off is not None
        elif answer.status == 200 and not answer.drop:
            reply = _json(answer, self.body(answer, received), {})
        else:
            reply = _json(answer, self.error_body(answer), self.error_headers(answer))
        return replace(reply, delay_s=answer.delay_s, drop=answer.drop)

    def _paced(self, answer: Answer, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in islice(pieces, answer.broken_off):
            yield piece
            self.service.over.wait(answer.pace_s)

    def _thought(self, received: Received) -> Answer:
        """What it says past the script."""
        return Answer("Very well.")

    def refuse(self, problems: list[str], code: str, status: int = 400) -> Answer | None:
        """A 400 that names the problems, and a note of them; None where there are none."""
        self.problems.extend(problems)
        return Answer(status=status, code=code, message="; ".join(problems)) if problems else None

    @abstractmethod
    def refusal(self, received: Received) -> Answer | None:
        """The answer to a request the service would not take."""

    @abstractmethod
    def body(self, answer: Answer, received: Received) -> dict[str, Any]:
        """The service's form of an answer."""

    @abstractmethod
    def pieces(self, answer: Answer, received: Received) -> tuple[str, Iterator[bytes]] | None:
        """The same in pieces, with their content type; None where none were asked for."""

    @abstractmethod
    def error_body(self, answer: Answer) -> dict[str, Any]:
        """The service's form of an error."""

    def error_headers(self, answer: Answer) -> dict[str, str]:
        """Headers that an error has beside `retry-after`."""
        return {}


def _json(answer: Answer, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    content = answer.raw if answer.raw is not None else json.dumps(body).encode()
    told = {**headers, "content-type": "application/json"}
    if answer.retry_after is not None:
        told["retry-after"] = f"{answer.retry_after:g}"
    return Reply(content, answer.status, told)


def tokens(received: Received, answer: Answer) -> tuple[int, int]:
    """Sent and written, four characters a token."""
    return len(json.dumps(received.body)) // 4, len(answer.text + json.dumps(answer.calls)) // 4

"""A server of the Model Context Protocol that does as it is told: it answers well, hangs, lies, floods, changes its tools,
or says what it should not. It speaks streamable HTTP, 2025-11-25, with sessions."""

import itertools
import json
import queue
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tests.stand_ins.service import Reply, Request, Service, served

WHOLE, TEXT = {"type": "integer"}, {"type": "string"}


def takes(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


ADD = {
    "name": "add",
    "description": "Add two numbers",
    "inputSchema": {**takes(a=WHOLE, b=WHOLE), "additionalProperties": False},
    "outputSchema": takes(sum=WHOLE),
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
NOTE = {"name": "note.keep", "description": "Keep a note", "inputSchema": takes(text=TEXT)}
DROP = {
    "name": "drop_notes",
    "description": "Delete all notes",
    "inputSchema": {"type": "object"},
    "annotations": {"destructiveHint": True},
}

CHUNK = 64 * 1024
JSON = {"content-type": "application/json"}
STREAM = {"content-type": "text/event-stream"}


class Told:
    """What it is told, and what it has met since."""

    service: Service
    tools: Sequence[dict[str, Any]] = (ADD, NOTE, DROP)
    page = 2
    answers: Mapping[str, Any] = {}
    hang = 0.0
    hang_at = ""
    status = 0
    size = 0
    elicit: Mapping[str, Any] = {}
    greetings = 0
    sent = 0

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: list[Any] = []
        self._names = itertools.count()
        self._sessions: set[str] = set()
        self._heard: list[queue.Queue[dict[str, Any]]] = []
        self._waiting: dict[str, queue.Queue[Any]] = {}

    @property
    def url(self) -> str:
        return f"{self.service.url}/mcp"

    def behave(self, **how: Any) -> None:
        """`tools` it lists, `answers` by tool, `hang` in seconds, `size` of an answer in bytes, `forget` its sessions, `say` a
        notification, `elicit` a question before it answers."""
        if how.pop("forget", False):
            self._sessions.clear()
        if said := how.pop("say", None):
            for listener in self._heard:
                listener.put(said)
        for name, value in how.items():
            setattr(self, name, value)

    def reply(self, request: Request) -> Reply:
        if request.method == "GET":
            return Reply(headers=STREAM, chunks=self._notifications())
        if request.method == "DELETE":
            return Reply(headers=JSON)
        body = request.json
        method = body.get("method")
        self.headers.append(dict(request.headers))
        self.greetings += method == "initialize"
        if self.hang_at and method == self.hang_at:
            return Reply(hang=True)
        if self.status:
            return Reply({"error": "away"}, self.status, JSON)
        if method is None:  # an answer to a question of ours
            self._waiting[body["id"]].put(body.get("result") or body.get("error"))
            return Reply(b"", 202)
        session = request.headers.get("mcp-session-id", "")
        if method not in ("initialize", "server/discover") and session not in self._sessions:
            return Reply({"error": "no such session"}, 404, JSON)
        if "id" not in body:
            return Reply(b"", 202)
        if method == "tools/call" and not self.size:
            return Reply(headers=STREAM, chunks=self._call(body))
        headers = dict(JSON)
        if method == "initialize":
            headers["mcp-session-id"] = name = f"s{next(self._names)}"
            self._sessions.add(name)
        return Reply(headers=headers, chunks=self._pieces(self._answer(body)))

    def _call(self, body: dict[str, Any]) -> Iterator[bytes]:
        """Over a stream, as servers do that have something to say meanwhile."""
        token = body["params"].get("_meta", {}).get("progressToken")
        if token is not None:
            told = {"progressToken": token, "progress": 1, "total": 4, "message": "a quarter"}
            yield _event({"method": "notifications/progress", "params": told})
        if self.elicit:
            name = f"q{next(self._names)}"
            self._waiting[name] = queue.Queue()
            yield _event({"id": name, "method": "elicitation/create", "params": self.elicit})
            self.answered.append(self._waiting[name].get())
        yield _event(self._answer(body))

    def _notifications(self) -> Iterator[bytes]:
        self._heard.append(listener := queue.Queue())
        yield b": here\n\n"
        while not self.service.over.is_set():
            with suppress(queue.Empty):
                yield _event(listener.get(timeout=0.1))

    def _pieces(self, message: dict[str, Any]) -> Iterator[bytes]:
        raw = json.dumps(message).encode()
        for at in range(0, len(raw), CHUNK):
            yield raw[at : at + CHUNK]
            self.sent += CHUNK

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            told = {"result": self._result(body["method"], body.get("params") or {})}
        except LookupError as error:
            told = {"error": {"code": -32601, "message": f"no {error}"}}
        return {"jsonrpc": "2.0", "id": body["id"], **told}

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            about = {"serverInfo": {"name": "told", "version": "1.0"}}
            can = {"capabilities": {"tools": {"listChanged": True}}}
            return {"protocolVersion": params["protocolVersion"], **about, **can}
        if method == "tools/list":
            start = int(params.get("cursor") or 0)
            end = start + self.page
            more = {"nextCursor": str(end)} if end < len(self.tools) else {}
            return {"tools": self.tools[start:end], **more}
        if method == "tools/call":
            return self._called(params)
        raise LookupError(method)

    def _called(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params["name"], params.get("arguments") or {}
        self.calls.append({"name": name, "arguments": arguments})
        self.service.over.wait(self.hang)
        if self.size:
            return {"content": [{"type": "text", "text": "x" * self.size}]}
        if name in self.answers:
            return dict(self.answers[name])
        if name == "add":
            total = {"sum": arguments["a"] + arguments["b"]}
            text = [{"type": "text", "text": json.dumps(total)}]
            return {"content": text, "structuredContent": total}
        return {"content": [{"type": "text", "text": f"{name} done"}]}


def _event(message: dict[str, Any]) -> bytes:
    return f"event: message\ndata: {json.dumps({'jsonrpc': '2.0', **message})}\n\n".encode()


@contextmanager
def obedient() -> Iterator[Told]:
    """One that does as it is told until the block ends."""
    told = Told()
    with served(answer=told.reply) as told.service:
        yield told

"""A server of the Model Context Protocol in a process of its own that does as it is told: it answers well, hangs, lies,
floods, changes its tools, or says what it should not. Nothing but the standard library, so that it is there at once.

`python server.py` prints its port. POST /behave sets how it goes on (see `Server.behave`); POST /mcp is the protocol
(streamable HTTP, 2025-11-25, with sessions), GET /calls tells the calls it has had.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

ADD = {
    "name": "add",
    "description": "Add two numbers",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
NOTE = {
    "name": "note.keep",
    "description": "Keep a note",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}
DROP = {
    "name": "drop_notes",
    "description": "Delete all notes",
    "inputSchema": {"type": "object"},
    "annotations": {"destructiveHint": True},
}


CHUNK = 64 * 1024


class Server:
    def __init__(self) -> None:
        self.tools: list[dict[str, Any]] = [ADD, NOTE, DROP]
        self.page = 2
        self.answers: dict[str, Any] = {}
        self.hang = 0.0
        self.hang_at = ""
        self.status = 0
        self.greetings = 0
        self.resources = [{"uri": "memo://one", "name": "one"}]
        self.sent = 0
        self.size = 0
        self.sessions: set[str] = set()
        self.calls: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.heard: list[queue.Queue[dict[str, Any]]] = []
        self.elicit: dict[str, Any] = {}
        self.answered: list[Any] = []
        self.waiting: dict[str, queue.Queue[Any]] = {}

    def behave(self, **how: Any) -> None:
        """`tools` it lists, `answers` by tool, `hang` in seconds, `size` of an answer in bytes, `forget` its sessions, `say` a
        notification, `elicit` a question before it answers."""
        if how.pop("forget", False):
            self.sessions.clear()
        if said := how.pop("say", None):
            for listener in self.heard:
                listener.put(said)
        for name, value in how.items():
            setattr(self, name, value)

    def result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            version = params["protocolVersion"]
            about = {"name": "told", "version": "1.0"}
            return {
                "protocolVersion": version,
                "serverInfo": about,
                "capabilities": {"tools": {"listChanged": True}, "resources": {}},
            }
        if method == "tools/list":
            start = int(params.get("cursor") or 0)
            end = start + self.page
            more = {"nextCursor": str(end)} if end < len(self.tools) else {}
            return {"tools": self.tools[start:end], **more}
        if method == "resources/list":
            return {"resources": self.resources}
        if method == "resources/templates/list":
            return {"resourceTemplates": []}
        if method == "resources/read":
            memo = {"mimeType": "text/plain", "text": "the first memo"}
            return {"contents": [{"uri": params["uri"], **memo}]}
        if method == "tools/call":
            return self.called(params)
        raise LookupError(method)

    def called(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params["name"], params.get("arguments") or {}
        self.calls.append({"name": name, "arguments": arguments})
        if self.hang:
            time.sleep(self.hang)
        if self.size:
            return {"content": [{"type": "text", "text": "x" * self.size}]}
        if name in self.answers:
            return dict(self.answers[name])
        if name == "add":
            total = arguments["a"] + arguments["b"]
            return {
                "content": [{"type": "text", "text": json.dumps({"sum": total})}],
                "structuredContent": {"sum": total},
            }
        return {"content": [{"type": "text", "text": f"{name} done"}]}


class Handler(BaseHTTPRequestHandler):
    told: ClassVar[Server] = Server()
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/calls":
            names = ("calls", "headers", "answered", "greetings", "sent")
            self.answer(200, {name: getattr(self.told, name) for name in names})
            return
        listener: queue.Queue[dict[str, Any]] = queue.Queue()
        self.told.heard.append(listener)
        self.stream()
        try:
            while True:
                self.event(listener.get())
        except OSError:
            pass

    def do_DELETE(self) -> None:
        self.answer(200, {})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/token":
            self.answer(200, {"access_token": f"fresh for {raw.decode()}", "expires_in": 3600})
            return
        body = json.loads(raw)
        if self.path == "/behave":
            self.told.behave(**body)
            self.answer(200, {})
            return
        self.told.headers.append({k.lower(): v for k, v in self.headers.items()})
        session = self.headers.get("mcp-session-id", "")
        self.told.greetings += body.get("method") == "initialize"
        if self.told.status or body.get("method") == self.told.hang_at:
            time.sleep(0 if self.told.status else 30)
            self.answer(self.told.status or 500, {"error": "away"})
            return
        if "method" not in body:  # an answer to a question of ours
            self.told.waiting[body["id"]].put(body.get("result") or body.get("error"))
            self.answer(202)
        elif (
            body["method"] not in ("initialize", "server/discover")
            and session not in self.told.sessions
        ):
            self.answer(404, {"error": "no such session"})
        elif "id" not in body:
            self.answer(202)
        elif body["method"] == "initialize":
            self.told.sessions.add(name := f"s{time.monotonic_ns()}")
            self.answer(200, self.reply(body), {"mcp-session-id": name})
        elif body["method"] == "tools/call":
            self.tool(body)
        else:
            self.answer(200, self.reply(body))

    def tool(self, body: dict[str, Any]) -> None:
        """Over a stream, as servers do that have something to say meanwhile."""
        if self.told.size:
            self.answer(200, self.reply(body))
            return
        self.stream()
        token = body["params"].get("_meta", {}).get("progressToken")
        if token is not None:
            told = {"progressToken": token, "progress": 1, "total": 4, "message": "a quarter"}
            self.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})
        if self.told.elicit:
            name = f"q{time.monotonic_ns()}"
            self.told.waiting[name] = queue.Queue()
            asks = {"method": "elicitation/create", "params": self.told.elicit}
            self.event({"jsonrpc": "2.0", "id": name, **asks})
            self.told.answered.append(self.told.waiting[name].get())
        self.event(self.reply(body))
        self.close_connection = True

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            told = {"result": self.told.result(body["method"], body.get("params") or {})}
        except LookupError as error:
            told = {"error": {"code": -32601, "message": f"no {error}"}}
        return {"jsonrpc": "2.0", "id": body["id"], **told}

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.flush()

    def event(self, message: dict[str, Any]) -> None:
        self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def answer(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        raw = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(raw)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        for at in range(0, len(raw), CHUNK):
            self.wfile.write(raw[at : at + CHUNK])
            self.told.sent += len(raw[at : at + CHUNK])

    def log_message(self, *_: object) -> None:
        """Silence."""


def main() -> None:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    print(httpd.server_port, flush=True)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    sys.stdin.read()  # whoever started it has gone


if __name__ == "__main__":
    main()

"""Whole turns over a server that answers oddly, each way seen of some server or gateway: the person
gets the answer, or its true cause; nothing raw is shown, nothing is done twice.

The odd answer comes first, whole and streamed; every later request is answered plainly.
"""

import gzip
import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.planning import telling
from tests.stand_ins.service import Reply, Request, served
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.openai_compatible import ModelKey, OpenAICompatibleModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.stream import Follower

HELLO = "Good evening, Anna. Nice to hear from you – schön!"
SEND = {"name": "mail__send", "arguments": '{"to": "bob"}'}
CALL = {"id": "c1", "type": "function", "function": SEND}
RAW = ("<think", "<tool_call", "<|", "[TOOL_CALLS]", '{"name"', "data:", "```json", "secret plan")

Json = dict[str, Any]


def answer(body: Any, status: int = 200, kind: str = "application/json") -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(chunks=[content], status=status, headers={"content-type": kind})


def whole(message: Json, finish: Any = "stop", **more: Any) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return answer({"id": "x", "object": "chat.completion", "choices": [choice], **more})


def sse(events: list[Any], *, done: bool = True) -> Reply:
    lines = [e if isinstance(e, str) else f"data: {json.dumps(e)}\n\n" for e in events]
    chunks = [line.encode() for line in [*lines, *["data: [DONE]\n\n"] * done]]
    return Reply(chunks=chunks, headers={"content-type": "text/event-stream"})


def delta(finish: Any = None, **fields: Any) -> Json:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def called(**more: Any) -> Json:
    return {"index": 0, **CALL, **more}


@dataclass(frozen=True)
class Odd:
    """What the server answers where a stream was asked for, and where none was; None: as usual."""

    streamed: Reply | None
    whole: Reply | None


def both(message: Json, events: list[Any], finish: Any = "stop") -> Odd:
    return Odd(sse(events), whole(message, finish))


def joined(reply: Reply) -> bytes:
    return b"".join(reply.chunks or ())


def cut_at(reply: Reply, size: int) -> Reply:
    """The same bytes in chunks that respect no character."""
    content = joined(reply)
    pieces = [content[n : n + size] for n in range(0, len(content), size)]
    return replace(reply, chunks=pieces)


def zipped(reply: Reply) -> Reply:
    headers = {**reply.headers, "content-encoding": "gzip"}
    return replace(reply, chunks=[gzip.compress(joined(reply))], headers=headers)


END = delta("stop")
PLAIN = {"content": HELLO}
CALLS = {"content": None, "tool_calls": [CALL]}
WORDS = [delta(content=f"{word} ") for word in HELLO.split(" ")]
SPOKEN = [*WORDS, END]
SECOND = {"index": 1, "message": {"content": "Other."}, "delta": {"content": "Other. "}}
PARTS = [{"type": "text", "text": part} for part in (HELLO[:9], HELLO[9:])]


def streamed(events: list[Any], **more: Any) -> Odd:
    """Odd in its stream alone."""
    return Odd(sse(events, **more), None)


ANSWERS: dict[str, Odd] = {
    "usage null": Odd(sse([*WORDS, {**END, "usage": None}]), whole(PLAIN, usage=None)),
    "comments and keepalives between events": streamed(
        [": OPENROUTER PROCESSING\n\n", *WORDS, ": ping\n\n", "\n", END]
    ),
    "ping events without a choice": streamed([{"type": "ping"}, *WORDS, {"choices": []}, END]),
    "two choices in one event": streamed(
        [{"choices": [SECOND, {"index": 0, "delta": {"content": HELLO}}]}, END]
    ),
    "finish_reason missing": both(PLAIN, WORDS, None),
    "finish_reason unknown": both(PLAIN, [*WORDS, delta("abort_none")], "abort_none"),
    "UTF-8 cut in the middle": Odd(cut_at(sse(SPOKEN), 3), cut_at(whole(PLAIN), 3)),
    "gzip": Odd(zipped(sse(SPOKEN)), zipped(whole(PLAIN))),
    "trailing data behind [DONE]": streamed(
        [*WORDS, END, "data: [DONE]\n\n", delta(content=" and more"), "garbage\n"]
    ),
    "a byte order mark": Odd(sse(["\ufeff", *SPOKEN]), answer(BOM_UTF8 + joined(whole(PLAIN)))),
    "CRLF lines": streamed([f"data: {json.dumps(e)}\r\n\r\n" for e in SPOKEN]),
    "data without a space": streamed([f"data:{json.dumps(e)}\n\n" for e in SPOKEN]),
    "JSON lines as a stream": streamed([f"{json.dumps(e)}\n" for e in SPOKEN], done=False),
    "a stream though none was asked for": Odd(sse(SPOKEN), sse(SPOKEN)),
    "a whole answer though a stream was asked for": Odd(whole(PLAIN), whole(PLAIN)),
    "a whole answer in one event": streamed([json.loads(joined(whole(PLAIN)))]),
    "tool_calls null beside text": both(
        {**PLAIN, "tool_calls": None, "function_call": None, "refusal": None, "audio": None},
        [delta(content=HELLO, tool_calls=None, function_call=None, refusal=None), END],
    ),
    "content as parts": both({"content": PARTS}, [delta(content=PARTS), END]),
    **{
        f"thoughts in {name}": both({**PLAIN, name: thought}, [delta(**{name: thought}), *SPOKEN])
        for name, thought in {
            "reasoning": "secret plan",
            "reasoning_content": "secret plan",
            "thinking": "secret plan",
            "reasoning_details": [{"type": "reasoning.text", "text": "secret plan"}],
        }.items()
    },
}

ARGUMENTS = SEND["arguments"]


def pieces(*calls: Json) -> Odd:
    return streamed([*(delta(tool_calls=[c]) for c in calls), delta("tool_calls")])


def native(calls: Any, *events: Any) -> Odd:
    """These calls whole, and streamed in these events."""
    told = [*(delta(tool_calls=event) for event in events), delta("tool_calls")]
    return both({"content": "", "tool_calls": calls}, told, "tool_calls")


def calling(**function: Any) -> Odd:
    odd = {"function": {**SEND, **function}}
    return native([{**CALL, **odd}], [called(**odd)])


def piece(arguments: Any = "", name: str = "", **more: Any) -> Json:
    return {**more, "function": {"arguments": arguments, **({"name": name} if name else {})}}


INBOX = {"name": "mail__list_inbox", "arguments": "{}"}
USE = [{"type": "tool_use", "id": "t", "name": "mail__send", "input": {"to": "bob"}}]
UNREAD = answer({"error": {"code": "tool_use_failed", "message": "Failed to call a function.",
               "failed_generation": f"<function=mail__send>{ARGUMENTS}</function>"}}, 400)  # fmt: skip

CALLED: dict[str, Odd] = {
    "another id with each piece": pieces(
        piece("", "mail__send", index=0, id="a"),
        piece(ARGUMENTS[:6], index=0, id="b"),
        piece(ARGUMENTS[6:], index=0, id="c"),
    ),
    "two calls without index and id": pieces(
        piece(ARGUMENTS, "mail__send"), piece("{}", "mail__list_inbox")
    ),
    "calls as the text of JSON": both(
        {"tool_calls": json.dumps([CALL])}, [delta(tool_calls=[called()]), delta("tool_calls")]
    ),
    "a call its server could not read (Groq)": Odd(UNREAD, UNREAD),
    "stop beside a call": both(CALLS, [delta(tool_calls=[called()]), delta("stop")], "stop"),
    "no index": pieces(piece("", "mail__send", id="c1"), piece(ARGUMENTS)),
    "one id for two parallel calls, both whole": native(
        [CALL, {**CALL, "function": INBOX}], [called()], [called(index=1, function=INBOX)]
    ),
    "two calls at one index and without ids": pieces(
        {"index": 0, "function": SEND}, {"index": 0, "function": INBOX}
    ),
    "the name with each piece": pieces(
        called(**piece(ARGUMENTS[:5], "mail__send")), called(**piece(ARGUMENTS[5:], "mail__send"))
    ),
    "tool_calls as one object": native(CALL, called()),
    "arguments as an object": calling(arguments={"to": "bob"}),
    "arguments twice encoded": calling(arguments=json.dumps('{"to":"bob"}')),
    "a null among the calls": native([None, CALL], [None], [called()]),
    "a call as a part": both({"content": USE}, [delta(content=USE), delta("tool_use")], "tool_use"),
}


def said(message: str, **more: Any) -> Json:
    return {"error": {"message": message, **more}}


LIMITED = said("Rate limit exceeded", code=429)
THOUGHT = "<think>secret plan</think>"
LOGIN = b"<!doctype html><html><form>Sign in</form></html>"

CAUSES: dict[str, dict[str, Odd | Reply]] = {
    "server_error": {
        **{
            f"finish {finish}": both({"content": "Good"}, [delta(finish, content="Good")], finish)
            for finish in ("abort", "error", "insufficient_system_resource")
        },
        "an error event in the middle of a stream": Odd(
            sse([said("upstream failed", code=502)]), answer(said("upstream failed"), 502)
        ),
    },
    "rate_limit": {
        "an error in a choice": Odd(sse([{"choices": [LIMITED]}]), answer({"choices": [LIMITED]})),
        "an error in words": Odd(
            sse(["event: error\ndata: overloaded\n\n"]), answer(b"overloaded", 529)
        ),
        "200 with an error body": answer(LIMITED),
        "an error event with its own name": Odd(
            sse(['event: error\ndata: {"message": "Overloaded", "type": "overloaded_error"}\n\n']),
            answer({"type": "error", "error": {"type": "overloaded_error"}}, 529),
        ),
    },
    "window": {
        "a line of its own for the error (llama.cpp)": Odd(
            sse(['error: {"code": 400, "type": "exceed_context_size_error"}\n\n'], done=False),
            answer({"error": {"type": "exceed_context_size_error"}}, 400),
        )
    },
    "refused": {
        "filtered in the middle": both(
            {"content": "Good"}, [delta(content="Good"), delta("content_filter")], "content_filter"
        )
    },
    "no_completion": {
        "an HTML login page": answer(LOGIN, kind="text/html"),
        "no JSON": answer(b"Service temporarily here", kind="text/plain"),
    },
    "empty": {
        "204": Reply(b"", 204),
        "thoughts and nothing else": both(
            {"content": "", "reasoning_content": "secret plan"},
            [delta(reasoning_content="secret plan"), END],
        ),
        "thoughts in the text and nothing else": both(
            {"content": THOUGHT}, [delta(content=THOUGHT), END]
        ),
        "choices empty": answer({"choices": [], "usage": {}}),
    },
    "unreached": {
        "a body cut short": Reply(
            chunks=[b'{"choices": [{"message": {"content": "Hel'], breaks=True
        )
    },
}


class OddServer:
    """A loopback server that gives `odd` as often as it is told, and plain answers afterwards."""

    odd: Odd | Reply
    times = 1
    url = ""

    def __init__(self) -> None:
        self.requests: list[Json] = []

    def reply(self, request: Request) -> Reply:
        body = request.json
        self.requests.append(body)
        if len(self.requests) <= self.times:
            odd = self.odd if isinstance(self.odd, Odd) else Odd(self.odd, self.odd)
            if reply := odd.streamed if body.get("stream") else odd.whole:
                return reply
        said = HELLO if body.get("tools") else "Sent to bob."
        return sse([delta(content=said), END]) if body.get("stream") else whole({"content": said})


@pytest.fixture
def server() -> Iterator[OddServer]:
    odd = OddServer()
    with served(answer=odd.reply) as service:
        odd.url = f"{service.url}/v1"
        yield odd


def mail(sent: list[str]) -> Extension:
    """Notes to whom it has sent."""
    ext = telling("mail", list_inbox=ActionResult.success({"unread": 8}, "8 unread messages."))

    @ChatExtension(ext).function("send", "Send a message", action_type="write")
    async def send(ctx: Context, to: str, copies: int = 1) -> ActionResult:
        sent.append(to)
        return ActionResult.success({"to": to}, f"Sent to {to}.")

    return ext


class Person:
    """A user at a kernel over that server, which is so odd in that way; he reads along or not."""

    def __init__(self, server: OddServer, odd: Odd | Reply, way: str) -> None:
        server.odd, self.streamed = odd, way == "streamed"
        self.sent: list[str] = []
        self.frames: list[Json] = []
        model = OpenAICompatibleModel(server.url, "llama3", ModelKey())
        env = {"WEBBEE_CONFIRM": "destructive", "WEBBEE_TURN_SECONDS": "20"}
        self.kernel = TestKernel([mail(self.sent)], model=model, env=env)

    def chat(self, message: str) -> Json:
        ask = self.kernel.ask(message)
        if self.streamed:
            ask = ask._replace(follower=Follower("r1", self.frames.append))
        body: Json = self.kernel.run(self.kernel.kernel.turn(ask)).body
        assert not [mark for mark in RAW for said in (body["reply"], self.read) if mark in said]
        return body

    @property
    def read(self) -> str:
        return "".join(f["text"] for f in self.frames if f["type"] == "text")


def ways(table: Mapping[str, Odd | Reply]) -> list[tuple[str, str]]:
    """Each answer in each way in which it is odd."""
    return [
        (name, way)
        for name, odd in table.items()
        for way in ("streamed", "whole")
        if isinstance(odd, Reply) or getattr(odd, way)
    ]


@pytest.mark.parametrize(("name", "way"), ways(ANSWERS))
def test_a_plain_answer_arrives(server: OddServer, name: str, way: str) -> None:
    person = Person(server, ANSWERS[name], way)
    assert (person.chat("good evening")["reply"].strip(), len(server.requests)) == (HELLO, 1)
    assert HELLO.startswith(person.read.strip())  # the rest comes with the end of the turn


@pytest.mark.parametrize(("name", "way"), ways(CALLED))
def test_a_call_runs_once_and_its_receipt_is_seen(server: OddServer, name: str, way: str) -> None:
    person = Person(server, CALLED[name], way)
    body = person.chat("send it to bob")
    assert person.sent == ["bob"]
    assert [c["status"] for c in body["calls"] if c["fn_name"] == "send"] == ["ok"]
    assert body["reply"].startswith("Sent to bob.") and body["receipts"]


@pytest.mark.parametrize(
    ("cause", "name", "way"), [(cause, *one) for cause, odd in CAUSES.items() for one in ways(odd)]
)
def test_what_fails_has_its_true_cause(server: OddServer, cause: str, name: str, way: str) -> None:
    person, server.times = Person(server, CAUSES[cause][name], way), 9
    with pytest.raises(ModelUnavailable) as caught:
        person.chat("good evening")
    assert (caught.value.cause, person.read) == (cause, "")
    assert len(server.requests) <= 4

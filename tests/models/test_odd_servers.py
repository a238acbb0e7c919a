"""Whole turns over a server that answers oddly, each way seen of some server or gateway: the person
gets the answer, or its true cause; nothing raw is shown, nothing is done twice.

The odd answer comes first, whole and streamed; every later request is answered plainly.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.key import ModelKey
from webbee_kernel.llm.openai_compatible import OpenAICompatibleModel
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.stream import Follower

from .test_turns import Sent

HELLO = "Good evening, Anna. Nice to hear from you – schön!"
SEND = {"name": "mail__send", "arguments": '{"to": "bob"}'}
CALL = {"id": "c1", "type": "function", "function": SEND}
RAW = ("<think", "<tool_call", "<|", "[TOOL_CALLS]", '{"name"', "data:", "```json", "secret plan")

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the server writes: status, headers, and the body in these chunks."""

    chunks: list[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    breaks: bool = False


def whole(message: Json, finish: Any = "stop", **more: Any) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion", "choices": [choice], **more}
    return Reply([json.dumps(body).encode()], headers={"content-type": "application/json"})


def sse(events: list[Any], *, kind: str = "text/event-stream", done: bool = True) -> Reply:
    lines = [e if isinstance(e, str) else f"data: {json.dumps(e)}\n\n" for e in events]
    if done:
        lines.append("data: [DONE]\n\n")
    return Reply([line.encode() for line in lines], headers={"content-type": kind})


def delta(finish: Any = None, **fields: Any) -> Json:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def words(text: str = HELLO) -> list[Json]:
    return [delta(content=word) for word in text.split(" ") for word in (word + " ",)]


def called(**more: Any) -> Json:
    return {"index": 0, **CALL, **more}


def both(message: Json, events: list[Any], finish: Any = "stop") -> Callable[[bool], Reply]:
    """The same said whole and streamed."""
    return lambda streamed: sse(events) if streamed else whole(message, finish)


def always(reply: Reply) -> Callable[[bool], Reply]:
    return lambda _: reply


def text(said: str) -> Callable[[bool], Reply]:
    """An ordinary answer with this content."""
    return both({"content": said}, [delta(content=said), delta("stop")])


def error(status: int, body: Any, kind: str = "application/json", **headers: str) -> Reply:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return Reply([content], status, {"content-type": kind, **named})


def cut_at(reply: Reply, size: int) -> Reply:
    """The same bytes in chunks that respect no character."""
    content = b"".join(reply.chunks)
    pieces = [content[n : n + size] for n in range(0, len(content), size)]
    return Reply(pieces, reply.status, reply.headers)


def zipped(reply: Reply) -> Reply:
    content = gzip.compress(b"".join(reply.chunks))
    return Reply([content], reply.status, {**reply.headers, "content-encoding": "gzip"})


END = delta("stop")
PLAIN = {"content": HELLO}
CALLS = {"content": None, "tool_calls": [CALL]}


def streamed(events: list[Any], **more: Any) -> Callable[[bool], Reply]:
    """Odd in its stream alone."""
    return lambda s: sse(events, **more) if s else whole(PLAIN)


def alone(body: Any) -> Callable[[bool], Reply]:
    """Odd where it comes whole."""
    return lambda s: sse([*words(), END]) if s else error(200, body)


ANSWERS: dict[str, Callable[[bool], Reply]] = {
    "each piece all of the text so far": streamed(
        [*(delta(content=HELLO[:n]) for n in (5, 11, 30, 99)), END]
    ),
    "each piece as a message": streamed(
        [{"choices": [{"message": w["choices"][0]["delta"]}]} for w in words()] + [END]
    ),
    "an event on many lines": streamed(
        [
            "data: " + json.dumps(e, indent=1).replace("\n", "\ndata: ") + "\n\n"
            for e in [*words(), END]
        ]
    ),
    "a finish reason as the word null": streamed(
        [{"choices": [{**w["choices"][0], "finish_reason": "null"}]} for w in words()] + [END]
    ),
    "zeros behind the body": alone(json.dumps({"choices": [{"message": PLAIN}]}) + "\0\0"),
    "choices as one object": alone({"choices": {"message": PLAIN, "finish_reason": "stop"}}),
    "Anthropic's own form": alone(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": HELLO}],
            "stop_reason": "end_turn",
        }
    ),
    "the form of Responses": alone(
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": HELLO}]}]}
    ),
    "a zero within the text": text(HELLO.replace(" to", "\0 to")),
    "usage absent": both(PLAIN, [*words(), END]),
    "usage null": lambda s: (
        sse([*words(), {**END, "usage": None}]) if s else whole(PLAIN, usage=None)
    ),
    "comments and keepalives between events": lambda s: (
        sse([": OPENROUTER PROCESSING\n\n", *words(), ": ping\n\n", "\n", END])
        if s
        else whole(PLAIN)
    ),
    "events with names, ids and retry": lambda s: (
        sse(
            [
                "retry: 3000\n",
                *(f"event: message\nid: 7\ndata: {json.dumps(e)}\n\n" for e in [*words(), END]),
            ]
        )
        if s
        else whole(PLAIN)
    ),
    "ping events without a choice": lambda s: (
        sse([{"type": "ping"}, *words(), {"choices": []}, END]) if s else whole(PLAIN)
    ),
    "two choices": lambda s: (
        sse(
            [
                x
                for word in words()
                for x in (word, {"choices": [{"index": 1, "delta": {"content": "Other. "}}]})
            ]
            + [END]
        )
        if s
        else Reply(
            [
                json.dumps(
                    {
                        "choices": [
                            {"index": 0, "message": PLAIN, "finish_reason": "stop"},
                            {"index": 1, "message": {"content": "Other."}, "finish_reason": "stop"},
                        ]
                    }
                ).encode()
            ]
        )
    ),
    "two choices in one event": lambda s: (
        sse(
            [
                {
                    "choices": [
                        {"index": 1, "delta": {"content": "Other."}},
                        {"index": 0, "delta": {"content": HELLO}},
                    ]
                },
                END,
            ]
        )
        if s
        else whole(PLAIN)
    ),
    "finish_reason missing": both(PLAIN, [*words()], None),
    "finish_reason an empty string all along": lambda s: (
        sse([{"choices": [{**w["choices"][0], "finish_reason": ""}]} for w in words()])
        if s
        else whole(PLAIN, "")
    ),
    "finish_reason in capitals": both(PLAIN, [*words(), delta("STOP")], "STOP"),
    "finish_reason unknown": both(PLAIN, [*words(), delta("abort_none")], "abort_none"),
    "finish_reason a number": both(PLAIN, [*words(), delta(1)], 1),
    "UTF-8 cut in the middle": lambda s: cut_at(sse([*words(), END]) if s else whole(PLAIN), 3),
    "gzip": lambda s: zipped(sse([*words(), END]) if s else whole(PLAIN)),
    "trailing data behind [DONE]": lambda s: (
        sse([*words(), END, "data: [DONE]\n\n", delta(content=" and more"), "garbage\n"])
        if s
        else whole(PLAIN)
    ),
    "trailing white space behind the body": lambda s: (
        sse([*words(), END]) if s else Reply([*whole(PLAIN).chunks, b"\n\n  \n"])
    ),
    "a byte order mark": lambda s: (
        sse(["\ufeff", *words(), END]) if s else Reply([b"\xef\xbb\xbf", *whole(PLAIN).chunks])
    ),
    "CRLF lines": lambda s: (
        sse([f"data: {json.dumps(e)}\r\n\r\n" for e in [*words(), END]]) if s else whole(PLAIN)
    ),
    "data without a space": lambda s: (
        sse([f"data:{json.dumps(e)}\n\n" for e in [*words(), END]]) if s else whole(PLAIN)
    ),
    "JSON lines announced as a stream": lambda s: (
        sse([f"{json.dumps(e)}\n" for e in [*words(), END]], done=False) if s else whole(PLAIN)
    ),
    "JSON lines announced as such": lambda s: (
        sse(
            [f"{json.dumps(e)}\n" for e in [*words(), END]],
            kind="application/x-ndjson",
            done=False,
        )
        if s
        else whole(PLAIN)
    ),
    "a stream announced as JSON": lambda s: (
        sse([*words(), END], kind="application/json") if s else whole(PLAIN)
    ),
    "a stream though none was asked for": lambda s: sse([*words(), END]),
    "a whole answer though a stream was asked for": lambda s: whole(PLAIN),
    "a whole answer in one event": lambda s: (
        sse([json.loads(whole(PLAIN).chunks[0])]) if s else whole(PLAIN)
    ),
    "the whole text again at the end": lambda s: (
        sse([*words(), {"choices": [{"message": PLAIN, "finish_reason": "stop", "delta": {}}]}])
        if s
        else whole(PLAIN)
    ),
    "content null in most deltas": lambda s: (
        sse([delta(role="assistant", content=None), *words(), delta("stop", content=None)])
        if s
        else whole(PLAIN)
    ),
    "tool_calls null beside text": both(
        {**PLAIN, "tool_calls": None, "function_call": None, "refusal": None, "audio": None},
        [delta(content=HELLO, tool_calls=None, function_call=None, refusal=None), END],
    ),
    "tool_calls empty beside text": both(
        {**PLAIN, "tool_calls": []}, [delta(content=HELLO, tool_calls=[]), END]
    ),
    "content as parts": both(
        {"content": [{"type": "text", "text": HELLO}]},
        [delta(content=[{"type": "text", "text": HELLO}]), END],
    ),
    "content parts with a thought": both(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "secret plan"}]},
                {"type": "text", "text": HELLO},
            ]
        },
        [
            delta(content=[{"type": "thinking", "thinking": [{"text": "secret plan"}]}]),
            delta(content=[{"type": "text", "text": HELLO}]),
            END,
        ],
    ),
    **{
        f"thoughts in the field {name}": both(
            {**PLAIN, name: thought}, [delta(**{name: thought}), *words(), END]
        )
        for name, thought in {
            "reasoning": "secret plan",
            "reasoning_content": "secret plan",
            "thinking": "secret plan",
            "thinking_blocks": [{"type": "thinking", "thinking": "secret plan", "signature": "x"}],
            "reasoning_details": [{"type": "reasoning.text", "text": "secret plan"}],
            "thought": True,
        }.items()
    },
    "an error object that is null": lambda s: (
        sse([{**w, "error": None} for w in [*words(), END]]) if s else whole(PLAIN, error=None)
    ),
    "content filter fields that found nothing": lambda s: (
        sse(
            [
                {"choices": [], "prompt_filter_results": [{"content_filter_results": {}}]},
                *words(),
                END,
            ]
        )
        if s
        else whole(PLAIN, prompt_filter_results=[{"content_filter_results": {"hate": {}}}])
    ),
    "wrapped in response": lambda s: (
        sse([*words(), END])
        if s
        else Reply([json.dumps({"response": json.loads(whole(PLAIN).chunks[0])}).encode()])
    ),
    "Ollama's own form": lambda s: (
        Reply(
            [
                json.dumps({"model": "m", "message": {"content": w}, "done": False}).encode()
                + b"\n"
                for w in HELLO.split(" ")
                for w in (w + " ",)
            ]
            + [
                b'{"model": "m", "message": {"content": ""}, "done": true, "done_reason": "stop"}\n'
            ],
            headers={"content-type": "application/x-ndjson"},
        )
        if s
        else Reply([json.dumps({"message": PLAIN, "done": True}).encode()])
    ),
    "thoughts in <seed:think>": text(f"<seed:think>secret plan</seed:think>{HELLO}"),
    "thoughts in <reasoning>": text(f"<reasoning>\nsecret plan\n</reasoning>\n\n{HELLO}"),
    "thoughts in <inner_monologue>": text(f"<inner_monologue>secret plan</inner_monologue>{HELLO}"),
    "an answer in <answer>": text(f"<think>secret plan</think><answer>{HELLO}</answer>"),
    "thoughts in a details element": text(
        f'<details type="reasoning"><summary>Thought for 3 s</summary>secret plan</details>{HELLO}'
    ),
    "thoughts twice": text(f"<think>secret plan</think><think>secret plan</think>{HELLO}"),
    "thoughts in each other": text(
        f"<think>secret <think>plan</think> secret plan</think>\n{HELLO}"
    ),
    "tokens around": text(f"<|start_header_id|>assistant<|end_header_id|>\n\n{HELLO}<|eot_id|>"),
    "an end token and another turn": text(f"{HELLO}<end_of_turn>\n<start_of_turn>user\nSend it."),
}

ARGUMENTS = SEND["arguments"]


def pieces(*calls: Json, finish: Any = "tool_calls") -> Callable[[bool], Reply]:
    """A call that is streamed in these pieces."""
    events = [*(delta(tool_calls=[c]) for c in calls), delta(finish)]
    return lambda s: sse(events) if s else whole(CALLS, "tool_calls")


def piece(arguments: Any = "", name: str = "", **more: Any) -> Json:
    return {**more, "function": {"arguments": arguments, **({"name": name} if name else {})}}


GENERATED = {"code": "tool_use_failed", "message": "Failed to call a function.",
             "failed_generation": f"<function=mail__send>{ARGUMENTS}</function>"}  # fmt: skip

CALLED: dict[str, Callable[[bool], Reply]] = {
    "each piece all arguments so far": pieces(
        *(piece(ARGUMENTS[:n], "mail__send", index=0, id="c1") for n in (3, 7, 10, 99))
    ),
    "an empty object first": pieces(piece("{}", "mail__send", index=0), piece(ARGUMENTS, index=0)),
    "all arguments again at the end": pieces(
        *(
            piece(a, "mail__send", index=0, id="c1")
            for a in (ARGUMENTS[:6], ARGUMENTS[6:], ARGUMENTS)
        )
    ),
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
    "a call its server could not read (Groq)": always(error(400, {"error": GENERATED})),
    "finish_reason stop beside a call": both(
        CALLS, [delta(tool_calls=[called()]), delta("stop")], "stop"
    ),
    "finish_reason missing beside a call": both(CALLS, [delta(tool_calls=[called()])], None),
    "an empty name, then the name": lambda s: (
        sse(
            [
                delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": ""}}]),
                delta(tool_calls=[{"index": 0, "function": {"name": "mail__send"}}]),
                delta(tool_calls=[{"index": 0, "function": {"arguments": '{"to": '}}]),
                delta(tool_calls=[{"index": 0, "function": {"arguments": '"bob"}'}}]),
                delta("tool_calls"),
            ]
        )
        if s
        else whole(CALLS, "tool_calls")
    ),
    "a name null in later pieces": lambda s: (
        sse(
            [
                delta(tool_calls=[called(function={"name": "mail__send", "arguments": ""})]),
                delta(
                    tool_calls=[
                        {"index": 0, "id": None, "function": {"name": None, "arguments": '{"to":'}}
                    ]
                ),
                delta(tool_calls=[{"index": 0, "function": {"arguments": '"bob"}'}}]),
                delta("tool_calls"),
            ]
        )
        if s
        else whole(CALLS, "tool_calls")
    ),
    "no index": lambda s: (
        sse(
            [
                delta(tool_calls=[{"id": "c1", "function": {"name": "mail__send"}}]),
                delta(tool_calls=[{"function": {"arguments": '{"to": "bob"}'}}]),
                delta("tool_calls"),
            ]
        )
        if s
        else whole(CALLS, "tool_calls")
    ),
    "no id": both(
        {"content": "", "tool_calls": [{"type": "function", "function": SEND}]},
        [delta(tool_calls=[{"index": 0, "function": SEND}]), delta("tool_calls")],
        "tool_calls",
    ),
    "an id that is a number": both(
        {"content": "", "tool_calls": [{**CALL, "id": 7}]},
        [delta(tool_calls=[called(id=7)]), delta("tool_calls")],
        "tool_calls",
    ),
    "an index that is text": lambda s: (
        sse([delta(tool_calls=[called(index="0")]), delta("tool_calls")])
        if s
        else whole(CALLS, "tool_calls")
    ),
    "one id for two parallel calls, both whole": both(
        {
            "tool_calls": [
                CALL,
                {**CALL, "function": {"name": "mail__list_inbox", "arguments": "{}"}},
            ]
        },
        [
            delta(tool_calls=[called()]),
            delta(
                tool_calls=[
                    {
                        "index": 1,
                        "id": "c1",
                        "function": {"name": "mail__list_inbox", "arguments": "{}"},
                    }
                ]
            ),
            delta("tool_calls"),
        ],
        "tool_calls",
    ),
    "two calls at one index and without ids": lambda s: (
        sse(
            [
                delta(tool_calls=[{"index": 0, "function": SEND}]),
                delta(
                    tool_calls=[
                        {"index": 0, "function": {"name": "mail__list_inbox", "arguments": "{}"}}
                    ]
                ),
                delta("tool_calls"),
            ]
        )
        if s
        else whole(CALLS, "tool_calls")
    ),
    "each event twice, cumulative arguments": lambda s: (
        sse(
            [
                delta(tool_calls=[called(function={"name": "mail__send", "arguments": '{"to"'})]),
                delta(
                    tool_calls=[called(function={"name": "mail__send", "arguments": ': "bob"}'})]
                ),
                delta("tool_calls"),
            ]
        )
        if s
        else whole(CALLS, "tool_calls")
    ),
    "the whole call again at the end": lambda s: (
        sse(
            [
                delta(tool_calls=[called()]),
                {"choices": [{"delta": {}, "message": CALLS, "finish_reason": "tool_calls"}]},
            ]
        )
        if s
        else whole(CALLS, "tool_calls")
    ),
    "the same call twice": both(
        {"tool_calls": [CALL, {**CALL, "id": "c2"}]},
        [delta(tool_calls=[called(), called(index=1, id="c2")]), delta("tool_calls")],
        "tool_calls",
    ),
    "tool_calls as one object": both(
        {"tool_calls": CALL}, [delta(tool_calls=called()), delta("tool_calls")], "tool_calls"
    ),
    "arguments as an object": both(
        {"tool_calls": [{**CALL, "function": {"name": "mail__send", "arguments": {"to": "bob"}}}]},
        [
            delta(tool_calls=[called(function={"name": "mail__send", "arguments": {"to": "bob"}})]),
            delta("tool_calls"),
        ],
        "tool_calls",
    ),
    "arguments twice encoded": both(
        {
            "tool_calls": [
                {
                    **CALL,
                    "function": {"name": "mail__send", "arguments": json.dumps('{"to":"bob"}')},
                }
            ]
        },
        [
            delta(
                tool_calls=[
                    called(function={"name": "mail__send", "arguments": json.dumps('{"to":"bob"}')})
                ]
            ),
            delta("tool_calls"),
        ],
        "tool_calls",
    ),
    "a null among the calls": both(
        {"tool_calls": [None, CALL]},
        [delta(tool_calls=[None]), delta(tool_calls=[called()]), delta("tool_calls")],
        "tool_calls",
    ),
    "a name with the app's separator": both(
        {"tool_calls": [{**CALL, "function": {**SEND, "name": "mail.send"}}]},
        [delta(tool_calls=[called(function={**SEND, "name": "mail.send"})]), delta("tool_calls")],
        "tool_calls",
    ),
    "a name in a namespace": both(
        {"tool_calls": [{**CALL, "function": {**SEND, "name": "functions.mail__send"}}]},
        [
            delta(tool_calls=[called(function={**SEND, "name": "functions.mail__send"})]),
            delta("tool_calls"),
        ],
        "tool_calls",
    ),
    "a type that is none": both(
        {"tool_calls": [{**CALL, "type": ""}]},
        [delta(tool_calls=[called(type=None)]), delta("tool_calls")],
        "tool_calls",
    ),
    "the call in the text of a thought-free answer": text(
        '{"type": "function", "function": {"name": "mail__send", "arguments": {"to": "bob"}}}'
    ),
    "a call behind thoughts": text(
        '<think>secret plan</think>\n<tool_call>{"name": "mail__send", "arguments": {"to": "bob"}}'
        "</tool_call>"
    ),
    "a call in a fence tool_code": text('```tool_code\nmail__send(to="bob")\n```'),
    "a call in TypeScript's manner": text('functions.mail__send({"to": "bob"})'),
    "a call in <function_calls> with <invoke>": text(
        '<function_calls>\n<invoke name="mail__send">\n<parameter name="to">bob</parameter>\n'
        "</invoke>\n</function_calls>"
    ),
    "a call in <use_tool>": text(
        '<use_tool><name>mail__send</name><arguments>{"to": "bob"}</arguments></use_tool>'
    ),
    "a call as content part": both(
        {
            "content": [
                {"type": "tool_use", "id": "t", "name": "mail__send", "input": {"to": "bob"}}
            ]
        },
        [
            delta(
                content=[
                    {"type": "tool_use", "id": "t", "name": "mail__send", "input": {"to": "bob"}}
                ]
            ),
            delta("tool_use"),
        ],
        "tool_use",
    ),
    "Ollama's own call": lambda s: (
        Reply(
            [
                json.dumps(
                    {
                        "message": {
                            "content": "",
                            "tool_calls": [
                                {"function": {"name": "mail__send", "arguments": {"to": "bob"}}}
                            ],
                        },
                        "done": False,
                    }
                ).encode()
                + b"\n",
                b'{"message": {"content": ""}, "done": true, "done_reason": "stop"}\n',
            ],
            headers={"content-type": "application/x-ndjson"},
        )
        if s
        else Reply(
            [
                json.dumps(
                    {
                        "message": {
                            "tool_calls": [
                                {"function": {"name": "mail__send", "arguments": {"to": "bob"}}}
                            ]
                        },
                        "done": True,
                    }
                ).encode()
            ]
        )
    ),
}


def event(said: str, **more: Any) -> Callable[[bool], Reply]:
    """This event alone where it is streamed, the same error whole."""
    told = {"error": {"message": said, **more}}
    return lambda s: sse([told], done=False) if s else error(200, told)


CAUSES: dict[str, tuple[str, Callable[[bool], Reply]]] = {
    **{
        f"finish_reason {finish}": (
            "server_error",
            both({"content": "Good"}, [delta(finish, content="Good")], finish),
        )
        for finish in ("abort", "error", "insufficient_system_resource")
    },
    "filtered in the middle": (
        "refused",
        both(
            {"content": "Good"}, [delta(content="Good"), delta("content_filter")], "content_filter"
        ),
    ),
    "an error in a choice": (
        "rate_limit",
        lambda s: (
            sse([{"choices": [{"error": {"code": 429, "message": "Rate limit"}}]}])
            if s
            else error(200, {"choices": [{"error": {"code": 429, "message": "Rate limit"}}]})
        ),
    ),
    "a line of its own for the error (llama.cpp)": (
        "window",
        lambda s: (
            sse(['error: {"code": 400, "type": "exceed_context_size_error"}\n\n'], done=False)
            if s
            else error(400, {"error": {"type": "exceed_context_size_error"}})
        ),
    ),
    "an error in words": (
        "rate_limit",
        lambda s: sse(["event: error\ndata: overloaded\n\n"]) if s else error(529, "overloaded"),
    ),
    "an error that names no field": (
        "server_error",
        lambda s: (sse if s else lambda e: error(200, e[0]))(
            [{"object": "error", "message": "EngineCore", "code": 500}]
        ),
    ),
    "no endpoint with tools (OpenRouter)": (
        "no_tools",
        always(error(404, {"error": {"message": "No endpoints found that support tool use."}})),
    ),
    "a name that is none (OpenRouter)": ("no_model", event("m is not a valid model ID", code=400)),
    "no deployment (Azure)": (
        "no_model",
        always(error(404, {"error": {"message": "The API deployment does not exist."}})),
    ),
    "credit too low (Anthropic)": ("credit", event("Your credit balance is too low", code=400)),
    "a window in TGI's words": (
        "window",
        always(error(422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"})),
    ),
    "a window in TensorRT's": (
        "window",
        event("prompt length (5000) exceeds maximum input length (4096)", code=400),
    ),
    "a window in Qwen's": (
        "window",
        event("Range of input length should be [1, 6000]", code=400),
    ),
    "inappropriate content (Qwen)": (
        "refused",
        event("Input data may contain inappropriate content.", code="400"),
    ),
    "204": ("empty", always(Reply([], 204))),
    "200 with nothing": ("empty", always(Reply([b""]))),
    "an HTML login page": (
        "no_completion",
        always(error(200, "<!doctype html><html><form>Sign in</form></html>", "text/html")),
    ),
    "a redirect to a login page": (
        "no_completion",
        always(error(302, "", location="http://127.0.0.1:9/login")),
    ),
    "200 with an error body": (
        "rate_limit",
        always(error(200, {"error": {"message": "Rate limit exceeded", "code": 429}})),
    ),
    "200 with an error as text": (
        "loading",
        always(error(200, {"error": "model is still loading, please wait"})),
    ),
    "200 with success false": (
        "server_error",
        always(error(200, {"success": False, "errors": [{"message": "Internal failure"}]})),
    ),
    "200 with a detail": (
        "key",
        always(error(200, {"detail": "Unauthorized: invalid API key"})),
    ),
    "an error in the stream's first event": (
        "window",
        lambda s: (
            sse([{"error": {"message": "maximum context length is 900 tokens", "code": 400}}])
            if s
            else error(400, {"error": {"message": "maximum context length is 900 tokens"}})
        ),
    ),
    "an error event in the middle of a stream": (
        "server_error",
        lambda s: (
            sse([{"error": {"message": "upstream failed", "code": 502}}])
            if s
            else error(502, {"error": {"message": "upstream failed"}})
        ),
    ),
    "an error event with its own name": (
        "rate_limit",
        lambda s: (
            sse(['event: error\ndata: {"message": "Overloaded", "type": "overloaded_error"}\n\n'])
            if s
            else error(529, {"type": "error", "error": {"type": "overloaded_error"}})
        ),
    ),
    "Retry-After as a date": (
        "rate_limit",
        always(error(429, {"error": "slow down"}, Retry_After="Fri, 31 Dec 2100 23:59:59 GMT")),
    ),
    "Retry-After beyond reason": (
        "rate_limit",
        always(error(429, {"error": "slow down"}, Retry_After="86400")),
    ),
    "503 in HTML of a proxy": (
        "server_error",
        always(error(503, "<html><h1>503 Service Unavailable</h1></html>", "text/html")),
    ),
    "502 without a body": ("server_error", always(error(502, ""))),
    "413": ("window", always(error(413, "<html>Request Entity Too Large</html>", "text/html"))),
    "405": ("no_completion", always(error(405, {"detail": "Method Not Allowed"}))),
    "404 of a web server": (
        "no_completion",
        always(error(404, "404 page not found", "text/plain")),
    ),
    "401 without a body": ("key", always(error(401, ""))),
    "403 of a country": (
        "key",
        always(error(403, {"error": {"message": "Country not supported", "code": "blocked"}})),
    ),
    "402": ("credit", always(error(402, {"error": {"message": "Payment required"}}))),
    "429 for an empty purse": (
        "credit",
        always(error(429, {"error": {"code": "insufficient_quota", "message": "check billing"}})),
    ),
    "a content filter that stopped the answer": (
        "refused",
        lambda s: (
            sse([delta("content_filter")]) if s else whole({"content": None}, "content_filter")
        ),
    ),
    "400 of a content filter": (
        "refused",
        always(
            error(
                400,
                {
                    "error": {
                        "code": "content_filter",
                        "message": "The response was filtered",
                        "innererror": {"code": "ResponsibleAIPolicyViolation"},
                    }
                },
            )
        ),
    ),
    "thoughts and nothing else": (
        "empty",
        both(
            {"content": "", "reasoning_content": "secret plan"},
            [delta(reasoning_content="secret plan"), END],
        ),
    ),
    "thoughts in the text and nothing else": ("empty", text("<think>secret plan</think>")),
    "a stream that ends before its first word": (
        "empty",
        lambda s: sse([], done=True) if s else whole({"content": None}),
    ),
    "a body cut in its middle": (
        "unreached",
        always(Reply([b'{"choices": [{"message": {"content": "Hel'], breaks=True)),
    ),
    "no JSON": ("no_completion", always(error(200, "Service temporarily here", "text/plain"))),
    "choices empty": ("empty", always(error(200, {"choices": [], "usage": {}}))),
    "choices null": ("empty", always(error(200, {"choices": None}))),
}


class OddServer:
    """A loopback server that gives `odd` as often as it is told, and plain answers afterwards."""

    def __init__(self) -> None:
        self.odd: Callable[[bool], Reply] = lambda _: whole(PLAIN)
        self.times = 1
        self.requests: list[Json] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                with contextlib.suppress(OSError):
                    self.write(outer.reply(body))

            def write(self, reply: Reply) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.status == 204:
                    self.end_headers()
                    return
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for chunk in filter(None, reply.chunks):
                    self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                    self.wfile.flush()
                if reply.breaks:
                    self.close_connection = True
                else:
                    self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def reply(self, body: Json) -> Reply:
        if len(self.requests) <= self.times:
            return self.odd(bool(body.get("stream")))
        said = HELLO if body.get("tools") else "Sent to bob."
        return sse([delta(content=said), END]) if body.get("stream") else whole({"content": said})

    def __enter__(self) -> OddServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[OddServer]:
    with OddServer() as one:
        yield one


class Person:
    """A user at a kernel over that server, reading along or not."""

    def __init__(self, server: OddServer, *, streamed: bool) -> None:
        self.sent = Sent()
        self.frames: list[Json] = []
        self.streamed = streamed
        model = OpenAICompatibleModel(server.url, "llama3", ModelKey())
        env = {"WEBBEE_CONFIRM": "destructive", "WEBBEE_TURN_SECONDS": "20"}
        self.kernel = TestKernel([self.sent.extension()], model=model, env=env)

    def chat(self, message: str) -> Json:
        ask = self.kernel.ask(message)
        if self.streamed:
            ask = ask._replace(follower=Follower("r1", self.frames.append))
        return self.kernel.run(self.kernel.kernel.turn(ask)).body

    @property
    def read(self) -> str:
        return "".join(f["text"] for f in self.frames if f["type"] == "text")


@pytest.fixture(params=["whole", "streamed"])
def person(request: pytest.FixtureRequest, server: OddServer) -> Person:
    return Person(server, streamed=request.param == "streamed")


def nothing_raw(*texts: str) -> None:
    assert not [mark for mark in RAW for said in texts if mark in said]


@pytest.mark.parametrize("name", ANSWERS)
def test_a_plain_answer_arrives(server: OddServer, person: Person, name: str) -> None:
    server.odd = ANSWERS[name]
    body = person.chat("good evening")
    assert body["reply"].strip() == HELLO
    assert len(server.requests) == 1
    nothing_raw(body["reply"], person.read)
    assert HELLO.startswith(person.read.strip())  # the rest comes with the end of the turn


@pytest.mark.parametrize("name", CALLED)
def test_a_call_runs_once_and_its_receipt_is_seen(
    server: OddServer, person: Person, name: str
) -> None:
    server.odd = CALLED[name]
    body = person.chat("send it to bob")
    assert person.sent.to == ["bob"]
    assert [c["status"] for c in body["calls"] if c["fn_name"] == "send"] == ["ok"]
    assert body["reply"].startswith("Sent to bob.") and body["receipts"]
    nothing_raw(body["reply"], person.read)


@pytest.mark.parametrize("name", CAUSES)
def test_what_fails_has_its_true_cause(server: OddServer, person: Person, name: str) -> None:
    cause, server.odd = CAUSES[name]
    server.times = 9
    with pytest.raises(ModelUnavailable) as caught:
        person.chat("good evening")
    assert (caught.value.cause, person.read) == (cause, "")
    assert len(server.requests) <= 4

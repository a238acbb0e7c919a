"""Amazon Bedrock: the Converse API through boto3, each request in a thread of its own pool.

Time: the turn never waits longer than `request.timeout_s`; read timeouts are rounded up by
`read_timeout_for`, so that few clients exist and abandoned threads end soon. Retries are those of
`with_retry`, which knows the deadline; botocore's own are off.

Models differ in the parameters they accept. A request is first sent with a cache point and
temperature 0, and streamed if someone listens; what a model refuses is left out from then on in
this process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..aws.clients import aws_client, error_code, failure_kind, in_thread, read_timeout_for, threads
from ..config import ModelOptions
from ..errors import ModelUnavailable
from ..types import JSONObject
from .adapter import (
    Adapter,
    Listener,
    Message,
    conversation,
    fixed_parts,
    optional_parts,
    output_tokens,
)
from .assembly import Assembly, count, require_content
from .failures import Retryable, failure_of, pause_of, slow
from .options import PLAIN
from .protocol import CUT_OFF, Growing, ModelRequest, ModelResponse, ToolSpec, Usage
from .tools import clean, describe, wire_schema

THREADS: Final = 16
_POOL: Final = threads(THREADS, "bedrock")
CONVERSE_PARTS: Final = frozenset(
    """output_tokens stop cache_ttl tool_cache cache_point temperature effort reasoning tool_choice
    system schema stream""".split()
)
"""Parts of a request that a model may refuse."""

UNSIGNED: Final = "UnrecognizedClientException"
_STREAM_STATUS: Final = {"ThrottlingException": 429, "ValidationException": 400}
"""The status of errors that a stream tells without one; the others are the service's own."""
_log = logging.getLogger("webbee.model.bedrock")


class BedrockModel(Adapter):
    """One model or inference profile, by id or ARN."""

    def __init__(
        self,
        model_id: str,
        *,
        client_factory: Callable[..., Any] = aws_client,
        options: ModelOptions = PLAIN,
    ) -> None:
        super().__init__(f"bedrock:{model_id}", options)
        self._model_id = model_id
        self._client_factory = client_factory

    async def _ask(
        self, request: ModelRequest, left: float, sink: Listener | None = None
    ) -> ModelResponse:
        # the stream is read in a thread, and heard on the loop
        loop = asyncio.get_running_loop()
        answer: ModelResponse = await in_thread(self._send, request, left, sink, loop, pool=_POOL)
        return answer

    def _send(
        self,
        request: ModelRequest,
        left: float,
        sink: Listener | None,
        loop: asyncio.AbstractEventLoop,
    ) -> ModelResponse:
        while True:
            # learnt once a process: later requests leave it out at once
            refused = frozenset(self.refused_parts)
            try:
                client = self._client_factory(
                    # retries are ours: only we know how much time a turn has left
                    "bedrock-runtime",
                    read_timeout=read_timeout_for(left),
                    attempts=1,
                )
                body = converse_request(self._model_id, request, refused, self._options)
                answer = ConverseAnswer(request)
                if sink and "stream" not in refused:
                    answer.draft.hear = lambda piece: loop.call_soon_threadsafe(sink, piece)
                    _read_stream(client.converse_stream(**body)["stream"], answer, sink)
                else:
                    answer.read_body(client.converse(**body))
                return require_content(answer.response(), request, self._model_id)
            except (Retryable, ModelUnavailable):
                raise
            except Exception as error:
                # other errors are about the whole request
                may_refuse = error_code(error) in ("ValidationException", "AccessDeniedException")
                words, fixed = str(error) if may_refuse else "", fixed_parts(request, refused)
                if not self._drop_refused(CONVERSE_PARTS, words, fixed):
                    failure = _translate(error, self._model_id, left)
                    if failure is None:
                        raise
                    raise failure from None  # the original may quote the request


def _read_stream(stream: Any, answer: ConverseAnswer, sink: Listener) -> None:
    """Read a stream to its end, or until the sink is closed."""
    # botocore wraps errors of a request, not those of its stream
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    draft = answer.draft
    try:
        for event in stream:
            if sink.is_closed:
                # as if its length had ended it
                draft.stop = draft.stop or CUT_OFF
                break
            answer.event(event)
    except ReadTimeoutError:
        why = "Amazon Bedrock fell silent in the middle of its answer: try again."
        raise ModelUnavailable(why, cause="slow") from None
    except HTTPError:
        draft.stop = ""
    finally:
        stream.close()
    if not draft.stop:
        why = "Amazon Bedrock broke off its answer: try again."
        raise Retryable(ModelUnavailable(why, cause="server_error"))


def _translate(error: Exception, model_id: str, left: float) -> Exception | None:
    """The kernel's error for a boto3 error; None for programming errors, which propagate."""
    match failure_kind(error):
        case "answered":
            return _service_error(error, model_id)
        case "silent":
            return slow(left)
        case "unsigned":
            return failure_of(403, UNSIGNED, "").error("Amazon Bedrock", model_id, UNSIGNED)
        case "unreached":
            name = type(error).__name__
            if name == "NoRegionError":
                why = "Amazon Bedrock is asked in no region: set AWS_DEFAULT_REGION."
                return ModelUnavailable(why, cause="unreached")
            why = f"Amazon Bedrock did not answer ({name}): try again."
            return Retryable(ModelUnavailable(why, cause="unreached"))
    return None


def _service_error(error: Any, model_id: str) -> Exception:
    code, meta = error_code(error), error.response.get("ResponseMetadata", {})
    code = code[:1].upper() + code[1:]  # a stream spells its errors `throttlingException`
    status = meta.get("HTTPStatusCode", 0)
    _log.warning("model=%s code=%s status=%s | Converse failed", model_id, code, status)
    words = str(error.response.get("Error", {}).get("Message", ""))
    pause = pause_of(meta.get("HTTPHeaders", {}).get("retry-after"))
    # a stream tells no status
    status = status if status >= 300 else _STREAM_STATUS.get(code, 500)
    failure = failure_of(status, code, words)
    return failure.error("Amazon Bedrock", model_id, code, words, pause)


def converse_request(
    model_id: str,
    request: ModelRequest,
    without: frozenset[str] = frozenset(),
    options: ModelOptions = PLAIN,
) -> JSONObject:
    """The parameters of Converse. `without` holds any of CONVERSE_PARTS.

    Services cache tools, then system, then messages, so one cache point after the system part
    covers both; without tools the prompt is too short to be cached. A turn with exchanges has
    another one after the last message; for growing tools see `_tools`.
    """
    cache = _cache_points(without, options)
    grow = None if "tool_cache" in without else request.growing
    system, turns = conversation(request, without)
    messages = [m for message in turns for m in _message(message, "reasoning" not in without)]
    if request.exchanges:
        messages[-1]["content"].extend(cache)
    limits = {
        "temperature": ("temperature", options.temperature),
        "stop": ("stopSequences", list(options.stop)),
    }
    effort = {"effort": options.effort} if options.effort else {}
    choice = options.tool_choice.replace("required", "any")
    body: JSONObject = {
        "modelId": model_id,
        "messages": messages,
        "inferenceConfig": {
            "maxTokens": output_tokens(request, without),
            **optional_parts(limits, without),
        },
        **optional_parts({"effort": ("outputConfig", effort)}, without),
    }
    if system:
        body["system"] = _system(system, request, grow, cache)
    if request.tools:
        tools = _tools([_tool(t, without) for t in request.tools], grow, cache)
        chosen: JSONObject = {choice: {}} if choice else {}
        chosen_tool = optional_parts({"tool_choice": ("toolChoice", chosen)}, without)
        body["toolConfig"] = {"tools": tools, **chosen_tool}
    return body


def _cache_points(without: frozenset[str], options: ModelOptions) -> list[JSONObject]:
    """The cache point block, or none where the model refused it."""
    if "cache_point" in without:
        return []
    ttl = {} if "cache_ttl" in without or not options.cache else {"ttl": options.cache}
    return [{"cachePoint": {"type": "default", **ttl}}]


def _system(
    system: str, request: ModelRequest, grow: Growing | None, cache: list[JSONObject]
) -> list[JSONObject]:
    """The system part, with a cache point only where the limit of four allows: growing tools use
    three, and a later round needs the fourth after the last message."""
    if grow:
        system = system.removesuffix(clean(grow.apps)).rstrip()
    text: JSONObject = {"text": system}
    return [text, *cache] if request.tools and not (grow and request.exchanges) else [text]


def _tools(
    tools: list[JSONObject], grow: Growing | None, cache: list[JSONObject]
) -> list[JSONObject]:
    """The tools; growing ones get a cache point after the common tools (which carry the app list),
    after those of the previous request, and after all."""
    if grow is None:
        return tools
    parts = tools[: grow.common], tools[grow.common : grow.before], tools[grow.before :]
    if parts[0] and grow.apps:
        last = parts[0][-1]["toolSpec"]
        last["description"] = f"{last['description']}\n\n{clean(grow.apps)}"
    return [block for part in parts if part for block in (*part, *cache)]


def _message(message: Message, has_reasoning: bool) -> Iterator[JSONObject]:
    """A message's wire messages: reasoning, text and calls, then the results as a user message."""
    content: list[JSONObject] = []
    if has_reasoning and message.reasoning:
        # signed thoughts go back unchanged, or the service refuses the turn
        content += message.reasoning.message["content"]
    content += [{"text": message.text}] if message.text else []
    content += [
        {"toolUse": {"toolUseId": c.call_id, "name": c.name, "input": c.arguments}}
        for c in message.calls
    ]
    yield {"role": message.role, "content": content}
    if message.calls:
        results = [
            {"toolResult": {"toolUseId": c.call_id, "content": [{"text": c.result}]}}
            for c in message.calls
        ]
        yield {"role": "user", "content": results}


def _tool(tool: ToolSpec, without: frozenset[str]) -> JSONObject:
    schema = wire_schema(tool, without)
    spec = {"name": tool.name, "description": describe(tool), "inputSchema": {"json": schema}}
    return {"toolSpec": spec}


class ConverseAnswer:
    """An answer under construction, from ConverseStream events or a Converse response."""

    def __init__(self, request: ModelRequest) -> None:
        self.draft = Assembly(request)
        self._thoughts: dict[int, JSONObject] = {}

    def event(self, event: Mapping[str, Any]) -> None:
        """One event of a stream."""
        for name in ("contentBlockStart", "contentBlockDelta"):
            if part := event.get(name):
                self._block(part["contentBlockIndex"], part.get("start") or part.get("delta") or {})
        if stop := event.get("messageStop"):
            self.draft.stop = stop.get("stopReason") or ""
        if part := event.get("metadata"):
            self.draft.usage = _usage(part.get("usage") or {})

    def read_body(self, answer: Mapping[str, Any]) -> None:
        """Converse's answer."""
        message = (answer.get("output") or {}).get("message") or {}
        for index, block in enumerate(message.get("content") or ()):
            self._block(index, block)
        self.draft.stop = str(answer.get("stopReason") or "")
        self.draft.usage = _usage(answer.get("usage") or {})

    def _block(self, index: int, block: Mapping[str, Any]) -> None:
        """A block of the answer, or a piece of one."""
        # also of one that says where it read it
        cited = (block.get("citationsContent") or {}).get("content") or ()
        self.draft.add_text("".join(str(part.get("text") or "") for part in (block, *cited)))
        if tool := block.get("toolUse"):
            call_id, name = str(tool.get("toolUseId") or ""), str(tool.get("name") or "")
            self.draft.add_call(index, call_id, name, tool.get("input"))
        if thought := block.get("reasoningContent"):
            self.draft.has_thoughts = True
            self._add_thought(self._thoughts.setdefault(index, {}), thought)

    def _add_thought(self, block: JSONObject, thought: Mapping[str, Any]) -> None:
        """Append a reasoning block, or a piece of one."""
        if encrypted := thought.get("redactedContent"):
            # encrypted: only the service reads it
            block["redactedContent"] = block.get("redactedContent", b"") + encrypted
            return
        text = block.setdefault("reasoningText", {"text": ""})
        piece = thought.get("reasoningText") or thought
        text["text"] += piece.get("text") or ""
        if signature := piece.get("signature"):
            text["signature"] = text.get("signature", "") + signature

    def response(self) -> ModelResponse:
        """The answer, with the signed or encrypted reasoning to send back."""
        blocks = [
            {"reasoningContent": thought}
            for thought in self._thoughts.values()
            if "redactedContent" in thought or thought["reasoningText"].get("signature")
        ]
        return self.draft.response({"content": blocks} if blocks else {}, {})


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Converse's `inputTokens` exclude cache reads and writes; ours include them."""
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    fresh, output, cached, written = (count(usage.get(name)) for name in names)
    return Usage(fresh + cached + written, output, cached)

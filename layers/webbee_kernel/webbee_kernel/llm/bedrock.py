"""Amazon Bedrock: the Converse API through boto3, each request in a thread of its own pool.

Time: the turn never waits longer than `request.timeout_s`; the client's read timeout is the next
step of `read_timeout_for`, so few clients exist and a thread that nobody waits for ends soon after.
Retries are those of `attempts`, which know the deadline; botocore's own are off.

Models differ in what they take. A request is first sent with a cache point and temperature 0, and
streamed where somebody listens; a model that refuses any of it is asked again without, and this
process remembers it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ..aws.clients import (
    aws_client,
    error_code,
    failure_kind,
    in_thread,
    read_timeout_for,
    threads,
)
from ..errors import ModelUnavailable
from ..types import JSONObject
from .adapter import Adapter, Listener, output_tokens, unanswerable, wished
from .assembly import Assembly, count, usable
from .conversation import Message, conversation
from .failures import Passing, failure_of, pause_of, slow
from .options import PLAIN, ModelOptions
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
_STREAMED: Final = {"ThrottlingException": 429, "ValidationException": 400}
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
        self, request: ModelRequest, left: float, to: Listener | None = None
    ) -> ModelResponse:
        # the stream is read in a thread, and heard on the loop
        loop = asyncio.get_running_loop()
        answer: ModelResponse = await in_thread(self._send, request, left, to, loop, pool=_POOL)
        return answer

    def _send(
        self,
        request: ModelRequest,
        left: float,
        to: Listener | None,
        loop: asyncio.AbstractEventLoop,
    ) -> ModelResponse:
        while True:
            # learnt once a process: later requests leave it out at once
            refused = frozenset(self.learnt.refused)
            try:
                client = self._client_factory(
                    # retries are ours: only we know how much time a turn has left
                    "bedrock-runtime",
                    read_timeout=read_timeout_for(left),
                    attempts=1,
                )
                body = converse_request(self._model_id, request, refused, self._options)
                answer = ConverseAnswer(request)
                if to and "stream" not in refused:
                    answer.made.hear = _across(loop, to)
                    _listen(client.converse_stream(**body)["stream"], answer, to)
                else:
                    answer.whole(client.converse(**body))
                return usable(answer.response(), request, self._model_id)
            except (Passing, ModelUnavailable):
                raise
            except Exception as error:
                # other errors are about the whole request
                may_refuse = error_code(error) in ("ValidationException", "AccessDeniedException")
                words, already = str(error) if may_refuse else "", unanswerable(request, refused)
                if not self.learnt.goes_without(CONVERSE_PARTS, words, already):
                    failure = _translate(error, self._model_id, left)
                    if failure is None:
                        raise
                    raise failure from None  # the original may quote the request


def _across(loop: asyncio.AbstractEventLoop, to: Listener) -> Callable[[str], None]:
    """Hands what is read in a thread to whoever listens on the loop."""

    def hand_over(piece: str) -> None:
        loop.call_soon_threadsafe(to, piece)

    return hand_over


def _listen(stream: Any, answer: ConverseAnswer, to: Listener) -> None:
    """Read a stream to its end, or until nobody listens any more."""
    # botocore wraps errors of a request, not those of its stream
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    made = answer.made
    try:
        for event in stream:
            if to.closed or made.endless:
                # as if its length had ended it
                made.stop = made.stop or CUT_OFF
                break
            answer.event(event)
    except ReadTimeoutError:
        why = "Amazon Bedrock fell silent in the middle of its answer: try again."
        raise ModelUnavailable(why, cause="slow") from None
    except HTTPError:
        made.stop = ""
    finally:
        stream.close()
    if not made.stop:
        why = "Amazon Bedrock broke off its answer: try again."
        raise Passing(ModelUnavailable(why, cause="server_error"))


def _translate(error: Exception, model_id: str, left: float) -> Exception | None:
    """What the kernel hears; None for defects, which stay as they are."""
    match failure_kind(error):
        case "answered":
            return _answered(error, model_id)
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
            return Passing(ModelUnavailable(why, cause="unreached"))
    return None


def _answered(error: Any, model_id: str) -> Exception:
    code, meta = error_code(error), error.response.get("ResponseMetadata", {})
    code = code[:1].upper() + code[1:]  # a stream spells its errors `throttlingException`
    status = meta.get("HTTPStatusCode", 0)
    _log.warning("model=%s code=%s status=%s | Converse failed", model_id, code, status)
    words = str(error.response.get("Error", {}).get("Message", ""))
    pause = pause_of(meta.get("HTTPHeaders", {}).get("retry-after"))
    # a stream tells no status
    status = status if status >= 300 else _STREAMED.get(code, 500)
    failure = failure_of(status, code, words)
    return failure.error("Amazon Bedrock", model_id, code, words, pause)


def converse_request(
    model_id: str,
    request: ModelRequest,
    without: frozenset[str] = frozenset(),
    options: ModelOptions = PLAIN,
) -> JSONObject:
    """Converse's parameters. `without` holds any of CONVERSE_PARTS.

    Services cache tools, then system, then messages, so one cache point behind the system part
    covers both stable parts. It is sent with tools only: a narrator's system part is far below the
    least size that is cached. A turn that goes on has another one behind what was said last: its
    next round reads all of it from the cache. `_tools` says what becomes of tools that change.
    """
    cache = _cache_points(without, options)
    grow = None if "tool_cache" in without else request.growing
    system, told = conversation(request, without)
    messages = [m for message in told for m in _message(message, "reasoning" not in without)]
    if request.exchanges:
        messages[-1]["content"].extend(cache)
    limits = {
        "temperature": ("temperature", options.temperature),
        "stop": ("stopSequences", list(options.stop)),
    }
    effort = {"effort": options.effort} if options.effort else {}
    choice = "any" if options.tool_choice == "required" else options.tool_choice
    body: JSONObject = {
        "modelId": model_id,
        "messages": messages,
        "inferenceConfig": {
            "maxTokens": output_tokens(request, without),
            **wished(limits, without),
        },
        **wished({"effort": ("outputConfig", effort)}, without),
    }
    if system:
        body["system"] = _system(system, request, grow, cache)
    if request.tools:
        tools = _tools([_tool(t, without) for t in request.tools], grow, cache)
        chosen: JSONObject = {choice: {}} if choice else {}
        must = wished({"tool_choice": ("toolChoice", chosen)}, without)
        body["toolConfig"] = {"tools": tools, **must}
    return body


def _cache_points(without: frozenset[str], options: ModelOptions) -> list[JSONObject]:
    """The block behind which a service caches; none for one that has refused it."""
    if "cache_point" in without:
        return []
    kept = {} if "cache_ttl" in without or not options.cache else {"ttl": options.cache}
    return [{"cachePoint": {"type": "default", **kept}}]


def _system(
    system: str, request: ModelRequest, grow: Growing | None, cache: list[JSONObject]
) -> list[JSONObject]:
    """The system part; of tools that grow the apps are told before them, and of four cache points
    that a request may have three stand among these: a later round needs the fourth behind what was
    said last."""
    if grow:
        system = system.removesuffix(clean(grow.apps)).rstrip()
    text: JSONObject = {"text": system}
    return [text, *cache] if request.tools and not (grow and request.exchanges) else [text]


def _tools(
    tools: list[JSONObject], grow: Growing | None, cache: list[JSONObject]
) -> list[JSONObject]:
    """Those that change behind what was there have a cache point behind those of everybody with
    these apps, which tell of all apps, one behind those of the request before, and one behind all,
    for the next."""
    if grow is None:
        return tools
    parts = tools[: grow.common], tools[grow.common : grow.before], tools[grow.before :]
    if parts[0] and grow.apps:
        last = parts[0][-1]["toolSpec"]
        last["description"] = f"{last['description']}\n\n{clean(grow.apps)}"
    return [block for part in parts if part for block in (*part, *cache)]


def _message(message: Message, carried: bool) -> Iterator[JSONObject]:
    """A message, its reasoning first, as it came; calls are followed by one of the user's with what
    they returned."""
    content: list[JSONObject] = []
    if carried and message.reasoning:
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
    told = {"name": tool.name, "description": describe(tool), "inputSchema": {"json": schema}}
    return {"toolSpec": told}


class ConverseAnswer:
    """An answer as far as it came, by `event` of ConverseStream or `whole`."""

    def __init__(self, request: ModelRequest) -> None:
        self.made = Assembly(request)
        self._thoughts: dict[int, JSONObject] = {}

    def event(self, event: Mapping[str, Any]) -> None:
        """One event of a stream."""
        for name in ("contentBlockStart", "contentBlockDelta"):
            if told := event.get(name):
                self._block(told["contentBlockIndex"], told.get("start") or told.get("delta") or {})
        if ended := event.get("messageStop"):
            self.made.stop = ended.get("stopReason") or ""
        if told := event.get("metadata"):
            self.made.usage = _usage(told.get("usage") or {})

    def whole(self, answer: Mapping[str, Any]) -> None:
        """Converse's answer."""
        message = (answer.get("output") or {}).get("message") or {}
        for index, block in enumerate(message.get("content") or ()):
            self._block(index, block)
        self.made.stop = str(answer.get("stopReason") or "")
        self.made.usage = _usage(answer.get("usage") or {})

    def _block(self, index: int, block: Mapping[str, Any]) -> None:
        """A block of the answer, or a piece of one."""
        # also of one that says where it read it
        cited = (block.get("citationsContent") or {}).get("content") or ()
        self.made.say("".join(str(part.get("text") or "") for part in (block, *cited)))
        if tool := block.get("toolUse"):
            call_id, name = str(tool.get("toolUseId") or ""), str(tool.get("name") or "")
            self.made.call(index, call_id, name, tool.get("input"))
        if thought := block.get("reasoningContent"):
            self.made.thought = True
            self._think(self._thoughts.setdefault(index, {}), thought)

    def _think(self, made: JSONObject, thought: Mapping[str, Any]) -> None:
        """A thought, or a piece of one, put to what there is of it."""
        if sealed := thought.get("redactedContent"):
            # encrypted: only the service reads it
            made["redactedContent"] = made.get("redactedContent", b"") + sealed
            return
        told = made.setdefault("reasoningText", {"text": ""})
        piece = thought.get("reasoningText") or thought
        told["text"] += piece.get("text") or ""
        if signed := piece.get("signature"):
            told["signature"] = told.get("signature", "") + signed

    def response(self) -> ModelResponse:
        """The answer. Signed or encrypted thoughts go back with it; models that do neither take
        none."""
        answer = self.made.response()
        sealed = [
            {"reasoningContent": thought}
            for thought in self._thoughts.values()
            if "redactedContent" in thought or thought["reasoningText"].get("signature")
        ]
        carried = {"content": sealed} if sealed else {}
        return replace(answer, reasoning=self.made.reasoning(carried, {}, len(answer.tool_calls)))


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Converse's `inputTokens` leave out what was read from or written to the cache; ours hold
    all."""
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    read_anew, wrote, cached, kept = (count(usage.get(name)) for name in names)
    return Usage(read_anew + cached + kept, wrote, cached)

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
import re
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
from .attempts import LearningModel, pause_of, slow
from .completions import (
    FEWER_KEYWORDS,
    NO_SYSTEM,
    TOO_LONG_AN_ANSWER,
    Message,
    completion,
    conversation,
    number,
    output_tokens,
    unanswerable,
    usable,
)
from .failures import MODEL_SETTING, Failure, Passing, failure_of
from .options import PLAIN, ModelOptions
from .pieces import Aloud, ConversePieces
from .protocol import Growing, ModelRequest, ModelResponse, Reasoning, ToolSpec, Usage
from .tools import clean, describe, wire_schema

THREADS: Final = 16
_POOL: Final = threads(THREADS, "bedrock")
_OPTIONAL: Final = {
    "output_tokens": TOO_LONG_AN_ANSWER,
    "stop": re.compile(r"stop.?sequences", re.I),
    # tried in this order: the smaller part goes first
    "cache_ttl": re.compile(r"\bttl\b", re.I),
    "tool_cache": re.compile(
        r"tool.{0,80}(cache.?point|description)|cache.?point.{0,80}tool", re.I | re.S
    ),
    "cache_point": re.compile(r"cache.?point|prompt.cach", re.I),
    "temperature": re.compile(r"\btemperature\b", re.I),
    "effort": re.compile(r"\beffort\b|outputConfig|output_config", re.I),
    "reasoning": re.compile(r"reasoning.?(content|text)|invalid.{0,5}signature", re.I),
    "tool_choice": re.compile(r"tool.?choice", re.I),
    "system": NO_SYSTEM,
    "schema": FEWER_KEYWORDS,
    "stream": re.compile(
        r"WithResponseStream|streaming.{0,40}\bnot\b|(unsupported|support\w*).{0,30}streaming", re.I
    ),
}
"""Parts a model may refuse, and how its refusal is told from others."""

_BY_CODE: Final = {
    "ThrottlingException": Failure(
        "rate_limit",
        "Amazon Bedrock is over its quota for {model}: try again in a minute. If it happens often,"
        " raise the quota.",
        passing=True,
    ),
    "ServiceQuotaExceededException": Failure(
        "rate_limit", "The account's quota for {model} is used up: the operator must raise it."
    ),
    "ModelNotReadyException": Failure(
        "loading", "The model {model} is not ready yet: try again in a minute.", passing=True
    ),
    "ServiceUnavailableException": Failure(
        "server_error", "Amazon Bedrock is down or overloaded: try again.", passing=True
    ),
    "InternalServerException": Failure(
        "server_error", "Amazon Bedrock failed: try again.", passing=True
    ),
    "ModelErrorException": Failure(
        "server_error", "The model {model} failed: try again.", passing=True
    ),
    "ModelStreamErrorException": Failure(
        "server_error", "The model {model} failed while it answered: try again.", passing=True
    ),
    "ModelTimeoutException": Failure(
        "slow",
        "The model {model} took too long: try again, or let the operator choose a faster model.",
    ),
    "ResourceNotFoundException": Failure(
        "no_model", f"Amazon Bedrock has no model {{model}} in this region: check {MODEL_SETTING}."
    ),
    "AccessDeniedException": Failure(
        "key",
        "Amazon Bedrock refused {model}: the account needs access to the model, and the template's"
        " parameter BedrockModelArns must name it.",
    ),
}
_CREDENTIALS: Final = Failure(
    "key",
    "Amazon Bedrock did not accept the credentials: check the function's role or, on one machine,"
    " the AWS profile.",
)
_UNSIGNED: Final = (
    "UnrecognizedClientException",
    "InvalidSignatureException",
    "ExpiredTokenException",
    "IncompleteSignatureException",
)
_INVALID: Final = (
    (
        re.compile(r"on-demand throughput", re.I),
        Failure(
            "no_model",
            "The model {model} is only served through an inference profile: name that in"
            f" {MODEL_SETTING}.",
        ),
    ),
    (
        re.compile(r"model identifier|provided model", re.I),
        Failure("no_model", f"Amazon Bedrock knows no model {{model}}: check {MODEL_SETTING}."),
    ),
    (
        re.compile(r"tool", re.I),
        Failure(
            "no_tools",
            "The model {model} does not take tools as the kernel sends them: choose a model with"
            " tool use.",
        ),
    ),
)
_log = logging.getLogger("webbee.model.bedrock")


class BedrockModel(LearningModel):
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
        self, request: ModelRequest, left: float, to: Aloud | None = None
    ) -> ModelResponse:
        # the stream is read in a thread, and heard on the loop
        heard = _Across(asyncio.get_running_loop(), to) if to else None
        answer: ModelResponse = await in_thread(self._send, request, left, heard, pool=_POOL)
        return answer

    def _send(self, request: ModelRequest, left: float, to: _Across | None) -> ModelResponse:
        read_timeout = read_timeout_for(left)
        while True:
            # learnt once a process: later requests leave it out at once
            refused = frozenset(self.learnt.refused)
            try:
                client = self._client_factory(
                    # retries are ours: only we know how much time a turn has left
                    "bedrock-runtime",
                    read_timeout=read_timeout,
                    attempts=1,
                )
                body = converse_request(self._model_id, request, refused, self._options)
                if to and "stream" not in refused:
                    found = to.listen(client.converse_stream(**body)["stream"])
                else:
                    found = client.converse(**body)
                return usable(read(found, request), request, self._model_id)
            except (Passing, ModelUnavailable):
                raise
            except Exception as error:
                # other errors are about the whole request
                may_refuse = error_code(error) in ("ValidationException", "AccessDeniedException")
                words, already = str(error) if may_refuse else "", unanswerable(request, refused)
                if not self.learnt.goes_without(_OPTIONAL, words, already):
                    failure = _translate(error, self._model_id, left)
                    if failure is None:
                        raise
                    raise failure from None  # the original may quote the request


class _Across:
    """Hands a stream that is read in a thread to whoever listens on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, to: Aloud) -> None:
        self._loop = loop
        self._to = to

    def _hand_over(self, piece: str) -> None:
        self._loop.call_soon_threadsafe(self._to, piece)

    def listen(self, stream: Any) -> JSONObject:
        """Read it to its end, or until nobody listens any more; the answer as Converse gives it."""
        pieces = ConversePieces(self._hand_over)
        # botocore wraps errors of a request, not those of its stream
        from urllib3.exceptions import HTTPError, ReadTimeoutError  # botocore lets them through

        try:
            for event in stream:
                if self._to.closed or self._to.endless:
                    # as if its length had ended it
                    pieces.stop = pieces.stop or "max_tokens"
                    break
                pieces.take(event)
        except ReadTimeoutError:
            raise ModelUnavailable(
                "Amazon Bedrock fell silent in the middle of its answer: try again.",
                cause="slow",
            ) from None
        except HTTPError:
            pieces.stop = ""
        finally:
            stream.close()
        if not pieces.stop:
            why = "Amazon Bedrock broke off its answer: try again."
            raise Passing(ModelUnavailable(why, cause="server_error"))
        return pieces.answer()


def _translate(error: Exception, model_id: str, left: float) -> Exception | None:
    """What the kernel hears; None for defects, which stay as they are."""
    match failure_kind(error):
        case "answered":
            return _answered(error, model_id)
        case "silent":
            return slow(left)
        case "unsigned":
            return ModelUnavailable(_CREDENTIALS.text, cause="key")
        case "unreached":
            name = type(error).__name__
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
    found = _failure_of(code, status, words)
    text = found.text.format(model=model_id, code=code)
    failure = ModelUnavailable(text, cause=found.cause, words=words, wait_s=pause)
    return Passing(failure, pause) if found.passing else failure


def _failure_of(code: str, status: int, words: str) -> Failure:
    """What an answered error means."""
    if code in _UNSIGNED:
        return _CREDENTIALS
    if told := _BY_CODE.get(code):
        return told
    if status >= 500:
        return _BY_CODE["InternalServerException"]
    # the words of refusals are much the same everywhere
    found = failure_of(400, "", words)
    if found.cause in ("window", "refused"):
        return found
    unknown = "Amazon Bedrock did not accept the request for {model} ({code})."
    invalid = (failure for pattern, failure in _INVALID if pattern.search(words))
    return next(invalid, Failure("parameter", unknown))


Body = JSONObject


def _choice(without: frozenset[str], options: ModelOptions) -> Body:
    """Whether a tool has to be called, where that is set and taken."""
    if not options.tool_choice or "tool_choice" in without:
        return {}
    return {"toolChoice": {"any" if options.tool_choice == "required" else options.tool_choice: {}}}


def converse_request(
    model_id: str,
    request: ModelRequest,
    without: frozenset[str] = frozenset(),
    options: ModelOptions = PLAIN,
) -> Body:
    """Converse's parameters. `without` holds any of tool_cache, cache_point, cache_ttl,
    temperature, effort, schema, system, stop, output_tokens, reasoning,
    tool_choice.

    Services cache tools, then system, then messages, so one cache point behind the system part
    covers both stable parts. It is sent with tools only: a narrator's system part is far below the
    least size that is cached. A turn that goes on has another one behind what was said last: its
    next round reads all of it from the cache. `_tools` says what becomes of tools that change.
    """
    kept = "" if "cache_ttl" in without else options.cache
    # a service that refuses a cache point gets none from then on
    cache = (
        []
        if "cache_point" in without
        else [{"cachePoint": {"type": "default", **({"ttl": kept} if kept else {})}}]
    )
    grow = None if "tool_cache" in without else request.growing
    body: Body = {
        "modelId": model_id,
        "messages": _messages(request, cache, carried="reasoning" not in without),
        "inferenceConfig": _limits(request, without, options),
    }
    if request.system.strip() and "system" in without:
        # a model without a system role reads it first
        body["messages"][0]["content"].insert(0, {"text": clean(request.system)})
    elif request.system.strip():
        body["system"] = _system(request, grow, cache)
    if request.tools:
        specs = [_tool(t, without) for t in request.tools]
        tools = _tools(specs, grow, cache)
        body["toolConfig"] = {"tools": tools, **_choice(without, options)}
    if options.effort and "effort" not in without:
        body["outputConfig"] = {"effort": options.effort}
    return body


def _limits(request: ModelRequest, without: frozenset[str], options: ModelOptions) -> Body:
    """How long and how freely it writes, and what ends it."""
    limits: Body = {"maxTokens": output_tokens(request, without)}
    if "temperature" not in without:
        limits["temperature"] = options.temperature
    if options.stop and "stop" not in without:
        limits["stopSequences"] = list(options.stop)
    return limits


def _system(request: ModelRequest, grow: Growing | None, cache: list[Body]) -> list[Body]:
    """The system part; of tools that grow the apps are told before them, and of four cache points
    that a request may have three stand among these: a later round needs the fourth behind what was
    said last."""
    system = request.system.removesuffix(grow.apps).rstrip() if grow else request.system
    text: Body = {"text": clean(system)}
    return [text, *cache] if request.tools and not (grow and request.exchanges) else [text]


def _tools(tools: list[Body], grow: Growing | None, cache: list[Body]) -> list[Body]:
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


def _messages(request: ModelRequest, cache: list[Body], *, carried: bool) -> list[Body]:
    messages = [m for message in conversation(request) for m in _message(message, carried)]
    if request.exchanges:
        messages[-1]["content"].extend(cache)
    return messages


def _message(message: Message, carried: bool) -> Iterator[Body]:
    """A message, its reasoning first, as it came; calls are followed by one of the user's with what
    they returned."""
    content: list[Body] = []
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


def _tool(tool: ToolSpec, without: frozenset[str]) -> Body:
    schema = wire_schema(tool, without)
    told = {"name": tool.name, "description": describe(tool), "inputSchema": {"json": schema}}
    return {"toolSpec": told}


def read(answer: Mapping[str, Any], request: ModelRequest) -> ModelResponse:
    content = _blocks(answer)
    asked = [block["toolUse"] for block in content if block.get("toolUse")]
    found = completion(
        "".join(map(_text, content)),
        [(a.get("name"), a.get("input")) for a in asked],
        request,
        _usage(answer.get("usage") or {}),
        str(answer.get("stopReason") or ""),
        reasoned=any("reasoningContent" in block for block in content),
    )
    # plain thoughts are of no use to the next request
    carried = [b for b in content if _is_sealed(b.get("reasoningContent"))]
    return replace(found, reasoning=Reasoning({"content": carried})) if carried else found


def _is_sealed(thought: Any) -> bool:
    """Whether a model wants this thought back: it is signed or encrypted. Models that do neither
    take none."""
    if not isinstance(thought, Mapping):
        return False
    told = thought.get("reasoningText")
    return bool(thought.get("redactedContent") or (told and told.get("signature")))


def _text(block: Mapping[str, Any]) -> str:
    """What a block says, also one that says where it read it."""
    cited = block.get("citationsContent") or {}
    parts = [block, *(cited.get("content") or ())]
    return "".join(str(part.get("text") or "") for part in parts)


def _blocks(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    message = (answer.get("output") or {}).get("message") or {}
    return [block for block in message.get("content") or [] if isinstance(block, Mapping)]


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Converse's `inputTokens` leave out what was read from or written to the cache; ours hold
    all."""
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    read_anew, wrote, cached, kept = (number(usage.get(name)) for name in names)
    return Usage(read_anew + cached + kept, wrote, cached)

"""The bodies of Amazon Bedrock's Converse: a request written, an answer read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..types import JSONObject
from .completions import completion, number, output_tokens
from .conversation import Message, conversation
from .options import PLAIN, ModelOptions
from .protocol import Growing, ModelRequest, ModelResponse, Reasoning, ToolSpec, Usage
from .tools import clean, describe, wire_schema

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

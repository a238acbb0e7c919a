"""A server's tools: what an operator has seen and approved of them, as functions, their arguments
checked, and answers as results. All of it comes from strangers.

Approvals stand in one file beside the extensions. It is also the catalogue: a process starts with
it and asks no server.

    {"servers": {"time": {"where": "https://…", "protocol": "2025-11-25",
                          "approved_at": "2026-05-15T17:21:04Z", "tools": [<as tools/list>]}}}"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from ..catalogue import OPEN_WORLD
from ..errors import CallError
from ..guards.field_names import closest
from ..sdk import ui
from ..sdk.result import ActionResult, failure
from ..sdk.ui import UINode
from ..text import cut, one_line, reveal
from ..types import JSON, JSONObject, object_of
from .connections import McpServer

APPROVED: Final = "mcp.approved.json"
COMPARED: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""Fields of a tool that are compared: all that models and guards use; no icons."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The approved tools of one server; `left_out` has digests by name of those not approved."""

    where: str
    tools: tuple[JSONObject, ...] = ()
    protocol: str = ""
    approved_at: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """Each tool's name and digest."""
        return digests(self.tools)

    def drift(self, offered: Mapping[str, str]) -> Drift:
        """How a listing differs from the approval; unchanged left-out tools are not new."""
        approved = self.digests
        # a left-out tool that has changed since is new again
        left_out = {n for n, d in self.left_out.items() if offered.get(n) == d}
        return Drift(
            changed=tuple(
                sorted(n for n in approved.keys() & offered.keys() if approved[n] != offered[n])
            ),
            gone=tuple(sorted(approved.keys() - offered.keys())),
            new=tuple(sorted(offered.keys() - approved.keys() - left_out)),
        )


@dataclass(frozen=True, slots=True)
class Drift:
    """How what a server offers now differs from what was approved: names of tools."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.new)

    def __str__(self) -> str:
        kinds = (("changed", self.changed), ("gone", self.gone), ("new", self.new))
        return "; ".join(f"{word}: {', '.join(names)}" for word, names in kinds if names)


def compared(tool: Mapping[str, object]) -> JSONObject:
    """The compared fields of a tool's definition."""
    # null and absent mean the same: a server that changes between them has not drifted
    return {key: tool[key] for key in COMPARED if tool.get(key) is not None}


def digests(tools: Iterable[JSONObject]) -> dict[str, str]:
    """Each tool's name and a digest of its compared fields, independent of key order."""
    texts = {str(tool["name"]): json.dumps(compared(tool), sort_keys=True) for tool in tools}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def read_approvals(folder: str | Path) -> dict[str, Approval]:
    """The approvals beside the extensions, by server; none where there is no file. ValueError for
    a malformed one."""
    path = Path(folder) / APPROVED
    if not path.exists():
        return {}
    try:
        adapter = TypeAdapter(dict[Literal["servers"], dict[str, Approval]])
        return adapter.validate_json(path.read_bytes())["servers"]
    except (ValueError, KeyError) as error:
        raise ValueError(f"{APPROVED} is no file of approvals: {type(error).__name__}") from None


def approval_of(server: McpServer, approvals: Mapping[str, Approval]) -> Approval | str:
    """A server's approval, or why it has none."""
    found = approvals.get(server.id)
    if found is None:
        return f"nobody has approved its tools yet: webbee mcp approve {server.id}"
    # another address may be a different server
    if found.where != server.where:
        return f"it was approved at another address: webbee mcp approve {server.id}"
    return found


MAX_MEDIA: Final = 500_000
"""Characters of base64 that people are shown of one answer: a result may have 1 MB."""

_KINDS: Final[Mapping[Callable[[str, str], UINode], re.Pattern[str]]] = {
    ui.Image: re.compile(r"image/(png|jpe?g|gif|webp)"),
    ui.Audio: re.compile(r"audio/[\w.+-]{1,40}"),
}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
MAX_SUMMARY: Final = 300
"""Characters of a text that stand in the summary; the text itself is in the data."""


def of_tool(answer: Mapping[str, JSON]) -> ActionResult:
    """A `tools/call` result: structured content, else a text that is JSON, else the texts; other
    blocks by type and size."""
    blocks = _blocks(answer.get("content"))
    texts = _result_texts(blocks)
    text = "\n".join(texts)
    if answer.get("isError"):
        return failure(one_line(text) or "the server says that it failed, and nothing else")
    others = [_summary(b) for b in blocks if b.get("type") != "text"]
    data = _structured(answer.get("structuredContent"), texts)
    data = data or ({"text": text} if text else {})
    if others:
        data = {**data, "content": others}
    is_text = "text" in data or list(data.values()) == [text]  # {"result": "…"} of a typed text
    summary = one_line(text) if is_text else ""
    return ActionResult.success(data, cut(summary, MAX_SUMMARY), ui=_media(blocks))


def _media(blocks: list[JSONObject]) -> UINode | None:
    """The pictures and sounds of an answer, for people only: at most 500 KB of the known types."""
    nodes, room = [], MAX_MEDIA
    for block in blocks:
        media = block["resource"] if isinstance(block.get("resource"), dict) else block
        mime, data = str(media.get("mimeType", "")), media.get("data", media.get("blob"))
        draw = next((d for d, kind in _KINDS.items() if kind.fullmatch(mime)), None)
        # base64 only: the text becomes a part of a URL
        if draw is None or not isinstance(data, str) or not _BASE64.fullmatch(data):
            continue
        room -= len(data)
        if room < 0:
            break
        nodes.append(draw(f"data:{mime};base64,{data}", _media_name(media)))
    return ui.Stack(nodes) if nodes else None


def _media_name(block: JSONObject) -> str:
    return cut(one_line(reveal(str(block.get("name") or block.get("uri") or ""))), 80)


def _result_texts(blocks: list[JSONObject]) -> list[str]:
    return [str(b["text"]) for b in blocks if b.get("type") == "text" and "text" in b]


def _structured(content: JSON, texts: list[str]) -> JSONObject:
    if isinstance(content, dict):
        return content
    # a bare 12 or true would be JSON as well, and is meant as a text
    if len(texts) != 1 or texts[0].lstrip()[:1] not in ("{", "["):
        return {}
    try:
        found = json.loads(texts[0])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {"items": found}


def _summary(block: JSONObject) -> JSONObject:
    """A block other than text, without its bytes."""
    if block.get("type") == "resource" and isinstance(block.get("resource"), dict):
        part = block["resource"]
        told = _fields(part, "uri", "mimeType", "text")
        return {"type": "resource", **told, **_size(part.get("blob"))}
    summary = _fields(block, "type", "uri", "name", "title", "description", "mimeType")
    return summary | _size(block.get("data"))


def _fields(given: JSONObject, *names: str) -> JSONObject:
    return {name: given[name] for name in names if given.get(name) is not None}


def _size(encoded: JSON) -> JSONObject:
    """The number of bytes behind base64."""
    if not isinstance(encoded, str):
        return {}
    return {"bytes": len(encoded) * 3 // 4 - encoded[-2:].count("=")}


def _blocks(given: JSON) -> list[JSONObject]:
    return [b for b in given if isinstance(b, dict)] if isinstance(given, list) else []


_UNCHECKED: Final = ("pattern", "patternProperties", "format")
"""Rules that are not checked here: a regular expression may take for ever."""
MISSING: Final = "required"
UNKNOWN: Final = "additionalProperties"


def checker(schema: JSONObject) -> Callable[[JSONObject], None]:
    """A function that raises CallError, VALIDATION_MISSING_FIELD or VALIDATION_TYPE_ERROR, for the
    first argument that the schema refuses. Its validator is made when first needed."""

    @lru_cache(maxsize=1)
    def validator() -> Any:
        from jsonschema.validators import extend, validator_for
        from referencing import Registry

        kind = validator_for(schema)
        kind = extend(kind, dict.fromkeys(_UNCHECKED, lambda *_: None))
        return kind(schema, registry=Registry())  # an empty registry: nothing is fetched

    def check(arguments: JSONObject) -> None:
        from jsonschema.exceptions import UnknownType, best_match
        from referencing.exceptions import Unresolvable

        try:
            error = best_match(validator().iter_errors(arguments))
        # the schema is invalid or too deep: the server checks by itself
        except (Unresolvable, RecursionError, UnknownType, TypeError):
            return
        if error:
            raise _error_of(error)

    return check


def _error_of(error: Any) -> CallError:
    where = [str(part) for part in error.absolute_path]
    # a schema may be `false`
    properties = object_of(error.schema).get("properties", {})
    if error.validator == MISSING:
        # draft 3 has it at the property itself, whose name ends the path
        names = [where.pop()] if error.validator_value is True else error.validator_value
        missing = str(next((n for n in names if n not in error.instance), ""))
        field = ".".join([*where, missing])
        # a known argument is not a misspelt one
        misspelt = closest(missing, error.instance.keys() - properties)
        text = f"{field} is missing" + (f": {misspelt!r} is no argument" if misspelt else "")
        return CallError("VALIDATION_MISSING_FIELD", text, field=field)
    field = ".".join(where) or "params"
    text = f"{field}: {cut(str(error.message), 300)}"
    if error.validator == UNKNOWN and (
        suggestion := closest(min(error.instance.keys() - properties), properties)
    ):
        text += f": did you mean {suggestion!r}?"
    return CallError("VALIDATION_TYPE_ERROR", text, field=field)


MAX_TEXT: Final = 1_024
"""Characters of a description: the limit of the strictest model service."""
MAX_SCHEMA: Final = 32_768
"""Characters of a schema's JSON: a third of what all functions may take."""
MAX_DEPTH: Final = 32

_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64
_PROSE: Final = ("description", "title", "$comment")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `name` is the server's, `fn_name` the function's."""

    name: str
    fn_name: str
    description: str
    action_type: str
    schema: JSONObject


def tools_of(definitions: Iterable[JSONObject]) -> dict[str, Tool]:
    """The tools by the names of their functions. ValueError for one that cannot be a function."""
    found: dict[str, Tool] = {}
    for definition in definitions:
        tool = _tool(definition)
        if tool.fn_name in found:
            tail = hashlib.sha256(tool.name.encode()).hexdigest()[:6]
            tool = replace(tool, fn_name=f"{tool.fn_name[: _LONGEST - 7]}_{tail}")
        if tool.fn_name in found:
            raise ValueError(f"tool {tool.name!r} is listed twice")
        found[tool.fn_name] = tool
    return found


def problem_of(definition: Mapping[str, JSON]) -> str:
    """Why a tool cannot be a function; empty where it can."""
    name, schema = definition.get("name"), definition.get("inputSchema")
    if not isinstance(name, str) or not 0 < len(name) <= 256 or reveal(name) != name:
        return "its name is empty, too long or holds characters that nobody sees"
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "its arguments are no object"
    return problem_of_schema(schema)


def action_type(annotations: Mapping[str, JSON]) -> str:
    """`read`, `write` or `destructive` by the hints; destructive, the protocol's default, also if
    they contradict each other."""
    if annotations.get("readOnlyHint") is True and annotations.get("destructiveHint") is not True:
        return "read"
    return "write" if annotations.get("destructiveHint") is False else "destructive"


def hidden_characters(definition: Mapping[str, JSON]) -> tuple[str, ...]:
    """The paths of invisible characters in a definition: `inputSchema.properties.a`."""
    found = (path for path, text in _texts(dict(definition)) if reveal(text) != text)
    return tuple(dict.fromkeys(found))


def _tool(definition: JSONObject) -> Tool:
    if problem := problem_of(definition):
        raise ValueError(f"tool {str(definition.get('name'))[:64]!r}: {problem}")
    hints = object_of(definition.get("annotations"))
    name = str(definition["name"])
    description = definition.get("description") or hints.get("title") or definition.get("title")
    text = str(description or " ".join(re.split("[_.-]+", name)).strip().capitalize())
    schema = readable(definition["inputSchema"])
    # where nothing is said, the protocol's default is an open world
    if hints.get("openWorldHint") is not False:
        schema = {**schema, OPEN_WORLD: True}
    fn_name, description = _NAME.sub("_", name)[:_LONGEST], cut(one_line(reveal(text)), MAX_TEXT)
    return Tool(name, fn_name, description, action_type(hints), schema)


def problem_of_schema(schema: JSONObject) -> str:
    """Why a schema is refused; empty where it is not."""
    try:
        size = len(json.dumps(schema))
    except RecursionError:
        size = MAX_SCHEMA + 1
    if size > MAX_SCHEMA or _depth(schema) > MAX_DEPTH:
        return f"its schema has {size} characters; {MAX_SCHEMA} and {MAX_DEPTH} levels are taken"
    for path, text in _texts(schema):
        last = path.rpartition(".")[2]
        if last in _REFERENCES and not text.startswith("#"):
            return f"its schema refers to {cut(reveal(text), 100)!r}, which is somewhere else"
        if last not in _PROSE and reveal(text) != text:
            return f"characters that nobody sees stand in {reveal(path)}"
    return ""


def _depth(value: JSON) -> int:
    # not recursive: nesting must not use up the stack
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        below = (
            v.values() if isinstance(v, dict) else v if isinstance(v, list) else () for v in level
        )
        level, depth = [item for items in below for item in items], depth + 1
    return depth


def _texts(value: JSON, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text with its path; a key of an object is a text of its own."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            below = f"{path}.{key}" if path else str(key)
            if reveal(str(key)) != key:
                # ends in a dot, so that a key which is called `title` does not pass for prose
                yield below + ".", str(key)
            yield from _texts(item, below)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, f"{path}.{number}")


def readable(schema: JSONObject) -> JSONObject:
    """The schema with its prose on one line and without invisible characters."""

    def walk(value: JSON, key: str = "") -> JSON:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return one_line(reveal(value)) if isinstance(value, str) and key in _PROSE else value

    result: JSONObject = walk(schema)
    return result

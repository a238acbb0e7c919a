"""Tools: what a server says of a tool, as a chat function that may stand in a prompt. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ...catalogue import OPEN_WORLD
from ...text import cut, one_line, revealed
from ...types import JSON, JSONObject

MAX_TEXT: Final = 1_024
"""Characters of a description: what the strictest of the model services accepts."""
MAX_SCHEMA: Final = 32_768
"""Characters of a schema's JSON: eight thousand tokens, a third of what all functions may take."""
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
    output: JSONObject


def tools_of(definitions: Iterable[JSONObject]) -> dict[str, Tool]:
    """The tools by the names of their functions. ValueError for one that cannot be a function."""
    found: dict[str, Tool] = {}
    for definition in definitions:
        tool = _tool(definition)
        if tool.fn_name in found:
            tail = hashlib.sha256(tool.name.encode()).hexdigest()[:6]
            tool = _tool(definition, f"{tool.fn_name[: _LONGEST - 7]}_{tail}")
        if tool.fn_name in found:
            raise ValueError(f"tool {tool.name!r} is listed twice")
        found[tool.fn_name] = tool
    return found


def problem_of(definition: Mapping[str, JSON]) -> str:
    """Why a tool cannot be a function; empty where it can."""
    name, schema = definition.get("name"), definition.get("inputSchema")
    if not isinstance(name, str) or not 0 < len(name) <= 256 or revealed(name) != name:
        return "its name is empty, too long or holds characters that nobody sees"
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "its arguments are no object"
    return problem_of_schema(schema)


def action_type(annotations: Mapping[str, JSON]) -> str:
    """`read`, `write` or `destructive`, as the hints say; where they say nothing, the careful
    reading that the protocol gives as their default: it destroys."""
    if annotations.get("readOnlyHint") is True:
        return "read"
    return "write" if annotations.get("destructiveHint") is False else "destructive"


def hidden_in(definition: Mapping[str, JSON]) -> tuple[str, ...]:
    """Where in a definition characters stand that nobody sees: `inputSchema.properties.a`."""
    found = (path for path, text in _texts(dict(definition)) if revealed(text) != text)
    return tuple(dict.fromkeys(found))


def _tool(definition: JSONObject, fn_name: str = "") -> Tool:
    if problem := problem_of(definition):
        raise ValueError(f"tool {str(definition.get('name'))[:64]!r}: {problem}")
    hints = definition.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    name = str(definition["name"])
    told = str(definition.get("description") or hints.get("title") or definition.get("title") or "")
    schema = readable(definition["inputSchema"])
    if hints.get("openWorldHint") is not False:
        schema = {**schema, OPEN_WORLD: True}
    return Tool(
        name,
        fn_name or _NAME.sub("_", name)[:_LONGEST],
        cut(one_line(revealed(told)), MAX_TEXT),
        action_type(hints),
        schema,
        dict(definition.get("outputSchema") or {}),
    )


def problem_of_schema(schema: JSONObject) -> str:
    """Why a stranger's schema is not shown; empty where it may be."""
    try:
        size = len(json.dumps(schema))
    except RecursionError:
        size = MAX_SCHEMA + 1
    if size > MAX_SCHEMA or _depth(schema) > MAX_DEPTH:
        return f"its schema has {size} characters; {MAX_SCHEMA} and {MAX_DEPTH} levels are taken"
    for path, text in _texts(schema):
        last = path.rpartition(".")[2]
        if last in _REFERENCES and not text.startswith("#"):
            return f"its schema refers to {cut(revealed(text), 100)!r}, which is somewhere else"
        if last not in _PROSE and revealed(text) != text:
            return f"characters that nobody sees stand in {revealed(path)}"
    return ""


def _depth(value: JSON) -> int:
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
            if revealed(str(key)) != key:
                yield below + ".", str(key)
            yield from _texts(item, below)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, f"{path}.{number}")


def readable(schema: JSONObject) -> JSONObject:
    """The schema as it is; of what is prose in it, one line without anything hidden."""

    def walk(value: JSON, key: str = "") -> JSON:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return one_line(revealed(value)) if isinstance(value, str) and key in _PROSE else value

    made: JSONObject = walk(schema)
    return made

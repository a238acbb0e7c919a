"""The kernel's functions, results and sections as tools, prompts, resources and content of the
protocol. Pure.

Media in a function's `ui` become content blocks: with their bytes where the address is a `data:`
URL, else as a link.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final
from urllib.parse import quote
from urllib.request import DataHandler, Request

from ..catalogue import GOES_TO, OPEN_WORLD, AppInfo, FunctionInfo, Shapes, shapes_of
from ..sdk.result import ANSWERING, NEEDS_ANSWER
from ..stores.types import Section
from ..types import JSON, CallOutcome, JSONObject, object_of

MAX_BLOCKS: Final = 20
"""Blocks of one result, after its texts."""

_KINDS: Final = {"Image": "image", "Audio": "audio", "Video": "resource", "Link": "resource"}
_ADDRESS: Final = {"Link": "href"}
_NAME: Final = {"Image": "alt", "Audio": "title", "Video": "title", "Link": "label"}


def blocks(tree: JSON) -> list[JSONObject]:
    """The media of a UI tree in its order: `image`, `audio`, `resource` and `resource_link`
    blocks."""
    return list(islice(filter(None, map(_block, _nodes(tree))), MAX_BLOCKS))


def parts(tree: JSON, uri: str) -> list[JSONObject]:
    """The same as contents of the resource `uri`, without links."""
    return [
        {**(b.get("resource") or {"mimeType": b["mimeType"], "blob": b["data"]}), "uri": uri}
        for b in blocks(tree)
        if b["type"] != "resource_link"
    ]


def _nodes(tree: JSON) -> Iterator[JSONObject]:
    """All nodes, each before its children."""
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict):
            if value.get("type") in _KINDS and isinstance(value.get("props"), dict):
                yield value
            # taken from the end: reversed, nodes come in the order in which people see them
            pending.extend(reversed(list(value.values())))


def _block(node: JSONObject) -> JSONObject | None:
    kind, props = str(node["type"]), node["props"]
    address = props.get(_ADDRESS.get(kind, "src"))
    name = str(props.get(_NAME[kind]) or kind)
    if not isinstance(address, str):
        return None
    if address.startswith("https://"):
        return {"type": "resource_link", "uri": address, "name": name}
    mime, raw = _of_data_url(address) or ("", b"")
    if not mime:
        return None
    encoded = base64.b64encode(raw).decode()
    if _KINDS[kind] != "resource":
        return {"type": _KINDS[kind], "data": encoded, "mimeType": mime}
    resource: JSONObject = {"uri": f"webbee://file/{quote(name, safe='')}", "mimeType": mime}
    try:
        resource |= {"text": raw.decode()}
    except UnicodeDecodeError:
        resource |= {"blob": encoded}
    return {"type": "resource", "resource": resource}


def _of_data_url(address: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a `data:` address (RFC 2397); None for what is none."""
    if not address.startswith("data:"):
        return None
    try:
        found = DataHandler().data_open(Request(address))  # noqa: S310
    except ValueError:
        return None
    return found.headers.get_content_type(), found.read()


PAGE: Final = 100
"""Tools of one answer."""

_EMPTY: Final[tuple[JSON, ...]] = (None, {}, [])


def tool(function: FunctionInfo, app: AppInfo) -> JSONObject:
    """A function as a tool: its schema as it is, its effect as annotations."""
    title = title_of(function, app)
    return {
        "name": function.tool_name,
        "title": title,
        "description": function.description or title,
        # the protocol demands the type, also of a function without parameters
        "inputSchema": {**object_of(_public_schema(function.input_schema)), "type": "object"},
        "annotations": {"title": title, **_hints(function)},
    }


def title_of(function: FunctionInfo, app: AppInfo) -> str:
    """What a person reads in place of a function's name."""
    return f"{app.display_name or app.app_id}: {function.fn_name.replace('_', ' ')}"


def _hints(function: FunctionInfo) -> JSONObject:
    """The effect as hints; the open world only where it is known."""
    read = function.action_type == "read"
    hints: JSONObject = {"readOnlyHint": read}
    if not read:
        hints["destructiveHint"] = function.action_type == "destructive"
    if OPEN_WORLD in function.input_schema:
        hints["openWorldHint"] = bool(function.input_schema[OPEN_WORLD])
    return hints


def _public_schema(schema: JSON) -> JSON:
    """A schema without the fields that are only for cards."""
    if isinstance(schema, list):
        return [_public_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _public_schema(part) for key, part in schema.items() if key != GOES_TO}


def page(functions: Iterable[FunctionInfo], cursor: str) -> tuple[list[FunctionInfo], str]:
    """At most `PAGE` functions behind the one that the cursor names, by tool name, and the next
    cursor, empty at the end; ValueError for a cursor that names none."""
    ordered = sorted(functions, key=lambda f: f.tool_name)
    first = [f.tool_name for f in ordered].index(cursor) + 1 if cursor else 0
    shown = ordered[first : first + PAGE]
    return shown, shown[-1].tool_name if first + PAGE < len(ordered) else ""


def result(outcome: CallOutcome) -> JSONObject:
    """A call's outcome as a tool result, in words and as data."""
    if not outcome.ok:
        asks = outcome.error_code == NEEDS_ANSWER
        error = f"{outcome.error} Now {ANSWERING}." if asks else outcome.error
        more = {"problems": list(outcome.problems), "incident": outcome.incident}
        details = {"retryable": outcome.retryable, **{k: v for k, v in more.items() if v}}
        return refusal(error, outcome.error_code, details)
    data = outcome.data
    body: JSONObject = {"content": content_of(outcome) or [text("Done.")], "isError": False}
    if data not in _EMPTY:
        body["structuredContent"] = data if isinstance(data, dict) else {"result": data}
    return body


def content_of(outcome: CallOutcome) -> list[JSONObject]:
    """A successful call as blocks of content: its words, its data as text, what it shows."""
    texts = [outcome.summary] if outcome.summary else []
    data = [json.dumps(outcome.data, ensure_ascii=False)] if outcome.data not in _EMPTY else []
    return [*map(text, texts + data), *blocks(outcome.ui)]


def refusal(why: str, code: str, more: JSONObject | None = None) -> JSONObject:
    """A call that failed or did not run: the client's model is told why and can mend it."""
    structured = {"error_code": code, **(more or {})}
    return {
        "content": [text(f"{why} ({code})" if code else why)],
        "structuredContent": structured,
        "isError": True,
    }


def text(value: str) -> JSONObject:
    return {"type": "text", "text": value}


MAX_COMPLETIONS: Final = 100
"""Values of one completion; the protocol's limit."""

_JSON_TYPES: Final = frozenset({"integer", "number", "boolean", "array", "object", "null"})


def prompt(function: FunctionInfo, app: AppInfo) -> JSONObject:
    title = title_of(function, app)
    required = function.input_schema.get("required") or ()
    arguments = [
        {
            "name": name,
            "description": str(rules.get("description") or rules.get("title") or ""),
            "required": name in required,
        }
        for name, rules in _properties(function)
    ]
    return {
        "name": function.tool_name,
        "title": title,
        "description": function.description or title,
        **({"arguments": arguments} if arguments else {}),
    }


def parse_arguments(function: FunctionInfo, arguments: JSONObject) -> JSONObject:
    """A prompt's arguments, which clients send as texts: parsed as JSON where the schema names JSON
    types and no string."""
    schema, properties = function.input_schema, dict(_properties(function))
    return {n: _parse(v, shapes_of(properties.get(n), schema)) for n, v in arguments.items()}


def _parse(value: JSON, shapes: Shapes) -> JSON:
    declared = [shape.get("type") or () for shape in shapes]
    types = {one for types in declared for one in ([types] if isinstance(types, str) else types)}
    if not isinstance(value, str) or "string" in types or not types & _JSON_TYPES:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def completions(function: FunctionInfo, name: str, prefix: str) -> JSONObject:
    """The values that an argument's schema lists: those that begin with `prefix`, then those that
    contain it."""
    shapes = shapes_of(dict(_properties(function)).get(name), function.input_schema)
    values = dict.fromkeys(value for shape in shapes for value in _choices(shape))
    folded = prefix.casefold()
    found = [value for value in values if folded in value.casefold()]
    # False sorts first; within both parts the schema's own order stays
    found.sort(key=lambda value: not value.casefold().startswith(folded))
    shown = found[:MAX_COMPLETIONS]
    return {"values": shown, "total": len(found), "hasMore": len(found) > len(shown)}


def _choices(shape: Mapping[str, JSON]) -> list[str]:
    """What a schema lists: its values, its examples, its default."""
    values: list[JSON] = [True, False] if shape.get("type") == "boolean" else []
    values += [*(shape.get("enum") or ()), *(shape.get("examples") or ())]
    values += [shape[key] for key in ("const", "default") if key in shape]
    return [value if isinstance(value, str) else json.dumps(value) for value in values]


def _properties(function: FunctionInfo) -> Iterator[tuple[str, JSONObject]]:
    properties = function.input_schema.get("properties") or {}
    return ((n, r) for n, r in properties.items() if isinstance(r, dict))


LIST: Final = "list_resources"
READ: Final = "read_resource"
"""Functions of an app that has resources."""

MAX_RESOURCES: Final = 1_000
"""Resources of one app that are listed."""

_SECTIONS: Final = "webbee://skeleton/"
_APPS: Final = "webbee://app/"


def of_section(section: Section) -> JSONObject:
    """A section of the skeleton as a resource."""
    return {
        "uri": _SECTIONS + quote(section.app_id, safe="") + "/" + quote(section.section, safe=""),
        "name": f"{section.app_id}.{section.section}",
        "description": "A snapshot as the classifier knows it, before it is compressed",
        "mimeType": "application/json",
    }


def section_of(sections: Sequence[Section], uri: str) -> JSONObject | None:
    """A section's resource and the time at which it was true; None without one."""
    found = next((s for s in sections if of_section(s)["uri"] == uri), None)
    if found is None or found.data is None:
        return None
    data = {**found.data, "_refreshed_at": found.refreshed_at, "_ttl": found.ttl}
    text = json.dumps(data, ensure_ascii=False)
    return {"uri": uri, "mimeType": "application/json", "text": text}


def of_app(app_id: str, outcome: CallOutcome) -> tuple[list[JSONObject], list[JSONObject]]:
    """An app's resources and templates, with the addresses that clients use."""
    data = object_of(outcome.data) if outcome.ok else {}
    listed = _with_app_uris(app_id, data.get("resources"), "uri")
    templates = _with_app_uris(app_id, data.get("templates"), "uriTemplate")
    return list(islice(listed, MAX_RESOURCES)), list(islice(templates, MAX_RESOURCES))


def schemes(listings: Sequence[tuple[list[JSONObject], list[JSONObject]]]) -> frozenset[str]:
    """The URL schemes of the resources that an app lists: `test` of `test://static-text`."""
    rows = [row for both in listings for listed in both for row in listed]
    addresses = (str(row.get("uri") or row.get("uriTemplate")).removeprefix(_APPS) for row in rows)
    # what is left is `<app>/<address>`: the app's own scheme stands behind the slash
    return frozenset(address.partition("/")[2].partition("://")[0] for address in addresses)


def app_of_uri(uri: str) -> tuple[str, str] | None:
    """The app of a resource and its own address for it; None without one."""
    app_id, slash, address = uri.removeprefix(_APPS).partition("/")
    return (app_id, address) if uri.startswith(_APPS) and slash and address else None


def contents(outcome: CallOutcome, uri: str) -> list[JSONObject]:
    """The parts of a resource that an app read: texts, then media of its `ui`."""
    data = object_of(outcome.data)
    read_parts = [p for p in data.get("contents") or () if isinstance(p, dict) and "text" in p]
    texts = [
        {"uri": uri, "mimeType": str(p.get("mimeType") or "text/plain"), "text": str(p["text"])}
        for p in read_parts
    ]
    return texts + parts(outcome.ui, uri)


def _with_app_uris(app_id: str, rows: JSON, key: str) -> Iterator[JSONObject]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get(key), str):
            name = str(row.get("name") or row[key])
            yield {**row, key: f"{_APPS}{app_id}/{row[key]}", "name": name}

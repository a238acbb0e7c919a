"""Tool calls that a model wrote as text instead of native calls. Pure.

The formats of model families (November 2026) are first rewritten to one of two: elements,
`<function=name><parameter=key>value</parameter>`, or, without markup, values with a name and
arguments, or a name followed by its arguments. Values are read as JSON or Python literals: with
other quotes, `None`, bare keys, trailing commas and markup around them."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final

from ..types import JSON, JSONObject
from .protocol import ToolCall, ToolSpec

MARKUP: Final = (
    r"</?[A-Za-z][\w:.\-]{0,40}>|<[|｜][^<>\n]{0,80}[|｜]?>|<[^<>\n|｜]{1,80}[|｜]>"
    r"|\[/?[A-Z_]{3,40}\]|```[\w-]*\n?"
)
"""Tags, special tokens, bracketed words and fences that may surround values."""
_AROUND: Final = re.compile(rf"(?:[\s;]|{MARKUP})*")
_DECODER: Final = json.JSONDecoder(strict=False)
_LITERALS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None, "none": None}
_NEXT_BLOCK: Final = re.compile(r"[ \t;,]*(?=[{\[])")
_STRUCTURE: Final = re.compile(r"[\"'{}\[\]()\\]")


class Unreadable(ValueError):
    """The text is not one value."""


def nearly_json(text: str) -> JSON:
    """Parse a text that is one value. Raises Unreadable."""
    value, end = first_value(text, skip(_AROUND, text, 0))
    if skip(_AROUND, text, end) < len(text):
        raise Unreadable("several values")
    return value


def first_value(text: str, at: int) -> tuple[JSON, int]:
    """The value that begins at `at`, and its end; round brackets give the keyword arguments, or the
    single object inside. Raises Unreadable."""
    try:
        value, end = _DECODER.raw_decode(text, at)
        return value, end
    except (ValueError, RecursionError):
        pass
    closed = end_of_brackets(text, at) if text[at : at + 1] in ("{", "[", "(") else None
    if closed is None:
        raise Unreadable("no value")
    inside = text[at:closed]
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            tree = ast.parse(f"_{inside}" if inside[0] == "(" else inside, mode="eval")
        return _evaluate(tree.body), closed
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable("no literal") from None


def skip(what: re.Pattern[str], text: str, at: int) -> int:
    """The end of what matches here, if anything does."""
    found = what.match(text, at)
    return found.end() if found else at


def end_of_brackets(text: str, at: int) -> int | None:
    """The end of the first balanced brackets at or after `at`; None if not closed."""
    depth, quote, place = 0, "", at
    while found := _STRUCTURE.search(text, place):
        sign, place = found.group(), found.end()
        if sign == "\\":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            is_apostrophe = sign == "'" and text[place - 2 : place - 1].isalnum()
            quote = "" if is_apostrophe else sign
        elif sign in "{[(":
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                return place
    return None


def end_of_blocks(text: str, at: int) -> int | None:
    """The end of consecutive bracketed blocks; None if one is not closed."""
    end = end_of_brackets(text, at)
    while end is not None and (more := _NEXT_BLOCK.match(text, end)):
        end = end_of_brackets(text, more.end())
    return end


def _evaluate(node: ast.expr) -> JSON:
    """The value of a literal, without running anything. Raises ValueError."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return {_key(k): _evaluate(v) for k, v in zip(keys, values, strict=True)}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [*map(_evaluate, items)]
        case ast.Name(id=word) if word.lower() in _LITERALS:
            return _LITERALS[word.lower()]
        case ast.Call(func=ast.Name(id="_"), args=[], keywords=pairs):
            return {str(pair.arg): _evaluate(pair.value) for pair in pairs}
        case ast.Call(func=ast.Name(id="_"), args=[ast.Dict() as only], keywords=[]):
            return _evaluate(only)
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | None):
        raise ValueError("no JSON")
    return value


def _key(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else str(node and ast.literal_eval(node))


NAME_KEYS: Final = ("name", "tool_name", "function_name", "tool", "function", "action")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "params", "action_input",
                        "tool_input", "kwargs")  # fmt: skip
LIST_KEYS: Final = ("tool_calls", "calls", "function_calls")
_INNER_KEYS: Final = ("function", "function_call", "tool_call", "tool_use")
_META_KEYS: Final = frozenset({"id", "type", "call_id", "tool_call_id", "index", "thought"})
"""Keys of a call other than its name and arguments."""

_NAME: Final = r"[A-Za-z_][\w.\-/]*"
_SPELLINGS: Final = tuple(
    (re.compile(pattern, re.DOTALL), canonical)
    for pattern, canonical in (
        # DeepSeek: <｜DSML｜invoke …>
        (r"(</?)[|｜]\w{1,16}[|｜](?=[A-Za-z_])", r"\1"),
        # Gemma's quotes
        (r'<\|"\|>|<escape>', '"'),
        # Mistral
        (r"\[CALL_ID\]\w+", ""),
        # MiniMax, Claude: <invoke name="f">, <parameter name="p">; Step: <toolcall name="f">
        (
            r"<(?:[\w-]+:)?(?:function|invoke|tool_?call)\s[^<>]*?name=[\"']([\w.\-]+)[\"'][^<>]*>",
            r"<function=\1>",
        ),
        (r"<(?:[\w-]+:)?parameter\s[^<>]*?name=[\"']([\w.\-]+)[\"'][^<>]*>", r"<parameter=\1>"),
        # GLM, LongCat: <arg_key>p</arg_key><arg_value>…</arg_value>, behind the name alone
        (
            (
                r"<\w*arg_key>\s*([^<]*?)\s*</\w*arg_key>\s*<\w*arg_value>"
                r"((?:(?!<\w*arg_key>).)*?)</\w*arg_value>"
            ),
            r"<parameter=\1>\2</parameter>",
        ),
        (rf"<\w*tool_call>\s*({_NAME})\s*(?=<parameter=|</\w*tool_call>|\Z)", r"<function=\1>"),
    )
)
"""Pattern of a model family's format → the canonical form."""

_ELEMENT: Final = re.compile(r"<function=[\"']?([\w.\-]+)[\"']?>")
_PARAMETER: Final = re.compile(
    r"<parameter=[\"']?([\w.\-]+)[\"']?>((?:(?!<parameter=).)*?)</(?:[\w-]+:)?parameter>", re.DOTALL
)
_BETWEEN: Final = re.compile(rf"(?:[\s,;\])]|functools|{MARKUP})*")
_CALL_HEAD: Final = re.compile(
    rf"\[?\s*(?:(?:function|json|assistant|commentary)(?:[\s,;]|{MARKUP})+)*"
    rf"(?:print\()?(?:call[:=]|to=)?(?P<name>{_NAME})(?::\d+)?"
    rf"(?:\s|:|(?:json|code|commentary)\b|{MARKUP})*(?=[({{])"
)
"""A function name followed by arguments, on the same or next line or after markup."""
_TOKEN: Final = re.compile(r"<[|｜]?[^<>\n]{0,80}>?")
_PREFIX: Final = re.compile(r"^(?:functions?|tools?|default_api|api)[.:/]", re.I)
_SUFFIX: Final = re.compile(r"(?::\d+|\.call|\(\))$")
_NOISE: Final = re.compile(r"[^a-z0-9]")


class ToolIndex:
    """The tools of a request, found by exact or approximate name."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.names = frozenset(t.name for t in tools)
        self._tools = tools

    @cached_property
    def _by_normal_name(self) -> dict[str, set[str]]:
        """For names that are none of these: most answers have no such."""
        found: dict[str, set[str]] = {}
        for tool in self._tools:
            for form in (tool.name, tool.fn_name, f"{tool.app_id}{tool.fn_name}"):
                found.setdefault(_normal_name(form), set()).add(tool.name)
        return found

    def __bool__(self) -> bool:
        return bool(self.names)

    def find(self, name: str) -> str:
        """The only tool that fits a name, ignoring case, separators, the app's name and prefixes of
        servers or proxies; empty for none or several."""
        name = _TOKEN.split(name)[0].strip()
        if name in self.names:
            return name
        bare = _normal_name(_PREFIX.sub("", _SUFFIX.sub("", name)))
        found = self._by_normal_name.get(bare) or {
            n for n in self.names if bare.endswith(_normal_name(n))
        }
        return next(iter(found)) if len(found) == 1 else ""

    def call(self, name: str, arguments: object) -> ToolCall:
        """A call with its name corrected to the tool's; unchanged for an unknown tool."""
        return ToolCall(self.find(name) or name, arguments_of(arguments))


def _normal_name(name: str) -> str:
    return _NOISE.sub("", name.lower())


def arguments_of(value: object) -> JSONObject | str:
    """Arguments as a service sent them: an object, (nearly) JSON text, or nothing. Text that is not
    an object is returned as str."""
    for _ in range(2):  # some encode twice
        if isinstance(value, str) and value.strip():
            try:
                value = nearly_json(value)
            except Unreadable:
                return str(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        [value] = value
    if isinstance(value, dict):
        return value
    return json.dumps(value, ensure_ascii=False, default=str) if value else {}


def calls_in(region: str, tools: ToolIndex, *, is_marked: bool) -> list[ToolCall]:
    """The calls in a region of text, or none. `is_marked`: it was in call markup, so that unknown
    functions count too; otherwise all must be known."""
    for pattern, canonical in _SPELLINGS:
        region = pattern.sub(canonical, region)
    found = _elements(region) or _bare_calls(region, tools)
    if is_marked or all(tools.find(c.name) for c in found):
        return [tools.call(c.name, c.arguments) for c in found]
    return []


def _elements(region: str) -> list[ToolCall]:
    """The calls in element form; each extends to the next one's element."""
    calls: list[ToolCall] = []
    _, *pieces = _ELEMENT.split(region)
    for name, body in zip(pieces[::2], pieces[1::2], strict=True):
        elements = {key: _element_value(value) for key, value in _PARAMETER.findall(body)}
        calls.append(ToolCall(name, elements or arguments_of(body if "{" in body else "")))
    return calls


def _element_value(value: str) -> JSON:
    """The value of an element: parsed JSON unless that is a string, else its text."""
    text = value.removeprefix("\n").removesuffix("\n")
    with suppress(ValueError, RecursionError):
        read: JSON = json.loads(text)
        return text if isinstance(read, str) else read
    return text


def _bare_calls(region: str, tools: ToolIndex) -> list[ToolCall]:
    """Consecutive calls with only markup between them; all or none."""
    calls: list[ToolCall] = []
    at = skip(_BETWEEN, region, 0)
    while at < len(region):
        try:
            found, at = _read_call(region, at, tools)
        except Unreadable:
            return []
        calls += found
        at = skip(_BETWEEN, region, at)
    return calls


def _read_call(text: str, at: int, tools: ToolIndex) -> tuple[list[ToolCall], int]:
    """The calls that begin here and their end. Raises Unreadable."""
    if head := _CALL_HEAD.match(text, at):
        value, end = first_value(text, head.end())
        return [ToolCall(head["name"], arguments_of(value))], end
    value, end = first_value(text, at)
    if found := _from_json(value, tools):
        return found, end
    raise Unreadable("no call")


def _from_json(value: JSON, tools: ToolIndex) -> list[ToolCall]:
    """The calls in a JSON value; of a list all or none."""
    if isinstance(value, list):
        found = [_from_json(item, tools) for item in value]
        return [c for one in found for c in one] if all(found) else []
    if not isinstance(value, dict):
        return []
    if (inner := next(_inner_calls(value), None)) is not None:
        return _from_json(inner, tools)
    if value.keys() <= tools.names:  # Apertus
        return [ToolCall(name, arguments_of(given)) for name, given in value.items()]
    return _from_object(value)


def _inner_calls(value: JSONObject) -> Iterator[JSON]:
    """The call, or list of calls, nested in an object."""
    yield from (value[k] for k in LIST_KEYS if isinstance(value.get(k), list))
    yield from (value[k] for k in _INNER_KEYS if isinstance(value.get(k), dict))


def _from_object(value: JSONObject) -> list[ToolCall]:
    """The call in an object with a name and arguments, or with a name only."""
    key = next((k for k in NAME_KEYS if isinstance(value.get(k), str)), "")
    given = next((k for k in ARGUMENT_KEYS if k in value and k != key), "")
    others = value.keys() - {key, given} - _META_KEYS
    if not value.get(key) or (others and not given):
        return []
    return [ToolCall(str(value[key]), arguments_of(value.get(given)))]

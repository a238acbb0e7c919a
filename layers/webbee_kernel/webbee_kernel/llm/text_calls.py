"""Calls that a model wrote as text instead of as calls: read back where they name an offered
function. Pure.

Forms seen of servers and models (November 2026): JSON with a name and arguments under any of the
keys below, one or a list, bare, fenced, double-encoded; `name{…}`, `name[ARGS]{…}`, `name(a=1)`,
`[a(), b()]`, `print(api.name())`; elements whose attributes or children are arguments
(`<function=name>`, `<invoke name="…">`, `<arg_key>`, `<name><city>…</city></name>`); `Action:` with
`Action Input:`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ..types import JSON, JSONObject
from .nearly_json import Unreadable, first_value, nearly_json
from .protocol import ToolCall, ToolSpec

NAME_KEYS: Final = (
    "name", "tool_name", "function_name", "tool", "function", "action", "recipient_name", "api",
)  # fmt: skip
ARGUMENT_KEYS: Final = (
    "arguments", "parameters", "args", "input", "params", "action_input", "tool_input",
    "tool_arguments", "tool_args", "function_args", "kwargs",
)  # fmt: skip
LIST_KEYS: Final = ("tool_calls", "calls", "function_calls", "tools", "tool_uses", "actions")

_TOKEN: Final = re.compile(r"<[|｜][^<>\n]{0,80}[|｜]?>|<[^<>\n|｜]{1,80}[|｜]>|\[/?[A-Z_]{3,40}\]")
_FENCE: Final = re.compile(r"```[\w-]*\n?|```")
_PREFIX: Final = re.compile(r"^(?:functions?|tools?|default_api|api|multi_tool_use)[.:/]", re.I)
_NOISE: Final = re.compile(r"[^a-z0-9]")
_ELEMENT: Final = re.compile(
    r"<(?:[\w-]+:)?(?P<kind>parameter|param|arg|argument|input)"
    r"(?:=\"?(?P<a>[\w.\-]+)\"?|[^<>]*?\bname=[\"']?(?P<b>[\w.\-]+)[\"']?[^<>]*)>"
    r"(?P<value>.*?)</(?:[\w-]+:)?(?P=kind)>",
    re.DOTALL,
)
_PAIRS: Final = re.compile(
    r"<(?P<v>\w*?)arg_key>(?P<key>.*?)</(?P=v)arg_key>\s*"
    r"<(?P=v)arg_value>(?P<value>.*?)</(?P=v)arg_value>",
    re.DOTALL,
)
_CHILD: Final = re.compile(r"<(?P<key>[A-Za-z_][\w.\-]*)>(?P<value>.*?)</(?P=key)>", re.DOTALL)
_NAMED: Final = re.compile(
    r"<(?P<tag>(?:tool_|function_)?name)>\s*(?P<name>[\w.\-/]+)\s*</(?P=tag)>"
)
_GIVEN: Final = re.compile(
    r"<(?P<tag>arguments|parameters|args|params|input|tool_input)>(?P<body>.*?)</(?P=tag)>",
    re.DOTALL,
)
_OPENING: Final = re.compile(
    r"<(?:[\w-]+:)?(?P<kind>function|invoke|tool|call|tool_call|action)"
    r"(?:=[\"']?(?P<a>[\w.\-]+)[\"']?|[^<>]*?\b(?:name|tool)=[\"'](?P<b>[\w.\-]+)[\"'][^<>]*)/?>",
)
_REACT: Final = re.compile(
    r"^[ \t*]*Action[ \t*]*:[ \t*`]*(?P<name>[\w.\-/]+)[ \t*`]*\n+"
    r"[ \t*]*Action[ _]Input[ \t*]*:\s*(?P<input>.*?)"
    r"(?=^[ \t*]*(?:Observation|Thought)[ \t*]*:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_QWEN: Final = re.compile(
    r"✿FUNCTION✿\s*:\s*(?P<name>[^\n]+)\n\s*✿ARGS✿\s*:\s*(?P<input>.*?)(?=✿|\Z)", re.DOTALL
)


class Offered:
    """The functions that were offered, found by names that are nearly theirs."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.names = frozenset(t.name for t in tools)
        self._arguments = {t.name: t.input_schema.get("properties") or {} for t in tools}
        self._near: dict[str, set[str]] = {}
        for tool in tools:
            for form in (tool.name, tool.fn_name, f"{tool.app_id}{tool.fn_name}"):
                self._near.setdefault(_plain(form), set()).add(tool.name)

    def __bool__(self) -> bool:
        return bool(self.names)

    def find(self, name: object) -> str:
        """The offered function that alone fits the name in another case, with other separators,
        with or without its app, behind what a server or a proxy puts before it; empty where none
        does, or several do."""
        if not isinstance(name, str):
            return ""
        name = _TOKEN.split(name)[0].strip().strip("`*\"' ").removesuffix("()")
        if name in self.names:
            return name
        forms = (name, _PREFIX.sub("", name), re.sub(r":\d+$", "", _PREFIX.sub("", name)))
        for form in forms:
            found = self._near.get(_plain(form), set())
            if len(found) == 1:
                return next(iter(found))
        behind = [n for n in self.names if name.endswith(n) and not name[-len(n) - 1].isalnum()]
        return behind[0] if len(behind) == 1 else ""

    def call(self, name: object, arguments: object) -> ToolCall:
        """The call of an offered function whose name, and whose arguments' names, are nearly these;
        of another function as it came."""
        found = self.find(name)
        given = arguments_of(arguments)
        if found and isinstance(given, dict):
            given = _fitting(given, self._arguments[found])
        return ToolCall(found or str(name), given)


def _fitting(given: JSONObject, known: JSONObject) -> JSONObject:
    """Arguments by the names that a function has: without an envelope that is no argument of its
    own, and in its own case and separators."""
    if not given.keys() & known.keys():
        given = _enveloped(given, known) or given
    near = {_plain(name): name for name in known.keys() - given.keys()}
    made: JSONObject = {}
    for name, value in given.items():
        made.setdefault(name if name in known else near.get(_plain(name), name), value)
    return made


def _enveloped(given: JSONObject, known: JSONObject) -> JSONObject:
    """The arguments that an argument holds, all of them the function's own; else none."""
    inner = arguments_of(next((given[k] for k in ARGUMENT_KEYS if k in given), None))
    return inner if isinstance(inner, dict) and inner.keys() <= known.keys() else {}


def _plain(name: str) -> str:
    return _NOISE.sub("", name.lower())


def arguments_of(value: object) -> JSONObject | str:
    """Arguments as a service sent them: an object, the text of one (nearly), nothing. A str is text
    that is none, as it came."""
    for _ in range(3):  # some encode twice
        if isinstance(value, dict):
            return {str(k): v for k, v in value.items()}
        if value is None or value == [] or (isinstance(value, str) and not value.strip()):
            return {}
        if not isinstance(value, str):
            return json.dumps(value, ensure_ascii=False, default=str)
        read = _value_of(value)
        if not isinstance(read, str | dict | None) and read != []:
            return value
        value = read
    return str(value)


def _value_of(text: str) -> JSON:
    """The value that arguments' text is: JSON, nearly, or elements; a number stands for none."""
    try:
        return _alone(nearly_json(_FENCE.sub("", text).strip()))
    except Unreadable:
        return (_children(text) if text.lstrip().startswith("<") else None) or 0


def _alone(value: JSON) -> JSON:
    """The object of a list that holds nothing else, or the value itself."""
    is_one = isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict)
    return value[0] if is_one else value


def calls_in(region: str, offered: Offered, *, marked: bool) -> list[ToolCall]:
    """The calls that a region of text is. `marked`: it stands in a call's own markup, so that a
    function that is not offered is a call too, of an unknown function; otherwise it is text. Empty
    where the region is none."""
    for read in (_elements, _lines, _payload):
        found = [c for c in read(region, offered) if c.name]
        if found and (marked or all(offered.find(c.name) for c in found)):
            return [offered.call(c.name, c.arguments) for c in found]
    return []


def calls_within(arguments: object, offered: Offered) -> list[ToolCall]:
    """The calls that the arguments of a call of no offered function are, as of a function that
    makes several at once; none where one of them is not offered."""
    given = arguments_of(arguments)
    if not isinstance(given, dict):
        return []
    calls = next((given[k] for k in LIST_KEYS if k in given), None)
    found = list(_from_json(calls, offered)) if isinstance(calls, list) else []
    is_known = all(offered.find(c.name) for c in found)
    return [offered.call(c.name, c.arguments) for c in found] if is_known else []


# ---- elements


def _elements(region: str, offered: Offered) -> list[ToolCall]:
    if "<" not in region:
        return []
    openings = list(_OPENING.finditer(region))
    ends = [*(m.start() for m in openings[1:]), len(region)]
    made = [
        ToolCall(one["a"] or one["b"], _children(region[one.end() : end]))
        for one, end in zip(openings, ends, strict=False)
    ]
    return made or _named_first(region) or _named_children(region) or _own_name(region, offered)


def _named_first(region: str) -> list[ToolCall]:
    """Calls whose element begins with the name."""
    named = re.finditer(
        r"<(?P<v>\w*?)(?:tool_call|function_call)>\s*(?P<name>[\w.\-]+)\s*"
        r"(?P<rest>(?:<\w*arg_key>.*?)?)(?:</(?P=v)(?:tool_call|function_call)>|\Z)",
        region,
        re.DOTALL,
    )
    return [ToolCall(one["name"], _children(one["rest"])) for one in named]


def _own_name(region: str, offered: Offered) -> list[ToolCall]:
    """The call whose element is named as the function."""
    whole = re.fullmatch(
        r"\s*<(?P<name>[\w.\-]+)(?:\s*/>|>(?P<body>.*)</(?P=name)>)\s*", region, re.DOTALL
    )
    if whole and offered.find(whole["name"]):
        return [ToolCall(whole["name"], _children(whole["body"] or ""))]
    return []


def _named_children(region: str) -> list[ToolCall]:
    """Calls whose name is an element beside their arguments."""
    named = list(_NAMED.finditer(region))
    ends = [*(m.start() for m in named[1:]), len(region)]
    made = []
    for one, end in zip(named, ends, strict=False):
        given = _GIVEN.search(region, one.end(), end)
        made.append(ToolCall(one["name"], _children(given["body"]) if given else {}))
    return made


def _named_values(body: str) -> list[tuple[str, str]]:
    """The arguments that elements name, or pairs of a key and a value do."""
    found = [((m["a"] or m["b"]), m["value"]) for m in _ELEMENT.finditer(body)]
    return found or [(m["key"].strip(), m["value"]) for m in _PAIRS.finditer(body)]


def _children(body: str) -> JSONObject | str:
    """Arguments as child elements, or as the JSON that is all there is."""
    if found := _named_values(body):
        return {key: _leaf(value) for key, value in found}
    inner = re.sub(
        r"</?(?:[\w-]+:)?(?:function|invoke|tool_calls?|function_calls?)[^<>]*>", "", body
    )
    inner = _FENCE.sub("", inner).strip()
    if inner.startswith("{"):
        return _object(inner)
    children = [(m["key"], m["value"]) for m in _CHILD.finditer(inner)]
    if len(children) == 1 and children[0][0] in ARGUMENT_KEYS:
        return _children(children[0][1])
    return {key: _leaf(value) for key, value in children}


def _object(text: str) -> JSONObject | str:
    """Arguments of which the text is the JSON, nearly; else the text."""
    try:
        value, _ = first_value(text, 0)
    except Unreadable:
        return text
    return arguments_of(value)


def _leaf(value: str) -> JSON:
    """The text of an element: a JSON value where it is one other than a string, else itself."""
    text = value.removeprefix("\n").removesuffix("\n")
    try:
        read: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(read, str) else read


# ---- lines of their own kind


def _lines(region: str, offered: Offered) -> list[ToolCall]:
    found = [*_REACT.finditer(region), *_QWEN.finditer(region)]
    return [ToolCall(m["name"].strip(), _input(m["input"])) for m in found]


def _input(text: str) -> JSONObject | str:
    text = _FENCE.sub("", text).strip()
    return {} if not text or text.lower() in ("none", "n/a") else _object(text)


# ---- JSON and expressions


def _payload(region: str, offered: Offered) -> list[ToolCall]:
    """JSON values, `name` followed by JSON, or an expression in Python's form; each alone or
    several behind each other."""
    text = region.replace('<|"|>', '"').replace("<escape>", '"')
    text = re.sub(r"\[CALL_ID\]\w+", "\n", text)
    text = _FENCE.sub("\n", _TOKEN.sub("\n", text))
    text = re.sub(
        r"</?[A-Za-z][\w:.\-]*>|\bfunctools\b|^\s*(?:Action|json)\s*:?\s*$", "\n", text, flags=re.M
    )
    text = re.sub(r"^\s*(?:call|to)[:=]\s*(?=[A-Za-z_])", "", text, flags=re.M)
    text = text.strip().strip(";").strip()
    if not text:
        return []
    return _values(text, offered) or _expressions(text)


def _values(text: str, offered: Offered) -> list[ToolCall]:
    """Calls as values behind each other; all of them or none."""
    made: list[ToolCall] = []
    at = _behind(text, 0)
    while at < len(text):
        try:
            found, at = _next(text, at, offered)
        except Unreadable:
            return []
        made += found
        at = _behind(text, at)
    return made


def _behind(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _next(text: str, at: int, offered: Offered) -> tuple[list[ToolCall], int]:
    """The calls of the value that begins here, and where it ends: JSON, or `name` and then JSON, on
    the same line, the next, or behind markup that is gone by now. Unreadable for anything else."""
    if text[at] in "[{":
        value, end = first_value(text, at)
        if found := list(_from_json(value, offered)):
            return found, end
    elif named := _NAMED_JSON.match(text, at):
        value, end = first_value(text, named.end())
        return [ToolCall(named["name"], arguments_of(value))], end
    raise Unreadable("no call")


def _from_json(value: JSON, offered: Offered) -> Iterable[ToolCall]:
    """The calls that a value tells; of a list all or none."""
    if isinstance(value, list):
        found = [list(_from_json(item, offered)) for item in value]
        return [c for one in found for c in one] if all(found) else []
    if not isinstance(value, dict):
        return []
    inner = _wrapped(value)
    if inner is not None:
        return _from_json(inner, offered)
    return _keyed(value, offered) or _from_object(value)


def _wrapped(value: JSONObject) -> JSON:
    """The calls, or the one call, that an object holds under a key of its own."""
    calls = next((value[k] for k in LIST_KEYS if isinstance(value.get(k), list)), None)
    if calls is not None:
        return calls
    return next((value[k] for k in _INNER_KEYS if isinstance(value.get(k), dict)), None)


def _keyed(value: JSONObject, offered: Offered) -> list[ToolCall]:
    """The call of the offered function whose name is the one key."""
    if len(value) != 1:
        return []
    [(name, given)] = value.items()
    return [ToolCall(name, given)] if name in offered.names and isinstance(given, dict) else []


def _from_object(value: JSONObject) -> list[ToolCall]:
    """The call that an object is: a name and arguments, or a name with nothing else of its own."""
    key = next((k for k in NAME_KEYS if isinstance(value.get(k), str)), "")
    given = next((k for k in ARGUMENT_KEYS if k in value and k != key), "")
    others = value.keys() - {key, given} - _BESIDE
    if not key or (others and not given):
        return []
    return [ToolCall(str(value[key]), arguments_of(value.get(given)))]


_INNER_KEYS: Final = ("function", "function_call", "tool_call", "tool_use", "call")
_BESIDE: Final = frozenset({"id", "type", "call_id", "tool_call_id", "index", "thought"})
"""What may stand beside a call's name and arguments and is neither."""
_BETWEEN: Final = re.compile(r"[\s,;]*")
_NAMED_JSON: Final = re.compile(
    r"(?:(?:function|json|assistant|commentary)[\s,;]+)*"
    r"(?:to=)?(?P<name>[A-Za-z_][\w.\-/]*)(?::\d+)?"
    r"\s*(?:(?:json|code|with|commentary)\b\s*)*[\s:=]*(?=\{)"
)


def _expressions(text: str) -> list[ToolCall]:
    if len(text) > 20_000 or "(" not in text:
        return []
    try:
        tree = ast.parse(text.strip(), mode="exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = [_expression(node) for statement in tree.body for node in _asked(statement)]
    return [call for call in found if call] if all(found) else []


def _asked(statement: ast.stmt) -> list[Any]:
    """What a statement may call: an expression, what a name is given, or a list of them."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Expr | ast.Assign):
        return [None]
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def _expression(node: Any) -> ToolCall | None:
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return None
    name = ast.unparse(node.func)
    if name == "print" and len(node.args) == 1:
        return _expression(node.args[0])
    try:
        given = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
        for argument in node.args:
            value = ast.literal_eval(argument)
            if not isinstance(value, dict):
                return None
            given |= value
    except ValueError:
        return None
    name = name.removesuffix(".call").removesuffix(".run")
    return ToolCall(name, given)

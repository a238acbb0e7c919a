"""Calls that a model wrote as text instead of as calls: read back where they name an offered
function. Pure.

Whatever spelling a family of models has (November 2026), a region of text is brought into one of
two forms first: elements, `<function=name><parameter=key>value</parameter>`, or what is left when
markup is taken away: values of JSON that hold a name and arguments, or a name and its arguments
behind it, in JSON or as Python writes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..types import JSON, JSONObject
from .nearly_json import MARKUP, Unreadable, first_value, nearly_json
from .protocol import ToolCall, ToolSpec

NAME_KEYS: Final = ("name", "tool_name", "function_name", "tool", "function", "action")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "params", "action_input",
                        "tool_input", "kwargs")  # fmt: skip
LIST_KEYS: Final = ("tool_calls", "calls", "function_calls")
_INNER_KEYS: Final = ("function", "function_call", "tool_call", "tool_use")
_BESIDE: Final = frozenset({"id", "type", "call_id", "tool_call_id", "index", "thought"})
"""What may stand beside a call's name and arguments and is neither."""

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
        (
            rf"<\w*tool_call>\s*({_NAME})\s*(?=<parameter=|</\w*tool_call>|\Z)",
            r"<function=\1>",
        ),
    )
)
"""How families of models spell what stands behind it in the one way that is read here."""

_ELEMENT: Final = re.compile(r"<function=[\"']?([\w.\-]+)[\"']?>")
_PARAMETER: Final = re.compile(
    r"<parameter=[\"']?([\w.\-]+)[\"']?>((?:(?!<parameter=).)*?)</(?:[\w-]+:)?parameter>", re.DOTALL
)
_BETWEEN: Final = re.compile(rf"(?:[\s,;\])]|functools|{MARKUP})*")
_CALLED: Final = re.compile(
    rf"\[?\s*(?:(?:function|json|assistant|commentary)(?:[\s,;]|{MARKUP})+)*"
    rf"(?:print\()?(?:call[:=]|to=)?(?P<name>{_NAME})(?::\d+)?"
    rf"(?:\s|:|(?:json|code|commentary)\b|{MARKUP})*(?=[({{])"
)
"""A name that arguments follow, on the same line, the next, or behind markup."""
_TOKEN: Final = re.compile(r"<[|｜]?[^<>\n]{0,80}>?")
_PREFIX: Final = re.compile(r"^(?:functions?|tools?|default_api|api)[.:/]", re.I)
_NOISE: Final = re.compile(r"[^a-z0-9]")


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

    def find(self, name: str) -> str:
        """The offered function that alone fits the name in another case, with other separators,
        with or without its app, behind what a server or a proxy puts before it; empty where none
        does, or several do."""
        name = _TOKEN.split(name)[0].strip().strip("`*\"' ").removesuffix("()")
        if name in self.names:
            return name
        bare = re.sub(r":\d+$", "", _PREFIX.sub("", name).removesuffix(".call"))
        for form in (name, bare):
            found = self._near.get(_plain(form), set())
            if len(found) == 1:
                return next(iter(found))
        behind = [n for n in self.names if name.endswith(n) and not name[-len(n) - 1].isalnum()]
        return behind[0] if len(behind) == 1 else ""

    def call(self, name: str, arguments: object) -> ToolCall:
        """The call of an offered function whose name, and whose arguments' names, are nearly these;
        of another function as it came."""
        found = self.find(name)
        given = arguments_of(arguments)
        if found and isinstance(given, dict):
            given = _fitting(given, self._arguments[found])
        return ToolCall(found or name, given)


def _plain(name: str) -> str:
    return _NOISE.sub("", name.lower())


def _fitting(given: JSONObject, known: JSONObject) -> JSONObject:
    """Arguments by the names that a function has: without an envelope that is no argument of its
    own, and in its own case and separators."""
    inner = arguments_of(next((given[k] for k in ARGUMENT_KEYS if k in given), None))
    if not given.keys() & known.keys() and isinstance(inner, dict) and inner.keys() <= known.keys():
        given = inner or given
    near = {_plain(name): name for name in known.keys() - given.keys()}
    made: JSONObject = {}
    for name, value in given.items():
        made.setdefault(name if name in known else near.get(_plain(name), name), value)
    return made


def arguments_of(value: object) -> JSONObject | str:
    """Arguments as a service sent them: an object, the text of one (nearly), nothing. A str is text
    that is none, as it came."""
    for _ in range(3):  # some encode twice
        if isinstance(value, dict):
            return {str(k): v for k, v in value.items()}
        if value in (None, "", []):
            return {}
        if not isinstance(value, str):
            return json.dumps(value, ensure_ascii=False, default=str)
        read = _value_of(value.strip())
        if not isinstance(read, str | dict | None) and read != []:
            return value
        value = read
    return str(value)


def _value_of(text: str) -> JSON:
    """The value that arguments' text is, an object also as a list of its own; a number stands for
    none."""
    try:
        read = nearly_json(text) if text else None
    except Unreadable:
        return 0
    if isinstance(read, list) and len(read) == 1 and isinstance(read[0], dict):
        return dict(read[0])
    return read


def calls_in(region: str, offered: Offered, *, marked: bool) -> list[ToolCall]:
    """The calls that a region of text is. `marked`: it stands in a call's own markup, so that a
    function that is not offered is a call too, of an unknown function; otherwise it is text. Empty
    where the region is none."""
    for pattern, canonical in _SPELLINGS:
        region = pattern.sub(canonical, region)
    found = _elements(region) or _payload(region, offered)
    if marked or all(offered.find(c.name) for c in found):
        return [offered.call(c.name, c.arguments) for c in found]
    return []


def _elements(region: str) -> list[ToolCall]:
    """Each call goes from its own element to the next one's."""
    _, *pieces = _ELEMENT.split(region)
    return [
        ToolCall(name, _inside(body)) for name, body in zip(pieces[::2], pieces[1::2], strict=True)
    ]


def _inside(body: str) -> JSONObject | str:
    """Arguments as elements of their own, or as the JSON that is all there is."""
    if found := _PARAMETER.findall(body):
        return {key: _leaf(value) for key, value in found}
    return arguments_of(body if "{" in body else "")


def _leaf(value: str) -> JSON:
    """The text of an element: a JSON value where it is one other than a string, else itself."""
    text = value.removeprefix("\n").removesuffix("\n")
    try:
        read: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(read, str) else read


def _payload(region: str, offered: Offered) -> list[ToolCall]:
    """The calls that stand behind each other with nothing but markup between them; all of them or
    none."""
    made: list[ToolCall] = []
    at = _behind(region, 0)
    while at < len(region):
        try:
            found, at = _next(region, at, offered)
        except Unreadable:
            return []
        made += found
        at = _behind(region, at)
    return made


def _behind(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _next(text: str, at: int, offered: Offered) -> tuple[list[ToolCall], int]:
    """The calls of what begins here, and where it ends. Unreadable for anything else."""
    if named := _CALLED.match(text, at):
        value, end = first_value(text, named.end())
        return [ToolCall(named["name"], arguments_of(value))], end
    value, end = first_value(text, at)
    if found := _from_json(value, offered):
        return found, end
    raise Unreadable("no call")


def _from_json(value: JSON, offered: Offered) -> list[ToolCall]:
    """The calls that a value tells; of a list all or none."""
    if isinstance(value, list):
        found = [_from_json(item, offered) for item in value]
        return [c for one in found for c in one] if all(found) else []
    if not isinstance(value, dict):
        return []
    if (inner := next(_wrapped(value), None)) is not None:
        return _from_json(inner, offered)
    if value.keys() <= offered.names:  # Apertus
        return [ToolCall(name, arguments_of(given)) for name, given in value.items()]
    return _from_object(value)


def _wrapped(value: JSONObject) -> Iterator[JSON]:
    """The calls, or the one call, that an object holds under a key of its own."""
    yield from (value[k] for k in LIST_KEYS if isinstance(value.get(k), list))
    yield from (value[k] for k in _INNER_KEYS if isinstance(value.get(k), dict))


def _from_object(value: JSONObject) -> list[ToolCall]:
    """The call that an object is: a name and arguments, or a name with nothing else of its own."""
    key = next((k for k in NAME_KEYS if isinstance(value.get(k), str)), "")
    given = next((k for k in ARGUMENT_KEYS if k in value and k != key), "")
    others = value.keys() - {key, given} - _BESIDE
    if not value.get(key) or (others and not given):
        return []
    return [ToolCall(str(value[key]), arguments_of(value.get(given)))]

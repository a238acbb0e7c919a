"""Redaction of secrets in a call's data, log and errors."""

from __future__ import annotations

import inspect
import json
import logging
import re
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any, TextIO

from pydantic import BaseModel, SecretStr, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, NoDefault
from pydantic_core.core_schema import WithDefaultSchema

from ..catalogue import GOES_TO, PerObject, Shapes, shapes_of
from ..errors import ResultError
from ..guards.addresses import form_of
from ..sdk.definitions import FunctionDef
from ..types import NO_UNDO, CallOutcome, JSONObject
from .outcomes import keywords_model

SECRET = "secret"  # noqa: S105
MASK = "[secret]"
PII = "x-pii"
DEPTH_MAX, SHAPES_MAX = 12, 64
"""Levels and shapes of a schema that are read, for recursive ones."""
MIN_LENGTH, MAX_LENGTH = 16, 4096
"""Characters of a text that may be a secret by its form alone."""
SCHEME = re.compile(r"(?:Bearer|Basic|Token) (?=\S+$)")
"""The scheme before a secret in an Authorization header."""

_log = logging.getLogger("webbee.extension")


def check_secrets(outcome: CallOutcome, function: FunctionDef, *, develop: bool) -> CallOutcome:
    """The outcome without secrets in data and undo, but those that the `data_model` declares."""
    if outcome.undo and without_secrets(outcome.undo["params"])[1]:
        outcome = replace(outcome, undo=NO_UNDO)  # a session's memory would hold it
    if not without_secrets(outcome.data)[1]:  # the schema is not made for nothing
        return outcome
    declared = {path for path, kind in pii_of(function).items() if kind == SECRET}
    remedy = ', or declare it in the data_model, with json_schema_extra={"x-pii": "secret"}'
    place = outcome.app_id, outcome.fn_name
    return replace(
        outcome, data=mask_secrets(outcome.data, place, remedy if develop else None, declared)
    )


def mask_secrets(
    value: Any, place: tuple[str, str], remedy: str | None, declared: Set[str] = frozenset()
) -> Any:
    """A value with secrets masked and their paths logged, before models read it. With a `remedy`
    (during development) a secret is a ResultError instead. `place` is app and function, or
    section."""
    masked, places = without_secrets(value, declared)
    if places and remedy is not None:
        raise ResultError(
            f"{places[0]} looks like a secret, which models and memory would get: leave it"
            f" out{remedy}",
            places[0],
        )
    if places:
        text = "masked, as they look like secrets: the extension should not return them"
        _log.warning("app=%s function=%s fields=%s | %s", *place, ",".join(places), text)
    return masked


def without_secrets(value: Any, declared: Set[str] = frozenset()) -> tuple[Any, list[str]]:
    """A JSON value with secrets masked, and their paths. `declared` are the last two keys of paths
    where `x-pii` allows a secret."""
    places: list[str] = []

    def walk(part: Any, path: str, key: str, parent: str) -> Any:
        if isinstance(part, dict):
            items = part.items()
            return {k: walk(v, f"{path}.{k}" if path else k, k, key) for k, v in items}
        if isinstance(part, list):
            return [walk(v, f"{path}[{n}]", key, parent) for n, v in enumerate(part)]
        if not isinstance(part, str) or declared & {key, f"{parent}.{key}"}:
            return part
        if not _is_secret(part, key):
            return part
        places.append(path)
        return MASK

    return walk(value, "", "", ""), places


def redact(value: Any) -> Any:
    """A JSON value with secrets masked."""
    return without_secrets(value)[0]


def secret_fields(fields: Mapping[str, Any]) -> list[str]:
    """Those of a log line's fields that look like a secret."""
    return [name for name, value in fields.items() if _is_secret(str(value), name)]


def _is_secret(text: str, key: str) -> bool:
    """Whether the whole of a text is a secret, by the key it stands under or by its form."""
    if text in ("", MASK) or not (_is_secret_key(key) or MIN_LENGTH <= len(text) <= MAX_LENGTH):
        return False
    value = text.strip()
    scheme = SCHEME.match(value)
    start = scheme.end() if scheme else 0
    # prose has a blank early on; so has the first line of a PEM key
    if not _is_secret_key(key) and " " in value[start:64] and not value.startswith("-----BEGIN"):
        return False
    from ..pii.secrets import find_secrets  # at the first text that may be one

    return not {(0, len(value)), (start, len(value))}.isdisjoint(find_secrets(value, key))


@lru_cache(maxsize=2048)
def _is_secret_key(key: str) -> bool:
    from ..pii.secrets import is_secret_key

    return is_secret_key(key)


MIN_SUBSTRING = 4
"""Characters from which a secret is hidden inside other words, too."""

MAX_LINES = 20
"""Lines that are kept of a call, the newest."""


class CallTrace:
    """The secrets that a call has read, its log lines, and the coroutines that it did not await."""

    def __init__(self) -> None:
        self.secrets: set[str] = set()
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        self.unawaited: list[str] = []


_trace: ContextVar[CallTrace | None] = ContextVar("webbee_call", default=None)


@contextmanager
def call_scope() -> Iterator[None]:
    """A block with its own `CallTrace`."""
    before = _trace.set(CallTrace())
    try:
        yield
    finally:
        with suppress(ValueError):  # a call whose loop was closed ends where the collector runs
            _trace.reset(before)


def trace() -> CallTrace:
    """The running call's trace; an empty one outside a call."""
    return _trace.get() or CallTrace()


_show_warning = warnings.showwarning


def _keep_unawaited(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if "was never awaited" in (text := text_of(message)):
        path = PurePath(filename)  # the kernel's where the handler had ended
        place = f" ({path.name}:{lineno})" * (path.parent != PurePath(__file__).parent)
        trace().unawaited.append(f"{text}{place}: put an await before the call")
    _show_warning(message, category, filename, lineno, file, line)


def keep_unawaited() -> None:
    """Keep Python's warnings of coroutines that were never awaited with the call that they come
    from, and show them as before."""
    warnings.showwarning = _keep_unawaited


def text_of(value: object) -> str:
    """`str(value)`; empty where that raises."""
    try:
        return str(value)
    except Exception:
        return ""


def hide_secrets(value: object, secrets: Set[str]) -> str:
    """The value as text with these secrets masked, also in Python's and JSON's spelling."""
    text = text_of(value)
    # the longest first: one secret may be a part of another
    for secret in sorted(secrets, key=len, reverse=True):
        for spelling in (
            secret,
            repr(secret)[1:-1],
            json.dumps(secret)[1:-1],
            json.dumps(secret, ensure_ascii=False)[1:-1],
        ):
            text = _without(text, spelling)
    return text


def mask_line(text: str) -> str:
    """A line of the log without what looks like a secret in it."""
    from ..pii.secrets import find_secrets

    return hide_secrets(text, {text[start:end] for start, end in find_secrets(text)})


def _without(text: str, spelling: str) -> str:
    """The text with a secret masked; one of up to three characters only as a whole word."""
    if len(spelling) >= MIN_SUBSTRING:
        return text.replace(spelling, MASK)
    return re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", MASK, text) if spelling else text


def pii_of(function: FunctionDef, arguments: JSONObject | None = None) -> dict[str, str]:
    """What the author declares of arguments, whose schema may be at hand, and data: `x-pii` in
    their JSON schemas (`webbee_kernel.sdk.PersonName`, `Phone`, `Email`, `pii(…)`)."""
    kinds: dict[str, str] = {}
    for schema in (arguments or input_schema(function), _data_schema(function)):
        # most declare nothing: a look at the text is cheaper than the walk
        if f'"{PII}"' in json.dumps(schema, default=str):
            kinds |= declared_pii(schema)
    return kinds


def declared_pii(schema: Mapping[str, Any]) -> dict[str, str]:
    """The declared kinds by path, `parent.key` or `key` at the top: the last two keys of a path, as
    the masker knows a value. Lists and choices (`anyOf`, null) are looked through."""
    return dict(_kinds(_shapes(schema, schema), schema, "", DEPTH_MAX))


def _kinds(
    shapes: Shapes, root: Mapping[str, Any], parent: str, depth: int
) -> Iterator[tuple[str, str]]:
    for shape in shapes if depth else ():
        for key, value in (shape.get("properties") or {}).items():
            inner = _shapes(value, root)
            if kind := next((str(s[PII]) for s in inner if PII in s), ""):
                yield f"{parent}.{key}" if parent else key, kind
            yield from _kinds(inner, root, key, depth - 1)


def _shapes(schema: object, root: Mapping[str, Any]) -> Shapes:
    """The shapes of a value, those of the items of a list behind it."""
    pending, found = [schema], list[Mapping[str, Any]]()
    while pending and len(found) < SHAPES_MAX:
        shapes = shapes_of(pending.pop(0), root)
        found += shapes
        pending += [shape["items"] for shape in shapes if "items" in shape]
    return tuple(found)


def _data_schema(function: FunctionDef) -> JSONObject:
    """The JSON schema of the data a function declares to return; empty where it declares none, or
    what Pydantic has no schema for."""
    if function.data_model is None:
        return {}
    try:
        return TypeAdapter(function.data_model).json_schema(mode="serialization")
    except (PydanticUserError, PydanticSchemaGenerationError):
        return {}


class _WithFactories(GenerateJsonSchema):
    """Adds defaults of constant factories, and the address in a secret's default, since either may
    be a destination."""

    def default_schema(self, schema: WithDefaultSchema) -> JSONObject:
        """With the address behind the asterisks."""
        schema_, default = super().default_schema(schema), self.get_default_value(schema)
        secret = default.get_secret_value() if isinstance(default, SecretStr) else ""
        return {**schema_, GOES_TO: secret} if form_of(secret, is_secret=True) else schema_

    def get_default_value(self, schema: WithDefaultSchema) -> Any:
        """The default; none of a factory that needs the other fields, fails, or makes nothing."""
        factory: Any = schema.get("default_factory")
        if factory is None or schema.get("default_factory_takes_data"):
            return super().get_default_value(schema)
        with suppress(Exception):
            if (value := factory()) and value == factory():
                return value
        return NoDefault


def input_schema(function: FunctionDef) -> JSONObject:
    """The JSON schema of a function's arguments; `params` of the decorator where there is no
    Pydantic model; where there are none either, what its handler's own parameters say, as a default
    of one may be where something goes; of `**kwargs` alone nothing is declared."""
    model, params = function.params_model, function.params or {"type": "object"}
    if model is None and not function.params:
        context = next(iter(inspect.signature(function.func).parameters), "")
        model = keywords_model(function.func, {}, {context})
    if model:
        return {k: v for k, v in _schema_of(model).items() if k not in ("title", "description")}
    return params if params.get("type") == "object" else _from_short_form(params)


@PerObject
def _schema_of(model: type[BaseModel]) -> JSONObject:
    """The JSON schema of a model, which several functions may share."""
    return model.model_json_schema(schema_generator=_WithFactories)


def _from_short_form(params: Mapping[str, Any]) -> JSONObject:
    """The schema of parameters that the decorator names by type, or by a schema each."""
    properties = {
        k: dict(v) if isinstance(v, dict) else {"type": str(v)} for k, v in params.items()
    }
    # the decorator's short form has it on each field, JSON Schema on the object
    required = [k for k, v in properties.items() if v.pop("required", False) is True]
    return {"type": "object", "properties": properties, "required": required}

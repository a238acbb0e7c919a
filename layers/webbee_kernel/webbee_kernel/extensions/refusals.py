"""Arguments that do not fit their model: in pydantic's words for models, logs and authors, in the
user's own for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from .. import language
from ..arguments.names import near
from ..sdk.definitions import FunctionDef
from ..types import CallOutcome, CallRequest, failed

_MOST = 10
"""Problems that are told at once."""

_LIMITS = ("max_length", "min_length", "le", "ge", "lt", "gt", "expected", "pattern")

_SAID: Final[Mapping[str, str]] = {
    "missing": "missing",
    "string_too_long": "long",
    "string_too_short": "short",
    "too_long": "most",
    "less_than_equal": "most",
    "less_than": "below",
    "too_short": "least",
    "greater_than_equal": "least",
    "greater_than": "above",
    "literal_error": "one_of",
    "enum": "one_of",
    "int_parsing": "number",
    "int_type": "number",
    "int_from_float": "number",
    "float_parsing": "number",
    "float_type": "number",
}
"""The kernel's sentence for a type of pydantic's errors. An author's own check speaks for itself;
of any other kind people read that the value does not fit."""


def validation_failed(
    error: ValidationError, request: CallRequest, function: FunctionDef
) -> CallOutcome:
    """VALIDATION_MISSING_FIELD or VALIDATION_TYPE_ERROR, one problem per rejected argument with its
    limit; `error`, and of each problem `told`, say it to a person in the language of the call's
    user. Of a missing one that was misspelt it is said what was given in its place."""
    found = error.errors(include_url=False, include_input=False)
    missing = any(e["type"] == "missing" for e in found)
    code = "VALIDATION_MISSING_FIELD" if missing else "VALIDATION_TYPE_ERROR"
    spoken = language.of(str(request.user.get("language") or "en"))
    unknown = request.arguments.keys() - _names(function)
    problems = tuple(_problem(e, spoken, unknown) for e in found[:_MOST])
    text = "; ".join(p["told"] for p in problems)
    return failed(request, code, text, action_type=function.action_type, problems=problems)


def _names(function: FunctionDef) -> set[str]:
    fields = function.params_model.model_fields if function.params_model else {}
    return {*fields, *(f.alias for f in fields.values() if f.alias)}


def _problem(error: Any, spoken: language.Language, unknown: Iterable[str]) -> dict[str, str]:
    given = near(_field(error), unknown) if error["type"] == "missing" else ""
    problem = f"{error['msg']}: {given!r} is no argument" if given else str(error["msg"])
    told = _told(error, spoken) + (f' ("{given}" \u2192 "{_field(error)}"?)' if given else "")
    return {"field": _field(error), "problem": problem, "limit": _limit(error), "told": told}


def _told(error: Any, spoken: language.Language) -> str:
    own = (error.get("ctx") or {}).get("error")
    field = _field(error)
    if isinstance(own, Exception):
        return f"{field}: {own}"
    label = f"label_{field}"
    kind = _SAID.get(error["type"], "other")
    name = spoken.say(label) if spoken.has(label) else field
    return spoken.say(f"refused_{kind}", field=name, limit=_limit(error).replace(" or ", ", "))


def _field(error: Any) -> str:
    return ".".join(str(p) for p in error["loc"]) or "params"


def _limit(error: Any) -> str:
    context = error.get("ctx") or {}
    return str(next((context[k] for k in _LIMITS if k in context), ""))

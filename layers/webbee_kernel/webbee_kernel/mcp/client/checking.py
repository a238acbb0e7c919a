"""Checking arguments against a tool's JSON schema, before a server sees them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from ...arguments.names import near
from ...errors import CallError
from ...text import cut
from ...types import JSONObject

_LEFT_TO_THE_SERVER: Final = ("pattern", "patternProperties", "format")
"""Rules that are not checked here: a stranger's regular expression may take for ever."""
MISSING: Final = "required"
UNKNOWN: Final = "additionalProperties"


def checker(schema: JSONObject) -> Callable[[JSONObject], None]:
    """Raises CallError, VALIDATION_MISSING_FIELD or VALIDATION_TYPE_ERROR, with the first argument
    that the schema does not take. Made when first needed: a cold start checks nothing."""

    @lru_cache(maxsize=1)
    def validator() -> Any:
        return _validator(schema)

    def check(arguments: JSONObject) -> None:
        from jsonschema.exceptions import best_match
        from referencing.exceptions import Unresolvable

        try:
            error = best_match(validator().iter_errors(arguments))
        except (Unresolvable, RecursionError):  # the server knows its own schema better
            return
        if error:
            raise _refused(error)

    return check


def _validator(schema: JSONObject) -> Any:
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    kind = validator_for(schema)
    kind = extend(kind, dict.fromkeys(_LEFT_TO_THE_SERVER, _passes))
    return kind(schema, registry=Registry())  # an empty registry: nothing is fetched


def _passes(*_: object) -> None:
    """Finds no error."""


def _refused(error: Any) -> CallError:
    where = [str(part) for part in error.absolute_path]
    known = error.schema.get("properties", {})
    if error.validator == MISSING:
        missing = str(next((n for n in error.validator_value if n not in error.instance), ""))
        field, given = ".".join([*where, missing]), near(missing, error.instance.keys() - known)
        text = f"{field} is missing" + (f": {given!r} is no argument" if given else "")
        return CallError("VALIDATION_MISSING_FIELD", text, field=field)
    field = ".".join(where) or "params"
    text = f"{field}: {cut(str(error.message), 300)}"
    if error.validator == UNKNOWN and (meant := near(min(error.instance.keys() - known), known)):
        text += f": did you mean {meant!r}?"
    return CallError("VALIDATION_TYPE_ERROR", text, field=field)

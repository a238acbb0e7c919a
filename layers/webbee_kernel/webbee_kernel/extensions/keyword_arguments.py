"""Pydantic models for handlers with keyword arguments, built from their signature. Pure."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

_KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def hints_of(func: Callable[..., Any]) -> dict[str, Any]:
    """Annotations as types, as written where they cannot be resolved."""
    plain = inspect.unwrap(func)
    try:
        return typing.get_type_hints(plain, include_extras=True)
    except Exception:  # whatever an annotation's code raises, it is only an annotation
        return dict(getattr(plain, "__annotations__", {}))


def keywords_model(
    func: Callable[..., Any], descriptions: Mapping[str, Any], excluded: Collection[str]
) -> type[BaseModel] | None:
    """A model of the handler's named parameters but those `excluded`, as the context is; None
    where it names none. `descriptions` is the decorator's `params`."""
    hints = hints_of(func)
    parameters = inspect.signature(func).parameters.values()
    included = [p for p in parameters if p.kind in _KEYWORDS and p.name not in excluded]
    fields: dict[str, Any] = {
        f"p{number}": _field(p, hints.get(p.name, Any), descriptions.get(p.name))
        for number, p in enumerate(included)
    }
    if not fields:
        return None
    takes_more = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    options = ConfigDict(
        extra="allow" if takes_more else "ignore",
        arbitrary_types_allowed=True,
        validate_default=False,
    )
    try:
        model: type[BaseModel] = create_model(
            f"{func.__name__}_params", __config__=options, **fields
        )
        # tried now: the catalogue would fail at it, and take the whole app along
        model.model_json_schema()
    except Exception:  # a type no schema can describe: the handler gets what was sent
        return None
    return model


def _field(parameter: inspect.Parameter, hint: Any, description: Any) -> tuple[Any, Any]:
    """Type and field of one parameter. The alias is the name: a field may not be called `schema`,
    `copy` or `_x`, a parameter may."""
    name = parameter.name
    text = description.get("description") if isinstance(description, Mapping) else ""
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    field = Field(default, alias=name, title=name, description=str(text) if text else None)
    # still a text: it could not be resolved, so nothing is checked
    return (Any if isinstance(hint, str) else hint, field)


def keywords(params: BaseModel) -> dict[str, Any]:
    """A checked model of `keywords_model` as keyword arguments; what was not sent keeps the
    handler's own default."""
    fields = type(params).model_fields
    return {
        str(fields[name].alias): getattr(params, name)
        for name in params.model_fields_set & set(fields)
    } | (params.model_extra or {})

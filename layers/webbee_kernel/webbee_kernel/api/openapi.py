"""The OpenAPI document, made of the routes and their wire models. Read by people and by tests;
nothing serves it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter

from .. import __version__
from ..values.plain import JSONObject
from .answers import ErrorAnswer
from .http import Route

REFERENCE = "#/components/schemas/{model}"
_PATH = re.compile(r"\{(\w+)\+?\}")

DESCRIPTION = (
    "Every route but the page, health and webhooks wants `Authorization: Bearer <token>`. "
    'An error is `{"error": {"code", "message", "field"?, "limit"?}}` with a stable code.'
)


def document(routes: Iterable[Route]) -> JSONObject:
    """The document of these routes, in their order."""
    schemas: JSONObject = {}
    paths: dict[str, JSONObject] = {}
    for route in routes:
        method, _, path = route.key.partition(" ")
        paths.setdefault(_PATH.sub(r"{\1}", path), {})[method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Webbee kernel", "version": __version__, "description": DESCRIPTION},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def _operation(route: Route, schemas: JSONObject) -> JSONObject:
    method, _, path = route.key.partition(" ")
    doc = inspect.getdoc(route.handler) or ""
    content = {
        route.content_type: {"schema": _schema(route.answer, schemas) if route.answer else {}}
    }
    failure: JSONObject = {"application/json": {"schema": _schema(ErrorAnswer, schemas)}}
    if route.body_type != "application/json" or (
        route.params and route.content_type == "text/html"
    ):
        failure[route.content_type] = {}  # what a person reads in a browser
    operation: JSONObject = {
        "operationId": f"{method.lower()}{re.sub(r'[^A-Za-z0-9]+', '_', path).rstrip('_')}",
        "summary": " ".join(doc.partition("\n\n")[0].split()),
        "parameters": _parameters(_PATH.findall(path), route.params, schemas),
        "responses": {
            "200": {"description": "Success", "content": content},
            "default": {"description": "Error", "content": failure},
        },
    }
    if route.accepted:
        later: JSONObject = {"application/json": {"schema": _schema(route.accepted, schemas)}}
        operation["responses"]["202"] = {"description": "Accepted", "content": later}
    if route.body:
        operation["requestBody"] = {
            "required": _is_needed(route.body),
            "content": {route.body_type: {"schema": _schema(route.body, schemas)}},
        }
    if route.public:
        operation["security"] = []
    return operation


def _is_needed(body: type[BaseModel]) -> bool:
    return any(f.is_required() for f in body.model_fields.values())


def _schema(shape: Any, schemas: JSONObject) -> JSONObject:
    """A schema, the ones it refers to collected in `schemas`; a named one by reference."""
    schema = TypeAdapter(shape).json_schema(ref_template=REFERENCE)
    schemas |= schema.pop("$defs", {})
    if not isinstance(shape, type):
        return schema
    schemas[shape.__name__] = schema
    return {"$ref": REFERENCE.format(model=shape.__name__)}


def _parameters(
    in_path: list[str], types: Mapping[str, Any], schemas: JSONObject
) -> list[JSONObject]:
    given = {name: Annotated[str, Field(min_length=1)] for name in in_path} | dict(types)
    found = []
    for name, shape in given.items():
        schema = _schema(shape, schemas)
        description = {"description": schema.pop("description")} if "description" in schema else {}
        place = {"in": "path", "required": True} if name in in_path else {"in": "query"}
        found.append({"name": name, **place, **description, "schema": schema})
    return found

"""The OpenAPI document, made of the routes and their wire models: what `GET /v1/openapi.json`
serves, and `docs/openapi.json`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from webbee_kernel import __version__
from webbee_kernel.api.router import Handler, Route
from webbee_kernel.types import JSONObject

from . import answers

REFERENCE = "#/components/schemas/{model}"
_PATH = re.compile(r"\{(\w+)\+?\}")
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")

DESCRIPTION = (
    "Every route but the page, health and webhooks wants `Authorization: Bearer <token>`. "
    'An error is `{"error": {"code", "message", "field"?, "limit"?}}` with a stable code.'
)


SERVERS = [
    {"url": "/", "description": "Where this document is served"},
    {"url": "http://127.0.0.1:8000", "description": "make run"},
]
FAILURES: Mapping[int, str] = {
    400: "The request cannot be served as it is: `field` and `limit` say what to mend",
    401: "No identity: send a token",
    403: "This role, or an app that is not installed, does not allow it",
    404: "There is no such thing for this user",
    409: "The request id, or the word that confirms, belongs to something else",
    410: "The question expired or was answered",
    413: "The body is too large",
    429: "A limit is used up: `retry_after` says when it is free again",
    500: "Our fault: quote the incident",
    503: "A store, a model or an app did not answer: retry with the same request id",
}


def document(handlers: Mapping[Route, Handler]) -> JSONObject:
    """The document of these routes, in their order."""
    schemas: JSONObject = {}
    paths: dict[str, JSONObject] = {}
    for route, handler in handlers.items():
        method, _, path = route.key.partition(" ")
        paths.setdefault(_PATH.sub(r"{\1}", path), {})[method.lower()] = _operation(
            route, handler, schemas
        )
    return {
        "openapi": "3.1.0",
        "info": {"title": "Webbee kernel", "version": __version__, "description": DESCRIPTION},
        "servers": SERVERS,
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def _operation(route: Route, handler: Handler, schemas: JSONObject) -> JSONObject:
    method, _, path = route.key.partition(" ")
    doc = inspect.getdoc(handler) or ""
    shape = _schema(route.answer, schemas) if route.answer else {}
    if route.content_type != "application/json":
        shape = {"type": "string"}
    content = {route.content_type: {"schema": shape}}
    failure = _failure(route, schemas)
    operation: JSONObject = {
        "operationId": f"{method.lower()}_{_NO_WORD.sub('_', path).strip('_') or 'page'}",
        # what generated clients sort it under: the noun of its path
        "tags": [re.sub(r"^/(v1/|\.)?", "", path).partition("/")[0].partition(".")[0] or "page"],
        "summary": " ".join(doc.partition("\n\n")[0].split()),
        "parameters": _parameters(_PATH.findall(path), route.params),
        "responses": {
            "200": {"description": "Success", "content": content},
            **_failures(route, failure),
            "default": {"description": "Error", "content": failure},
        },
    }
    if route.accepted:
        later: JSONObject = {"description": "Accepted"}
        if route.accepted is not type(None):
            later["content"] = {"application/json": {"schema": _schema(route.accepted, schemas)}}
        operation["responses"]["202"] = later
    if route.body:
        operation["requestBody"] = {
            "required": any(f.is_required() for f in route.body.model_fields.values()),
            "content": {route.body_type: {"schema": _schema(route.body, schemas)}},
        }
    if route.public:
        operation["security"] = []
    return operation


def _failure(route: Route, schemas: JSONObject) -> JSONObject:
    """What an error is answered with: JSON, and a page where a person reads it in a browser."""
    told: JSONObject = {
        "application/json": {"schema": _schema(route.failure or answers.ErrorAnswer, schemas)}
    }
    if route.body_type != "application/json" or (
        route.params and route.content_type == "text/html"
    ):
        told[route.content_type] = {}
    return told


def _failures(route: Route, content: JSONObject) -> dict[str, JSONObject]:
    """The errors a client meets by name; whether a route can give one is told by what it takes."""
    possible = {400, 429, 500, 503} | (set() if route.public else {401, 403})
    if "{" in route.key:
        possible |= {404}
    if not route.key.startswith("GET "):
        possible |= {409, 413}
    if "confirmations" in route.key:
        possible |= {410}
    return {
        str(status): {"description": FAILURES[status], "content": content}
        for status in sorted(possible)
    }


def _schema(shape: Any, schemas: JSONObject) -> JSONObject:
    """A schema, the ones it refers to collected in `schemas`; a named one by reference."""
    if isinstance(shape, str):
        shape = getattr(answers, shape)
    schema = TypeAdapter(shape).json_schema(ref_template=REFERENCE)
    schemas |= schema.pop("$defs", {})
    if not isinstance(shape, type):
        return schema
    schemas[shape.__name__] = schema
    return {"$ref": REFERENCE.format(model=shape.__name__)}


def _parameters(in_path: list[str], model: type[BaseModel] | None) -> list[JSONObject]:
    given: JSONObject = {name: {"minLength": 1, "type": "string"} for name in in_path}
    given |= model.model_json_schema()["properties"] if model else {}
    found = []
    for name, shape in given.items():
        schema = {k: v for k, v in shape.items() if k not in ("title", "default", "description")}
        description = {k: shape[k] for k in ("description",) if k in shape}
        place = {"in": "path", "required": True} if name in in_path else {"in": "query"}
        found.append({"name": name, **place, **description, "schema": schema})
    return found

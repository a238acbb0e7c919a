"""The gateway's wire: a request, its answer, and what bodies have to hold. Fields that are not
named here are ignored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..store import MAX_LIMIT

Wire = TypeVar("Wire", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, what goes out as JSON, and headers besides."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """The request cannot be served; the answer says why."""

    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(detail)
        self.answer = Answer(status, {"detail": detail}, headers)


@dataclass(frozen=True, slots=True)
class Request:
    """One request: the path as it came, percent-encoded; query parameters, each once; the body,
    still JSON text."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Any
    body: bytes = b""

    def json(self) -> dict[str, Any]:
        """The body's object, empty without a body."""
        try:
            found = json.loads(self.body or b"{}")
        except (ValueError, RecursionError):
            raise Refused(422, "body: this is no JSON") from None
        if not isinstance(found, dict):
            raise Refused(422, "body: an object is wanted")
        return found


class Create(BaseModel):
    """A new document."""

    collection: str
    data: dict[str, Any]


class Update(BaseModel):
    """Fields to merge; `if_match` is the etag that was read."""

    data: dict[str, Any]
    if_match: str = ""


class Matching(BaseModel):
    """Documents whose fields equal these."""

    where: dict[str, Any] | None = None


class Query(Matching):
    """A page of them."""

    order_by: str | None = None
    limit: int = 100
    cursor: str | None = None


class Listing(BaseModel):
    """A page of users, or all documents up to a number."""

    limit: int = Field(ge=1, le=MAX_LIMIT)
    cursor: str = ""


class Notification(BaseModel):
    """A message to the user; whatever else is sent goes with it."""

    model_config = ConfigDict(extra="allow")

    message: str


class Message(BaseModel):
    """A message in the chat, and the panels to fetch again."""

    text: str
    msg_type: str = "response"
    refresh_panels: list[str] = Field(default_factory=list)


class Prompt(BaseModel):
    """A completion to make; whatever else is sent goes with it."""

    model_config = ConfigDict(extra="allow")

    prompt: str
    model: str = ""


def checked(model: type[Wire], values: Mapping[str, Any]) -> Wire:
    """The values as their model; Refused 422 names the fields that are missing or wrong, never what
    was in them."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}"
            for e in error.errors(include_url=False)
        )
        raise Refused(422, wrong) from None

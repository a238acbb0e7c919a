"""Routes of one app: panels, direct calls, installation, and secrets, whose values are never read
back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import Field

from .. import language
from ..catalogue import AppInfo, example_phrase
from ..errors import BadInput, DispatchUnanswered, KernelError, NotAllowed, NotFound, not_installed
from ..refresh.refresh_queue import after_effects
from ..sdk.result import User
from ..stores.rate_limits import count_nothing
from ..turn.kernel import Kernel, TurnRequest
from ..types import CallOutcome, JSONObject, Step, UserKey
from .identity import has_role, require_role
from .request_models import Params, RequestId, SessionId, Wire
from .router import Answer, Request, Route, Services, unavailable_reason

PANEL_PREFIX = "__panel__"
PANEL_PREFIXES = (PANEL_PREFIX, "__tray__", "__widget__")
"""Tray items and widgets of `imperal-sdk` extensions are panels with their prefix in the name."""

OFFERED = 2
"""Examples of an app per language."""

REFUSED: Mapping[str, type[KernelError]] = {
    "UNKNOWN_TOOL": NotFound,
    "UNKNOWN_SUB_FUNCTION": NotFound,
    "PERMISSION_DENIED": NotAllowed,
}
"""Error codes of the request, not of the function."""


INSTALLATION = "/v1/extensions/{app_id}/installation"


class Below(Wire):
    """The reply below which a form stands: its session and its turn's request id."""

    session_id: SessionId
    request_id: RequestId


class CallBody(Wire):
    """`POST /v1/extensions/{app_id}/call`: a chat function, or a panel as `__panel__<id>`."""

    function: Annotated[str, Field(min_length=1, max_length=128)]
    params: JSONObject = Field(default_factory=dict)
    request_id: RequestId | None = None
    below: Below | None = None
    """Where a form stands: what comes of it becomes part of that reply's turn, once."""


class InstallationBody(Wire):
    """`PUT /v1/extensions/{app_id}/installation`; may be left out."""

    refresh: bool = False


class Apps:
    """Direct calls and installations."""

    def __init__(self, services: Services) -> None:
        self._services = services
        _, self._kernel, self._queue, self._installs = services

    @Route("POST /v1/extensions/{app_id}/call", body=CallBody, answer="CallOrPanelAnswer")
    async def call(self, request: Request) -> Answer:
        """A chat function or a panel (`__panel__<id>`), through the same guards as a turn's; the
        click is the user's consent."""
        body, user = request.body(CallBody), request.reader
        info = await loaded_app(self._kernel, request)
        key, panel = request.key(body.request_id), body.function.startswith(PANEL_PREFIXES)
        (catalogue, _, mine), over = await asyncio.gather(
            self._kernel.apps_of(user),
            count_nothing()
            if panel
            else self._kernel.limits.take(user),  # a page draws many panels
        )
        if over:
            raise over
        if info.app_id not in mine:
            raise not_installed(info.app_id)
        function = catalogue.function(info.app_id, body.function)
        # a panel is no chat function, and stands below no reply
        if body.below and function:
            step = Step(0, info.app_id, body.function, body.params, function.action_type)
            ask = TurnRequest(user, body.below.session_id, "", body.below.request_id)
            outcome = await self._kernel.direct.submit_form(ask, step)
        else:
            outcome = await self._services.call(
                "panel" if panel else "function",
                user,
                info.app_id,
                body.function.removeprefix(PANEL_PREFIX),
                body.params,
                session_id="direct",
                request_id=key,
            )
            # the next turn must not read in the skeleton how it was before
            if outcome.has_changed:
                await self._queue.ask(user, after_effects(catalogue, [info.app_id]))
        return _answered(outcome, panel=panel)

    @Route(f"PUT {INSTALLATION}", body=InstallationBody, answer="InstallationAnswer")
    async def install(self, request: Request) -> Answer:
        """Install an app for the caller; repeatable. With `refresh` its sections are refreshed at
        once."""
        info = await loaded_app(self._kernel, request)
        refresh = request.body(InstallationBody).refresh if request.raw() else False
        await self._installs.install(request.caller, info.app_id, refresh=refresh)
        return Answer({"app_id": info.app_id, "installed": True})

    @Route(f"DELETE {INSTALLATION}", answer="InstallationAnswer")
    async def uninstall(self, request: Request) -> Answer:
        """Uninstall it: its skeleton, cache and due rows of this user go at once, and the
        destinations that were accepted for it; repeatable."""
        info = await known_app(self._kernel, request)
        # first: an app that comes back asks again, even where the rest fails
        await self._kernel.accepted.forget(UserKey.of(request.caller), app_id=info.app_id)
        purged = await self._installs.uninstall(request.caller, info.app_id)
        return Answer({"app_id": info.app_id, "installed": False, "purged": purged})


_language_of = lru_cache(maxsize=4_096)(language.detect)


def offers(app: AppInfo) -> dict[str, list[str]]:
    """Examples of what can be said to an app, by language: the authors' first one of each function
    that reads."""
    found: dict[str, list[str]] = {}
    for function in app.functions:
        if function.action_type == "read":
            # those with a gap to be filled come last
            texts = sorted(map(example_phrase, function.examples), key=lambda text: "…" in text)
            # reversed: the first one of each language wins
            first = {_language_of(text): text for text in reversed(texts)}
            for tag, example in first.items():
                found.setdefault(tag, []).append(example)
    return {tag: examples[:OFFERED] for tag, examples in found.items()}


async def known_app(kernel: Kernel, request: Request) -> AppInfo:
    """The app of the path; NotFound where it is not deployed."""
    app_id = request.path["app_id"]
    info = (await kernel.dispatch.catalogue()).apps.get(app_id)
    if info is None:
        raise NotFound(f"there is no extension {app_id[:64]!r}", field="app_id")
    return info


async def loaded_app(kernel: Kernel, request: Request) -> AppInfo:
    """The same; NotFound with the reason also if it failed to load."""
    info = await known_app(kernel, request)
    if info.error:
        raise NotFound(unavailable_reason(info, request.caller), field="app_id")
    return info


TOLD: Final = (
    *("app_id", "fn_name", "status", "data", "summary", "error", "error_code", "retryable", "ui"),
    *("duration_ms", "problems", "incident"),
)
"""The fields of an outcome in `CallAnswer`."""


def _answered(outcome: CallOutcome, *, panel: bool) -> Answer:
    """The panel, or the fields of an outcome that are not empty."""
    if panel and outcome.ok:
        return Answer(outcome.ui)
    if refusal := REFUSED.get(outcome.error_code):
        raise refusal(outcome.error, code=outcome.error_code, field="function")
    told = {name: getattr(outcome, name) for name in TOLD}
    body = {name: value for name, value in told.items() if value not in ("", None, ())}
    refresh = [{"app_id": outcome.app_id, "panel_id": p} for p in outcome.panels]
    return Answer({**body, "refresh_panels": refresh})


WRONG_VALUE = "VALIDATION_TYPE_ERROR"
"""The code of a secret's value that is refused."""
ONE = "/v1/extensions/{app_id}/secrets/{name}"


class OwnerParams(Params):
    """Whose secrets, where they are not the caller's."""

    user: Literal["__webhook__"] = "__webhook__"


class SecretBody(Wire):
    """`PUT /v1/extensions/{app_id}/secrets/{name}`."""

    value: Annotated[str, Field(min_length=1, max_length=65_536)]


class AppSecrets:
    """Secrets of users; app-wide and webhook secrets for operators."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @Route("GET /v1/extensions/{app_id}/secrets", answer="SecretsAnswer", params=OwnerParams)
    async def listed(self, request: Request) -> Answer:
        """Declared secrets: whether each is set, and may be by the caller; never a value."""
        declared = await self._declared(request)
        found = await self._ask(request, "secrets", "secrets")
        may_all = has_role(request.caller, "operator")
        described = [
            {name: d[name] for name in ("description", "scope", "max_bytes")}
            | {"writable": may_all or d["scope"] == "user"}
            for d in declared.values()
        ]
        # in the order of the declarations
        pairs = zip(found.data["secrets"], described, strict=True)
        return Answer({"secrets": [s | d for s, d in pairs]})

    @Route(f"PUT {ONE}", body=SecretBody, answer="SecretState", params=OwnerParams)
    async def put(self, request: Request) -> Answer:
        """Set one; app-wide secrets need the role operator."""
        spec = await self._spec(request)
        value = request.body(SecretBody).value
        outcome = await self._ask(request, "secret_put", spec["name"], {"value": value})
        if not outcome.ok:
            raise BadInput(outcome.error, field="value", limit=spec["max_bytes"])
        return Answer({"name": spec["name"], "is_set": True})

    @Route(f"DELETE {ONE}", answer="SecretState", params=OwnerParams)
    async def delete(self, request: Request) -> Answer:
        """Remove one."""
        spec = await self._spec(request)
        await self._ask(request, "secret_delete", spec["name"])
        return Answer({"name": spec["name"], "is_set": False})

    async def _ask(
        self, request: Request, kind: str, name: str, arguments: JSONObject | None = None
    ) -> CallOutcome:
        owner, app_id = _owner(request), request.path["app_id"]
        outcome = await self._services.call(kind, owner, app_id, name, arguments)
        if not outcome.ok and outcome.error_code != WRONG_VALUE:  # unknown whether it was done
            raise DispatchUnanswered(f"{outcome.error}; ask again")
        return outcome

    async def _declared(self, request: Request) -> dict[str, JSONObject]:
        info = await loaded_app(self._services.kernel, request)
        return {str(s["name"]): s for s in info.secrets}

    async def _spec(self, request: Request) -> JSONObject:
        declared, name = await self._declared(request), request.path["name"]
        if name not in declared:
            raise NotFound(
                f"{request.path['app_id']} declares no secret {name[:64]!r}; it declares:"
                f" {', '.join(declared) or 'none'}",
                field="name",
            )
        if declared[name]["scope"] == "app":
            require_role(request.caller, "operator")
        return declared[name]


def _owner(request: Request) -> User:
    """Whose secrets: the caller's, or with `user=__webhook__` those of the app's webhooks, for
    operators."""
    if not request.query.get("user"):
        return request.caller
    require_role(request.caller, "operator")
    return replace(request.caller, imperal_id=request.query_model(OwnerParams).user, email="")

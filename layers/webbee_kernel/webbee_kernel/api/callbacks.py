"""Requests that bear no token: health checks, webhooks, passed on to their extension, and the
browser of a person who signed in at another service, with a state and a code."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field

from .. import __version__, language
from ..aws.parameters import SIGN, WebhookKeys
from ..catalogue import AppInfo
from ..errors import KernelError, NotFound
from ..refresh.refresh_queue import after_effects
from ..sdk.result import User
from ..stores.item_keys import tenant_of_state
from ..types import (
    SIGNIN_USER,
    SYSTEM_USER,
    WEBHOOK_USER,
    JSONObject,
    SessionKey,
    UserKey,
    user_from,
)
from .extension_routes import REFUSED
from .request_models import Params
from .router import Answer, Request, Route, Services, validate

HEALTH_CACHE_S = 60.0
"""Seconds for which an app's answer is cached."""

HEALTH_S = 6.0
"""Seconds for which the route waits for an app, whose own limit is 5."""


class Health:
    """The public health check."""

    def __init__(self, services: Services) -> None:
        self._app = services.app
        self._services = services
        self._answers: dict[str, tuple[float, str]] = {}

    @Route("GET /v1/health", public=True, answer="HealthAnswer")
    async def health(self, request: Request) -> Answer:
        """503 where a table of this function does not answer."""
        # no token can have such an id
        probe = UserKey("__health__", "__health__")
        stores, now = self._app.stores, self._app.clock.now()
        checks = {
            "sessions": stores.sessions.read(SessionKey(probe, "health"), now=now),
            "skeleton": stores.skeleton.read(probe),
            "events": stores.events.since(probe, "", now=now),
        }
        apps = (await self._services.kernel.dispatch.catalogue()).apps
        found, answers = await asyncio.gather(
            asyncio.gather(*map(reachable, checks.values())),
            asyncio.gather(*map(self._of, apps.values())),
        )
        tables = dict(zip(checks, found, strict=True))
        healthy = all(v == "ok" for v in tables.values())
        body = {
            "status": "ok" if healthy else "degraded",
            "version": __version__,
            "model": self._app.model.name,
            "tables": tables,
            "extensions": dict(zip(apps, answers, strict=True)),
        }
        return Answer(body, 200 if healthy else 503)

    async def _of(self, app: AppInfo) -> str:
        """The app's own health check, run once a minute per process since the route is public; of
        an app that failed to load the class of the error."""
        if app.error or not app.has_health_check:
            return app.error.partition(":")[0] or "ok"
        now = self._app.clock.now()
        asked_at, answer = self._answers.get(app.app_id, (0.0, ""))
        if now - asked_at > HEALTH_CACHE_S:
            answer = await self._check(app.app_id)
            self._answers[app.app_id] = (now, answer)
        return answer

    async def _check(self, app_id: str) -> str:
        # a deployment may serve no tenant but its own
        tenant_id = self._app.settings.tenant_ids[0]
        nobody = User(SYSTEM_USER, role="system", tenant_id=tenant_id)
        asked = self._services.call("health", nobody, app_id, "health", deadline_s=5.0)
        try:
            outcome = await asyncio.wait_for(asked, HEALTH_S)
        except TimeoutError:
            return "timeout"
        except KernelError:
            return "error"
        return str((outcome.data or {}).get("status", "error")) if outcome.ok else "error"


async def reachable(check: Any) -> str:
    """`ok`, or the code of a table's error."""
    try:
        await check
    except KernelError as error:
        return error.code
    return "ok"


WEBHOOK = "/v1/ext/{app_id}/webhook/{path+}"


class Webhooks:
    """Public; each extension checks its sender's signature."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._keys = WebhookKeys(services.app.settings)

    @Route(f"GET {WEBHOOK}", public=True)  # where a challenge is asked for
    @Route(f"POST {WEBHOOK}", public=True)
    async def webhook(self, request: Request) -> Answer:
        """Hand a webhook to its extension in the tenant of its address; there is no user."""
        tenant_id, path = await self._tenant_and_path(request.path["path"])
        nobody = User(WEBHOOK_USER, role="system", tenant_id=tenant_id)
        app_id, arguments = request.path["app_id"], _webhook_arguments(request)
        outcome = await self._services.call("webhook", nobody, app_id, path, arguments)
        if outcome.error_code in REFUSED:
            raise NotFound(outcome.error, field="path")
        if not outcome.ok:
            # without the extension's text: the sender is unknown
            error = {"code": outcome.error_code, "message": "the webhook failed"}
            return Answer({"error": error}, 500)
        status, headers, body = (outcome.data[k] for k in ("status", "headers", "body"))
        if isinstance(body, str):
            # with a charset the text is sent as it is, even if it is said to be JSON
            kind = headers.pop("content-type", "text/plain")
            kind = kind if "charset" in kind.lower() else f"{kind}; charset=utf-8"
            return Answer(body, status, kind, headers)
        return Answer(body, status, headers=headers)

    async def _tenant_and_path(self, path: str) -> tuple[str, str]:
        """Tenant and path of an address: the deployment's own tenant, or a signed one. NotFound for
        a wrong signature."""
        if not path.startswith(SIGN):
            return self._services.app.settings.tenant_ids[0], path
        mark, _, rest = path.partition("/")
        tenant_id = await self._keys.tenant(mark)
        if tenant_id is None:
            raise NotFound("there is no webhook at this address", field="path")
        return tenant_id, rest


def _webhook_arguments(request: Request) -> JSONObject:
    http = (request.event.get("requestContext") or {}).get("http") or {}
    method = str(http.get("method") or str(request.event.get("routeKey", "")).partition(" ")[0])
    return {
        "method": method.upper(),
        "headers": dict(request.headers),
        "body": request.raw().decode("utf-8", "replace"),
        "query": dict(request.query),
    }


CALLBACK = "/v1/ext/{app_id}/oauth/{provider}/callback"
HTML = "text/html"
FORM = "application/x-www-form-urlencoded"
_REASON = re.compile(r"[a-z_]{1,64}")
_CODE = re.compile(r"[\x21-\x7e]{1,4096}")


class CallbackParams(Params):
    """`GET /v1/ext/{app_id}/oauth/{provider}/callback`: what a provider says in the address; no
    other length of it is refused, since a person reads the answer."""

    state: Annotated[str, Field(max_length=4096)] = ""
    code: Annotated[str, Field(max_length=4096)] = ""
    error: Annotated[str, Field(max_length=4096)] = ""


class SignInBody(BaseModel):
    """`POST /v1/ext/{app_id}/oauth/{provider}/callback`: the form of the page that asks; what a
    provider adds is ignored."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    state: Annotated[str, Field(min_length=1, max_length=1024)]
    code: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,4096}$")]


class SignInPages:
    """GET asks the user to confirm, POST finishes: opening a link alone connects nothing. Both are
    public; the state is the only proof, and names the user who began it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._dispatch = services.kernel.dispatch

    @Route(f"GET {CALLBACK}", public=True, content_type=HTML, params=CallbackParams)
    async def ask(self, request: Request) -> Answer:
        """Ask the person who comes back from the provider to finish the sign-in."""
        app_id, state = request.path["app_id"], request.query.get("state", "")
        found = await self._find(request, state)
        if found is None:
            return _over(request)
        user, code = found[0], request.query.get("code", "")
        provider = request.path["provider"].title()
        if not _CODE.fullmatch(code):
            error = request.query.get("error", "")
            # anybody may make up the address: only an error code is shown
            reason = error if _REASON.fullmatch(error) else "no code"
            return failure_page(user.language, "declined", provider=provider, reason=reason)
        app = (await self._dispatch.catalogue()).apps[app_id].display_name
        return confirm_page(user, provider, app, {"state": state, "code": code})

    @Route(f"POST {CALLBACK}", public=True, content_type=HTML, body=SignInBody, body_type=FORM)
    async def finish(self, request: Request) -> Answer:
        """Exchange the code and store the account."""
        form = request.raw().decode("utf-8", "replace")
        body = validate(SignInBody, dict(parse_qsl(form, keep_blank_values=True)))
        found = await self._find(request, body.state)
        if found is None:
            return _over(request)
        (user, key), app_id = found, request.path["app_id"]
        # a code is exchanged once: a repeated delivery gets the first outcome
        outcome = await self._services.call(
            "connect",
            user,
            app_id,
            request.path["provider"],
            {"state": body.state, "code": body.code},
            session_id="oauth",
            request_id=key,
            # one claim for the state, whichever code comes with it
            nth=0,
        )
        if not outcome.ok:
            return failure_page(user.language, "failed", reason=outcome.error)
        # the first delivery has queued the refresh
        if not outcome.repeated:
            items = after_effects(await self._dispatch.catalogue(), [app_id])
            await self._services.queue.ask(user, items)
        say = language.of(user.language).say
        text = escape(say("oauth_done", what=outcome.summary))
        return _page(user.language, say("oauth_done_title"), text)

    async def _find(self, request: Request, state: str) -> tuple[User, str] | None:
        """Who began the sign-in of a state, and a key that identifies it without revealing the
        state."""
        app_id, provider = request.path["app_id"], request.path["provider"]
        info = (await self._dispatch.catalogue()).apps.get(app_id)
        tenant_id = tenant_of_state(state)
        if info is None or info.error or not tenant_id:
            return None
        nobody = User(SIGNIN_USER, role="system", tenant_id=tenant_id)
        found = await self._services.call("signin", nobody, app_id, provider, {"state": state})
        return (user_from(found.data["user"]), str(found.data["key"])) if found.data else None


STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1.25rem}"
    "h1{font-size:1.4rem}p{margin:.75rem 0}b{overflow-wrap:anywhere}"
    "button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.5rem;"
    "background:#1f5fbf;color:#fff;cursor:pointer}"
    "button:focus-visible{outline:3px solid #e8a200;outline-offset:2px}"
)

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; style-src"
        f" 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
"""The address has a one-time code, which must not leak by a referrer, a frame or a script."""


def confirm_page(user: User, provider: str, app: str, fields: Mapping[str, str]) -> Answer:
    """Asks the user to finish, so that a link from somebody else cannot connect their account."""
    say = language.of(user.language).say
    hidden = "".join(
        f'<input type="hidden" name="{n}" value="{escape(v)}">' for n, v in fields.items()
    )
    form = f'<form method="post">{hidden}<button>{escape(say("oauth_go"))}</button></form>'
    # the sentence is escaped before the name and its mark-up go in
    name = f"<b>{escape(user.email or user.imperal_id)}</b>"
    text = escape(say("oauth_ask", user="{user}")).format(user=name)
    return _page(user.language, say("oauth_ask_title", provider=provider, app=app), text, form)


def failure_page(tag: str, key: str, **values: str) -> Answer:
    """The sign-in failed; `key` is `over`, `declined` or `failed`, `tag` a language tag or an
    `Accept-Language` header."""
    say = language.of(tag).say
    return _page(tag, say("oauth_failed_title"), escape(say(f"oauth_{key}", **values)), status=400)


def _over(request: Request) -> Answer:
    return failure_page(request.headers.get("accept-language", ""), "over")


def _page(tag: str, title: str, text: str, form: str = "", *, status: int = 200) -> Answer:
    lang = language.of(tag).tag
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    html = (
        f'<!doctype html><html lang="{lang}"><head>{head}</head>'
        f"<body><main><h1>{escape(title)}</h1><p>{text}</p>{form}</main></body></html>"
    )
    return Answer(html, status, HTML, HEADERS)

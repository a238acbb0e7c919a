"""The callback of sign-ins with other services: the provider sends the browser here, with a state
and a code."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from pydantic import Field

from ..bootstrap import App
from ..extensions.host import ExtensionHost
from ..oauth import page
from ..oauth.signin import SignIn, SignIns
from ..values.plain import JSONObject
from .connecting import connect
from .http import Answer, Request, Route
from .wire import SignInBody

PATH = "/v1/ext/{app_id}/oauth/{provider}/callback"
HTML = "text/html"
FORM = "application/x-www-form-urlencoded"
_REASON = re.compile(r"[a-z_]{1,64}")
_CODE = re.compile(r"[\x21-\x7e]{1,4096}")


class SignInPages:
    """GET asks the person, POST finishes: a link that is only looked at, by a person or by a
    scanner, connects nothing."""

    def __init__(
        self, app: App, host: ExtensionHost, changed: Callable[[SignIn], Coroutine[Any, Any, None]]
    ) -> None:
        self._app = app
        self._host = host
        self._changed = changed
        self._signins = SignIns(app.stores.cache, app.settings, app.clock)

    def routes(self) -> tuple[Route, ...]:
        """Both are public: the state is the only proof, and it names the user it was begun for."""
        query: JSONObject = dict.fromkeys(
            ("state", "code", "error"), Annotated[str, Field(max_length=4096)]
        )
        return (
            Route(f"GET {PATH}", self.ask, public=True, content_type=HTML, params=query),
            Route(
                f"POST {PATH}",
                self.finish,
                public=True,
                content_type=HTML,
                body=SignInBody,
                body_type=FORM,
            ),
        )

    async def ask(self, request: Request) -> Answer:
        """Ask the person who comes back from the provider to finish the sign-in."""
        signin = await self._find(request, request.query.get("state", ""))
        if signin is None:
            return _page(page.not_connected(_language(request), "over"), 400)
        language = signin.user.language
        code = request.query.get("code", "")
        if not _CODE.fullmatch(code):
            said = request.query.get("error", "")
            reason = said if _REASON.fullmatch(said) else "no code"
            return _page(
                page.not_connected(
                    language, "declined", provider=signin.provider.title(), reason=reason
                ),
                400,
            )
        ext = self._host.registry.extension(signin.app_id).ext
        user = signin.user.email or signin.user.imperal_id
        return _page(
            page.question(
                language, signin.provider, ext.display_name, user, request.query["state"], code
            )
        )

    async def finish(self, request: Request) -> Answer:
        """Exchange the code and store the account."""
        body = request.form(SignInBody)
        signin = await self._find(request, body.state)
        if signin is None:
            return _page(page.not_connected(_language(request), "over"), 400)
        outcome = await connect(self._app, self._host, signin, body.code)
        if not outcome.ok:
            return _page(
                page.not_connected(signin.user.language, "failed", reason=outcome.error), 400
            )
        if not outcome.repeated:
            await self._changed(signin)
        return _page(page.connected(signin.user.language, outcome.summary))

    async def _find(self, request: Request, state: str) -> SignIn | None:
        app_id, provider = request.path["app_id"], request.path["provider"]
        if app_id not in self._host.registry.loaded:
            return None
        return await self._signins.find(app_id, provider, state)


def _page(html: str, status: int = 200) -> Answer:
    return Answer(html, status, HTML, page.HEADERS)


def _language(request: Request) -> str:
    return request.headers.get("accept-language", "")

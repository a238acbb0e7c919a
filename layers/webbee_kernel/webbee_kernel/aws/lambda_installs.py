"""Installing, by the function that may write the skeleton: one synchronous invocation."""

from __future__ import annotations

from asyncio import wait_for

from ..errors import DispatchUnanswered, across
from ..sdk.user import User
from ..types import JSONObject, user_dict
from .invoking import insist
from .lambda_dispatch import Invoked

INSTALL_S = 28.0
"""Seconds for installing: two hooks of ten, and API Gateway gives up at 30."""


class LambdaInstalls(Invoked):
    """Has `skeleton_refresh` give users apps and take them away."""

    async def install(self, user: User, app_id: str, *, refresh: bool = False) -> None:
        """Give the user the app; repeatable."""
        await self._ask({"kind": "install", "refresh": refresh}, user, app_id)

    async def uninstall(self, user: User, app_id: str) -> dict[str, int]:
        """Take it away; how much went with it."""
        answer = await self._ask({"kind": "uninstall"}, user, app_id)
        return {str(k): int(v) for k, v in answer["purged"].items()}

    async def _ask(self, what: JSONObject, user: User, app_id: str) -> JSONObject:
        payload = {**what, "user": user_dict(user), "app_id": app_id}
        try:
            answer = await insist(lambda left: wait_for(self.invoke(payload), left), INSTALL_S)
        except TimeoutError:
            raise DispatchUnanswered("it did not come to an end: repeat the request") from None
        if error := answer.get("unavailable"):
            raise across(error)
        return answer

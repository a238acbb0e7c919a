"""Invoking the other functions, again where nothing can have happened: calls of extension code,
installs."""

from __future__ import annotations

import asyncio
import json
import random
from asyncio import wait_for
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from ..background import CachedValue, ValueStore
from ..catalogue import Catalogue
from ..errors import DispatchRefused, DispatchUnanswered, from_body
from ..sdk.records import User
from ..types import (
    CallOutcome,
    CallRequest,
    JSONObject,
    failed_outcome,
    from_dict,
    to_dict,
    unfinished_outcome,
    user_dict,
)
from .clients import (
    ClientFactory,
    error_code,
    failure_kind,
    in_thread,
    patient_client,
    status_of,
    threads,
)

if TYPE_CHECKING:
    from .tenant_credentials import TenantCredentials


T = TypeVar("T")

FIRST_PAUSE_S: Final = 0.1
"""Seconds before the second attempt; each pause after it is twice as long."""
LONGEST_PAUSE_S: Final = 2.0
LEAST_SHARE: Final = 0.5
"""Of a call's time that must be left for it: begun later, it would not be through."""

_PASSING: Final = frozenset({409, 429})
"""Statuses of a refusal that passes by itself."""
_BEFORE_IT_RAN: Final = frozenset(
    {
        "EC2ThrottledException",
        "ENILimitReachedException",
        "EFSMountConnectivityException",
        "SubnetIPAddressLimitReachedException",
        "ResourceNotReadyException",
        "TooManyRequestsException",
    }
)
"""Lambda's errors, whatever their status, that come before a function runs: no place to run in."""
_UNSENT: Final = frozenset({"ConnectTimeoutError", "EndpointConnectionError"})
"""Errors of botocore in which nobody was reached."""


async def invoke_with_retry(attempt: Callable[[float], Awaitable[T]], seconds: float) -> T:
    """The result of an attempt, each given the seconds that are left of the call's own.

    DispatchRefused where it has certainly not run, also after pauses and further attempts;
    DispatchUnanswered where it may have.
    """
    loop = asyncio.get_running_loop()
    deadline, left, pause = loop.time() + seconds, seconds, FIRST_PAUSE_S
    while True:
        try:
            return await attempt(left)
        except Exception as error:
            # a defect, or worded already (credentials, a broken answer): not to be judged here
            if not failure_kind(error):
                raise
            name = error_code(error) or type(error).__name__
            if not is_refusal(error):
                raise DispatchUnanswered(
                    f"the extension function did not answer ({name})"
                ) from error
            wait = random.uniform(pause / 2, pause)  # noqa: S311 - spreads callers, hides nothing
            left = deadline - loop.time() - wait
            status = status_of(error)
            stays = 400 <= status < 500 and status not in _PASSING
            if stays or left < seconds * LEAST_SHARE:
                raise DispatchRefused(
                    f"the extension function was not run ({name}): retry"
                ) from error
        await asyncio.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE_S)


def is_refusal(error: Exception) -> bool:
    """Whether what was invoked has certainly not run."""
    known = error_code(error) in _BEFORE_IT_RAN or type(error).__name__ in _UNSENT
    return known or 400 <= status_of(error) < 500


CATALOGUE_S = 10.0
"""Seconds in which the catalogue is asked for."""
TENANT_WIDE = ("schedule", "signal", "webhook", "hook", "health")
"""Kinds of calls in system context: they may act for every user of their tenant."""

ENDED = frozenset({"Runtime.ExitError", "Runtime.OutOfMemory", "Sandbox.Timedout"})
"""Lambda's errors for code that took its process along: `os._exit`, a crash, a leak, a loop that
lets nothing else run."""

THREADS = 16
"""Invocations that wait side by side: a plan's ten reads, and what else is asked beside them. The
loop's own pool has four threads more than processors, six on most functions."""
_POOL = threads(THREADS, "invoke")


class ExecutionEnded(DispatchUnanswered):
    """What was invoked ended the process it ran in."""


WebhookMark: TypeAlias = Callable[[str], Awaitable[str]]
"""A tenant as the addresses of its webhooks name it, signed."""

Configuration: TypeAlias = Callable[[CallRequest, Catalogue], Awaitable[JSONObject]]
"""What of the deployment's settings a call needs."""


class Invoked:
    """Another function, invoked and waited for."""

    def __init__(self, function_name: str, client_factory: ClientFactory = patient_client) -> None:
        self._name = function_name
        self._client_factory = client_factory

    async def invoke(self, payload: JSONObject, tenant_id: str = "") -> JSONObject:
        """Its answer; DispatchUnanswered where it broke down, botocore's error where none came."""
        client = self._client_factory("lambda")

        def invoke() -> tuple[bytes, bool]:
            whose = {"TenantId": tenant_id} if tenant_id else {}
            sent = json.dumps(payload)
            response = client.invoke(FunctionName=self._name, Payload=sent, **whose)
            return response["Payload"].read(), bool(response.get("FunctionError"))

        raw, broken = await in_thread(invoke, pool=_POOL)
        answer = json.loads(raw)  # not orjson: it turns integers beyond 64 bits into floats
        if broken:
            kind = str(answer.get("errorType", "error"))
            unanswered = ExecutionEnded if kind in ENDED else DispatchUnanswered
            raise unanswered(f"a function failed ({kind}): retry")
        return dict(answer)


class LambdaDispatch(Invoked):
    """Invokes the function of the extensions. The catalogue is asked once per process: a new
    deployment starts new processes. On an author's machine it is asked after `fresh_s` seconds."""

    def __init__(
        self,
        function_name: str,
        client_factory: ClientFactory = patient_client,
        *,
        fresh_s: float | None = None,
        store: ValueStore[Catalogue] | None = None,
        webhook_mark: WebhookMark | None = None,
        credentials: TenantCredentials | None = None,
        per_tenant: bool = False,
        configuration: Configuration | None = None,
    ) -> None:
        """`kept` has the catalogue before the function answers; `credentials` and what
        `configuration` says go with each call; `per_tenant` says that each tenant has execution
        environments of its own."""
        super().__init__(function_name, client_factory)
        self.catalogue = CachedValue[Catalogue](self._loaded, fresh_s, store)
        self._webhook_mark = webhook_mark
        self._credentials = credentials
        self._per_tenant = per_tenant
        self._configuration = configuration

    async def _loaded(self) -> Catalogue:
        # a function with an environment per tenant refuses invocations that name none
        nobody = "catalogue" if self._per_tenant else ""
        ask = invoke_with_retry(lambda _: self.invoke({"kind": "catalogue"}, nobody), CATALOGUE_S)
        return Catalogue.from_dict(await ask)

    async def _deployed(self) -> Catalogue:
        try:
            return await self.catalogue()
        except DispatchUnanswered as error:  # the call itself was not asked for
            raise DispatchRefused(str(error)) from error

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run one call there, asking again within its deadline while it is refused. One that ran
        out of its time, or ended the process it ran in, is an outcome too: the turn goes on. What
        an effect had done by then nobody knows: that one is DispatchUnanswered."""
        try:
            answer = await invoke_with_retry(
                lambda left: self._once(request, left), request.deadline_s
            )
        except TimeoutError:
            return unfinished_outcome(request)
        except ExecutionEnded:
            text = f"{request.app_id} ended the process in which {request.name} ran"
            if request.effect:
                raise DispatchUnanswered(f"{text}: whether it was done is not known") from None
            return failed_outcome(request, "INTERNAL", text)
        if error := answer.get("unavailable"):
            raise from_body(error)
        return from_dict(CallOutcome, answer)

    async def _once(self, request: CallRequest, seconds: float) -> JSONObject:
        """One invocation, with what is left of the call's time."""
        tenant_id = str(request.user["tenant_id"])
        mark = await self._webhook_mark(tenant_id) if self._webhook_mark else ""
        left = min(request.deadline_s, seconds)
        call = to_dict(replace(request, deadline_s=left, webhooks=mark))
        if self._credentials:
            user_id = str(request.user["imperal_id"])
            # handlers under `__…__` users reach every user of their tenant, too
            wide = request.kind in TENANT_WIDE or user_id.startswith("__")
            given = self._credentials.of(tenant_id, user_id, whole_tenant=wide)
            try:
                call["credentials"] = await asyncio.wait_for(given, seconds)
            except TimeoutError as error:  # nothing was invoked yet
                raise DispatchRefused("no credentials in the time of the call: retry") from error
        if self._configuration:
            call["configuration"] = await self._configuration(request, await self._deployed())
        whose = tenant_id if self._per_tenant else ""
        # longer than the call has over there: its own timeout is told as an outcome
        return await asyncio.wait_for(self.invoke(call, whose), seconds + 2.0)


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
            answer = await invoke_with_retry(
                lambda left: wait_for(self.invoke(payload), left), INSTALL_S
            )
        except TimeoutError:
            raise DispatchUnanswered("it did not come to an end: repeat the request") from None
        if error := answer.get("unavailable"):
            raise from_body(error)
        return answer

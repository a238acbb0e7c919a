"""Invoking the other Lambda functions, with retries where the call certainly did not run."""

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
from ..sdk.result import User
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
MIN_SHARE: Final = 0.5
"""Share of a call's time that must be left for another attempt."""

_TRANSIENT: Final = frozenset({409, 429})
"""HTTP statuses of refusals worth a retry."""
_BEFORE_IT_RAN: Final = frozenset(
    {
        "EC2ThrottledException",
        "ENILimitReachedException",
        "EFSMountConnectivityException",
        "SubnetIPAddressLimitReachedException",
        "ResourceNotReadyException",
        "TooManyRequestsException",
        "ConnectTimeoutError",
        "EndpointConnectionError",
    }
)
"""Lambda's errors, whatever their status, raised before a function runs, and botocore's without a
connection."""


async def invoke_with_retry(attempt: Callable[[float], Awaitable[T]], seconds: float) -> T:
    """The result of `attempt(remaining_seconds)`, retried with pauses while it is refused.

    DispatchRefused where it certainly did not run, DispatchUnanswered where it may have.
    """
    loop = asyncio.get_running_loop()
    deadline, remaining_s, pause = loop.time() + seconds, seconds, FIRST_PAUSE_S
    while True:
        try:
            return await attempt(remaining_s)
        except Exception as error:
            # a defect, or one of the kernel's own errors
            if not failure_kind(error):
                raise
            name, status = error_code(error) or type(error).__name__, status_of(error)
            if name not in _BEFORE_IT_RAN and not 400 <= status < 500:
                raise DispatchUnanswered(
                    f"the extension function did not answer ({name})"
                ) from error
            wait = random.uniform(pause / 2, pause)  # noqa: S311 - spreads callers, hides nothing
            remaining_s = deadline - loop.time() - wait
            is_permanent = 400 <= status < 500 and status not in _TRANSIENT
            if is_permanent or remaining_s < seconds * MIN_SHARE:
                raise DispatchRefused(
                    f"the extension function was not run ({name}): retry"
                ) from error
        await asyncio.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE_S)


CATALOGUE_S = 10.0
"""Seconds for fetching the catalogue."""
TENANT_WIDE = ("schedule", "signal", "webhook", "hook", "health")
"""Kinds of calls in system context, which may act for every user of their tenant."""

CRASHES = frozenset({"Runtime.ExitError", "Runtime.OutOfMemory", "Sandbox.Timedout"})
"""Lambda's errors for code that ended its process: `os._exit`, a crash, a leak, a timeout."""

THREADS = 16
"""Concurrent invocations: a plan's ten reads and some others."""
_POOL = threads(THREADS, "invoke")


class ProcessCrashed(DispatchUnanswered):
    """The invoked code ended its process."""


WebhookMark: TypeAlias = Callable[[str], Awaitable[str]]
"""Gives a tenant's signed mark in webhook URLs."""

Configuration: TypeAlias = Callable[[CallRequest, Catalogue], Awaitable[JSONObject]]
"""Gives the configuration and secrets that a call needs."""


class LambdaFunction:
    """A Lambda function, invoked synchronously."""

    def __init__(self, function_name: str, client_factory: ClientFactory = patient_client) -> None:
        self._name = function_name
        self._client_factory = client_factory

    async def invoke(self, payload: JSONObject, tenant_id: str = "") -> JSONObject:
        """Its response; DispatchUnanswered where the function failed, else botocore's error."""
        client = self._client_factory("lambda")

        def invoke() -> tuple[bytes, bool]:
            tenant = {"TenantId": tenant_id} if tenant_id else {}
            response = client.invoke(FunctionName=self._name, Payload=json.dumps(payload), **tenant)
            return response["Payload"].read(), bool(response.get("FunctionError"))

        raw, has_failed = await in_thread(invoke, pool=_POOL)
        answer = json.loads(raw)  # not orjson: it turns integers beyond 64 bits into floats
        if has_failed:
            kind = str(answer.get("errorType", "error"))
            kind_of_error = ProcessCrashed if kind in CRASHES else DispatchUnanswered
            raise kind_of_error(f"a function failed ({kind}): retry")
        return dict(answer)


class LambdaDispatch(LambdaFunction):
    """Calls extension code in `tool_dispatch`. The catalogue is fetched once a process, or again
    after `fresh_s` seconds during development."""

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
        """`store` caches the catalogue across processes; `credentials` and `configuration` are sent
        with each call; `per_tenant`: each tenant has its own execution environments."""
        super().__init__(function_name, client_factory)
        self.catalogue = CachedValue[Catalogue](self._fetch_catalogue, fresh_s, store)
        self._webhook_mark = webhook_mark
        self._credentials = credentials
        self._per_tenant = per_tenant
        self._configuration = configuration

    async def _fetch_catalogue(self) -> Catalogue:
        # a function with an environment per tenant refuses invocations that name none
        tenant = "catalogue" if self._per_tenant else ""
        answer = invoke_with_retry(
            lambda _: self.invoke({"kind": "catalogue"}, tenant), CATALOGUE_S
        )
        return Catalogue.from_dict(await answer)

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run one call, retried within its deadline while it is refused. A timeout or a crashed
        process is an outcome too; DispatchUnanswered where an effect's process crashed, since it
        may have been done."""
        try:
            answer = await invoke_with_retry(
                lambda seconds: self._once(request, seconds), request.deadline_s
            )
        except TimeoutError:
            return unfinished_outcome(request)
        except ProcessCrashed:
            text = f"{request.app_id} ended the process in which {request.name} ran"
            if request.effect:
                raise DispatchUnanswered(f"{text}: whether it was done is not known") from None
            return failed_outcome(request, "INTERNAL", text)
        if error := answer.get("unavailable"):
            raise from_body(error)
        return from_dict(CallOutcome, answer)

    async def _once(self, request: CallRequest, seconds: float) -> JSONObject:
        """One invocation with the remaining time."""
        tenant_id = str(request.user["tenant_id"])
        mark = await self._webhook_mark(tenant_id) if self._webhook_mark else ""
        deadline_s = min(request.deadline_s, seconds)
        call = to_dict(replace(request, deadline_s=deadline_s, webhooks=mark))
        if self._credentials:
            user_id = str(request.user["imperal_id"])
            # handlers under `__…__` users reach every user of their tenant, too
            whole_tenant = request.kind in TENANT_WIDE or user_id.startswith("__")
            credentials = self._credentials.of(tenant_id, user_id, whole_tenant=whole_tenant)
            try:
                call["credentials"] = await asyncio.wait_for(credentials, seconds)
            except TimeoutError as error:  # nothing was invoked yet
                raise DispatchRefused("no credentials in the time of the call: retry") from error
        if self._configuration:
            try:
                catalogue = await self.catalogue()
            except DispatchUnanswered as error:  # the call itself was not asked for
                raise DispatchRefused(str(error)) from error
            call["configuration"] = await self._configuration(request, catalogue)
        tenant = tenant_id if self._per_tenant else ""
        # longer than the call has over there: its own timeout is told as an outcome
        return await asyncio.wait_for(self.invoke(call, tenant), seconds + 2.0)


INSTALL_S = 28.0
"""Seconds for installing: two hooks of ten, and API Gateway gives up at 30."""


class LambdaInstalls(LambdaFunction):
    """Installs and uninstalls apps through `skeleton_refresh`."""

    async def install(self, user: User, app_id: str, *, refresh: bool = False) -> None:
        """Install the app for the user; repeatable."""
        await self._send({"kind": "install", "refresh": refresh}, user, app_id)

    async def uninstall(self, user: User, app_id: str) -> dict[str, int]:
        """Uninstall it; the counts of deleted items by kind."""
        answer = await self._send({"kind": "uninstall"}, user, app_id)
        return {str(k): int(v) for k, v in answer["purged"].items()}

    async def _send(self, what: JSONObject, user: User, app_id: str) -> JSONObject:
        payload = {**what, "user": user_dict(user), "app_id": app_id}
        try:
            answer = await invoke_with_retry(
                lambda seconds: wait_for(self.invoke(payload), seconds), INSTALL_S
            )
        except TimeoutError:
            raise DispatchUnanswered("it did not come to an end: repeat the request") from None
        if error := answer.get("unavailable"):
            raise from_body(error)
        return answer

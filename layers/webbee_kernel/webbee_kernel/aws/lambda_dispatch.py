"""Dispatch to the `tool_dispatch` function: a synchronous Lambda invocation per call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..background import CachedValue, ValueStore
from ..catalogue import Catalogue
from ..errors import DispatchRefused, DispatchUnanswered, across
from ..types import RUNNING, CallOutcome, CallRequest, JSONObject, failed, outcome_from, to_dict
from .clients import ClientFactory, in_thread, patient_client, threads
from .invoking import insist

if TYPE_CHECKING:
    from .tenant_credentials import TenantCredentials

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


class KeptAnswer(ValueStore[Catalogue], Protocol):
    """A catalogue that is kept, and made of an answer."""

    def made(self, told: JSONObject) -> Catalogue:
        """The catalogue of this answer."""
        ...


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
        kept: KeptAnswer | None = None,
        webhook_mark: WebhookMark | None = None,
        credentials: TenantCredentials | None = None,
        per_tenant: bool = False,
        configuration: Configuration | None = None,
    ) -> None:
        """`kept` has the catalogue before the function answers; `credentials` and what
        `configuration` says go with each call; `per_tenant` says that each tenant has execution
        environments of its own."""
        super().__init__(function_name, client_factory)
        self.catalogue = CachedValue[Catalogue](self._loaded, fresh_s, kept)
        self._kept = kept
        self._webhook_mark = webhook_mark
        self._credentials = credentials
        self._per_tenant = per_tenant
        self._configuration = configuration

    async def _loaded(self) -> Catalogue:
        """What `tool_dispatch` has loaded."""
        nobody = "catalogue" if self._per_tenant else ""
        ask = insist(lambda _: self.invoke({"kind": "catalogue"}, nobody), CATALOGUE_S)
        return (self._kept.made if self._kept else Catalogue.from_dict)(await ask)

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
            answer = await insist(lambda left: self._once(request, left), request.deadline_s)
        except TimeoutError:
            text = f"{request.name} did not finish in {request.deadline_s:g} s"
            timed_out = failed(request, "BACKEND_TIMEOUT", text, retryable=True)
            return replace(timed_out, fate=RUNNING)
        except ExecutionEnded:
            text = f"{request.app_id} ended the process in which {request.name} ran"
            if request.effect:
                raise DispatchUnanswered(f"{text}: whether it was done is not known") from None
            return failed(request, "INTERNAL", text)
        if error := answer.get("unavailable"):
            raise across(error)
        return outcome_from(answer)

    async def _once(self, request: CallRequest, seconds: float) -> JSONObject:
        """One invocation, with what is left of the call's time."""
        tenant_id = str(request.user["tenant_id"])
        mark = await self._webhook_mark(tenant_id) if self._webhook_mark else ""
        left = min(request.deadline_s, seconds)
        call = to_dict(replace(request, deadline_s=left, webhooks=mark, takes_text=True))
        if self._credentials:
            user_id = str(request.user["imperal_id"])
            wide = request.kind in TENANT_WIDE or user_id.startswith("__")
            given = self._credentials.of(tenant_id, user_id, whole_tenant=wide)
            call["credentials"] = await asyncio.wait_for(given, seconds)
        if self._configuration:
            call["configuration"] = await self._configuration(request, await self._deployed())
        whose = tenant_id if self._per_tenant else ""
        return await asyncio.wait_for(self.invoke(call, whose), seconds + 2.0)

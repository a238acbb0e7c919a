"""Dispatch to the `tool_dispatch` function: a synchronous Lambda invocation per call."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Any

from ..catalogue import Catalogue
from ..errors import DispatchUnanswered, across
from ..values import CallOutcome, CallRequest, failed, outcome_from
from ..values.plain import JSONObject
from .clients import ClientFactory, aws_client

READ_TIMEOUT_S = 60.0
"""Longer than any call's own deadline: who waits less would invoke again what is still running."""


def patient_client(service: str) -> Any:
    """A client that waits for the answer and never repeats an invocation by itself."""
    return aws_client(service, read_timeout=READ_TIMEOUT_S, attempts=1)


class LambdaDispatch:
    """Invokes another function. The catalogue is asked once per process: a new deployment starts
    new processes."""

    def __init__(self, function_name: str, client_factory: ClientFactory = patient_client) -> None:
        self._name = function_name
        self._client_factory = client_factory
        self._catalogue: Catalogue | None = None

    async def catalogue(self) -> Catalogue:
        """What `tool_dispatch` has loaded."""
        if self._catalogue is None:
            self._catalogue = Catalogue.from_dict(await self._invoke({"kind": "catalogue"}))
        return self._catalogue

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run one call there. An invocation that fails is an outcome too: the turn goes on."""
        try:
            answer = await asyncio.wait_for(self._invoke(asdict(request)), request.deadline_s + 2.0)
        except TimeoutError:
            return failed(
                request,
                "BACKEND_TIMEOUT",
                f"{request.name} did not finish in {request.deadline_s:g} s",
                retryable=True,
            )
        if error := answer.get("unavailable"):
            raise across(error)
        return outcome_from(answer)

    async def _invoke(self, payload: JSONObject) -> JSONObject:
        from botocore.exceptions import BotoCoreError, ClientError

        client = self._client_factory("lambda")
        try:
            response = await asyncio.to_thread(
                client.invoke, FunctionName=self._name, Payload=json.dumps(payload)
            )
        except (BotoCoreError, ClientError) as error:
            raise DispatchUnanswered(
                f"the extension function did not answer ({type(error).__name__}): retry"
            ) from error
        answer = json.loads(
            response["Payload"].read()
        )  # not orjson: it turns integers beyond 64 bits into floats
        if response.get("FunctionError"):
            raise DispatchUnanswered(
                f"the extension function failed ({answer.get('errorType', 'error')}): retry"
            )
        return dict(answer)

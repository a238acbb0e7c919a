"""Our own AWS client on moto: its requests pass a botocore client's events, where moto answers and
tests lose, refuse and count."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError

from webbee_kernel.aws.direct import Direct
from webbee_kernel.aws.signing import Credentials
from webbee_kernel.aws.wire import Answer, Operation

KEYS = Credentials("test", "test")


class Observed(Direct):
    """All of `Direct` but the socket."""

    def __init__(self, service: str, client: Any, **options: Any) -> None:
        super().__init__(
            service,
            region=client.meta.region_name,
            endpoint=client.meta.endpoint_url,
            credentials=lambda: KEYS,
            read_timeout=3,
            attempts=4,
            elsewhere=lambda: client,
            sleep=lambda seconds: time.sleep(min(seconds, 0.01)),
            **options,
        )
        self._model = client.meta.service_model.operation_model
        self._emit = client.meta.events.emit
        self._botocore = client

    def close(self) -> None:
        super().close()
        self._botocore.close()

    def _call(self, operation: Operation, /, **request: Any) -> Any:
        told: dict[str, Any] = {"model": self._model(operation.name), "context": {}}
        event = f"{self._service}.{operation.name}"
        self._emit(f"provide-client-params.{event}", params=request, **told)
        try:
            stopped = self._first(f"before-call.{event}", params=request, **told)
            if stopped:
                raise ClientError(stopped[1], operation.name)
            answer = super()._call(operation, **request)
        except ClientError as error:
            self._emit(f"after-call.{event}", parsed=error.response, http_response=None, **told)
            raise
        except Exception as error:
            self._emit(f"after-call-error.{event}", exception=error, **told)
            raise
        self._emit(f"after-call.{event}", parsed=answer, http_response=None, **told)
        return answer

    def _exchange(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        request = AWSRequest("POST", f"{self._endpoint}{path}", headers=dict(headers), data=body)
        name = headers["x-amz-target"].rpartition(".")[2]
        found = self._first(f"before-send.{self._service}.{name}", request=request.prepare())
        answered = {name.lower(): value for name, value in found.headers.items()}
        return Answer(found.status_code, answered, found.content)

    def _first(self, event: str, **told: Any) -> Any:
        return next((a for _, a in self._emit(event, **told) if a is not None), None)

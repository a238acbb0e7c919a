"""The one call of Lambda's API that the kernel makes, Invoke, answered by emulators and by the
local cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import unquote

from .aws import Record, access_key
from .loopback import Quiet, loopback

_INVOKE = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")


class FunctionError(Exception):
    """The function raised, or its init did: the error's class and message as Lambda reports
    them."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Invocable(Protocol):
    """A function."""

    def invoke(self, event: Any) -> Any:
        """Its answer; FunctionError where it raised or ended."""
        ...


@contextmanager
def lambda_api(
    functions: Mapping[str, Invocable], record: Record | None = None, *, prefix: str = ""
) -> Iterator[str]:
    """Serve Invoke for functions by name at the address this yields (`AWS_ENDPOINT_URL_LAMBDA`).
    One under `name#tenant` takes that tenant's, as with Lambda's tenant isolation mode. With a
    `prefix`, a path that nobody can guess, only whoever was told it can invoke."""

    class Handler(Quiet):
        def do_POST(self) -> None:  # noqa: N802 - the server's own name
            payload = self.rfile.read(int(self.headers.get("content-length") or 0))
            found = _INVOKE.fullmatch(self.path.removeprefix(prefix))
            if not self.path.startswith(prefix):
                found = None
            if record and found:
                record(
                    access_key(self.headers.get("authorization", "")),
                    "Lambda.InvokeFunction",
                    unquote(found[1]).encode(),
                )
            function = self._asked(unquote(found[1])) if found else None
            if function is None:
                self._answer(
                    404,
                    {"Type": "User", "Message": f"Function not found: {self.path}"},
                    "x-amzn-errortype",
                    "ResourceNotFoundException",
                )
                return
            try:
                self._answer(200, function.invoke(json.loads(payload)))
            except FunctionError as error:
                self._answer(
                    200,
                    {"errorType": error.kind, "errorMessage": error.message},
                    "x-amz-function-error",
                    "Unhandled",
                )

        def _asked(self, name: str) -> Invocable | None:
            whose = self.headers.get("x-amz-tenant-id", "")
            return functions.get(f"{name}#{whose}") or functions.get(name)

        def _answer(
            self,
            status: int,
            body: object,
            header: str = "x-amz-executed-version",
            value: str = "$LATEST",
        ) -> None:
            raw = json.dumps(body).encode()  # not orjson: integers beyond 64 bits stay exact
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.send_header(header, value)
            self.end_headers()
            self.wfile.write(raw)

    with loopback(Handler, "lambda-api") as address:
        yield f"{address}{prefix}"

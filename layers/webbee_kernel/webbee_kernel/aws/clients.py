"""boto3 clients, one session a process, thread pools, request credentials, and error translation.

Clients are low-level, created on first use and cached; requests are sent from threads.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Final, Literal

from ..errors import StorageUnavailable
from ..observability import context_value

ClientFactory = Callable[[str], Any]
"""Makes, or returns, the client of a service such as `dynamodb`."""

Failure = Literal["answered", "silent", "unreached", "unsigned", ""]

THREADS: Final = 8
READ_TIMEOUT_S: Final = 3.0
"""Default read timeout of one attempt, in seconds."""
READ_TIMEOUTS_S: Final = (2, 5, 10, 20, 30, 60, 180)
PATIENT_S: Final = 100.0
"""Longer than any call's own deadline, a job's 90 s too: a shorter timeout would invoke again what
is still running."""
BRISK_S: Final = 0.5
IDLE_S: Final = 20.0
"""Seconds without a request after which an invocation opens a new connection."""
_OUTAGES: Final = {
    "InternalServerError",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "ThrottledException",
    "ThrottlingException",
    "TooManyUpdates",
    "TransactionInProgressException",
}
PLACE: Final = ("AWS_ENDPOINT", "AWS_REGION", "AWS_DEFAULT_REGION")
"""Prefixes of the variables that decide endpoint and region."""

_client_environments: set[frozenset[str]] = set()
_last_request_at: dict[str, float] = {}
_clients: dict[tuple[str, float, int, str], Any] = {}
_pools: list[ThreadPoolExecutor] = []
_clients_lock = threading.Lock()


class TruncatedBody(Exception):
    """DynamoDB's response body was cut off; the request itself was carried out."""


def threads(count: int, name: str) -> ThreadPoolExecutor:
    """A thread pool for blocking calls of one kind; init starts the first thread of each."""
    _pools.append(pool := ThreadPoolExecutor(count, thread_name_prefix=name))
    return pool


_EXECUTOR: Final = threads(THREADS, "aws")


def environment(*beginnings: str) -> frozenset[str]:
    """`NAME=value` of the environment's variables with these prefixes."""
    return frozenset(f"{k}={v}" for k, v in os.environ.items() if k.startswith(beginnings))


def environment_proxy(url: str) -> tuple[str, dict[str, str]]:
    """The proxy that the environment names for a URL, or empty, and the headers that it wants."""
    # late: to import this module must not load botocore
    from botocore.httpsession import ProxyConfiguration
    from botocore.utils import get_environ_proxies

    proxies = ProxyConfiguration(get_environ_proxies(url))
    proxy = proxies.proxy_url_for(url)
    return (proxy, proxies.proxy_headers_for(proxy)) if proxy else ("", {})


def read_timeout_for(seconds: float) -> float:
    """The read timeout for a request with so many seconds left, rounded up to one of a few steps: a
    client has one timeout and costs about 10 ms to create."""
    return next((t for t in READ_TIMEOUTS_S if t >= seconds), READ_TIMEOUTS_S[-1])


@functools.cache
def _session() -> Any:
    # late: that module imports this one
    from .tenant_credentials import make_session

    return make_session(tuple(_role_credentials))


def aws_client(
    service: str, *, read_timeout: float = READ_TIMEOUT_S, attempts: int = 4, address: str = ""
) -> Any:
    """The process's cached client of a service, from the environment's region, credentials and
    AWS_ENDPOINT_URL.

    `read_timeout` is in seconds for one attempt, `attempts` counts the first one; `address` is the
    endpoint of a service that has one per resource.
    """
    key = service, read_timeout, attempts, address
    if (client := _clients.get(key)) is None:
        with _clients_lock:
            if (client := _clients.get(key)) is None:
                from .tenant_credentials import make_client

                # for `forget_clients`: where the environment pointed when this one was made
                _client_environments.add(environment(*PLACE))
                client = _clients[key] = make_client(
                    _session(),
                    service,
                    read_timeout=read_timeout,
                    attempts=attempts,
                    address=address,
                )
    return client


def patient_client(service: str) -> Any:
    """A client that waits long and never retries, for requests that must not run twice. Connections
    idle for long are closed first: the server may have dropped them while this environment was
    frozen, and a request on one would fail without telling whether it arrived."""
    client, now = aws_client(service, read_timeout=PATIENT_S, attempts=1), time.time()
    if now - _last_request_at.get(service, now) > IDLE_S:
        client.close()  # it opens new ones when it is next asked
    _last_request_at[service] = now
    return client


def brisk_client(service: str) -> Any:
    """A client with a short timeout and no retries."""
    return aws_client(service, read_timeout=BRISK_S, attempts=1)


def start_threads() -> None:
    """Start the first thread of each pool, during init."""
    for pool in _pools:
        pool.submit(int)


def close_connections() -> None:
    """Close the connections of all clients, before a SnapStart snapshot; they reopen when used."""
    for client in tuple(_clients.values()):
        client.close()


def forget_clients(*, is_lazy: bool = False) -> None:
    """Drop all cached clients; with `is_lazy` only if region or endpoints changed since."""
    if is_lazy and not _client_environments - {environment(*PLACE)}:
        return
    with _clients_lock:
        _client_environments.clear()
        _clients.clear()
        _session.cache_clear()


async def in_thread(
    call: Callable[..., Any], *args: Any, pool: ThreadPoolExecutor = _EXECUTOR
) -> Any:
    """Run a blocking call in a thread with the caller's context; the default pool has eight."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, context.run, call, *args)


def error_code(error: BaseException) -> str:
    """The service's own code of an error answer, empty for any other exception."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def status_of(error: BaseException) -> int:
    """The HTTP status of an error answer, 0 for any other exception."""
    response = getattr(error, "response", None) or {}
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def failure_kind(error: BaseException) -> Failure:
    """How a request failed: `answered` (an error response), `silent` (timeout), `unreached` (no
    connection or an unreadable response), `unsigned` (no credentials); empty for a defect."""
    # late: to import this module must not load botocore
    from botocore import eventstream, parsers
    from botocore import exceptions as foreign

    if isinstance(error, foreign.ClientError):
        return "answered"
    if isinstance(error, foreign.ReadTimeoutError):
        return "silent"
    if isinstance(error, foreign.NoCredentialsError | foreign.PartialCredentialsError):
        return "unsigned"
    if isinstance(error, eventstream.ParserError | parsers.ResponseParserError):
        return "unreached"
    # a request that botocore itself refuses is our defect, and no outage
    is_ours = isinstance(error, foreign.ParamValidationError)
    return "unreached" if isinstance(error, foreign.BotoCoreError) and not is_ours else ""


def outage(error: BaseException, what: str) -> StorageUnavailable | None:
    """StorageUnavailable for transient and deployment errors; None for others."""
    kind = failure_kind(error)
    if kind == "answered":
        code = error_code(error)
        if code == "ResourceNotFoundException":
            return StorageUnavailable(
                f"{what} does not exist in this account and region: deploy the stack, or mend the"
                " variable that names it."
            )
        if code == "AccessDeniedException":
            return StorageUnavailable(f"{what} refused this function: its role lacks a permission.")
        if code in _OUTAGES or status_of(error) >= 500:
            return StorageUnavailable(f"{what} is overloaded or down ({code}); try again.")
    elif kind:
        return StorageUnavailable(f"{what} did not answer ({type(error).__name__}); try again.")
    return None


VARIABLES: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Variables Lambda puts a role's credentials into."""


request_credentials: ContextVar[Mapping[str, str] | None] = ContextVar("credentials", default=None)
"""`{"key", "secret", "token"}` for the current call; None for the process's own credentials."""
_role_credentials: list[str] = []


def use_credentials(credentials: Mapping[str, str] | None) -> AbstractContextManager[None]:
    """Sign AWS requests in this block with these credentials."""
    return context_value(request_credentials, credentials or None)


def take_credentials(environ: MutableMapping[str, str]) -> None:
    """Move the role's credentials out of the environment into the kernel's own session, before
    extension code is imported.

    Code that reads the environment or starts a child process then finds none. No strict isolation:
    extension code can still search the process's memory.
    """
    key, secret, token = (environ.pop(name, "") for name in VARIABLES)
    if key and secret:
        _role_credentials[:] = [key, secret, *([token] if token else [])]

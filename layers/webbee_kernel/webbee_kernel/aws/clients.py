"""What every adapter of an AWS service shares: boto3 clients, one session a process, threads, and
the outages they translate.

Clients are boto3's low-level ones, made when first needed and kept. boto3 blocks, so requests are
sent from threads; a client may be used by several at once.
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
"""Seconds that one attempt waits for an answer where nobody says otherwise."""
READ_TIMEOUTS_S: Final = (2, 5, 10, 20, 30, 60, 180)
PATIENT_S: Final = 100.0
"""Longer than any call's own deadline, a job's 90 s too: who waits less would invoke again what is
still running."""
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
"""Beginnings of the variables that say where requests go."""

_made_in: set[frozenset[str]] = set()
_asked_at: dict[str, float] = {}
_clients: dict[tuple[str, float, int, str], Any] = {}
_pools: list[ThreadPoolExecutor] = []
_making = threading.Lock()


class CutBody(Exception):
    """The body of DynamoDB's answer broke off: what was asked for has been done all the same."""


def threads(count: int, name: str) -> ThreadPoolExecutor:
    """At most so many threads, for blocking calls of one kind; init starts the first of each."""
    _pools.append(made := ThreadPoolExecutor(count, thread_name_prefix=name))
    return made


_EXECUTOR: Final = threads(THREADS, "aws")


def environment(*beginnings: str) -> frozenset[str]:
    """The environment's variables of these beginnings, with their values."""
    return frozenset(f"{k}={v}" for k, v in os.environ.items() if k.startswith(beginnings))


def read_timeout_for(seconds: float) -> float:
    """The read timeout of a request that has so long left: the next of a few steps, as a client has
    one timeout and costs about 10 ms to make."""
    return next((t for t in READ_TIMEOUTS_S if t >= seconds), READ_TIMEOUTS_S[-1])


@functools.cache
def _session() -> Any:
    # late: that module imports this one
    from .tenant_credentials import make_session

    return make_session(tuple(_held))


def aws_client(
    service: str, *, read_timeout: float = READ_TIMEOUT_S, attempts: int = 4, address: str = ""
) -> Any:
    """The process's client of a service, made once from region, credentials and AWS_ENDPOINT_URL
    of the environment.

    `read_timeout` is in seconds and holds for one attempt, `attempts` counts the first one.
    `address` is that of a service that has one for each of its resources.
    """
    named = service, read_timeout, attempts, address
    if (client := _clients.get(named)) is None:
        with _making:
            if (client := _clients.get(named)) is None:
                from .tenant_credentials import make_client

                # for `forget_clients`: where the environment pointed when this one was made
                _made_in.add(environment(*PLACE))
                client = _clients[named] = make_client(
                    _session(),
                    service,
                    read_timeout=read_timeout,
                    attempts=attempts,
                    address=address,
                )
    return client


def patient_client(service: str) -> Any:
    """A client that waits for the answer and never repeats a request by itself: what it asks for
    may have been done. Connections that were idle for long are closed first: the other side may
    have given them up while this environment was frozen, and nobody could tell later whether a
    request on one of them was taken."""
    client, now = aws_client(service, read_timeout=PATIENT_S, attempts=1), time.time()
    if now - _asked_at.get(service, now) > IDLE_S:
        client.close()  # it opens new ones when it is next asked
    _asked_at[service] = now
    return client


def brisk_client(service: str) -> Any:
    """A client that gives up soon: nobody waits for it longer."""
    return aws_client(service, read_timeout=BRISK_S, attempts=1)


def start_threads() -> None:
    """Start the first thread of each pool now, in init, where it costs nobody's time."""
    for pool in _pools:
        pool.submit(int)


def close_connections() -> None:
    """Every client opens new ones when it is next asked: those of a snapshot are nobody's any
    longer."""
    for client in tuple(_clients.values()):
        client.close()


def forget_clients(*, unless_here: bool = False) -> None:
    """Make every client anew when next needed; `unless_here` keeps them where region and endpoints
    are still those they were made for."""
    if unless_here and not _made_in - {environment(*PLACE)}:
        return
    with _making:
        _made_in.clear()
        _clients.clear()
        _session.cache_clear()


async def in_thread(
    call: Callable[..., Any], *args: Any, pool: ThreadPoolExecutor = _EXECUTOR
) -> Any:
    """Run a blocking call beside others, in the context it was asked for in; up to eight at once
    where no `pool` is named."""
    here = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, here.run, call, *args)


def error_code(error: BaseException) -> str:
    """The service's own code of an error answer, empty for any other exception."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def status_of(error: BaseException) -> int:
    """The HTTP status of an error answer, 0 for any other exception."""
    response = getattr(error, "response", None) or {}
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def failure_kind(error: BaseException) -> Failure:
    """What became of a request: the service answered with an error, stayed silent, was not reached
    or not understood, or nobody was there to sign; empty for a defect."""
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
    """StorageUnavailable for what passes by itself or is a matter of deployment; None for answers
    and defects."""
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
"""`{"key", "secret", "token"}` of the call at hand; None stands for the process's own."""
_held: list[str] = []


def signing_with(given: Mapping[str, str] | None) -> AbstractContextManager[None]:
    """Sign with these `request_credentials` in here."""
    return context_value(request_credentials, given or None)


def hold_credentials(environ: MutableMapping[str, str]) -> None:
    """Move the role's credentials out of the environment into the kernel's own session, before
    extension code is imported.

    What reads the environment, prints it or hands it to a child process finds none. It is a fence,
    not a wall: code in this process can still look for them in its memory, and then has what the
    function's role grants, nothing more.
    """
    key, secret, token = (environ.pop(name, "") for name in VARIABLES)
    if key and secret:
        _held[:] = [key, secret, *([token] if token else [])]

"""What every adapter of an AWS service shares: one session, clients made when first needed,
threads, and the outages they translate.

Where the environment says all that a request needs (a region of the common partition, keys, no
proxy, no profile), clients are `direct.Direct`; everywhere else, and where WEBBEE_AWS_CLIENT says
so, they are botocore's, boto3's engine. botocore is imported by the first client that needs it.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final

from ..errors import StorageUnavailable

if TYPE_CHECKING:
    from .signing import Credentials

ClientFactory = Callable[[str], Any]
"""Makes, or returns, the client of a service such as `dynamodb`."""

THREADS: Final = 8
OPENING_S: Final = 1.5
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
CREDENTIALS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Variables Lambda puts a role's credentials into."""

UNUSUAL: Final = (
    "AWS_CA_BUNDLE",
    "AWS_CREDENTIAL_EXPIRATION",
    "AWS_DEFAULT_PROFILE",
    "AWS_PROFILE",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_USE_FIPS_ENDPOINT",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "REQUESTS_CA_BUNDLE",
)
"""Variables, in either case, that only botocore knows how to follow."""
PLACE: Final = ("AWS_ENDPOINT", "AWS_REGION", "AWS_DEFAULT_REGION")
"""Beginnings of the variables that say where requests go."""
_COMMON_REGION: Final = re.compile(r"(us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-\d+")
"""Regions of the partition `aws`, as botocore's `partitions.json` has them."""

_held: list[str] = []
_kind: list[str] = ["botocore"]
_made_in: set[frozenset[str]] = set()
_pools: list[ThreadPoolExecutor] = []
_making = threading.Lock()


def threads(count: int, name: str) -> ThreadPoolExecutor:
    """At most so many threads, for blocking calls of one kind; init starts the first of each."""
    _pools.append(made := ThreadPoolExecutor(count, thread_name_prefix=name))
    return made


_EXECUTOR: Final = threads(THREADS, "aws")


def hold_credentials(environ: MutableMapping[str, str]) -> None:
    """Move the role's credentials out of the environment into the kernel's own session, before
    extension code is imported.

    What reads the environment, prints it or hands it to a child process finds none. It is a fence,
    not a wall: code in this process can still look for them in its memory, and then has what the
    function's role grants, nothing more.
    """
    key, secret, token = (environ.pop(name, "") for name in CREDENTIALS)
    if key and secret:
        _held[:] = [key, secret, *([token] if token else [])]


def choose(kind: str) -> None:
    """`direct` or `botocore`: which clients a deployment has (WEBBEE_AWS_CLIENT). Those that an
    earlier one of this process made, of another kind, region or endpoint, are forgotten."""
    if _kind != [kind] or _made_in - {told(*PLACE)}:
        forget_clients()
    _kind[:] = [kind]


def told(*beginnings: str) -> frozenset[str]:
    """The environment's variables of these beginnings, with their values."""
    return frozenset(f"{k}={v}" for k, v in os.environ.items() if k.startswith(beginnings))


def usual(environ: Mapping[str, str], held: bool) -> bool:
    """Whether the environment alone says where a request goes and who signs it."""
    keys = held or bool(environ.get(CREDENTIALS[0]) and environ.get(CREDENTIALS[1]))
    odd = any(environ.get(name) or environ.get(name.lower()) for name in UNUSUAL)
    return keys and not odd and bool(_COMMON_REGION.fullmatch(_region(environ)))


def endpoint(service: str, environ: Mapping[str, str]) -> str:
    """The address of a service: a variable of its own, AWS_ENDPOINT_URL, else AWS's in the
    region."""
    if environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() != "true":
        own = f"AWS_ENDPOINT_URL_{service.upper().replace('-', '_')}"
        if found := environ.get(own) or environ.get("AWS_ENDPOINT_URL"):
            return found
    return f"https://{service}.{_region(environ)}.amazonaws.com"


def _region(environ: Mapping[str, str]) -> str:
    return environ.get("AWS_DEFAULT_REGION") or environ.get("AWS_REGION") or ""


def _credentials() -> Credentials:
    from .handed import handed
    from .signing import Credentials

    if given := handed():
        return given
    if _held:
        return Credentials(*_held)
    return Credentials(*(os.environ.get(name, "") for name in CREDENTIALS))


@functools.cache
def _session() -> Any:
    from botocore.session import Session

    session = Session()
    if _held:
        session.register_component("credential_provider", _provider())
    return session


def _provider() -> Any:
    """botocore's source of credentials: each request signs with those of the call it is for."""
    from botocore.credentials import Credentials, ReadOnlyCredentials

    from .handed import handed

    class Lent(Credentials):
        def get_frozen_credentials(self) -> Any:
            given = handed()
            return ReadOnlyCredentials(*given) if given else super().get_frozen_credentials()

    class Provider:
        def load_credentials(self) -> Any:
            return Lent(*_held)

    return Provider()


@functools.cache
def _directly() -> bool:
    """Whether clients are direct here; a look at the whole environment, so one for all of them."""
    _made_in.add(told(*PLACE))
    return _kind == ["direct"] and usual(os.environ, bool(_held))


@functools.cache
def _client(service: str, read_timeout: float, attempts: int) -> Any:
    if _directly():
        from .direct import Direct, speaks

        if speaks(service):
            return Direct(
                service,
                region=_region(os.environ),
                endpoint=endpoint(service, os.environ),
                credentials=_credentials,
                read_timeout=read_timeout,
                attempts=attempts,
                elsewhere=functools.partial(_botocore, service, read_timeout, attempts),
            )
    return _botocore(service, read_timeout, attempts)


@functools.cache
def _botocore(service: str, read_timeout: float, attempts: int, address: str = "") -> Any:
    from botocore.config import Config

    _made_in.add(told(*PLACE))
    config = Config(
        connect_timeout=1,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=20,
        tcp_keepalive=True,
    )
    return _session().create_client(service, config=config, endpoint_url=address or None)


def aws_client(
    service: str, *, read_timeout: float = 3, attempts: int = 4, address: str = ""
) -> Any:
    """The process's client of a service, made once from region, credentials and AWS_ENDPOINT_URL
    of the environment.

    `read_timeout` is in seconds and holds for one attempt, `attempts` counts the first one.
    `address` is that of a service that has one for each of its resources.
    """
    with _making:
        if address:
            return _botocore(service, read_timeout, attempts, address)
        return _client(service, read_timeout, attempts)


def open_connections(services: Mapping[str, int]) -> None:
    """Open so many connections to each service now, side by side, and start threads: in init, where
    neither costs anybody's time. What cannot be reached is left to the first request."""
    for pool in _pools:
        pool.submit(int)
    clients = [aws_client(service) for service, count in services.items() for _ in range(count)]
    openings = [_EXECUTOR.submit(c.connect) for c in clients if hasattr(type(c), "connect")]
    wait(openings, timeout=OPENING_S)


def forget_clients() -> None:
    """Make every client anew when next needed."""
    with _making:
        _made_in.clear()
        _directly.cache_clear()
        _client.cache_clear()
        _botocore.cache_clear()
        _session.cache_clear()
        if direct := sys.modules.get(f"{__package__}.direct"):
            direct.pool.cache_clear()


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


def outage(error: BaseException, what: str) -> StorageUnavailable | None:
    """StorageUnavailable for what passes by itself or is a matter of deployment; None for answers
    and defects."""
    from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

    if isinstance(error, ClientError):
        code = error_code(error)
        if code == "ResourceNotFoundException":
            return StorageUnavailable(
                f"{what} does not exist in this account and region: deploy the stack, or mend the"
                " variable that names it."
            )
        if code == "AccessDeniedException":
            return StorageUnavailable(f"{what} refused this function: its role lacks a permission.")
        if (
            code in _OUTAGES
            or error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500
        ):
            return StorageUnavailable(f"{what} is overloaded or down ({code}); try again.")
    elif isinstance(error, BotoCoreError) and not isinstance(error, ParamValidationError):
        return StorageUnavailable(f"{what} did not answer ({type(error).__name__}); try again.")
    return None

"""What every adapter of an AWS service shares: one session, clients made when first needed,
threads, and the outages they translate.

boto3's engine, botocore, makes them: boto3 itself adds resources and transfers that nothing here
uses, and a tenth of a cold start. It is imported by the first request, not by the import of this
module.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from ..errors import StorageUnavailable

ClientFactory = Callable[[str], Any]
"""Makes, or returns, the client of a service such as `dynamodb`."""

THREADS: Final = 8
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

_held: list[str] = []
_EXECUTOR: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="aws")
_making = threading.Lock()


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


@functools.cache
def _session() -> Any:
    from botocore.session import Session

    session = Session()
    if _held:
        session.set_credentials(*_held)
    return session


@functools.cache
def _client(service: str, read_timeout: float, attempts: int) -> Any:
    from botocore.config import Config

    config = Config(
        connect_timeout=1,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=20,
        tcp_keepalive=True,
    )
    return _session().create_client(service, config=config)


def aws_client(service: str, *, read_timeout: float = 3, attempts: int = 4) -> Any:
    """The process's client of a service, made once; botocore reads region, credentials and
    AWS_ENDPOINT_URL.

    `read_timeout` is in seconds and holds for one attempt, `attempts` counts the first one.
    """
    with _making:
        return _client(service, read_timeout, attempts)


def forget_clients() -> None:
    """Make every client anew when next needed: the environment names another region or endpoint
    now."""
    with _making:
        _client.cache_clear()
        _session.cache_clear()


async def in_thread(call: Callable[..., Any], *args: Any) -> Any:
    """Run a blocking call beside others; up to eight at once."""
    return await asyncio.get_running_loop().run_in_executor(_EXECUTOR, call, *args)


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

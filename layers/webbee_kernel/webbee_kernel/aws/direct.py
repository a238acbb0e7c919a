"""AWS requests of a turn and a refresh, sent directly: a signature, a kept connection, JSON.

botocore takes 1.1-1.3 ms of CPU for one Query and reads the CA bundle anew for each new TLS
connection (27-30 ms); this takes a quarter and reads five of its authorities (`trust.py`). It
speaks the few operations of `wire.OPERATIONS`, with boto3's names, arguments, answers and error
classes; whatever else is asked of a client is botocore's. `clients.py` decides when botocore is
used altogether; docs/decisions/aws-client.md says why this exists and what would end it.
"""

from __future__ import annotations

import functools
import os
import random
import time
import zlib
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import urllib3

from ..values.plain import JSONObject
from .signing import Credentials, authorization
from .trust import VerifiedPool, tls
from .wire import OPERATIONS, Answer, Operation, code_of, read, refusal, signing_name, written

USER_AGENT: Final = "webbee-kernel"
CONNECT_TIMEOUT_S: Final = 1.0
CONNECTIONS: Final = 20
"""Kept per service: eight threads of the stores, ten of parallel calls."""
LONGEST_PAUSE_S: Final = 20.0
SKEW_S: Final = 240.0
"""A clock that differs this much from the service's is corrected; AWS refuses from 300 s."""

TRANSIENT: Final = frozenset({500, 502, 503, 504})
RETRIED: Final = frozenset(
    """RequestTimeout RequestTimeoutException PriorRequestNotComplete Throttling
    ThrottlingException ThrottledException RequestThrottledException TooManyRequestsException
    ProvisionedThroughputExceededException TransactionInProgressException RequestLimitExceeded
    BandwidthLimitExceeded LimitExceededException RequestThrottled SlowDown""".split()
)
"""The error codes that botocore's standard mode repeats."""
_SKEWED: Final = frozenset(
    {"InvalidSignatureException", "RequestTimeTooSkewed", "SignatureDoesNotMatch"}
)


def speaks(service: str) -> bool:
    """Whether any operation of this service is known here."""
    return service in OPERATIONS


@functools.cache
def pool(scheme: str, host: str, port: int | None) -> urllib3.HTTPConnectionPool:
    """The process's connections to one address, whichever client sends."""
    if scheme == "https":
        return VerifiedPool(host, port, maxsize=CONNECTIONS, retries=False, ssl_context=tls())
    return urllib3.HTTPConnectionPool(host, port, maxsize=CONNECTIONS, retries=False)


class Quota:
    """Retries that a client may still make, as in botocore's standard mode: 500 tokens, 5 for a
    repeat, 10 after a timeout, given back by what succeeds."""

    FULL: Final = 500
    REPEAT: Final = 5
    TIMEOUT: Final = 10

    def __init__(self) -> None:
        self._left = self.FULL
        self._lock = Lock()

    def take(self, tokens: int) -> bool:
        """Whether one more repeat is allowed."""
        with self._lock:
            if tokens > self._left:
                return False
            self._left -= tokens
            return True

    def give(self, tokens: int) -> None:
        """Called by an answer: what its repeats took, at least one."""
        with self._lock:
            self._left = min(self.FULL, self._left + max(tokens, 1))


class Direct:
    """A client of one service: `client.query(TableName=…)`, from several threads at once.

    `elsewhere` makes the botocore client that has whatever else is asked for; `attempts` counts the
    first one, `read_timeout` is in seconds and of one attempt.
    """

    def __init__(
        self,
        service: str,
        *,
        region: str,
        endpoint: str,
        credentials: Callable[[], Credentials],
        read_timeout: float,
        attempts: int,
        elsewhere: Callable[[], Any],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._region = region
        self._credentials = credentials
        self._attempts = attempts
        self._elsewhere = elsewhere
        self._sleep = sleep
        self._quota = Quota()
        self._skew = 0.0
        url = urlsplit(endpoint)
        self._endpoint = endpoint
        self._host = url.netloc
        self._prefix = url.path.rstrip("/")
        self._pool = pool(url.scheme, str(url.hostname), url.port)
        self._timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT_S, read=read_timeout)
        self._operations = OPERATIONS[service]

    def __getattr__(self, name: str) -> Any:
        operation = self._operations.get(name)
        if operation is None:
            return getattr(self._elsewhere(), name)
        bound = functools.partial(self._call, operation)
        setattr(self, name, bound)
        return bound

    def close(self) -> None:
        """Close the connections that wait for a request."""
        self._pool.close()

    def connect(self) -> None:
        """Open a connection now, so that the first request need not; a failure is its affair."""
        timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT_S, read=CONNECT_TIMEOUT_S)
        headers = {"host": self._host, "user-agent": USER_AGENT}
        try:
            self._pool.urlopen("GET", "/", headers=headers, timeout=timeout, redirect=False)
        except urllib3.exceptions.HTTPError:
            return

    def _call(self, operation: Operation, /, **request: Any) -> JSONObject:
        message = written(self._service, operation, request)
        spent, attempt = 0, 0
        while True:
            attempt += 1
            found = self._tried(*message)
            if isinstance(found, Answer) and 200 <= found.status < 300:
                self._quota.give(spent)
                return read(operation, found, attempt)
            cost = Quota.REPEAT if isinstance(found, Answer) else Quota.TIMEOUT
            last = attempt >= self._attempts
            if last or not self._passes(found) or not self._quota.take(cost):
                if isinstance(found, Answer):
                    raise refusal(operation, found, attempt, last=last)
                raise found
            spent += cost
            self._sleep(min(random.random() * 2 ** (attempt - 1), LONGEST_PAUSE_S))  # noqa: S311

    def _tried(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer | Exception:
        try:
            answer = self._sent(path, headers, body)
        except urllib3.exceptions.HTTPError as error:
            return _unanswered(error, self._endpoint)
        return answer if answer.intact else _corrupt(answer)

    def _passes(self, found: Answer | Exception) -> bool:
        """Whether the same request may be answered otherwise a moment later."""
        if isinstance(found, Exception):
            return True
        code = code_of(found)
        if code in _SKEWED and (date := found.headers.get("date")):
            skew = parsedate_to_datetime(date).timestamp() - time.time()
            if abs(skew - self._skew) > SKEW_S:
                self._skew = skew
                return True
        return code in RETRIED or found.status in TRANSIENT

    def _sent(self, path: str, extra: Mapping[str, str], body: bytes) -> Answer:
        credentials = self._credentials()
        path = self._prefix + path
        headers = {
            "host": self._host,
            "x-amz-date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + self._skew)),
            **extra,
        }
        if credentials.token:
            headers["x-amz-security-token"] = credentials.token
        headers["authorization"] = authorization(
            "POST",
            path,
            headers,
            body,
            credentials=credentials,
            region=self._region,
            service=signing_name(self._service),
        )
        headers["user-agent"] = USER_AGENT
        if trace := os.environ.get("_X_AMZN_TRACE_ID"):
            headers["x-amzn-trace-id"] = trace  # not signed: what lies between may add to it
        return self._exchange(path, headers, body)

    def _exchange(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        found = self._pool.urlopen(
            "POST",
            path,
            body=body,
            headers=headers,
            timeout=self._timeout,
            redirect=False,
            decode_content=False,
        )
        return Answer(found.status, {k.lower(): v for k, v in found.headers.items()}, found.data)


def _corrupt(answer: Answer) -> Exception:
    from botocore.exceptions import ChecksumError

    return ChecksumError(
        checksum_type="crc32",
        expected_checksum=answer.headers["x-amz-crc32"],
        actual_checksum=str(zlib.crc32(answer.body)),
    )


def _unanswered(error: Exception, endpoint: str) -> Exception:
    """A network's failure as botocore names it."""
    from botocore import exceptions as named

    found: type[named.BotoCoreError] = named.HTTPClientError
    for foreign, ours in (
        (urllib3.exceptions.NewConnectionError, named.EndpointConnectionError),
        (urllib3.exceptions.ConnectTimeoutError, named.ConnectTimeoutError),
        (urllib3.exceptions.ReadTimeoutError, named.ReadTimeoutError),
        (urllib3.exceptions.SSLError, named.SSLError),
        (urllib3.exceptions.ProtocolError, named.ConnectionClosedError),
    ):
        if isinstance(error, foreign):
            found = ours
            break
    return found(endpoint_url=endpoint, error=error, request=None)

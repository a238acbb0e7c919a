"""The process's boto3 session, whose clients sign each request with the credentials of its call.

Imported by the first client: boto3 costs a process about 0.2 s of CPU.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import boto3
import orjson
from botocore.config import Config
from botocore.credentials import Credentials, ReadOnlyCredentials
from botocore.exceptions import NoCredentialsError
from botocore.session import Session

from .clients import CutBody, request_credentials

CONNECT_TIMEOUT_S = 1.0
CONNECTIONS = 20
"""Kept open per client: eight threads of the stores, twenty of the queue's senders."""


class RequestCredentials(Credentials):
    """Those handed in with the call at hand, the process's own where none were.

    `find` looks for the process's own, and again before each request until there are some: they may
    come later than its first client, and a process that runs extension code has none.
    """

    def __init__(self, find: Callable[[], Credentials | None]) -> None:
        self._find = find
        self._own = own = find()
        held = own.get_frozen_credentials() if own else ReadOnlyCredentials("", "", None)
        super().__init__(held.access_key or "", held.secret_key or "", held.token)

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """Asked by botocore's signer before each request."""
        if given := request_credentials():
            return ReadOnlyCredentials(given.key, given.secret, given.token or None)
        self._own = self._own or self._find()
        if self._own is None:
            raise NoCredentialsError
        return self._own.get_frozen_credentials()


class _Provider:
    """botocore's source of credentials, of which there is one."""

    def __init__(self, find: Callable[[], Credentials | None]) -> None:
        self._find = find

    def load_credentials(self) -> Credentials:
        return RequestCredentials(self._find)


def make_session(held: Sequence[str]) -> boto3.Session:
    """A session; `held` are key, secret and token that left the environment, empty for boto3's own
    search."""
    below = Session()
    found = below.get_component("credential_provider").load_credentials
    find = functools.partial(Credentials, *held) if held else found
    below.register_component("credential_provider", _Provider(find))
    return boto3.Session(botocore_session=below)


def make_client(
    session: boto3.Session, service: str, *, read_timeout: float, attempts: int, address: str = ""
) -> Any:
    """A low-level client; `attempts` counts the first one, `read_timeout` is of one attempt."""
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
    )
    make: Any = session.client
    client: Any = make(service, config=config, endpoint_url=address or None)
    client.meta.events.register("before-parse.dynamodb", _refuse_cut_body)
    return client


def _refuse_cut_body(response_dict: Mapping[str, Any], **_: object) -> None:
    """CutBody for an answer of DynamoDB that broke off: botocore would read it as an empty one, so
    an item that is there as one that is not."""
    body: bytes = response_dict["body"]
    told = response_dict["headers"].get("x-amz-crc32")
    is_whole = int(told) == zlib.crc32(body) if told else _is_json(body)
    if response_dict["status_code"] < 500 and not is_whole:
        raise CutBody(len(body))


def _is_json(body: bytes) -> bool:
    try:
        return not body or orjson.loads(body) is not None
    except orjson.JSONDecodeError:
        return False

"""AWS in this process: moto behind one lock, for the local run and for tests.

moto is not thread-safe. Of 1,500 concurrent ADDs 1,371 survive, and of 100 conditional puts on
absent keys some have two winners; no error is raised. One lock round every request makes all of it
exact. It is installed once, for good.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

REGION = "eu-central-1"
Record = Callable[[str, str, bytes], None]
"""Told of every request: the access key it was signed with, its target such as
`DynamoDB_20120810.PutItem`, its body."""

_SCOPE = re.compile(r"(Credential=[^/]+/\d{8}/)[^/]+(/)")
_SIGNED = re.compile(r"Credential=([^/]+)/\d{8}/[^/]+/([^/]+)/")

_REGION_VARIABLE = "AWS_DEFAULT_REGION"
# Not resetting boto3's default session cuts a start from 174 to 14 ms; nothing here uses that
# session.
_CORE: dict[str, Any] = {"reset_boto3_session": False}
_REAL_BEDROCK: dict[str, Any] = {
    "passthrough": {"services": [], "urls": [r"https://bedrock-runtime[.-]"]}
}

_unlocked = BotocoreStubber.__call__
_lock = threading.RLock()


def _locked(self: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
    with _lock:
        return _unlocked(self, *args, **kwargs)


@contextmanager
def local_aws(*, bedrock: bool = False) -> Iterator[None]:
    """An empty AWS account for the time of the block; it may be nested, the innermost shares the
    outer one's state.

    Credentials are fake, and the region is eu-central-1 unless the environment names one. With
    `bedrock`, models are the real account's: requests to Bedrock leave this machine, with the
    credentials that boto3 finds; nothing else does.
    """
    BotocoreStubber.__call__ = _locked
    had_region = _REGION_VARIABLE in os.environ
    os.environ.setdefault(_REGION_VARIABLE, REGION)
    try:
        own = (
            {"mock_credentials": boto3.Session().get_credentials() is None, **_REAL_BEDROCK}
            if bedrock
            else {}
        )
        config: Any = {"core": {**_CORE, **own}}
        with mock_aws(config=config):
            yield
    finally:
        if not had_region:
            del os.environ[_REGION_VARIABLE]


def in_region(authorization: str) -> str:
    """A request's signature as if it were for the account's one region. Whoever comes, a container
    of `sam local` or a shell with a profile, finds the same tables whatever region it believes in.
    """
    return _SCOPE.sub(rf"\g<1>{REGION}\g<2>", authorization)


def access_key(authorization: str) -> str:
    """Who signed a request; empty for nobody."""
    found = _SIGNED.search(authorization)
    return found[1] if found else ""


def service(authorization: str) -> str:
    """The service a request was signed for, such as `dynamodb`; empty where nobody signed it."""
    found = _SIGNED.search(authorization)
    return found[2] if found else ""

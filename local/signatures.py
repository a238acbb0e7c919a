"""Who signed a request to AWS, and for which region (signature version 4)."""

from __future__ import annotations

import re
from collections.abc import Callable

from .aws import REGION

Record = Callable[[str, str, bytes], None]
"""Told of every request: the access key it was signed with, its target such as
`DynamoDB_20120810.PutItem`, its body."""

_SCOPE = re.compile(r"(Credential=[^/]+/\d{8}/)[^/]+(/)")
_SIGNED = re.compile(r"Credential=([^/]+)/\d{8}/[^/]+/([^/]+)/")


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

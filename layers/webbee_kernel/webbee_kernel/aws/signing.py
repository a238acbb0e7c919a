"""Signature version 4 over one request, as AWS documents it ("Create a signed AWS API request").

Pure: the time, the credentials and the request go in, the value of `Authorization` comes out. Tests
compare it with botocore's on random requests.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import quote

ALGORITHM: Final = "AWS4-HMAC-SHA256"
_UNRESERVED: Final = "/~-._"


class Credentials(NamedTuple):
    """A key pair; `token` is empty for a user's own, set for a role's."""

    key: str
    secret: str
    token: str = ""


def authorization(
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    credentials: Credentials,
    region: str,
    service: str,
) -> str:
    """The `Authorization` header of a request without a query string.

    `path` is as it is sent (percent-encoded), `headers` are all that is signed: lower-case names,
    among them `host` and `x-amz-date` (`20261122T101500Z`).
    """
    moment = headers["x-amz-date"]
    names = sorted(headers)
    signed = ";".join(names)
    # Every service but S3 signs the path encoded once more than it is sent.
    lines = [method, quote(path, safe=_UNRESERVED), ""]
    lines += [f"{name}:{' '.join(headers[name].split())}" for name in names]
    lines += ["", signed, sha256(body).hexdigest()]
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    digest = sha256("\n".join(lines).encode()).hexdigest()
    key = _key(credentials.secret, moment[:8], region, service)
    signature = _hmac(key, f"{ALGORITHM}\n{moment}\n{scope}\n{digest}").hex()
    return (
        f"{ALGORITHM} Credential={credentials.key}/{scope}, SignedHeaders={signed},"
        f" Signature={signature}"
    )


@lru_cache(maxsize=64)
def _key(secret: str, day: str, region: str, service: str) -> bytes:
    """The signing key of a day: four hashes that every request of the day would repeat."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        key = _hmac(key, part)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")

"""Which authorities a TLS connection is verified by: Amazon's own first, botocore's whole bundle
where these do not do.

Reading the 126 of the bundle takes 20 ms of every cold start, and AWS's endpoints are certified by
five (https://www.amazontrust.com/repository, which names these for trust stores of one's own). They
are in the bundle too, so nothing is trusted here that it does not trust. What they do not verify,
an endpoint of somebody else's, or of AWS after it changed its authorities, is tried once more with
all of them: then, and from then on.
"""

from __future__ import annotations

import functools
import importlib.util
import ssl
from pathlib import Path
from typing import Any, Final

import urllib3

ROOTS: Final = Path(__file__).with_name("roots.pem")


@functools.cache
def tls() -> ssl.SSLContext:
    """The process's trust, one for all its connections."""
    context = ssl.create_default_context(cafile=str(ROOTS))
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


@functools.cache
def widen() -> None:
    """Trust the whole bundle as well, from now on: read once."""
    if found := bundle():
        tls().load_verify_locations(cafile=found)
    else:
        tls().load_default_certs()


def bundle() -> str | None:
    """The file of authorities that botocore ships, found without importing it; None for the
    machine's own."""
    found = importlib.util.find_spec("botocore")
    places = (
        [Path(p) / "cacert.pem" for p in found.submodule_search_locations or ()] if found else []
    )
    return next((str(p) for p in places if p.exists()), None)


class VerifiedPool(urllib3.HTTPSConnectionPool):
    """Kept connections to one address under the process's trust."""

    def urlopen(self, *request: Any, **options: Any) -> urllib3.BaseHTTPResponse:
        """A request; a server that is refused is looked at once more with the wider trust, of
        which a refused handshake has told it nothing: no request was sent."""
        try:
            return super().urlopen(*request, **options)
        except urllib3.exceptions.SSLError as error:
            if not isinstance(error.args[0], ssl.SSLCertVerificationError):
                raise
            widen()
            return super().urlopen(*request, **options)

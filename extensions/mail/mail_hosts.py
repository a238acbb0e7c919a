"""Which servers may be connected to: those of the internet, and this machine's own. A user names
the host, so it may be any."""

from __future__ import annotations

import ipaddress
import socket

from mail_errors import MailError
from webbee_kernel.sdk.net import is_allowed

PRIVATE_HOSTS = "private_hosts"
"""The configuration that opens private networks, for an operator whose mail server stands in
one."""


def check_host(host: str, *, private: bool) -> None:
    """Resolve it; MailError HOST_REFUSED where an address is private, or link-local (a metadata
    service) whatever the configuration.

    Raises `socket.gaierror` for a name nobody knows.
    """
    found = {
        str(info[4][0]).partition("%")[0]
        for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    }
    if not all(
        ipaddress.ip_address(address).is_loopback or is_allowed(address, allow_private=private)
        for address in found
    ):
        raise MailError("HOST_REFUSED", "host_refused", host=host, setting=PRIVATE_HOSTS)

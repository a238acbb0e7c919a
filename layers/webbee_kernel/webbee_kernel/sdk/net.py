"""Which addresses extension code may connect to: the rule of `ctx.http`, for extensions that open
sockets of their own."""

from __future__ import annotations

import ipaddress


def is_allowed(address: str, *, allow_private: bool) -> bool:
    """Whether an extension may connect to this IP address. Link-local (metadata) stays closed
    whatever the setting."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if embedded is None and ip in ipaddress.ip_network("64:ff9b::/96"):
            embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if embedded is not None:
            return is_allowed(str(embedded), allow_private=allow_private)
        if ip in ipaddress.ip_network("fd00:ec2::/32"):
            return False
        if ip.is_site_local:
            return allow_private
    if (
        ip.is_link_local
        or ip.is_multicast
        or ip.is_unspecified
        or (ip.is_reserved and not ip.is_loopback)
    ):
        return False
    return ip.is_global or allow_private

"""Which addresses extension code may connect to: the rule of `ctx.http`, for extensions that open
sockets of their own."""

from __future__ import annotations

import ipaddress
from typing import Final, TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

CLOSED: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "fd00:ec2::/32",  # metadata of AWS over IPv6
        "fd20:ce::254/128",  # metadata of Google Cloud over IPv6
        "168.63.129.16/32",  # a virtual machine's host agent at Azure, a public address by form
        "192.0.0.192/32",  # metadata of Oracle Cloud
        "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
        "3fff::/20",  # documentation (RFC 9637)
    )
)
"""Networks that stay closed whatever the setting: `ipaddress` takes some of them for public ones,
and others for private ones that an operator may open."""

TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 behind NAT64 (RFC 6052)."""


def is_allowed(address: str, *, allow_private: bool) -> bool:
    """Whether an extension may connect to this IP address. Link-local addresses and `CLOSED` stay
    closed whatever the setting."""
    ip = _reached(ipaddress.ip_address(address.partition("%")[0]))
    if _is_closed(ip):
        return False
    # fec0::/10 is deprecated, and `ipaddress` takes it for global
    if isinstance(ip, ipaddress.IPv6Address) and ip.is_site_local:
        return allow_private
    # `ipaddress` counts ::1 among the reserved, and it is this machine
    if ip.is_reserved and not ip.is_loopback:
        return False
    return ip.is_global or allow_private


def _is_closed(ip: Address) -> bool:
    is_local = ip.is_link_local or ip.is_multicast or ip.is_unspecified
    return is_local or any(ip in network for network in CLOSED)


def _reached(ip: Address) -> Address:
    """Where a connection ends: the IPv4 address that an IPv6 one carries in it, if it does."""
    if not isinstance(ip, ipaddress.IPv6Address):
        return ip
    carried = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
    if carried is None and ip in TRANSLATED:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return carried or ip

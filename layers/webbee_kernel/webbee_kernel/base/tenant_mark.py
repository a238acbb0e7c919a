"""A tenant as a public address names it: readable, and signed, so that nobody can write another's.

`~acme.k3j2…`: the tenant, then 24 characters of an HMAC under the deployment's key. Whoever holds
an address knows the tenant of that address and can make up no other.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

SIGN = "~"
"""What a mark begins with, and nothing else that stands in its place."""
_BYTES = 15
_MARK = re.compile(r"~([A-Za-z0-9_-]+)\.([a-z2-7]{24})")
_ESCAPED = re.compile(r"_([0-9a-f]+)_")


def mark_of(tenant_id: str, key: str) -> str:
    """The tenant's mark; empty without a key."""
    return f"{SIGN}{escaped(tenant_id)}.{_signature(tenant_id, key)}" if key else ""


def tenant_of(mark: str, key: str) -> str | None:
    """The tenant of a mark that was made with this key; None for any other text."""
    found = _MARK.fullmatch(mark)
    if not (found and key):
        return None
    try:
        tenant_id = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), found[1])
        signature = _signature(tenant_id, key)
    except (ValueError, OverflowError):
        return None
    same = hmac.compare_digest(found[2], signature)
    return tenant_id if same and escaped(tenant_id) == found[1] else None


def escaped(text: str) -> str:
    """Reversible: characters outside `A-Za-z0-9-` become `_hex_`, so no two texts ever meet."""
    return "".join(
        c if c.isascii() and (c.isalnum() or c == "-") else f"_{ord(c):x}_" for c in text
    )


def _signature(tenant_id: str, key: str) -> str:
    made = hmac.new(key.encode(), f"webhook#{tenant_id}".encode(), hashlib.sha256).digest()
    return base64.b32encode(made[:_BYTES]).decode().lower()

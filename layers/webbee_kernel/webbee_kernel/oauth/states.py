"""States: what a provider brings back, and the only proof of a sign-in. Each names its tenant, so
that whoever looks for it needs nobody else's data."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets

_STATE = re.compile(r"([A-Za-z0-9_-]{2,700})\.[A-Za-z0-9_-]{43}")


def new_state(tenant_id: str) -> str:
    """A fresh one: the tenant, which is no secret, and 256 random bits."""
    tenant = base64.urlsafe_b64encode(tenant_id.encode()).rstrip(b"=").decode()
    return f"{tenant}.{secrets.token_urlsafe(32)}"


def tenant_of(state: str) -> str:
    """The tenant a state names, empty for what is no state. Whoever forges one finds nothing
    there."""
    match = _STATE.fullmatch(state)
    if match is None:
        return ""
    named = match[1] + "=" * (-len(match[1]) % 4)
    try:
        tenant = base64.urlsafe_b64decode(named).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return tenant if 0 < len(tenant) <= 128 and "#" not in tenant else ""


def state_key(state: str) -> str:
    """Under which the sign-in is kept: what is stored cannot be used to finish it."""
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()

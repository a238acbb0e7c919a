"""Keys of stored items: `#` joins their parts, so no part but a last one may hold it."""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib
from functools import lru_cache
from typing import Final

from ..aws.parameters import escape
from ..types import SessionKey, UserKey, from_token, token_of

KERNEL_APP: Final = "_kernel"
"""The kernel's own items; no extension can bear this id."""
MAX_DOC_ID_BYTES: Final = 512
_COLLECTION: Final = r"[A-Za-z0-9_.:/-]{1,128}"
_DOC_ID: Final = r"[^#\x00-\x1f]+"


@lru_cache(maxsize=64)
def user_key(user: UserKey) -> str:
    """`tenant#user`."""
    return f"{_part('tenant id', user.tenant_id)}#{_part('user id', user.imperal_id)}"


def user_of(key: str) -> UserKey:
    """Whose key `tenant#user` is: neither part holds a `#`."""
    tenant_id, _, imperal_id = key.partition("#")
    return UserKey(tenant_id, imperal_id)


def session_key(key: SessionKey) -> str:
    """`tenant#user#session`."""
    return f"{user_key(key.user)}#{_part('session id', key.session_id)}"


def tenant_key(tenant_id: str) -> str:
    """`tenant#`: what is the tenant's own; no user's key, because no user id is empty."""
    return f"{_part('tenant id', tenant_id)}#"


def session_list_key(session_id: str) -> str:
    """`session#session`: a session's row in its user's list."""
    return f"session#{_part('session id', session_id)}"


def turn_key(at: str, seq: int) -> str:
    """`turn#time#seq`: in order of time: a forgotten session counts from 1 again."""
    return f"turn#{_part('time', at)}#{seq:010d}"


def app_key(user: UserKey, app_id: str) -> str:
    """`tenant#user#app`."""
    return f"{user_key(user)}#{_app(app_id)}"


def section_key(app_id: str, section: str) -> str:
    """`app#section`."""
    return f"{_app(app_id)}#{_part('section', section)}"


def installation_key(app_id: str) -> str:
    """`!app`: no app id starts with `!`, so it meets no section and sorts before them all."""
    return f"!{_app(app_id)}"


def previous_key(app_id: str, section: str) -> str:
    """`~app#section`: after every section, where only the refresh loop reads."""
    return f"~{section_key(app_id, section)}"


def entry_key(model: str, key: str) -> str:
    """`model#key`; a cache key never holds `#`, so a model's name may."""
    return f"{model}#{_part('cache key', key)}"


def tenants_key(app_id: str = "") -> str:
    """`#tenants#app`: under which the tenants that have an app are listed, without one all."""
    return f"#tenants#{_app(app_id) if app_id else ''}"


def installation_index_key(tenant_id: str, app_id: str) -> str:
    """`#app#tenant#app`: under which an index has the installations of an app."""
    return f"#app#{_part('tenant id', tenant_id)}#{_app(app_id)}"


def members_key(tenant_id: str, app_id: str, collection: str) -> str:
    """`tenant#app#collection`: under which the users of a collection are listed."""
    return f"{_part('tenant id', tenant_id)}#{_app(app_id)}#{collection_name(collection)}"


def collection_name(name: str) -> str:
    """The name, if it is one: 1 to 128 of ASCII letters, digits and `_ - . : /`; ValueError
    otherwise."""
    if not isinstance(name, str) or not re.fullmatch(_COLLECTION, name):
        raise ValueError(
            f"collection {name!r}: a name has 1 to 128 characters of A-Z a-z 0-9 _ - . : /"
        )
    return name


def document_id(doc_id: str) -> str:
    """The id, if it is one: 1 to 512 bytes of UTF-8 without `#` and control characters; ValueError
    otherwise."""
    if (
        not isinstance(doc_id, str)
        or not re.fullmatch(_DOC_ID, doc_id)
        or len(doc_id.encode()) > MAX_DOC_ID_BYTES
    ):
        raise ValueError(
            f"document id {doc_id!r}: an id has 1 to {MAX_DOC_ID_BYTES} bytes, no # and no control"
            " characters"
        )
    return doc_id


def pseudonyms_of(tenant_id: str) -> str:
    """`tenant#__erased_`: how the partitions of those begin who were erased. No token can have such
    an id."""
    return f"{_part('tenant id', tenant_id)}#__erased_"


def secrets_of(user: UserKey) -> str:
    """`tenant/user`: above all secrets of a user."""
    return f"{escape(user.tenant_id)}/{escape(user.imperal_id)}"


def shard_of(user: UserKey, shards: int) -> int:
    """The partition of the due index that holds a user's sections: the same in every process."""
    return zlib.crc32(user_key(user).encode()) % shards


def _part(what: str, value: str) -> str:
    if not value or "#" in value:
        raise ValueError(f"{what} {value!r} is empty or holds #")
    return value


def _app(app_id: str) -> str:
    # the marks of installation records and of what sections were before
    if app_id.startswith(("!", "~")):
        raise ValueError(f"app id {app_id!r} starts with ! or ~")
    return _part("app id", app_id)


def new_state(tenant_id: str) -> str:
    """What a provider brings back, and the only proof of a sign-in: the tenant, which is no secret,
    so that whoever looks for it needs nobody else's data, and 256 random bits."""
    return f"{token_of(tenant_id).rstrip('=')}.{secrets.token_urlsafe(32)}"


def tenant_of_state(state: str) -> str:
    """The tenant a state names, empty for what is no state. A forged one finds nothing."""
    match = re.fullmatch(r"([A-Za-z0-9_-]{2,700})\.[A-Za-z0-9_-]{43}", state)
    try:
        tenant = from_token(match[1]) if match else ""
    except ValueError:
        return ""
    is_one = isinstance(tenant, str) and len(tenant) <= 128 and "#" not in tenant
    return tenant if is_one else ""


def state_key(state: str) -> str:
    """Under which the sign-in is kept: what is stored cannot be used to finish it."""
    # anybody may send one: what is no text is not found, instead of failing here
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()

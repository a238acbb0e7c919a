"""What an extension can catch: `ExtensionError` and all that derive from it, and
`SkeletonAccessForbidden`, which is a PermissionError.

Limit breaches of ctx.cache and ctx.store are plain ValueError and TypeError, raised before any I/O
and naming the invariant, the limit and the value's size.
"""

from __future__ import annotations


class ExtensionError(Exception):
    """Base class of the errors that the kernel's clients raise inside a handler."""


class StoreConflict(ExtensionError):
    """`update(if_match=…)` found another etag: read again, merge, retry."""

    def __init__(self, doc_id: str = "", expected_etag: str = "", current_etag: str = "") -> None:
        super().__init__(
            f"document {doc_id!r} has etag {current_etag!r}, not {expected_etag!r}: read it again"
            " and retry"
        )
        self.doc_id = doc_id
        self.expected_etag = expected_etag
        self.current_etag = current_etag


class StoreUnavailable(ExtensionError):
    """The document table did not answer, also after botocore's own retries: try again in
    `retry_after` seconds."""

    def __init__(self, retry_after: int = 30) -> None:
        super().__init__(f"the store is unavailable; retry in {retry_after} s")
        self.retry_after = retry_after


class SecretNotDeclaredError(ExtensionError):
    """The name is missing from the extension's `@ext.secret` declarations."""


class SecretTooLargeError(ExtensionError):
    """The value is larger than the declaration's `max_bytes`."""


class OAuthNotConfigured(ExtensionError):
    """`ctx.oauth_authorize_url`: the provider's client id or the deployment's own address is not
    set."""


class HttpBlockedError(ExtensionError):
    """`ctx.http` refused the address: metadata services and private ranges are closed to
    extensions."""


class SystemContextRequired(ExtensionError, PermissionError):
    """The method (`list_users`, `query_all`, `as_user`, `for_user`) works only where the kernel
    runs the extension as the system, not as a user."""


class CircularCallError(ExtensionError):
    """`ctx.extensions.call` would call itself again or nest deeper than 6."""

    def __init__(self, call_stack: list[str]) -> None:
        super().__init__("refused: " + " → ".join(call_stack))
        self.call_stack = call_stack


class SkeletonAccessForbidden(PermissionError):
    """I-SKELETON-LLM-ONLY: only an `@ext.skeleton` handler may read the skeleton, and only its own
    app's."""

"""The kernel's errors as the SDK's: an extension catches what its SDK would have raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ...errors import CallError, ModelUnavailable
from ...sdk import errors as ours
from . import names as sdk


@contextmanager
def in_their_words(app_id: str) -> Iterator[None]:
    """Translate what leaves the block; everything not named here passes as it is."""
    try:
        yield
    except Exception as error:
        if (translated := translate(error, app_id)) is None:
            raise
        raise translated from None


_SAME_WORDS: Final[tuple[tuple[type[Exception], type[Exception]], ...]] = (
    (ours.SkeletonAccessForbidden, sdk.SkeletonAccessForbidden),
    (ours.SystemContextRequired, RuntimeError),
    (ours.SecretNotDeclaredError, sdk.SecretNotDeclaredError),
    (ours.SecretTooLargeError, sdk.SecretValueTooLarge),
)
"""The kernel's error and the SDK's that takes its text."""


def _in_the_same_words(error: Exception) -> Exception | None:
    return next((made(str(error)) for kind, made in _SAME_WORDS if isinstance(error, kind)), None)


def translate(error: Exception, app_id: str) -> Exception | None:
    """The SDK's error that says the same, None where the kernel's own is right already."""
    if found := _in_the_same_words(error):
        return found
    match error:
        case ours.StoreConflict():
            found = sdk.StoreConflict(
                doc_id=error.doc_id,
                expected_etag=error.expected_etag,
                current_etag=error.current_etag,
            )
        case ours.StoreUnavailable():
            found = sdk.StoreUnavailable(retry_after=error.retry_after)
        case ours.CircularCallError():
            found = sdk.CircularCallError(error.call_stack)
        case ours.ExtensionError():
            found = sdk.ExtensionError(app_id, str(error))
        case ModelUnavailable():
            found = sdk.APIError(str(error), 503, "model_unavailable")
        case CallError(code="PERMISSION_DENIED"):
            found = sdk.AuthError(str(error))
    return found

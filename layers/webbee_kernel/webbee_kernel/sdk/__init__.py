"""What an extension imports. Nothing in here imports the kernel."""

from . import ui
from .chat import ChatExtension
from .context import Context, User
from .definitions import FunctionDef
from .documents import Document, Page
from .errors import (
    CircularCallError,
    ExtensionError,
    HttpBlockedError,
    SecretNotDeclaredError,
    SecretTooLargeError,
    SkeletonAccessForbidden,
    StoreConflict,
    StoreUnavailable,
    SystemContextRequired,
)
from .extension import Extension
from .result import ActionResult

__all__ = [
    "ActionResult",
    "ChatExtension",
    "CircularCallError",
    "Context",
    "Document",
    "Extension",
    "ExtensionError",
    "FunctionDef",
    "HttpBlockedError",
    "Page",
    "SecretNotDeclaredError",
    "SecretTooLargeError",
    "SkeletonAccessForbidden",
    "StoreConflict",
    "StoreUnavailable",
    "SystemContextRequired",
    "User",
    "ui",
]

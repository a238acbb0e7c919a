"""What an extension imports. Nothing in here imports the kernel.

May import: nothing of the kernel. Entrance: this module has what authors need, each name imported
when it is first asked for: the functions that run no extension code need two or three of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ui
    from .chat import ChatExtension
    from .context import Context, User
    from .definitions import FunctionDef
    from .exceptions import (
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
    from .markers import (
        Account,
        Amount,
        Content,
        Email,
        Ident,
        Name,
        Path,
        PersonName,
        Phone,
        Recipient,
        Secret,
        Url,
        directs,
        pii,
    )
    from .records import Document, Page
    from .result import ActionResult
    from .sentences import Sentences

__all__ = [
    "Account",
    "ActionResult",
    "Amount",
    "ChatExtension",
    "CircularCallError",
    "Content",
    "Context",
    "Document",
    "Email",
    "Extension",
    "ExtensionError",
    "FunctionDef",
    "HttpBlockedError",
    "Ident",
    "Name",
    "Page",
    "Path",
    "PersonName",
    "Phone",
    "Recipient",
    "Secret",
    "SecretNotDeclaredError",
    "SecretTooLargeError",
    "Sentences",
    "SkeletonAccessForbidden",
    "StoreConflict",
    "StoreUnavailable",
    "SystemContextRequired",
    "Url",
    "User",
    "directs",
    "pii",
    "ui",
]

_NAMES_OF = {
    "": ("ui",),
    "chat": ("ChatExtension",),
    "context": ("Context", "User"),
    "definitions": ("FunctionDef",),
    "records": ("Document", "Page"),
    "exceptions": (
        "CircularCallError",
        "ExtensionError",
        "HttpBlockedError",
        "SecretNotDeclaredError",
        "SecretTooLargeError",
        "SkeletonAccessForbidden",
        "StoreConflict",
        "StoreUnavailable",
        "SystemContextRequired",
    ),
    "extension": ("Extension",),
    "markers": (
        "Account",
        "Amount",
        "Content",
        "Email",
        "Ident",
        "Name",
        "Path",
        "PersonName",
        "Phone",
        "Recipient",
        "Secret",
        "Url",
        "directs",
        "pii",
    ),
    "result": ("ActionResult",),
    "sentences": ("Sentences",),
}
_HOMES = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    """A name of `__all__`, from the module that has it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    found = (
        getattr(import_module(f".{home}", __name__), name)
        if home
        else import_module(f".{name}", __name__)
    )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What there is to import."""
    return sorted(__all__)

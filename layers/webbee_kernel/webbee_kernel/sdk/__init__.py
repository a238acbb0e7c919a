"""What an extension imports. Nothing in here imports the kernel.

May import: nothing of the kernel. Entrance: this module has what authors need, each name imported
when it is first asked for: the functions that run no extension code need two or three of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ui as ui
    from .context import Context as Context
    from .context import SearchWords as SearchWords
    from .context import Sentences as Sentences
    from .context import User as User
    from .definitions import FunctionDef as FunctionDef
    from .exceptions import CircularCallError as CircularCallError
    from .exceptions import ExtensionError as ExtensionError
    from .exceptions import HttpBlockedError as HttpBlockedError
    from .exceptions import SecretNotDeclaredError as SecretNotDeclaredError
    from .exceptions import SecretTooLargeError as SecretTooLargeError
    from .exceptions import SkeletonAccessForbidden as SkeletonAccessForbidden
    from .exceptions import StoreConflict as StoreConflict
    from .exceptions import StoreUnavailable as StoreUnavailable
    from .exceptions import SystemContextRequired as SystemContextRequired
    from .extension import ChatExtension as ChatExtension
    from .extension import Extension as Extension
    from .markers import Account as Account
    from .markers import Amount as Amount
    from .markers import Content as Content
    from .markers import Email as Email
    from .markers import Ident as Ident
    from .markers import Name as Name
    from .markers import Path as Path
    from .markers import PersonName as PersonName
    from .markers import Phone as Phone
    from .markers import Recipient as Recipient
    from .markers import Secret as Secret
    from .markers import Url as Url
    from .markers import directs as directs
    from .markers import pii as pii
    from .records import Document as Document
    from .records import Page as Page
    from .result import ActionResult as ActionResult

_NAMES_OF = {
    "": ("ui",),
    "context": ("Context", "SearchWords", "Sentences", "User"),
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
    "extension": ("ChatExtension", "Extension"),
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
}
_HOMES = {name: module for module, names in _NAMES_OF.items() for name in names}
__all__ = sorted(_HOMES)


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
    # found there from now on: this function is asked only once for a name
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What there is to import."""
    return __all__

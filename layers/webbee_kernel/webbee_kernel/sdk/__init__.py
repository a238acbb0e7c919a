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
    from .markers import choices as choices
    from .markers import directs as directs
    from .markers import pii as pii
    from .markers import titled as titled
    from .records import Document as Document
    from .records import Page as Page
    from .result import ActionResult as ActionResult

_MODULES = ("result", "records", "exceptions", "markers", "definitions", "context", "extension")
__all__ = sorted(
    "ui ActionResult Document Page CircularCallError ExtensionError HttpBlockedError"
    " SecretNotDeclaredError SecretTooLargeError SkeletonAccessForbidden StoreConflict"
    " StoreUnavailable SystemContextRequired Account Amount Content Email Ident Name Path"
    " PersonName Phone Recipient Secret Url directs pii titled FunctionDef Context SearchWords"
    " Sentences User ChatExtension Extension choices".split()
)


def __getattr__(name: str) -> Any:
    """A name of `__all__`, from the module that has it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ui":
        return import_module(".ui", __name__)
    homes = (import_module(f".{module}", __name__) for module in _MODULES)
    found = next(getattr(home, name) for home in homes if hasattr(home, name))
    # found there from now on: this function is asked only once for a name
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What there is to import."""
    return __all__

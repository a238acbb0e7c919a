"""What an extension imports. Nothing in here imports the kernel.

May import: nothing of the kernel. Entrance: this module has what authors need, each name imported
when it is first asked for: the functions that run no extension code need two or three of them.
"""

# ruff: noqa: F403 - what type checkers read; at run time `__all__` says what there is

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ui as ui
    from .context import *
    from .definitions import *
    from .exceptions import *
    from .extension import *
    from .result import *

_MODULES = ("result", "exceptions", "definitions", "context", "extension")
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

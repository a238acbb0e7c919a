"""What an extension imports. Nothing in here imports the kernel.

May import: nothing of the kernel. Entrance: this module has what authors need.
"""

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
from .result import ActionResult

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

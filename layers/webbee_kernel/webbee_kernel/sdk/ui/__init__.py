"""UI trees: panels and results return these nodes; the page renders them, no model ever sees them.

A node is `{"type", "props"}`. There is a constructor for every node the page draws, with the props
it knows; `Node(type, **props)` makes any.
"""

from __future__ import annotations

from .display import *  # noqa: F403 - every constructor, and what they are made of
from .inputs import *  # noqa: F403
from .tree import *  # noqa: F403

__all__ = sorted(
    name
    for name, made in globals().items()
    if name[0].isupper() and getattr(made, "__module__", "").startswith(__name__)
)

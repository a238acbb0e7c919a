"""The files of the sets, read: of this benchmark's own shape, or told in a person's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .cases import Conversation, Remark, unique
from .plain import is_plain, plain_conversation, plain_remark


def conversations(path: Path) -> list[Conversation]:
    """The conversations of a file. Raises ValueError where an id stands twice."""
    found = [
        plain_conversation(r) if is_plain(r) else Conversation.model_validate(r)
        for r in _rows(path)
    ]
    unique([c.id for c in found])
    return found


def remarks(path: Path) -> list[Remark]:
    """The remarks of a file. Raises ValueError where an id or a message stands twice."""
    found = [plain_remark(r) if is_plain(r) else Remark.model_validate(r) for r in _rows(path)]
    unique([r.id for r in found])
    unique([f"{r.after} {r.message}" for r in found])
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return rows

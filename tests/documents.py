"""Code blocks of the documents, as printed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def shell_blocks(page: str) -> list[str]:
    """The page's blocks of shell commands, in order."""
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)

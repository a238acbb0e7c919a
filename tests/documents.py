"""Code blocks of the documents, as printed."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def shell_blocks(page: str) -> list[str]:
    """The page's blocks of shell commands, in order."""
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)


def typed_blocks(page: str) -> list[tuple[str, str]]:
    """The same with what a block needs that a machine without an account has not: nothing, what
    its `<…>` stand for, or what the comment above it says (`<!-- needs the cloud: … -->`)."""
    found = re.findall(
        r"(?:^<!-- needs the cloud: ([^\n]*) -->\n)?^```sh\n(.*?)^```$",
        (ROOT / page).read_text("utf-8"),
        re.M | re.S,
    )
    return [
        (block, needs or ", ".join(re.findall(r"<[a-zA-Z][^>\n]*>", block)))
        for needs, block in found
    ]

"""Why a model gave no answer, as the person who waited for it is told."""

from __future__ import annotations

from .model import of


def sentence(cause: str, tag: str, wait_s: float = 0.0) -> str:
    """What to say of a cause, empty for one that is not known. `wait_s` are the seconds that the
    service asked to wait, 0 where it named none."""
    told = of(tag).causes or of("en").causes
    if cause not in told:
        return ""
    wait = told["seconds"].format(n=round(wait_s)) if 0 < wait_s < 100 else told["minute"]
    return told[cause].format(wait=wait)

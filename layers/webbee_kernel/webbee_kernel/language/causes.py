"""Why a model gave no answer, as the person who waited for it is told; the sentences stand in
`causes.json`, by language and cause."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path


@cache
def causes() -> dict[str, dict[str, str]]:
    """The sentences: language tag → cause → sentence."""
    found: dict[str, dict[str, str]] = json.loads(
        Path(__file__).with_name("causes.json").read_text("utf-8")
    )
    return found


def sentence(cause: str, tag: str, wait_s: float = 0.0) -> str:
    """What to say of a cause, empty for one that is not known. `wait_s` are the seconds that the
    service asked to wait, 0 where it named none."""
    told = causes().get(tag, causes()["en"])
    if cause not in told:
        return ""
    wait = told["seconds"].format(n=round(wait_s)) if 0 < wait_s < 100 else told["minute"]
    return told[cause].format(wait=wait)

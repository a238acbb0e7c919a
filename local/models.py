"""What checks of models have learned, kept beside a run's data in `models.json`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from webbee_kernel.config import ModelSettings

from .project import COMMAND

FILE: Final = "models.json"
VARIABLE: Final = "WEBBEE_MODEL_SETTINGS"
_SETTINGS: Final = TypeAdapter(dict[str, ModelSettings])


class Verdict(ModelSettings):
    """What a check has learned of a model: its settings, and why the kernel cannot work with it,
    empty where it can."""

    unfit: str = ""


_KEPT: Final = TypeAdapter(dict[str, Verdict])


def kept(folder: Path | None) -> dict[str, Verdict]:
    """What is kept there; nothing where the file cannot be read."""
    with suppress(OSError, ValidationError):
        return _KEPT.validate_json((folder / FILE).read_bytes()) if folder else {}
    return {}


def keep(folder: Path, name: str, learned: ModelSettings, unfit: str) -> None:
    """Keep what was learned of a model beside what is known of others."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    all_of = {**kept(folder), name: Verdict(**dict(learned), unfit=unfit)}
    plain = {n: v.model_dump(mode="json", exclude_defaults=True) for n, v in all_of.items()}
    beside = (folder / FILE).with_suffix(".new")
    beside.write_text(json.dumps(plain, indent=2) + "\n", "utf-8")
    beside.replace(folder / FILE)


def told(settings: Mapping[str, ModelSettings]) -> str:
    """Settings as `WEBBEE_MODEL_SETTINGS` holds them."""
    as_json = partial(ModelSettings.model_dump, mode="json", exclude_none=True, exclude={"unfit"})
    return json.dumps({name: as_json(s) for name, s in settings.items()})


def warning(model: str, folder: Path | None) -> str:
    """What the last check of a model had against it; where it was never checked, that it was not.
    Empty where there is nothing to do."""
    known = kept(folder).get(model)
    check = f"{COMMAND} models check {shlex.quote(model)}"
    if known is None:
        return f"what this model can do is not known here: {check}"
    return (
        f"this model will not do: {known.unfit}; to check it again: {check}" if known.unfit else ""
    )


def variables(model: str, folder: Path | None) -> dict[str, str]:
    """What a local start adds to its environment: what was learned of the model, behind what the
    environment says itself."""
    known = kept(folder).get(model)
    if known is None:
        return {}
    given = _SETTINGS.validate_json(os.environ.get(VARIABLE) or "{}")
    return {VARIABLE: told({**given, model: given.get(model, ModelSettings()).over(known)})}

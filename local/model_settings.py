"""What checks of models have learned, kept beside the data of `make run`: the settings of each
model by its name, in `models.json`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from webbee_kernel.config import ModelSettings, Settings

FILE: Final = "models.json"
VARIABLE: Final = "WEBBEE_MODEL_SETTINGS"
_SETTINGS: Final = TypeAdapter(dict[str, ModelSettings])


def kept(folder: Path | None) -> dict[str, ModelSettings]:
    """What is kept there; nothing where the file cannot be read."""
    with suppress(OSError, ValidationError):
        return _SETTINGS.validate_json((folder / FILE).read_bytes()) if folder else {}
    return {}


def keep(folder: Path, name: str, settings: ModelSettings) -> Path:
    """Keep a model's settings beside those of others; the file."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / FILE
    beside = file.with_suffix(".new")
    beside.write_text(told({**kept(folder), name: settings}, indent=2) + "\n", "utf-8")
    beside.replace(file)
    return file


def told(settings: Mapping[str, ModelSettings], indent: int | None = None) -> str:
    """Settings as `WEBBEE_MODEL_SETTINGS` holds them."""
    plain = {n: s.model_dump(mode="json", exclude_none=True) for n, s in settings.items()}
    return json.dumps(plain, indent=indent)


def variables(model: str, folder: Path | None) -> dict[str, str]:
    """What a local start adds to its environment: what was learned of the model, behind what the
    environment says itself."""
    known = kept(folder).get(model)
    if known is None:
        return {}
    given = _SETTINGS.validate_json(os.environ.get(VARIABLE) or "{}")
    mine = given.get(model, ModelSettings())
    return {VARIABLE: told({**given, model: mine.over(known)})}


def learn(model: str, folder: Path | None, settings: Settings, say: Callable[[str], None]) -> None:
    """Ask a model quickly what it can do, unless that is known, and take it over: the functions of
    this process are built anew when their environment changes. Nothing is said but what a person
    should do something about; nothing fails."""
    if model == "offline" or model in kept(folder):
        return
    from .cli.models import ask

    found, learned = asyncio.run(ask(model, settings, quickly=True))
    if learned is None:
        return
    keep(folder, model, learned) if folder else None
    given = _SETTINGS.validate_json(os.environ.get(VARIABLE) or "{}")
    mine = given.get(model, ModelSettings())
    os.environ[VARIABLE] = told({**given, model: mine.over(learned)})
    for finding in found:
        if finding.do and not finding.ok and finding.level == "error":
            say(f"{model}: {finding.about}: {finding.found}; {finding.do}")

"""Models of this machine: servers that run here already, for `make run` to offer, and what probes
of models have learned, kept beside the run's data in `models.json`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import ModelOptions, Settings
from webbee_kernel.errors import SettingsError

from .deployability import credentials
from .project import IN_REPOSITORY, SERVE
from .terminal import CliError

PORTS: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8000: "vLLM",
    8001: "vLLM",
    8080: "llama.cpp",
}
"""Ports on which these servers listen unless told otherwise, by their own documentation."""

TIMEOUT_S = 0.5
LARGEST = 1_000_000  # bytes of a list of models
_MODEL = re.compile(r"[\w./:@+-]{1,200}", re.ASCII)  # what is printed for a shell


def settings_of(model: str, env: Mapping[str, str]) -> Settings:
    """The settings of an environment with this model in it. CliError where it cannot be had."""
    try:
        settings = Settings.from_env({**env, "WEBBEE_MODEL": model})
        make_model(settings)
        if model.startswith("bedrock:"):
            credentials()
    except (SettingsError, LookupError) as error:
        why = str(error).removeprefix("environment variable WEBBEE_MODEL: ")
        raise CliError(f"the model {model}: {why}") from None
    return settings


def names_at(base_url: str, seconds: float = TIMEOUT_S, key: str = "") -> list[str]:
    """The models that a server lists, none where it does not answer as one does."""
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    asked = urllib.request.Request(f"{base_url}/models", headers=headers)  # noqa: S310 - http(s)
    with suppress(OSError, ValueError, LookupError, TypeError):
        with urllib.request.urlopen(asked, timeout=seconds) as answer:  # noqa: S310
            names = [str(row["id"]) for row in json.loads(answer.read(LARGEST))["data"]]
        return [name for name in names if _MODEL.fullmatch(name)]
    return []


def offers(own_port: int, ports: Mapping[int, str] = PORTS) -> list[str]:
    """A sentence for each server that runs on a usual port of this machine, with what to type."""
    others = {port: name for port, name in ports.items() if port != own_port}
    addresses = {port: f"http://127.0.0.1:{port}/v1" for port in others}
    with ThreadPoolExecutor(max(1, len(others))) as all_at_once:
        listed = all_at_once.map(names_at, addresses.values())
        found = dict(zip(others, listed, strict=True))
    told = []
    for port, names in found.items():
        if model := next((name for name in names if "embed" not in name.lower()), ""):
            given = f"openai:{addresses[port]}#{model}"
            option = f"MODEL={given}" if IN_REPOSITORY else f"--model={given}"
            told.append(f"{others[port]} runs here. To use it: {SERVE} {shlex.quote(option)}")
    return told


FILE: Final = "models.json"
VARIABLE: Final = "WEBBEE_MODEL_SETTINGS"
_SETTINGS: Final = TypeAdapter(dict[str, ModelOptions])


def kept(folder: Path | None) -> dict[str, ModelOptions]:
    """What is kept there; nothing where the file cannot be read."""
    with suppress(OSError, ValidationError):
        return _SETTINGS.validate_json((folder / FILE).read_bytes()) if folder else {}
    return {}


def keep(folder: Path, name: str, learned: ModelOptions) -> None:
    """Keep what was learned of a model beside what is known of others."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / FILE).write_text(told({**kept(folder), name: learned}) + "\n", "utf-8")


def told(settings: Mapping[str, ModelOptions]) -> str:
    """Settings as `WEBBEE_MODEL_SETTINGS` holds them."""
    return _SETTINGS.dump_json(dict(settings), exclude_unset=True).decode()


def variable(model: str, known: ModelOptions | None) -> dict[str, str]:
    """What a local start adds to its environment: what was learned of the model, behind what the
    environment says itself."""
    if known is None:
        return {}
    given = _SETTINGS.validate_json(os.environ.get(VARIABLE) or "{}")
    return {VARIABLE: told({**given, model: given.get(model, ModelOptions()).over(known)})}


def learn(model: str, folder: Path | None, settings: Settings, say: Callable[[str], None]) -> None:
    """Probe a model quickly, unless it is known, and take over what it shows: the functions of this
    process are built anew when their environment changes. What a person should mend is said; it is
    kept where the kernel can work with it, else the next start asks again."""
    if model == "offline" or model in kept(folder):
        return
    from .cli.models import ask

    found, learned = asyncio.run(ask(model, settings, quickly=True))
    wrong = [finding for finding in found if not finding.ok and finding.level == "error"]
    for finding in wrong:
        say(" ".join((f"{model}: {finding.about}: {finding.found}", finding.do)).strip())
    if learned:
        os.environ |= variable(model, learned)
    if learned and folder and not wrong:
        keep(folder, model, learned)

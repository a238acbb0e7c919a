"""Models of this machine: servers that run here already, for `make run` to name the command that
uses one, and what checks of models have learned, kept beside the run's data in `models.json`.

Servers are asked on loopback only, beside the start, and never waited for: what has not answered by
the time the welcome is printed is not mentioned.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import shlex
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from webbee_kernel.config import ModelSettings, Settings

from .project import COMMAND, IN_REPOSITORY, SERVE

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


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server that lists models, and the first of them that is not for embeddings."""

    name: str
    port: int
    model: str

    @property
    def command(self) -> str:
        """What to type to run with it."""
        model = f"openai:http://127.0.0.1:{self.port}/v1#{self.model}"
        return f"{SERVE} " + (
            shlex.quote(f"MODEL={model}") if IN_REPOSITORY else f"--model {shlex.quote(model)}"
        )


class Search:
    """Asks all ports at once, each in a thread of its own, for `seconds` at most."""

    def __init__(
        self, own_port: int, ports: Mapping[int, str] = PORTS, seconds: float = TIMEOUT_S
    ) -> None:
        others = {port: name for port, name in ports.items() if port != own_port}
        pool = ThreadPoolExecutor(max(1, len(others)), thread_name_prefix="model-search")
        self._asked = {
            pool.submit(first_model, port, seconds): (name, port)
            for port, name in sorted(others.items())
        }
        pool.shutdown(wait=False)

    def found(self) -> list[ModelServer]:
        """The servers that have answered by now, by port."""
        done = [(who, asked.result()) for asked, who in self._asked.items() if asked.done()]
        return [ModelServer(*who, model) for who, model in done if model]

    def wait(self, seconds: float) -> None:
        """Let every port answer, for so long at most."""
        wait(self._asked, seconds)


def first_model(port: int, seconds: float) -> str:
    """The first model of the server on this loopback port, empty where none answers as one does."""
    found = names_at(f"http://127.0.0.1:{port}/v1", seconds)
    return next((name for name in found if "embed" not in name.lower()), "")


def names_at(base_url: str, seconds: float, key: str = "") -> list[str]:
    """The models that a server lists, none where it does not answer as one does."""
    at = urlsplit(base_url)
    is_https = at.scheme == "https"
    connect = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
    connection = connect(at.netloc, timeout=seconds)
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    try:
        connection.request("GET", f"{at.path.rstrip('/')}/models", headers=headers)
        response = connection.getresponse()
        body = json.loads(response.read(LARGEST)) if response.status == http.client.OK else None
    except (OSError, ValueError, http.client.HTTPException):
        return []
    finally:
        connection.close()
    listed = body.get("data") if isinstance(body, dict) else None
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    names = [name for row in rows if isinstance(name := row.get("id"), str)]
    return [name for name in names if _MODEL.fullmatch(name)]


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


def keep(folder: Path, name: str, learned: ModelSettings, unfit: str) -> Path:
    """Keep what was learned of a model beside what is known of others; the file."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / FILE
    beside = file.with_suffix(".new")
    all_of = {**kept(folder), name: Verdict(**dict(learned), unfit=unfit)}
    plain = {n: v.model_dump(mode="json", exclude_defaults=True) for n, v in all_of.items()}
    beside.write_text(json.dumps(plain, indent=2) + "\n", "utf-8")
    beside.replace(file)
    return file


def told(settings: Mapping[str, ModelSettings]) -> str:
    """Settings as `WEBBEE_MODEL_SETTINGS` holds them."""
    as_json = partial(ModelSettings.model_dump, mode="json", exclude_none=True, exclude={"unfit"})
    return json.dumps({name: as_json(s) for name, s in settings.items()})


def warning(model: str, folder: Path | None) -> str:
    """What the last check of a model had against it, and how to check again; empty where nothing
    is known."""
    known = kept(folder).get(model)
    if known is None or not known.unfit:
        return ""
    check = f"{COMMAND} models check {shlex.quote(model)}"
    return f"this model will not do: {known.unfit}; to check it again: {check}"


def variables(model: str, folder: Path | None) -> dict[str, str]:
    """What a local start adds to its environment: what was learned of the model, behind what the
    environment says itself."""
    known = kept(folder).get(model)
    return {} if known is None else {VARIABLE: _beside(model, known)}


def _beside(model: str, known: ModelSettings) -> str:
    """The variable with what is known of a model behind what the environment says itself."""
    given = _SETTINGS.validate_json(os.environ.get(VARIABLE) or "{}")
    return told({**given, model: given.get(model, ModelSettings()).over(known)})


def _unreachable(model: str) -> str:
    """Where nobody listens for a model that a server of one's own has; empty where one does."""
    kind, _, address = model.partition("#")[0].partition(":")
    at = urlsplit(address)
    if kind != "openai" or not at.hostname:
        return ""
    try:
        port = at.port or {"http": 80}.get(at.scheme, 443)
        socket.create_connection((at.hostname, port), timeout=3).close()
    except OSError:
        return at.netloc
    return ""


def learn(model: str, folder: Path | None, settings: Settings, say: Callable[[str], None]) -> None:
    """Ask a model quickly what it can do, unless that is known, and take it over: the functions of
    this process are built anew when their environment changes. Nothing is said but what a person
    should do something about; nothing fails."""
    if model == "offline":
        return
    if model in kept(folder):
        if where := _unreachable(model):
            say(f"{model} does not answer: nothing listens at {where}; start its server.")
        return
    from .cli.models import ask, unfit_of

    found, learned = asyncio.run(ask(model, settings, quickly=True))
    if learned is None:
        for finding in found:
            say(" ".join((f"{model} does not answer: {finding.found}", finding.do)).strip())
        return
    keep(folder, model, learned, unfit_of(found)) if folder else None
    os.environ[VARIABLE] = _beside(model, learned)
    for finding in found:
        if finding.do and not finding.ok and finding.level == "error":
            say(f"{model}: {finding.about}: {finding.found}; {finding.do}")

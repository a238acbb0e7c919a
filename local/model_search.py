"""Model servers that run on this machine already: `make run` names the command that uses one.

Asked on loopback only, beside the start, and never waited for: what has not answered by the time
the welcome is printed is not mentioned.
"""

from __future__ import annotations

import http.client
import json
import re
import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from .project import IN_REPOSITORY, SERVE

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
        self._seconds = seconds
        self._found: dict[int, ModelServer] = {}
        self._threads = [
            threading.Thread(target=self._ask, args=(port, name), daemon=True)
            for port, name in ports.items()
            if port != own_port
        ]
        for thread in self._threads:
            thread.start()

    def found(self) -> list[ModelServer]:
        """The servers that have answered by now, by port."""
        return [server for _, server in sorted(self._found.copy().items())]

    def wait(self, seconds: float) -> None:
        """Let every port answer, that long each at most."""
        for thread in self._threads:
            thread.join(seconds)

    def _ask(self, port: int, name: str) -> None:
        if model := first_model(port, self._seconds):
            self._found[port] = ModelServer(name, port, model)


def first_model(port: int, seconds: float) -> str:
    """The first model of the server on this loopback port, empty where none answers as one does."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = json.loads(response.read(LARGEST)) if response.status == http.client.OK else None
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    finally:
        connection.close()
    listed = body.get("data") if isinstance(body, dict) else None
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    names = [name for row in rows if isinstance(name := row.get("id"), str)]
    fit = [name for name in names if _MODEL.fullmatch(name)]
    return next((name for name in fit if "embed" not in name.lower()), "")

"""What the door costs where the cell could have answered alone: a direct call and a panel, built
functions under Lambda's emulator; and how often STS is asked for a tenant's credentials.

The cell is asked by itself in turns with the door, so both meet the same machine. What stands here
is the kernel's own time and its requests to moto on this machine; AWS adds an invocation, a few
milliseconds inside a region.
"""

from __future__ import annotations

import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cold_start import BUILD
from local.aws_server import CREDENTIALS, aws_server, client
from local.emulator import ROOT, Emulator, lay_out
from local.lambda_api import lambda_api
from tests.deployment import deploy

TIMES = 40
WARM_UP = 5
EVENT = json.loads((ROOT / "tests/events/http_session.json").read_text("utf-8"))
CLAIMS = {"sub": "alice", "custom:tenant_id": "acme", "locale": "en", "scope": "chat"}
CALLS = {"direct call": ("function", "list_tasks"), "panel": ("panel", "tasks")}


@dataclass(frozen=True, slots=True)
class Pair:
    """Door and cell, and every request for credentials so far."""

    door: Emulator
    cell: Emulator
    asked: list[bytes]

    def post(self, route: str, body: Mapping[str, Any], **path: str) -> Any:
        """A request to the door."""
        event = {**EVENT, "routeKey": f"POST {route}", "pathParameters": path}
        event["requestContext"] = json.loads(json.dumps(event["requestContext"]))
        event["requestContext"]["http"]["method"] = "POST"
        event["requestContext"]["authorizer"]["jwt"]["claims"] = CLAIMS
        answer = self.door.invoke({**event, "body": json.dumps(body)})
        if answer["statusCode"] != 200:
            raise RuntimeError(answer["body"])
        return json.loads(answer["body"])


@contextmanager
def deployed() -> Iterator[Pair]:
    """Both functions as built, with the template's own environments."""
    asked: list[bytes] = []

    def record(key: str, target: str, body: bytes) -> None:
        if body.startswith(b"Action=AssumeRole&"):
            asked.append(body)

    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory())
        built = lay_out(BUILD, Path(folder))
        url = running.enter_context(aws_server(record=record))
        stack = deploy(lambda service: client(url, service), AwsEndpoint=url)
        served: dict[str, Emulator] = {}
        api = running.enter_context(lambda_api(served))

        def start(name: str, function: str) -> Emulator:
            env = {**CREDENTIALS, **stack.environments[function], "AWS_ENDPOINT_URL_LAMBDA": api}
            env["WEBBEE_USER_REQUESTS_PER_MINUTE"] = "0"
            if "WEBBEE_EXTENSIONS_DIR" in env:
                env["WEBBEE_EXTENSIONS_DIR"] = str(built.opt / "webbee_extensions")
            return running.enter_context(Emulator(built, name, env))

        cell = start("ToolDispatchFunction", "tool_dispatch")
        served[stack.environments["chat_turn"]["WEBBEE_DISPATCH"]] = cell
        yield Pair(start("ChatTurnFunction", "chat_turn"), cell, asked)


def milliseconds(work: Callable[[], object]) -> float:
    """Of the wall."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def hop(pair: Pair, kind: str, name: str) -> tuple[float, float, float]:
    """Medians of wall milliseconds through the door and of the cell alone; the door's CPU
    milliseconds a call."""
    function = f"__panel__{name}" if kind == "panel" else name
    user = {"imperal_id": "alice", "tenant_id": "acme", "scopes": ["*"]}
    event = {"kind": kind, "user": user, "app_id": "tasks", "name": name, "arguments": {}}
    route, body = "/v1/extensions/{app_id}/call", {"function": function, "params": {}}
    found: dict[str, list[float]] = {"door": [], "cell": []}
    before = pair.door.cpu_ms()
    for _ in range(WARM_UP + TIMES):
        found["door"].append(milliseconds(lambda: pair.post(route, body, app_id="tasks")))
        found["cell"].append(milliseconds(lambda: pair.cell.invoke(event)))
    door, cell = (statistics.median(times[WARM_UP:]) for times in found.values())
    return door, cell, (pair.door.cpu_ms() - before) / (WARM_UP + TIMES)


def main() -> int:
    """Print both; 1 where a warm turn or call asks STS."""
    if not (BUILD / "KernelLayer").is_dir():
        subprocess.run(["make", ".host-build"], cwd=ROOT, check=True)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with deployed() as pair:
        said = {"message": "show my tasks", "session_id": "s1"}
        pair.post("/v1/chat", said)
        first = len(pair.asked)
        for _ in range(5):
            pair.post("/v1/chat", said)
        heads = "".join(f"{head:>10}" for head in ("door", "cell", "hop", "door, CPU"))
        print(f"{f'median of {TIMES}, ms':24}{heads}")
        for what, (kind, name) in CALLS.items():
            door, cell, cpu = hop(pair, kind, name)
            figures = "".join(f"{figure:10.1f}" for figure in (door, cell, door - cell, cpu))
            print(f"  {what:22}{figures}")
        warm = len(pair.asked) - first
    print(
        f"\nrequests to STS: {first} in the first turn of a tenant, {warm} in warm turns and calls"
    )
    print("bar: 0 warm")
    return int(warm > 0)


if __name__ == "__main__":
    sys.exit(main())

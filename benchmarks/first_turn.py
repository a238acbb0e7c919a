"""What the first turn of a process costs beside warm ones; what it left to init is in `cold_start`.

A fresh interpreter does what Lambda does: it imports the handler, which builds the service, and
answers one event after another. AWS is moto on a port of another process, the cell a stand-in that
has to load first, as extensions do after a deployment or a pause; so the wall shows what a turn
waits for. Function calls of all threads, which no other work of the machine disturbs, are counted
in a process of their own.
"""

from __future__ import annotations

import json
import logging
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from benchmarks.cold_start import runtime_api
from benchmarks.kept import kept_account
from local.aws_server import CREDENTIALS, client
from local.emulator import ROOT
from local.lambda_api import lambda_api
from local.loopback import Quiet, loopback
from local.template import create_tables, load_template
from webbee_kernel.catalogue import Catalogue
from webbee_kernel.extensions.registry import load_folder
from webbee_kernel.values import CallOutcome

PROCESSES = 7
TURNS, BEFORE = 5, 4
"""Turns of a process, the first one after so many: a session archives its 6th, 11th, 16th … turn,
so always the second of a process, which is neither first nor warm here."""
COLD_S = SPEAKS_S = 0.3
"""Seconds in which a cell without a process loads its extensions, and a model answers."""
FIRST_BAR = 1.3
CALLS_BAR = 1.25
MESSAGE = "show my tasks"
ROLE = "arn:aws:iam::123456789012:role/DataRole"

RUN = """
import json, os, sys, threading, time
count = 0
def counter(_, event, __):
    global count
    count += event in ("call", "c_call")
if "COUNTED" in os.environ:
    threading.setprofile(counter)
import handler
before = set(sys.modules)
turns, calls, loaded = [], [], []
for event in map(json.loads, sys.argv[1:]):
    cpu, wall, before_it = time.process_time(), time.perf_counter(), count
    answer = handler.lambda_handler(event, None)
    turns.append(((time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000))
    calls.append(count - before_it)
    if answer["statusCode"] not in (200, 404):
        raise SystemExit(answer["body"])
    loaded.append(len(set(sys.modules) - before))
    time.sleep(0.05)
print(json.dumps({"turns": turns, "calls": calls, "loaded": loaded}))
"""


class Run(NamedTuple):
    """One process: milliseconds of CPU and wall of its turns, their function calls where they were
    counted, modules loaded since init."""

    turns: list[list[float]]
    calls: list[int]
    loaded: list[int]


@dataclass
class Cell:
    """A cell whose first answer takes as long as loading takes."""

    catalogue: Catalogue
    loaded: bool = False

    def invoke(self, event: Any) -> Any:
        """The catalogue, or an empty list of tasks."""
        if not self.loaded:  # whoever comes while one loads meets another that has to
            time.sleep(COLD_S)
            self.loaded = True
        if event["kind"] == "catalogue":
            return self.catalogue.to_dict()
        data = {"tasks": [], "count": 0}
        done = CallOutcome(event["app_id"], event["name"], "success", data=data, summary="None.")
        return asdict(done)


@contextmanager
def model() -> Iterator[str]:
    """Bedrock as far as the model calls of the turn go."""

    class Handler(Quiet):
        def do_POST(self) -> None:  # noqa: N802 - the server's own name
            time.sleep(SPEAKS_S)
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            content: dict[str, Any] = {"text": "There are no tasks."}
            if "toolConfig" in asked:
                content = {"toolUse": {"toolUseId": "t1", "name": "tasks__list_tasks", "input": {}}}
            answer = {
                "output": {"message": {"role": "assistant", "content": [content]}},
                "stopReason": "tool_use" if "toolUse" in content else "end_turn",
                "usage": {"inputTokens": 10, "outputTokens": 10, "totalTokens": 20},
            }
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with loopback(Handler, "model") as url:
        yield url


@contextmanager
def world() -> Iterator[tuple[Cell, dict[str, str]]]:
    """AWS and a cell, and the environment of a door beside them."""
    cell = Cell(load_folder(ROOT / "extensions").catalogue())
    with ExitStack() as running:
        aws = running.enter_context(kept_account())
        tables = create_tables(client(aws, "dynamodb"), load_template())
        queue = client(aws, "sqs").create_queue(QueueName="Queue")["QueueUrl"]
        functions = running.enter_context(lambda_api({"cell": cell}))
        yield (
            cell,
            {
                "PATH": os.environ["PATH"],
                **CREDENTIALS,
                **tables,
                "AWS_ENDPOINT_URL": aws,
                "AWS_ENDPOINT_URL_LAMBDA": functions,
                "AWS_LAMBDA_RUNTIME_API": running.enter_context(runtime_api()),
                "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": running.enter_context(model()),
                "WEBBEE_MODEL": "bedrock:eu.example.model-v1:0",
                "WEBBEE_USER_REQUESTS_PER_MINUTE": "600",
                "WEBBEE_DISPATCH": "cell",
                "WEBBEE_DISPATCH_VERSION": "cell:1",
                "WEBBEE_DATA_ROLE": ROLE,
                "WEBBEE_CLOCK": "clock",
                "WEBBEE_REFRESH_QUEUE_URL": queue,
                "PYTHONPATH": str(ROOT / "layers/webbee_kernel"),
                "PYTHONHASHSEED": "0",
            },
        )


def run(env: Mapping[str, str], folder: str, session: str, turns: int = TURNS) -> Run:
    """A fresh process and its turns."""
    command = [sys.executable, "-c", RUN, *(json.dumps(event(session)) for _ in range(turns))]
    done = subprocess.run(
        command, cwd=folder, env=dict(env), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def event(session: str) -> dict[str, Any]:
    """A message of Alice's as API Gateway hands it over."""
    found: dict[str, Any] = json.loads((ROOT / "tests/events/http_chat.json").read_text("utf-8"))
    found["requestContext"]["authorizer"]["jwt"]["claims"] |= {"sub": "alice", "locale": "en"}
    found["body"] = json.dumps({"message": MESSAGE, "session_id": session})
    found["headers"].pop("idempotency-key", None)
    return found


def main() -> int:
    """Print both tables; 1 where a bar is missed."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with world() as (cell, env):
        door = str(ROOT / "functions/chat_turn")
        run(env, door, "s", BEFORE)  # compiles, and keeps the catalogue
        ours = []
        for _ in range(PROCESSES):
            cell.loaded = False
            ours.append(run(env, door, "s"))
        cell.loaded = False
        counted = run({**env, "COUNTED": "1"}, door, "s").calls
    print(f"{PROCESSES} processes of chat_turn, {TURNS} turns each;", end=" ")
    print(f"a cell loads {COLD_S} s, a model speaks {SPEAKS_S} s, three times a turn\n")
    print(f"{'medians':26}{'CPU ms':>8}{'wall ms':>9}{'function calls':>16}{'modules loaded':>16}")
    first = [statistics.median(r.turns[0][n] for r in ours) for n in (0, 1)]
    warm = [statistics.median(t[n] for r in ours for t in r.turns[2:]) for n in (0, 1)]
    loaded = max(r.loaded[0] for r in ours)
    calls = counted[0], statistics.median(counted[2:])
    rows = (("first turn", first, calls[0], loaded), ("warm turns", warm, calls[1], 0))
    for what, (cpu, wall), count, more in rows:
        print(f"  {what:24}{cpu:8.1f}{wall:9.1f}{count:16,.0f}{more:16}")
    ratio, called = first[0] / warm[0], calls[0] / calls[1]
    print(f"\nfirst turn {ratio:.2f} times a warm one's CPU, bar {FIRST_BAR};", end=" ")
    print(f"{called:.2f} times its calls, bar {CALLS_BAR}")
    return int(ratio > FIRST_BAR or called > CALLS_BAR)


if __name__ == "__main__":
    sys.exit(main())

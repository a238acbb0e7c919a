"""What a cold start costs: each built function against a bare one, side by side, interleaved, as
CPU time.

The bare one imports boto3, pydantic, orjson and powertools, and has one model, a DynamoDB client, a
Logger and Metrics.
A fresh interpreter imports the handler, which under Lambda builds the service and makes the client.
The bar holds for the functions as they are; what a deployment's extensions add is shown beside
them, for the three shipped here.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from local.aws import CREDENTIALS
from local.template import environment, load_template
from tests.emulator.runtime import ROOT, Built, Emulator, lay_out

BAR = 1.35
INITS = 9
FUNCTIONS = ("ChatTurnFunction", "ToolDispatchFunction", "SkeletonRefreshFunction")
WITH = " with extensions"
ROWS = ("Bare", *FUNCTIONS, *(f + WITH for f in FUNCTIONS[1:]))
BUILD = ROOT / ".aws-sam/host/build"
BARE = """
import boto3, orjson
from pydantic import BaseModel
from aws_lambda_powertools import Logger, Metrics
client = boto3.Session().client("dynamodb")
logger = Logger(service="bare")
metrics = Metrics(namespace="bare", service="bare")
class Body(BaseModel):
    message: str
def lambda_handler(event, context):
    return {"statusCode": 404}
"""

INIT = """
import time
started = time.process_time()
import handler
print((time.process_time() - started) * 1000)
"""


def main() -> int:
    """Print the table; 1 when a function is dearer than the bar."""
    subprocess.run(["make", ".host-build"], cwd=ROOT, check=True)  # an earlier build is no evidence
    with tempfile.TemporaryDirectory() as folder:
        built = lay_out(BUILD, Path(folder))
        (built.task("Bare")).mkdir()
        (built.task("Bare") / "handler.py").write_text(BARE)
        found: dict[str, list[float]] = {name: [] for name in ROWS}
        with runtime_api() as address:
            for _ in range(INITS):
                for name, values in found.items():  # the names taking turns
                    values.append(init_ms(built, name, address))
    return report(found)


def init_ms(built: Built, row: str, runtime: str) -> float:
    """CPU of a fresh interpreter, its own start excluded."""
    slot = Emulator(
        built, row.removesuffix(WITH), variables(built, row) | {"AWS_LAMBDA_RUNTIME_API": runtime}
    )
    command = [built.python, "-c", INIT]
    done = subprocess.run(
        command, cwd=slot.task, env=slot.environment(), capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


@contextmanager
def runtime_api() -> Iterator[str]:
    """As much of Lambda's runtime API as init asks for: registering an internal extension."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Lambda-Extension-Identifier", "benchmark")
            self.end_headers()

        def do_GET(self) -> None:
            time.sleep(60)  # no event comes

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def variables(built: Built, row: str) -> dict[str, str]:
    """An environment in which the function starts: the template's, with its logical ids for
    physical ones."""
    if row == "Bare":
        return dict(CREDENTIALS)
    given = environment(load_template(), row.removesuffix(WITH))
    plain = {k: v if isinstance(v, str) else str(v.get("Ref", "")) for k, v in given.items()}
    ours = {k: v for k, v in plain.items() if k.startswith("WEBBEE_TABLE_")}
    return {
        **CREDENTIALS,
        **ours,
        "WEBBEE_EXTENSIONS_DIR": str(
            built.opt / "webbee_extensions" if row.endswith(WITH) else built.task("Bare")
        ),
        "WEBBEE_DISPATCH": "tool-dispatch",
        "WEBBEE_CLOCK": "skeleton-refresh",
        "WEBBEE_REFRESH_QUEUE_URL": "http://127.0.0.1:9/queue",
    }


def report(found: Mapping[str, list[float]]) -> int:
    """A table of medians; 1 when a ratio is over its bar."""
    bare = statistics.median(found["Bare"])
    print(f"{'init':42} {'CPU ms':>8} {'ratio':>7}   bar {BAR}, median of {len(found['Bare'])}")
    missed = 0
    for name, values in found.items():
        middle = statistics.median(values)
        ratio = middle / bare
        over = ratio > BAR and not name.endswith(WITH)
        missed |= over
        print(f"  {name:40} {middle:8.0f} {ratio:7.2f}{'   over the bar' if over else ''}")
    return int(missed)

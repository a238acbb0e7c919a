"""What a cold start costs: each built function against a bare one, side by side, interleaved, as
CPU time.

The bare one imports boto3, pydantic, orjson and powertools, and has one model, a DynamoDB client, a
Logger and Metrics.
A fresh interpreter imports the handler, which under Lambda builds the service and makes the client.
The bar holds for the functions as they are, without extensions.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.tables import table
from local.aws import CREDENTIALS
from local.template import load_template, table_variables
from tests.emulator.runtime import ROOT, Built, Emulator, lay_out
from tests.stand_ins.service import Reply, Request, served

BAR = 1.35
INITS = 9
FUNCTIONS = ("ChatTurnFunction", "ToolDispatchFunction", "SkeletonRefreshFunction")
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
        found: dict[str, list[float]] = {name: [] for name in ("Bare", *FUNCTIONS)}
        with served(answer=_runtime_api) as runtime:
            address = runtime.url.removeprefix("http://")
            env = variables(built) | {"AWS_LAMBDA_RUNTIME_API": address}
            for _ in range(INITS):
                for name, values in found.items():  # the names taking turns
                    values.append(init_ms(built, Emulator(built, name, env)))
    return report(found)


def init_ms(built: Built, slot: Emulator) -> float:
    """CPU of a fresh interpreter, its own start excluded."""
    done = subprocess.run(
        [built.python, "-c", INIT],
        cwd=slot.task,
        env=slot.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def _runtime_api(request: Request) -> Reply:
    """As much of Lambda's runtime API as init asks for: registering an internal extension; no event
    comes."""
    hangs = request.method == "GET"
    return Reply(hang=hangs, headers={"Lambda-Extension-Identifier": "benchmark"})


def variables(built: Built) -> dict[str, str]:
    """An environment in which each of them starts: the template's tables, with their logical ids
    for physical ones."""
    return {
        **CREDENTIALS,
        **table_variables(load_template()),
        "WEBBEE_EXTENSIONS_DIR": str(built.task("Bare")),
        "WEBBEE_DISPATCH": "tool-dispatch",
        "WEBBEE_CLOCK": "skeleton-refresh",
        "WEBBEE_REFRESH_QUEUE_URL": "http://127.0.0.1:9/queue",
    }


def report(found: Mapping[str, list[float]]) -> int:
    """A table of medians; 1 when a ratio is over its bar."""
    medians = {name: statistics.median(values) for name, values in found.items()}
    ratios = {name: median / medians["Bare"] for name, median in medians.items()}
    rows = [(name, f"{median:.0f}", f"{ratios[name]:.2f}") for name, median in medians.items()]
    print(table(f"bar {BAR}, median of {INITS}", ("init", "CPU ms", "ratio"), rows))
    return int(max(ratios.values()) > BAR)

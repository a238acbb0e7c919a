"""The kernel, another framework and bare boto3, side by side in one run over TLS: CPU and
function calls of a turn at turn 5, 50 and 500.

All three play the same errand (`benchmarks/peers.py`) against one local DynamoDB, each in processes
of its own, one after the other; the server's work is in none of the figures. What the peer is not
asked to do: one agent, one tool, a session; no masking, no check of the reply, no ledger, no audit,
no limits, no transcript, which the kernel does in every turn here. What the kernel is not asked to
do: run another function for the extension's code (it does so in production), traces and metrics,
which Strands makes in every turn.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path

from benchmarks.peers import POINTS, TABLE
from benchmarks.tables import table
from local.aws import CREDENTIALS, account, local_aws
from local.aws import client as client_of
from local.loopback import served
from local.template import TEMPLATE_PATH, create_tables, load_template
from tests.stand_ins.trust import certificate

ROOT = Path(__file__).resolve().parent.parent
CONTENDERS = {
    "nothing": ("bare boto3", ".venv-dev"),
    "apps": ("ours", ".venv-dev"),
    "strands_agent": ("Strands Agents", ".venv-peer"),
}
MEASURES = {"cpu": "CPU, ms", "calls": "function calls"}
BAR = 0.25
"""Function calls of ours to the peer's, at each point: no other work of the machine disturbs
them."""


def main() -> int:
    """Print the table; 1 when the kernel takes more than the peer, or the peer is not here."""
    if not (ROOT / ".venv-peer").exists():
        print("make .venv-peer first")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        pem = certificate(Path(folder), dt.datetime.now(dt.UTC))
        with local_aws(), served(account(), "aws", pem=str(pem)) as url:
            found = {name: _figures(name, url, pem) for name in CONTENDERS}
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.platform()}")
    told = f"Python {platform.python_version()}, {_version()}; a warm turn, TLS"
    columns = ["first", *map(str, POINTS)]
    rows: list[tuple[str, ...]] = []
    for measure, title in MEASURES.items():
        figures = {label: found[name][measure] for name, (label, _) in CONTENDERS.items()}
        figures["ours : peer"] = _ratios(found, measure)
        for label, row in figures.items():
            cells = (f"{row[c]:,.{2 if row[c] < 10 else 0}f}" if c in row else "" for c in columns)
            rows.append((title, label, *cells))
    print(table(told, ("", "", *(f"turn {c}" for c in columns)), rows))
    worst = max(_ratios(found, "calls").values())
    print(f"bar: at most {BAR} of the peer's function calls (here {worst:.2f})")
    return 1 if worst > BAR else 0


def _ratios(found: dict[str, dict[str, dict[str, float]]], measure: str) -> dict[str, float]:
    ours, peer = found["apps"][measure], found["strands_agent"][measure]
    return {at: ours[at] / peer[at] for at in ours}


def _figures(name: str, url: str, pem: Path) -> dict[str, dict[str, float]]:
    """What a contender's processes print, on tables of its own."""
    made = client_of(url, "dynamodb", verify=str(pem))
    names = create_tables(made, load_template(TEMPLATE_PATH), prefix=f"{name}-")
    python = ROOT / CONTENDERS[name][1] / "bin" / "python"
    env = {
        **{k: v for k, v in os.environ.items() if not _is_foreign(k)},
        **names,
        "PEER_TABLE": names[f"WEBBEE_TABLE_{TABLE}"],
        **CREDENTIALS,
        "AWS_ENDPOINT_URL": url,
        "OTEL_SDK_DISABLED": "true",
    }
    found = {}
    for measure in MEASURES:
        command = [python, "-m", "benchmarks.peers", name, measure, url, str(pem)]
        done = subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)
        found[measure] = json.loads(done.stdout)
    return found


def _is_foreign(name: str) -> bool:
    """What would lead a client elsewhere, or to other authorities than the server's."""
    return name.startswith(("AWS_", "WEBBEE_")) or name.upper() in (
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "REQUESTS_CA_BUNDLE",
    )


def _version() -> str:
    lock = (ROOT / "requirements" / "peer.txt").read_text("utf-8").splitlines()
    pins = {p: v for p, _, v in (line.rstrip(" \\").partition("==") for line in lock) if v}
    return f"strands-agents {pins['strands-agents']}, boto3 {pins['boto3']}"

"""What a deployment costs: units counted on the local world, times AWS's prices. Prints the tables
of docs/cost.md, which a test compares with a fresh count."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, replace

from benchmarks.units import BRIEF_S, PRICES, Units, measured
from local.project import ROOT
from local.template import load_template, resources
from webbee_kernel.observability import BY_VERSION, EMITTED

METRIC, ALARM, DASHBOARD, STORED_GB = 0.30, 0.10, 3.00, 0.45
TOKENS_IN, TOKENS_OUT = 0.06, 0.24
"""Amazon Nova Lite, a million tokens."""
NAMES: Mapping[str, str] = {
    "http": "HTTP API requests",
    "messages": "WebSocket messages",
    "minutes": "WebSocket minutes",
    "invocations": "Lambda requests",
    "gb_seconds": "GB-seconds",
    "writes": "write units",
    "reads": "read units",
    "queue": "SQS requests",
    "log_mb": "log MB",
}

PAGE = ROOT / "docs" / "cost.md"
TURNS = 300
MINUTES = 900
"""Of a month: half an hour a day with the page open, in two sittings."""
SITTINGS = 60
ROUNDS = 30 * 86_400 / 300
STORED_MB = 3
INPUT, OUTPUT = 3_400, 250
USERS = (1_000, 100_000, 1_000_000)


def custom_metrics() -> int:
    """Names of the kernel's metrics by function, and those that are written by version too, of the
    version that runs; each is a custom metric."""
    by_function = sum(len(metric.functions) for metric in EMITTED.values())
    by_version = sum(len(EMITTED[name].functions) for name in BY_VERSION)
    models = 2 * 5  # latency, tokens and errors of classifier and narrator
    return by_function + by_version + models


def alarm_count() -> int:
    """Metrics that alarms look at: each is paid for, also those of one expression."""
    return sum(
        sum("MetricStat" in m for m in alarm.get("Metrics", ())) or 1
        for _, alarm in resources(load_template(), "AWS::CloudWatch::Alarm")
    )


def rounded(units: Units) -> Units:
    """As the page tells them: what a second count may differ by does not show."""
    values = {}
    for f in fields(units):
        value, steps = getattr(units, f.name), 1_000 if f.name == "log_mb" else 2
        exact = f.name in ("gb_seconds", "minutes")
        values[f.name] = value if exact else math.ceil(value * steps - 0.1) / steps
    return replace(units, **values)


def units_table(found: Mapping[str, Units]) -> list[str]:
    """What each takes, and a million of it costs."""
    heads = {"turn": "a turn", "sitting": "a sitting", "poll": "a poll", "round": "a round"}
    lines = ["| | price a million | " + " | ".join(heads.values()) + " |"]
    lines.append("|---|---|" + "---|" * len(heads))
    for name, told in NAMES.items():
        if name == "minutes":
            continue
        cells = [f"{getattr(found[kind], name):g}" for kind in heads]
        price = f"${PRICES[name]:,.3f}".rstrip("0").rstrip(".")
        lines.append(f"| {told} | {price} | " + " | ".join(cells) + " |")
    costs = " | ".join(f"**${found[kind].dollars:,.1f}**" for kind in heads)
    lines.append(f"| **a million of it** | | {costs} |")
    return lines


def monthly(found: Mapping[str, Units]) -> dict[str, float]:
    """US dollars of one user and month, less what is fixed."""
    million = 1e6
    pings = 2 * MINUTES / 4 * PRICES["messages"] / million
    return {
        f"turns: {TURNS} × ${found['turn'].dollars:,.1f}/M": TURNS
        * found["turn"].dollars
        / million,
        f"page open: {SITTINGS} sittings, {MINUTES} minutes, a ping in four": (
            SITTINGS * found["sitting"].dollars + MINUTES * PRICES["minutes"]
        )
        / million
        + pings,
        f"refreshes: {ROUNDS:,.0f} × ${found['round'].dollars:,.1f}/M": (
            ROUNDS * found["round"].dollars / million
        ),
        f"storage: {STORED_MB} MB × ${STORED_GB}/GB": STORED_MB / 1_000 * STORED_GB,
    }


def fixed() -> float:
    """US dollars a month of a stack that nobody uses."""
    ticks = 30 * 1_440 * (1 + 8) / 1e6 * (PRICES["invocations"] + PRICES["gb_seconds"] * BRIEF_S)
    return custom_metrics() * METRIC + alarm_count() * ALARM + DASHBOARD + ticks


def month_table(found: Mapping[str, Units]) -> list[str]:
    """A month by number of users."""
    lines = ["| a month | per user | " + " | ".join(f"{n:,} users" for n in USERS) + " |"]
    lines.append("|---|---|" + "---|" * len(USERS))
    rows = monthly(found)
    for name, dollars in rows.items():
        lines.append(_row(name, dollars, [dollars * n for n in USERS]))
    counted = f"{custom_metrics()} custom metrics, {alarm_count()} metrics in alarms"
    told = f"fixed: {counted}, dashboard, ticks"
    lines.append(f"| {told} | | " + " | ".join([f"${fixed():,.0f}"] * len(USERS)) + " |")
    total = sum(rows.values())
    lines.append(_row("**without the model**", total, [total * n + fixed() for n in USERS]))
    model = TURNS * (INPUT * TOKENS_IN + OUTPUT * TOKENS_OUT) / 1e6
    lines.append(
        _row(
            f"model: {TURNS} turns, {INPUT:,} tokens in, {OUTPUT} out",
            model,
            [model * n for n in USERS],
        )
    )
    return lines


def _row(name: str, each: float, sums: list[float]) -> str:
    return f"| {name} | ${each:.4f} | " + " | ".join(f"${s:,.0f}" for s in sums) + " |"


def main() -> int:
    """Print both tables, or with `--write` put them into the page; 0."""
    found = {kind: rounded(units) for kind, units in measured().items()}
    tables = ["\n".join(table) + "\n" for table in (units_table(found), month_table(found))]
    if "--write" not in sys.argv:
        print(*tables, sep="\n")
        return 0
    text = PAGE.read_text("utf-8")
    for table in tables:
        head = re.escape(table.partition("\n")[0])
        text = re.sub(rf"^{head}\n(?:\|.*\n)*", lambda _, new=table: new, text, flags=re.M)  # type: ignore[misc]
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

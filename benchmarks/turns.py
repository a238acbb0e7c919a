"""What a turn costs: prompt size, DynamoDB's requests and units at turn 5, 50 and 500; its work as
function calls, which no other work of the machine disturbs, against committed figures; and how
that grows with a result.

A figure may be written anew with what the bench prints, where a change is worth it.
"""

from __future__ import annotations

import cProfile
import platform

import boto3

from benchmarks.apps import RESULTS, answer, extension, results_kernel
from benchmarks.meter import Call, metered
from benchmarks.peers import POINTS
from benchmarks.tables import table
from local.aws import local_aws
from local.template import TEMPLATE_PATH, create_tables, load_template
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import TestKernel

PROMPT_BAR = 1.2
WRITE_UNITS_BAR = 3.0
"""Missed by a quarter: the turn, the call's record and the counted request are items of their own,
a unit each, before anything is archived (0.2) or listed (0.05). Only a limit that counts late, or
a record that waits for its turn, would take one of the three away: both would hold less than they
do. That a turn runs is said with its count until it has run for five seconds."""
BETWEEN_S = 60
"""Seconds from one turn to the next: a conversation."""
WINDOW = 60
"""Turns a mean is taken over: an hour's, so that what is written every fifth turn and every hour
counts as often as it does."""
MODEL_CALLS_BAR = 2.0

COMMITTED = {
    "plain answer": 2_260,
    "1 KB of rows": 7_800,
    "1 MB of rows": 37_180,
    "1 KB of text": 5_470,
    "1 MB of text": 10_040,
}
"""Function calls of a warm turn on Python 3.11, in memory: on the adapters of DynamoDB over tables
in dicts, whose work is in them. Written anew on 1 December 2026: up to 9 % less than the evening
before, since what a tool, a function and a reply's check never need is no longer made."""
GROWTH = 1.05
LARGE_BAR = 5.0
"""Function calls of a turn over 1 MB to those of one over 1 KB: 4.5 of rows, though 12,000
characters of them are shown, twelve times the other's; 1.8 of text."""


def in_memory() -> tuple[dict[int, int], float]:
    """The characters a model reads at each point (system, catalogue and blocks), and the model
    calls of a turn."""
    model = FunctionModel(answer)
    kernel = TestKernel([extension()], model=model)
    figures: dict[int, int] = {}
    for turn in range(1, POINTS[-1] + 1):
        if turn in POINTS:
            opening = kernel.run(kernel.kernel.view(kernel.ask(f"orders {turn}"))).opening
            prompt = opening.prompt
            figures[turn] = len(prompt.system) + opening.shortlist.characters + len(prompt.text)
        kernel.chat(f"orders {turn}")
    return figures, len(model.requests) / POINTS[-1]


def on_dynamodb() -> dict[int, list[Call]]:
    """What an hour of turns sends from each point on: a kernel on the template's tables, with
    limits as they are deployed."""
    figures: dict[int, list[Call]] = {}
    begun: dict[int, int] = {}
    with local_aws():
        names = create_tables(boto3.client("dynamodb"), load_template(TEMPLATE_PATH))
        env = {"WEBBEE_USER_REQUESTS_PER_MINUTE": "60"}
        stores = dynamodb_stores(Tables.from_variables(names))
        kernel = TestKernel([extension()], model=FunctionModel(answer), stores=stores, env=env)
        with metered(aws_client("dynamodb")) as meter:
            for turn in range(1, POINTS[-1] + WINDOW):
                if turn in POINTS:
                    begun[turn] = len(meter.calls)
                kernel.clock.advance(BETWEEN_S)
                kernel.chat(f"orders {turn}")
                if (point := turn - WINDOW + 1) in POINTS:
                    figures[point] = meter.calls[begun[point] :]
    return figures


def calls(running: TestKernel, message: str) -> int:
    """Function calls of a turn on the kernel's loop, the median of five."""
    found = []
    for _ in range(5):
        profile = cProfile.Profile()

        async def turn(profile: cProfile.Profile = profile) -> None:
            profile.enable()
            try:
                await running.kernel.turn(running.ask(message, session_id="calls"))
            finally:
                profile.disable()

        running.run(turn())
        found.append(sum(entry.callcount for entry in profile.getstats()))
    return sorted(found)[2]


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
    print("A turn with one read tool of about 500 bytes, PII gate closed, model free of cost\n")
    missed = [_prompts(), _requests(), _work()]
    return int(any(missed))


def _prompts() -> bool:
    """Print what a model reads; whether a bar is missed."""
    prompts, model_calls = in_memory()
    growth = prompts[POINTS[1]] / prompts[POINTS[0]]
    for at, characters in prompts.items():
        print(f"prompt at turn {at}: {characters:,} characters")
    print(
        f"bars: {PROMPT_BAR} times from turn {POINTS[0]} to {POINTS[1]} (here {growth:.2f}),"
        f" {MODEL_CALLS_BAR} model calls a turn (here {model_calls:.2f})\n"
    )
    return growth > PROMPT_BAR or model_calls > MODEL_CALLS_BAR


def _requests() -> bool:
    """Print what DynamoDB is sent; whether a bar is missed."""
    missed = False
    for point, sent in on_dynamodb().items():
        kinds: dict[str, list[Call]] = {}
        for call in sent:
            kinds.setdefault(" ".join([call.operation, *call.tables]), []).append(call)
        rows = []
        for kind, of in [*sorted(kinds.items()), ("", sent)]:
            read = sum(c.read for c in of) / WINDOW
            write = sum(c.write for c in of) / WINDOW
            each = sum(c.bytes for c in of) / len(of)
            counts = (len(of) / WINDOW, read, write)
            rows.append((kind, *(f"{count:.2f}" for count in counts), f"{each:,.0f}"))
        title = f"turns {point} to {point + WINDOW - 1}, one a minute; figures a turn"
        head = ("", "requests", "read units", "write units", "bytes each")
        print(table(title, head, rows), end="\n\n")
        missed = missed or write > WRITE_UNITS_BAR
    print(f"bar: {WRITE_UNITS_BAR} write units\n")
    return missed


def _work() -> bool:
    """Print function calls; whether work has grown, or grows too much with a result."""
    running = results_kernel()
    messages = {"plain answer": "hello there", **{name: name for name in RESULTS}}
    for message in messages.values():  # the ring is full, everything is loaded
        for _ in range(6):
            reply = running.chat(message)
        if any(call["status"] != "ok" for call in reply.body["calls"]):
            raise RuntimeError(f"{message}: {reply.body}")  # not what is to be measured
    counted = {name: calls(running, message) for name, message in messages.items()}
    bars = {name: GROWTH * committed for name, committed in COMMITTED.items()}
    missed = any(count > bars[name] for name, count in counted.items())
    rows = [
        (name, f"{count:,}", f"{COMMITTED[name]:,}", "grown" * (count > bars[name]))
        for name, count in counted.items()
    ]
    title = f"Python {platform.python_version()}; a warm turn in memory"
    print(table(title, ("", "function calls", "committed", ""), rows))
    for kind in ("rows", "text"):
        ratio = counted[f"1 MB of {kind}"] / counted[f"1 KB of {kind}"]
        missed |= ratio > LARGE_BAR
        print(f"1 MB of {kind} is {ratio:.1f} times the calls of 1 KB (bar {LARGE_BAR})")
    print(f"\nbar: no count more than {GROWTH - 1:.0%} over its committed figure")
    return missed

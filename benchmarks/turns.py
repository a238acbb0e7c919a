"""What a turn costs: kernel CPU in memory, DynamoDB calls, units and bytes, prompt size – at turn
5, 50 and 500."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

import boto3

from benchmarks.meter import Meter
from local.aws import local_aws
from local.template import TEMPLATE_PATH, create_tables, load_template
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.dynamodb.client import aws_client
from webbee_kernel.testing import TestKernel

POINTS = (5, 50, 500)
BATCH, BATCHES = (
    8,
    5,
)  # turns measured from each point on; the batch least disturbed by the machine's other work counts
CPU_BAR_MS = 1.5
PROMPT_BAR = 1.2
LISTED = 0.2
TRIPS_BAR = (2, 4)
"""Reads and writes of a turn with one call: session and skeleton; the call's record, the turn, the
request counted against limits, the transcript. One turn in five lists its session too."""
WRITE_UNITS_BAR = 3.0
"""Missed at present: limits and transcripts take a unit each, a session's row the rest."""
MODEL_CALLS_BAR = 2.0


def orders() -> Extension:
    """One read tool whose result is about 500 bytes of JSON, different in every turn."""
    ext = Extension("orders", display_name="Orders")
    chat = ChatExtension(ext)

    @chat.function("latest", "The latest orders")
    async def latest(ctx: Context, number: int) -> ActionResult:
        rows = [
            {
                "id": f"o-{number}-{i}",
                "item": f"Item {i} of order {number}",
                "amount": number + i,
                "paid": i % 2 == 0,
            }
            for i in range(7)
        ]
        return ActionResult.success(
            {"count": len(rows), "orders": rows}, f"Found {len(rows)} orders."
        )

    return ext


def answer(request: ModelRequest) -> ModelResponse:
    """A model that costs nothing: calls the tool with the number in the message, then repeats the
    tool's summary."""
    if request.role == "classifier":
        number = int(request.prompt.rsplit(" ", 1)[1])
        return ModelResponse(tool_calls=(ToolCall("orders__latest", {"number": number}),))
    return ModelResponse(text="Found 7 orders.")


def in_memory() -> tuple[dict[int, tuple[float, int]], float]:
    """Kernel CPU milliseconds a turn and the characters a model reads (system, catalogue and
    blocks), at each point; then the model calls of a turn, over all of them."""
    model = FunctionModel(answer)
    kernel = TestKernel([orders()], model=model)
    figures: dict[int, tuple[float, int]] = {}
    turn = 1
    while turn <= POINTS[-1]:
        if turn not in POINTS:
            kernel.chat(f"orders {turn}")
            turn += 1
            continue
        view = kernel.run(kernel.kernel.view(kernel.ask(f"orders {turn}")))
        characters = len(view.prompt.system) + view.shortlist.characters + len(view.prompt.text)
        figures[turn] = (
            min(_cpu(kernel, start) for start in range(turn, turn + BATCH * BATCHES, BATCH)),
            characters,
        )
        turn += BATCH * BATCHES
    return figures, len(model.requests) / (turn - 1)


def _cpu(kernel: TestKernel, first: int) -> float:
    """Median CPU milliseconds of a batch of turns."""
    times = []
    for turn in range(first, first + BATCH):
        started = time.process_time()
        kernel.chat(f"orders {turn}")
        times.append((time.process_time() - started) * 1000)
    return statistics.median(times)


def on_dynamodb() -> dict[int, Mapping[str, Any]]:
    """Requests, units and bytes a turn (means over five turns, a whole ring) and what the session
    holds, at each point."""
    with local_aws():
        client = aws_client("dynamodb")
        names = create_tables(boto3.client("dynamodb"), load_template(TEMPLATE_PATH))
        kernel = TestKernel(
            [orders()],
            model=FunctionModel(answer),
            stores=dynamodb_stores(Tables.from_variables(names)),
        )
        meter = Meter()
        meter.attach(client)
        figures: dict[int, Mapping[str, Any]] = {}
        for turn in range(1, POINTS[-1] + 5):
            point = next((p for p in POINTS if p <= turn < p + 5), None)
            if turn in POINTS:
                meter.clear()
            kernel.chat(f"orders {turn}")
            if point and turn == point + 4:
                stored = client.query(
                    TableName=names["WEBBEE_TABLE_SESSIONS"],
                    KeyConditionExpression="pk = :pk",
                    ExpressionAttributeValues={":pk": {"S": f"{kernel.key}#s1"}},
                )["Items"]
                meter.calls.pop()  # the query above
                figures[point] = {
                    "reads": meter.reads / 5,
                    "writes": meter.writes / 5,
                    "read_units": meter.read_units / 5,
                    "write_units": meter.write_units / 5,
                    "bytes": sum(c.bytes for c in meter.calls) / 5,
                    "stored": sum(len(str(v)) for item in stored for v in item.values()),
                    "items": len(stored),
                }
        meter.detach(client)
        return figures


def main() -> int:
    """Print both tables; 1 when a bar is missed."""
    print("A turn with one read tool of about 500 bytes, PII gate closed, model free of cost\n")
    memory, model_calls = in_memory()
    print(f"{'turn':>6} {'CPU ms, in memory':>18} {'prompt characters':>18}")
    for at, (cpu, prompt) in memory.items():
        print(f"{at:>6} {cpu:>18.2f} {prompt:>18,}")
    growth = memory[POINTS[1]][1] / memory[POINTS[0]][1]
    print(
        f"\nbars: {CPU_BAR_MS} ms, prompt {PROMPT_BAR} times from turn {POINTS[0]} to {POINTS[1]}"
        f" (here {growth:.2f}), {MODEL_CALLS_BAR} model calls a turn (here {model_calls:.2f})\n"
    )
    tables = on_dynamodb()
    print(
        f"{'turn':>6} {'reads':>6} {'writes':>7} {'read units':>11} {'write units':>12}"
        f" {'bytes a turn':>13} {'session stored':>15} {'items':>6}"
    )
    for point, f in tables.items():
        row = (
            f"{point:>6}",
            f"{f['reads']:>6.1f}",
            f"{f['writes']:>7.1f}",
            f"{f['read_units']:>11.1f}",
            f"{f['write_units']:>12.1f}",
        )
        print(*row, f"{f['bytes']:>13,.0f}", f"{f['stored']:>15,}", f"{f['items']:>6}")
    print(
        "\nbars: 2 reads and 3 writes by chat_turn (1.2 of them for transcript and list, 1 for"
        f" limits), 1 write by the call, at most {WRITE_UNITS_BAR} write units"
    )
    missed = [
        p
        for p, f in tables.items()
        if (f["reads"], round(f["writes"] - LISTED, 6)) != TRIPS_BAR
        or f["write_units"] > WRITE_UNITS_BAR
    ]
    missed += [at for at, (cpu, _) in memory.items() if cpu > CPU_BAR_MS]
    return 1 if missed or growth > PROMPT_BAR or model_calls > MODEL_CALLS_BAR else 0

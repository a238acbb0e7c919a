"""What a turn costs: kernel CPU in memory, DynamoDB calls, units and bytes, prompt size – at turn
5, 50 and 500."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import boto3

from benchmarks.meter import Call, Meter
from benchmarks.peer.play import POINTS, REPLY
from benchmarks.peer.play import orders as rows_of
from local.aws import local_aws
from local.template import TEMPLATE_PATH, create_tables, load_template
from webbee_kernel.api.turns import BEAT_S, Turns
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.llm.protocol import Model, ModelRequest, ModelResponse, ToolCall, Usage
from webbee_kernel.llm.scripted import Answer, FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import TestKernel

BATCH, BATCHES = (
    8,
    5,
)  # turns measured from each point on; the batch least disturbed by the machine's other work counts
CPU_BAR_MS = 1.5
PROMPT_BAR = 1.2
TRIPS_BAR = {"read": 3, "write": 4}
"""Requests that a turn waits for one after the other, models apart: what it reads; for a write its
claim; the call; the turn."""
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
HELD_S = 0.1
"""Seconds for which a request is held, so that those that leave together are seen together."""


@dataclass(slots=True)
class Trips(Meter):
    """A meter that counts trips too: how many requests a turn waits for one after the other. Those
    that overlap are one trip, and what goes on while a model speaks is none."""

    trips: int = 0
    _speaking: int = 0
    _waited_for: bool = False

    def leaves(self) -> None:
        """Held where another client's answer would take its time."""
        with self._lock:
            if not self.in_flight:
                self._waited_for = not self._speaking
                self.trips += self._waited_for
        Meter.leaves(self)
        time.sleep(HELD_S)

    @contextmanager
    def other(self, operation: str) -> Iterator[None]:
        """A request to something that is no table, as to a function."""
        self.leaves()
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1
                self.calls.append(Call(operation, ()))

    def model(self, answer: Answer) -> SlowModel:
        """A model that speaks for longer than a request takes."""
        return SlowModel(self, answer)

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """While a model speaks; what is on its way when it begins, nobody waits for."""
        with self._lock:
            if self.in_flight and self._waited_for:
                self._waited_for = False
                self.trips -= 1
        self._speaking += 1
        try:
            yield
        finally:
            self._speaking -= 1


@dataclass
class SlowModel:
    """Answers by a function, in its own time."""

    meter: Trips
    answer: Answer
    name: str = "slow"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """As a model answers."""
        with self.meter.speaking():
            await asyncio.sleep(5 * HELD_S)
        return self.answer(request)


class Row(NamedTuple):
    """Requests of a kind: how many, and what they cost, a turn; `bytes` each."""

    kind: str
    requests: float
    read: float
    write: float
    bytes: float


def orders(called: Callable[[str], AbstractContextManager[None]] = nullcontext) -> Extension:
    """One read tool whose result is about 500 bytes of JSON, different in every turn, with an
    address in it, and one that writes. `called` is told of each call."""
    ext = Extension("orders", display_name="Orders")
    chat = ChatExtension(ext)

    @chat.function("pay", "Pay an order", action_type="write")
    async def pay(ctx: Context, number: int) -> ActionResult:
        with called("Invoke"):
            return ActionResult.success({"id": f"o-{number}", "paid": True}, REPLY)

    @chat.function("latest", "The latest orders")
    async def latest(ctx: Context, number: int) -> ActionResult:
        with called("Invoke"):
            return ActionResult.success(rows_of(number), REPLY)

    return ext


def answer(request: ModelRequest) -> ModelResponse:
    """A model that costs nothing: calls the tool with the number in the message, then repeats the
    tool's summary."""
    if request.role == "classifier":
        verb, number = request.prompt.rsplit("] ", 1)[1].split()
        name = "orders__pay" if verb == "pay" else "orders__latest"
        call = ToolCall(name, {"number": int(number)})
        return ModelResponse(tool_calls=(call,), usage=Usage(1500, 40))
    return ModelResponse(text=REPLY, usage=Usage(700, 30))


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
        characters = (
            len(view.opening.prompt.system)
            + view.opening.shortlist.characters
            + len(view.opening.prompt.text)
        )
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


@contextmanager
def tables(meter: Meter, model: Model, called: Any = nullcontext) -> Iterator[TestKernel]:
    """A kernel on the template's tables, with limits as they are deployed."""
    with local_aws():
        client = aws_client("dynamodb")
        names = create_tables(boto3.client("dynamodb"), load_template(TEMPLATE_PATH))
        env = {"WEBBEE_USER_REQUESTS_PER_MINUTE": "60"}
        stores = dynamodb_stores(Tables.from_variables(names))
        kernel = TestKernel([orders(called)], model=model, stores=stores, env=env)
        meter.attach(client)
        yield kernel
        meter.detach(client)


def on_dynamodb() -> dict[int, list[Row]]:
    """What an hour of turns sends from each point on: a row a kind of request."""
    meter = Meter()
    figures: dict[int, list[Row]] = {}
    begun: dict[int, int] = {}
    with tables(meter, FunctionModel(answer)) as kernel:
        for turn in range(1, POINTS[-1] + WINDOW):
            if turn in POINTS:
                begun[turn] = len(meter.calls)
            kernel.clock.advance(BETWEEN_S)
            kernel.chat(f"orders {turn}")
            if (point := turn - WINDOW + 1) in POINTS:
                figures[point] = rows(meter.calls[begun[point] :], WINDOW)
    return figures


def rows(calls: Sequence[Call], turns: int) -> list[Row]:
    """Requests of a kind, with their means a turn."""
    kinds: dict[str, list[Call]] = {}
    for call in calls:
        kinds.setdefault(" ".join([call.operation, *call.tables]), []).append(call)
    return [
        Row(
            kind,
            len(of) / turns,
            sum(c.read for c in of) / turns,
            sum(c.write for c in of) / turns,
            sum(c.bytes for c in of) / len(of),
        )
        for kind, of in sorted(kinds.items())
    ]


def trips() -> dict[str, int]:
    """The requests that a warm turn waits for one after the other, of ten turns the usual
    number."""
    meter = Trips()
    found = {}
    with tables(meter, meter.model(answer), meter.other) as kernel:
        for kind, message in {"read": "orders", "write": "pay"}.items():
            seen = []
            for turn in range(1, 8):
                meter.clear()
                meter.trips = 0
                kernel.chat(f"{message} {turn}")
                seen.append(meter.trips)
            found[kind] = max(seen[1:])
    return found


def of_a_slow_turn() -> float:
    """Write units of one turn of over a second, delivered as requests are, that archives
    nothing."""
    meter = Trips()
    with tables(meter, meter.model(answer), meter.other) as kernel:
        delivered = Turns(kernel.app, kernel.kernel)
        kernel.chat("orders 1")
        meter.clear()
        ask, started = kernel.ask("orders 2", request_id="r2"), time.monotonic()
        kernel.run(delivered.answer(ask, kernel.kernel.turn, at_once=False))
        if time.monotonic() - started < BEAT_S:
            raise RuntimeError("the turn was too short to say that it runs")
        return meter.write_units


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
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
    missed = [at for at, (cpu, _) in memory.items() if cpu > CPU_BAR_MS]
    for point, of in on_dynamodb().items():
        print(f"turns {point} to {point + WINDOW - 1}, one a minute; figures a turn\n")
        print(f"{'':28}{'requests':>9}{'read units':>11}{'write units':>12}{'bytes each':>11}")
        for row in of:
            print(
                f"{row.kind:28}{row.requests:>9.2f}{row.read:>11.2f}{row.write:>12.2f}"
                f"{row.bytes:>11,.0f}"
            )
        written = sum(row.write for row in of)
        print(f"{'':28}{'':9}{sum(row.read for row in of):>11.2f}{written:>12.2f}\n")
        missed += [point] * (written > WRITE_UNITS_BAR)
    slow = of_a_slow_turn()
    print(f"a turn of over {BEAT_S:.0f} s that archives nothing: {slow:.2f} write units")
    missed += [0] * (slow > WRITE_UNITS_BAR)
    one_by_one = trips()
    print(f"bar: {WRITE_UNITS_BAR} write units; trips {one_by_one}, bar {TRIPS_BAR}")
    missed += [0 for kind, bar in TRIPS_BAR.items() if one_by_one[kind] > bar]
    return 1 if missed or growth > PROMPT_BAR or model_calls > MODEL_CALLS_BAR else 0

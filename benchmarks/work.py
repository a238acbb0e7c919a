"""How much work a turn is: function calls, which no other work of the machine disturbs, against
committed figures; and how it grows with a result, as CPU and as calls, side by side in one run.

A figure may be written anew with what the bench prints, where a change is worth it.
"""

from __future__ import annotations

import cProfile
import json
import platform
import time
from collections.abc import Callable
from typing import Any

from webbee_kernel.extensions.outcomes import from_return
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.types import CallRequest, to_dict

COMMITTED = {
    "plain answer": 2_170,
    "1 KB of rows": 8_310,
    "1 MB of rows": 32_860,
    "1 KB of text": 6_140,
    "1 MB of text": 11_300,
}
"""Function calls of a warm turn on Python 3.11, in memory: on the adapters of DynamoDB over tables
in dicts, whose work is in them. Written anew on 27 November 2026, when receipts, consent and
aggregates over all rows had made them a seventh to a third larger (text of a megabyte twice)."""
GROWTH = 1.05
LARGE_BAR = 5.0
"""CPU of a turn over 1 MB to that of one over 1 KB, of rows and text. Both hold on a machine with
much other work: rows 2.9 to 4.5, their calls 3.6, though 12,000 characters of them are shown,
twelve times the other's; text 2.3 to 3.3."""
TURNS = 12


def rows(count: int) -> dict[str, Any]:
    return {
        "count": count,
        "orders": [
            {
                "id": f"o-{i}",
                "item": f"Item {i} of an order",
                "by": f"buyer{i}@example.com",
                "amount": i,
                "paid": i % 2 == 0,
            }
            for i in range(count)
        ],
    }


RESULTS: dict[str, Any] = {
    "1 KB of rows": rows(10),
    "1 MB of rows": rows(9_300),
    "1 KB of text": {"text": "Some words of a letter, written to nobody. " * 24},
    "1 MB of text": {"text": "Some words of a letter, written to nobody. " * 23_000},
}


def kernel() -> TestKernel:
    """An app that returns what it is asked for, and a model that costs nothing."""
    ext = Extension("results", display_name="Results")
    chat = ChatExtension(ext)

    @chat.function("give", "A result")
    async def give(ctx: Context, name: str) -> ActionResult:
        return ActionResult.success(RESULTS[name], "Here it is.")

    def answer(request: ModelRequest) -> ModelResponse:
        message = request.prompt.rpartition("user] ")[2]
        if request.role == "classifier" and message in RESULTS:
            return ModelResponse(tool_calls=(ToolCall("results__give", {"name": message}),))
        return ModelResponse(text="Here it is.")

    return TestKernel([ext], model=FunctionModel(answer))


def cpu(turn: Callable[[], object]) -> float:
    """CPU milliseconds of the least disturbed of some turns, of all threads."""
    times = []
    for _ in range(TURNS):
        started = time.process_time()
        turn()
        times.append((time.process_time() - started) * 1000)
    return min(times)


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


def handed_over(name: str) -> float:
    """CPU milliseconds in which the cell makes its answer of a result, its writing included."""
    request = CallRequest("function", {}, "results", "give")
    result = ActionResult.success(RESULTS[name], "Here it is.")
    return cpu(lambda: json.dumps(to_dict(from_return(result, request, (), "read"))))


def main() -> int:
    """Print the figures; 1 when work has grown, or grows too much with a result."""
    running = kernel()
    messages = {"plain answer": "hello there", **{name: name for name in RESULTS}}
    for message in messages.values():  # the ring is full, everything is loaded
        for _ in range(6):
            reply = running.chat(message)
        if any(call["status"] != "ok" for call in reply.body["calls"]):
            raise RuntimeError(f"{message}: {reply.body}")  # not what is to be measured
    counted = {name: calls(running, message) for name, message in messages.items()}
    spent = {
        name: cpu(lambda m=message: running.chat(m, session_id=m[:1] + str(len(m))))  # type: ignore[misc]
        for name, message in messages.items()
    }
    missed = 0
    print(f"{platform.machine()}, Python {platform.python_version()}; a warm turn in memory\n")
    print(f"{'':16}{'function calls':>15}{'committed':>11}{'CPU ms':>9}")
    for name, count in counted.items():
        held = COMMITTED.get(name)
        grown = held is not None and count > GROWTH * held
        missed += grown
        print(f"{name:16}{count:>15,}{held or '':>11}{spent[name]:>9.2f}{'  grown' * grown}")
    for kind in ("rows", "text"):
        small, large = f"1 KB of {kind}", f"1 MB of {kind}"
        ratio = spent[large] / spent[small]
        missed += ratio > LARGE_BAR
        print(
            f"\n1 MB of {kind} is {ratio:.1f} times the CPU of 1 KB (bar {LARGE_BAR}),"
            f" {counted[large] / counted[small]:.1f} times the calls"
        )
    answer = {name: handed_over(name) for name in RESULTS}
    print("\nThe cell's answer, from what the handler returned to what Lambda's runtime writes:")
    print("  ".join(f"{name} {ms:.1f} ms" for name, ms in answer.items()))
    print(f"\nbar: no count more than {GROWTH - 1:.0%} over its committed figure")
    return 1 if missed else 0

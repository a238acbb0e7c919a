"""Recall across turns: does the value a follow-up needs stand verbatim in the prompt? The ledger
against prose alone.

Each script runs a tool whose result holds the value, lets other turns pass, then asks for it: "send
to the same address", "what was the amount again". The baseline is the same prompt without its FACTS
lines: what an agent keeps that remembers prose only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

DISTANCES = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Script:
    """A first question with the tool's result, what the tool says of it, and the values follow-ups
    need."""

    question: str
    data: dict[str, Any]
    summary: str
    follow_up: str
    needs: tuple[str, ...]


SCRIPTS = (
    Script(
        "show today's mail",
        {
            "unread": 8,
            "messages": [{"id": "1-1042-kfxd", "from": "sarah@example.com", "subject": "Q3 plan"}],
        },
        "Listed 1 message, 8 unread.",
        "send to the same address",
        ("1-1042-kfxd", "sarah@example.com"),
    ),
    Script(
        "покажи счета",
        {
            "count": 2,
            "invoices": [
                {"id": "INV-2291", "amount": 18450.5, "iban": "DE02120300000000202051"},
                {"id": "INV-2292", "amount": 99},
            ],
        },
        "Нашёл два счёта.",
        "оплати первый",
        ("INV-2291", "18450.5", "DE02120300000000202051"),
    ),
    Script(
        "find the Lisbon flight",
        {
            "booking": "K7QX2M",
            "flight": {"number": "SU2580", "gate": {"name": "B14", "closes": "2026-05-16T10:05Z"}},
        },
        "Found your flight.",
        "when does the gate close?",
        ("K7QX2M", "2026-05-16T10:05Z", "B14"),
    ),
    Script(
        "добавь контакт Марии",
        {
            "contact": {
                "id": "c_83b1",
                "name": "Мария Иванова",
                "email": "maria@пример.рф",
                "phone": "+7 916 123-45-67",
            }
        },
        "Контакт добавлен.",
        "позвони ей",
        ("c_83b1", "Мария Иванова", "maria@пример.рф", "+7 916 123-45-67"),
    ),
    Script(
        "create a ticket for the printer",
        {
            "ticket": {
                "key": "OPS-4471",
                "url": "https://tickets.example.com/OPS-4471",
                "labels": ["printer", "floor-3"],
            }
        },
        "Created a ticket.",
        "close that one",
        ("OPS-4471", "https://tickets.example.com/OPS-4471", "floor-3"),
    ),
    Script(
        "list my 36 tasks",
        {
            "count": 36,
            "tasks": [{"id": f"t{n:02}", "title": f"Task number {n}"} for n in range(36)],
        },
        "You have 36 tasks.",
        "how many were there?",
        ("36", "t00", "t35"),
    ),
)

OVERSIZED = Script(
    "list the archive",
    {
        "count": 400,
        "files": [{"id": f"file-{n:04}", "size": n} for n in range(400)],
        "folder": "archive-2026",
    },
    "Listed 400 files.",
    "open the first one",
    ("400", "file-0000", "archive-2026"),
)


def play(script: Script, distance: int, *, exposed: bool) -> TestKernel:
    """The script's first turn and `distance - 1` others behind it."""
    kernel = TestKernel(
        [_app(script)],
        model=FunctionModel(_answer),
        env={"IMPERAL_FACT_LEDGER_EXPOSE_PII": str(exposed).lower()},
    )
    kernel.chat(script.question)
    for number in range(distance - 1):
        kernel.chat(f"other {number}")
    return kernel


def recalled(kernel: TestKernel, script: Script) -> tuple[int, int]:
    """How many needed values stand in the prompt, with the ledger and without it. A placeholder
    counts for the value it resolves to."""
    view = kernel.run(kernel.kernel.view(kernel.ask(script.follow_up)))
    prompt = view.masker.unmask_text(view.opening.prompt.text)
    prose = "\n".join(line for line in prompt.splitlines() if not line.startswith("FACTS:"))
    return sum(v in prompt for v in script.needs), sum(v in prose for v in script.needs)


def measure(scripts: Sequence[Script], *, exposed: bool) -> dict[int, tuple[float, float]]:
    """Share recalled at each distance, ledger and prose."""
    total = sum(len(s.needs) for s in scripts)
    shares = {}
    for distance in DISTANCES:
        found = [recalled(play(s, distance, exposed=exposed), s) for s in scripts]
        shares[distance] = (sum(a for a, _ in found) / total, sum(b for _, b in found) / total)
    return shares


def _app(script: Script) -> Extension:
    ext = Extension("app")
    chat = ChatExtension(ext)

    @chat.function("look", "The script's tool")
    async def look(ctx: Context) -> ActionResult:
        return ActionResult.success(script.data, script.summary)

    @chat.function("other", "What other turns call")
    async def other(ctx: Context, number: int) -> ActionResult:
        return ActionResult.success({"noted": number}, "Noted.")

    return ext


def _answer(request: ModelRequest) -> ModelResponse:
    """Call the script's tool, or the other one; reply with what the tool said."""
    if request.role == "narrator":
        return ModelResponse(text="")  # the kernel then takes the tool's own summary
    message = request.prompt.rsplit("user] ", 1)[1]
    call = (
        ToolCall("app__other", {"number": int(message.split()[1])})
        if message.startswith("other ")
        else ToolCall("app__look", {})
    )
    return ModelResponse(tool_calls=(call,))


@pytest.mark.parametrize("exposed", [True, False], ids=["gate open", "gate closed"])
def test_every_needed_value_stands_in_the_prompt_for_five_turns(exposed: bool) -> None:
    shares = measure(SCRIPTS, exposed=exposed)
    assert {distance: ledger for distance, (ledger, _) in shares.items()} == dict.fromkeys(
        DISTANCES, 1.0
    )


def test_prose_alone_loses_most_of_them() -> None:
    assert all(prose < 0.5 for _, prose in measure(SCRIPTS, exposed=True).values())


def test_a_result_over_the_cap_keeps_its_leading_part() -> None:
    assert measure([OVERSIZED], exposed=True)[1][0] == 1.0

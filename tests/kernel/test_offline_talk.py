"""What a person says to the model of the first run with the shipped apps, in the languages that they
speak, `offline_talk.txt`: under a sentence each conversation, its messages between strokes, and under it
the calls of its last answer and what stands in its reply; "+" begins another conversation. It is Friday, 15 May 2026."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.testing import TestKernel

PLAIN = dict.fromkeys(map(ord, '"\u201c\u201d\u201e'))
APPS = [Path("extensions") / name for name in ("mail", "tasks", "notes")]


def talks() -> Iterator[Any]:
    """Messages, the calls of the last answer, texts of its reply."""
    why = said = ""
    for line in Path(__file__).with_name("offline_talk.txt").read_text("utf-8").splitlines():
        told = line.strip()
        if line.startswith("    "):
            called, *texts = told.split(" | ")
            yield pytest.param(said.split(" / "), called, texts, id=f"{why}: {said}")
        elif line.startswith("  "):
            said = told
        else:
            why = told


@pytest.mark.parametrize(("messages", "called", "texts"), [*talks()])
def test_a_conversation_with_the_model_of_the_first_run(
    messages: list[str], called: str, texts: list[str]
) -> None:
    kernel = TestKernel(APPS, now="2026-05-15T17:21:04Z")
    session = "s"
    for message in messages:
        if message == "+":
            session += "s"
        else:
            answer = kernel.chat(message, session_id=session)
    card = answer.body.get("confirmation", {}).get("calls", ())
    waits = f"card {len(card)}" if card else ""
    ran = [call["fn_name"] for call in answer.body["calls"]]
    assert (" ".join(filter(None, (*ran, waits))) or "nothing") == called, answer.text
    assert all(text in answer.text.translate(PLAIN) for text in texts), answer.text


def test_what_is_asked_for_is_found_in_what_another_language_calls_it() -> None:
    questions = """what was the order number of yesterday?
какой был номер заказа вчера?
wie war die Bestellnummer von gestern?
quel était le numéro de commande d'hier ?
¿cuál era el número de pedido de ayer?""".splitlines()
    kernel = TestKernel(APPS[1:], now="2026-05-15T17:21:04Z")
    kernel.chat("note: Your order 300418 has been shipped", session_id="before")
    for n, question in enumerate(questions):
        assert "300418" in kernel.chat(question, session_id=f"s{n}").text

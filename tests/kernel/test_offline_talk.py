"""What a person says to the model of the first run with the shipped apps, in the languages that they
speak, `offline_talk.txt`: under a sentence each conversation, its messages between strokes, and under it
the calls of its last answer and what stands in its reply; "+" begins another conversation, `⏎` a line.
It is Friday, 15 May 2026."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.testing import TestKernel, registry_of
from webbee_kernel.turn.messages import as_text

PLAIN = dict.fromkeys(map(ord, '"\u201c\u201d\u201e'))
FOLDERS = [Path("extensions") / name for name in ("mail", "tasks", "notes")]
apps = cache(lambda: [*registry_of(*FOLDERS).loaded.values()])  # what they know is in the stores


def talks() -> Iterator[Any]:
    """Messages, the calls of the last answer, texts of its reply."""
    why = said = ""
    for line in Path(__file__).with_name("offline_talk.txt").read_text("utf-8").splitlines():
        told = line.strip().replace("⏎", "\n")
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
    kernel = TestKernel(apps(), now="2026-05-15T17:21:04Z")
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
    told = as_text(answer.body).translate(PLAIN)
    assert all(text in told for text in texts), told

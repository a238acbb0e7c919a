"""The extension that README.md shows, as it stands there, beside the shipped apps and without a
model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.testing import TestKernel

SHIPPED = [Path("extensions") / name for name in ("mail", "tasks", "notes")]


@pytest.fixture
def kernel(tmp_path: Path) -> TestKernel:
    [code] = re.findall(r"```python\n(.*?)```", Path("README.md").read_text("utf-8"), re.S)
    folder = tmp_path / "weather"
    folder.mkdir()
    (folder / "main.py").write_text(code, "utf-8")
    return TestKernel([folder, *SHIPPED], http=lambda _: {"high": 21})


@pytest.mark.parametrize(
    ("message", "city"),
    [
        ("weather in Riga tomorrow", "Riga"),
        ("What's the weather in Riga tomorrow?", "Riga"),
        ("weather in New York tomorrow, please", "New York"),
        ("погода в Риге завтра", "Риге"),
    ],
)
def test_its_sentences_work_word_for_word(kernel: TestKernel, message: str, city: str) -> None:
    reply = kernel.chat(message)
    assert [(c["app_id"], c["status"]) for c in reply.body["calls"]] == [("weather", "ok")]
    assert reply.text.startswith(f"Tomorrow 21 °C in {city}.")


@pytest.mark.parametrize("message", ["weather on Mars", "what time is it in Riga?"])
def test_what_they_do_not_say_calls_nothing(kernel: TestKernel, message: str) -> None:
    kernel.chat("weather in Riga tomorrow")
    reply = kernel.chat(message)
    assert reply.body["calls"] == []
    assert labels(reply.body["ui"])


def test_another_place_is_asked_of_what_was_asked_before(kernel: TestKernel) -> None:
    kernel.chat("weather in Riga tomorrow")
    reply = kernel.chat("and in Oslo?")
    assert [(c["app_id"], c["status"]) for c in reply.body["calls"]] == [("weather", "ok")]
    assert reply.text.startswith("Tomorrow 21 °C in Oslo.")


def labels(tree: Any) -> list[str]:
    return re.findall(r"'label': '([^']+)'", str(tree))

"""What the documented `sam local` commands are given fits the built functions: events, env.json. The
commands themselves are run in containers by `make test-sam`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.template import environment, load_template
from tests.emulator.conftest import LOGICAL_IDS, Cloud
from tests.emulator.runtime import ROOT
from webbee_kernel.config import ALL_TABLES, Settings

EVENTS = sorted((ROOT / "events").glob("*.json"))
ENV: dict[str, dict[str, str]] = json.loads((ROOT / "env.json").read_text("utf-8"))


def test_every_function_has_events() -> None:
    assert {path.name.partition("-")[0] for path in EVENTS} == set(LOGICAL_IDS)


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_a_documented_event_is_answered_by_the_built_function(cloud: Cloud, path: Path) -> None:
    function = path.name.partition("-")[0]
    answer: Any = cloud.invoke(function, json.loads(path.read_text("utf-8")))
    assert answer.get("statusCode", 200) == 200, answer
    assert answer.get("batchItemFailures", []) == []


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_env_json_starts_the_function_and_overrides_only_what_the_template_declares(
    function: str,
) -> None:
    given = ENV[LOGICAL_IDS[function]]
    assert (
        given.keys() <= environment(load_template(), LOGICAL_IDS[function]).keys()
    )  # sam ignores others
    settings = Settings.from_env(given, function)  # type: ignore[arg-type]
    for noun in ALL_TABLES:
        assert settings.table(noun) in ("", f"{noun.capitalize()}Table")  # what `make aws` creates

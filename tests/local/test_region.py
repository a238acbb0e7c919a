"""Every command that reaches an account goes to the one region that the shell names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local import webbee

PERSON = ("--tenant", "acme", "--user", "alice")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A shell that names no region and no profile, in a folder with one extension."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    assert webbee.main(["new", "shop", "--into", "extensions"]) == 0


@pytest.mark.parametrize(
    "command",
    [
        ["export", *PERSON, "--into", "alice.jsonl"],
        ["erase", *PERSON],
        ["deploy"],
    ],
    ids=lambda words: words[0],
)
def test_without_a_region_nothing_is_asked_or_made(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert webbee.main(command) == 1
    assert "no region is named: export AWS_REGION=" in capsys.readouterr().err
    assert not Path(".webbee").exists()


def test_a_deployment_names_the_region_and_its_release(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert webbee.main(["deploy", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"sam deploy --region eu-central-1 .* Release=\d{10}", out), out


def test_a_region_that_sam_is_told_or_asks_for_wins(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert webbee.main(["deploy", "--dry-run", "--", "--region", "us-east-1"]) == 0
    assert "eu-central-1" not in capsys.readouterr().out

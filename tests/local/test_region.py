"""Every command that reaches an account goes to the one region that the shell names, and what a
deployment lacks is told before anything is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local import deployability, webbee
from local.parameters import wrong

PERSON = ("--tenant", "acme", "--user", "alice")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A shell that names no region and no profile, in a folder with one extension."""
    for name in ("REGION", "DEFAULT_REGION", "PROFILE", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in ("CONFIG", "SHARED_CREDENTIALS"):
        monkeypatch.setenv(f"AWS_{name}_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody is there
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


def test_without_credentials_nothing_is_built(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert webbee.main(["deploy"]) == deployability.main([]) == 1
    said = capsys.readouterr()
    assert said.err.count("no AWS credentials: set AWS_PROFILE") == 2
    assert not said.out.endswith("eu-central-1\n")
    assert not Path(".webbee").exists()


def test_a_profile_that_is_not_there_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert webbee.main(["export", *PERSON, "--into", "alice.jsonl"]) == 1
    assert "(nobody) could not be found: AWS_PROFILE names it" in capsys.readouterr().err


def test_the_region_is_all_that_a_ready_shell_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    given = ["JwtIssuer=https://login.example.com", "JwtAudience=own", "Limits=TurnTokens=5000"]
    assert deployability.main([*given, "--", "--stack-name", "other"]) == 0
    said = capsys.readouterr()
    assert said.out == "eu-central-1\n"
    assert "warning: concurrency: could not be asked" in said.err


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("JwtIssuer=", "JwtIssuer must be an https URL"),
        ("JwtIssuer=http://login.example.com", "JwtIssuer must be an https URL"),
        ("JwtAudiance=own", "no parameter JwtAudiance – did you mean JwtAudience?"),
        ("JwtAudience", "write NAME=VALUE"),
        ("KmsKeyArn=", "KmsKeyArn has no value: KmsKeyArn='\"\"' empties it"),
        ("ProtectData=yes", "ProtectData must be one of"),
        (
            "Limits=TurnTokens=5",
            "Limits: TurnTokens: Input should be greater than or equal to 1000",
        ),
        ("Limits=TurnTokens=many", "Limits: TurnTokens: Input should be a valid integer"),
        ("Limits=TurnToken=5000", "Limits: there is no TurnToken; it holds UserRequestsPerMinute"),
        ("Limits=5000", "Limits must be empty, Name=value,Name=value or a JSON object"),
        ('Limits={"TurnTokens":"5"', "Limits must be empty, Name=value,Name=value or a JSON"),
        ('Limits={"TurnTokens":5]}', "Limits: must be Name=value,Name=value or a JSON object"),
        ("ModelOptions=ModelAi=gpt", "ModelOptions: ModelAi: must be offline, bedrock:<id> or"),
        (
            "Options=Grounding=never",
            "Options: Grounding: Input should be 'strict', 'data' or 'off'",
        ),
        (f"Policy={'x' * 2_501}", "Policy must hold at most 2500 characters"),
        ("Policy=Say {{name}}", "Policy must hold at most 2500 characters and no {{"),
        (f"Policy={'п' * 2_049}", "Policy has 4,098 bytes and CloudFormation takes 4,096"),
        ("Memory=1024", "Memory must be ChatTurn=1024,ToolDispatch=1024,SkeletonRefresh=1024"),
        ("Model=gpt", "Model must be offline, bedrock:<id> or openai:"),
    ],
)
def test_a_parameter_that_the_template_refuses_is_told_with_what_it_must_be(
    given: str, why: str
) -> None:
    (told,) = wrong([given])
    assert why in told


@pytest.mark.parametrize(
    "given",
    [
        *(
            'KmsKeyArn=""',
            f'Policy="{"Be brief. " * 250}"',
            'Limits=""',
            "Limits=TurnTokens=5000,CallSeconds=30",
        ),
        *(
            'Limits={"TurnTokens":5000}',
            "Options=Install=mail+tasks,Tenants=a+b,MaskKinds=IBAN+CARD",
        ),
        "ModelOptions=ModelNarrator=openai:https://x/v1?a=b#m,ModelEffort=low",
        'ModelOptions={"ModelPrices":{"openai:m":{"input":1,"output":2}},"ModelStrict":true}',
        'ExtensionServices={"McpServers":[{"id":"docs","url":"https://a/mcp"}]}',
    ],
)
def test_a_parameter_that_the_template_takes_is_not_told(given: str) -> None:
    assert wrong([given]) == []

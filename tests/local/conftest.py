import json
from pathlib import Path

import boto3
import pytest

from webbee_kernel.config import ALL_TABLES


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A shell that names no region, no profile and no credentials, in a folder of its own."""
    for name in ("REGION", "DEFAULT_REGION", "PROFILE", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in ("CONFIG", "SHARED_CREDENTIALS"):
        monkeypatch.setenv(f"AWS_{name}_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)


def stack_of_the_tables(name: str) -> None:
    """A stack whose outputs name the tables that are there."""
    nouns = [noun.capitalize() for noun in ALL_TABLES]
    outputs = {f"{noun}TableName": {"Value": f"{noun}Table"} for noun in nouns}
    body = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": outputs}
    boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(body))

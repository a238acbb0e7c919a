"""Shell blocks of the docs are shell, their `aws` commands and those of operations.md exist with the
options given, the parameters they set are the template's. `make test-deploy` types them into an account on this machine, `make
test-sam` the block that needs none."""

import re
import shlex
import subprocess
from functools import cache
from typing import Any

import boto3
import pytest
from botocore import xform_name
from botocore.session import Session

from local.template import load_template
from tests.documents import ROOT, shell_blocks

PAGES = ("docs/deploy.md", "docs/operations.md", "docs/models.md")
BLOCKS = [block for page in PAGES for block in shell_blocks(page)]
INLINE = re.findall(
    r"`((?:aws|make deploy) [^`]+)`", (ROOT / "docs" / "operations.md").read_text("utf-8")
)
OF_THE_COMMAND_LINE = {"query", "output", "region", "notification-endpoint"}
"""Options that are no parameter of the operation: its own, and one it names otherwise."""


ALIASES = {"deploy": "codedeploy"}
"""Services that the command line names otherwise."""


@cache
def _service(name: str) -> Any:
    return Session().get_service_model(ALIASES.get(name, name))


@cache
def _waiters(name: str) -> dict[str, str]:
    """A service's waiters as the command line names them, with the operation that each asks."""
    client = boto3.client(name)
    names = client.waiter_names
    return {w.replace("_", "-"): client.get_waiter(w).config.operation for w in names}


def plain(block: str) -> str:
    """The block with what the reader fills in filled in, lines joined."""
    return re.sub(r"<[^>\n]+>", "X", block).replace("\\\n", " ")


def aws_commands() -> list[list[str]]:
    command = r"\baws (?=[a-z])(?:[^\n$)\"'#;|&]|\"[^\"]*\"|'[^']*'|\$\w+)+"
    return [
        shlex.split(text)[1:]
        for block in map(plain, [*BLOCKS, *INLINE])
        for text in re.findall(command, block)
    ]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_block_is_shell(block: str) -> None:
    checked = subprocess.run(
        ["bash", "-n"], input=plain(block), text=True, capture_output=True, check=False
    )
    assert checked.stderr == ""


def test_every_aws_command_exists_with_its_options() -> None:
    commands = aws_commands()
    assert len(commands) > 10
    for service, operation, *words in commands:
        if operation == "wait":
            operation, *words = words
            operation = xform_name(_waiters(service)[operation], "-")
        operations = {xform_name(o, "-"): o for o in _service(service).operation_names}
        assert operation in operations, operation
        shape = _service(service).operation_model(operations[operation]).input_shape
        members = {xform_name(m, "-") for m in shape.members}
        booleans = {f"no-{m}" for m in members}
        options = {w[2:].partition("=")[0] for w in words if w.startswith("--")}
        assert options <= members | booleans | OF_THE_COMMAND_LINE, (operation, options - members)


def test_every_parameter_that_is_set_is_the_templates() -> None:
    known = load_template()["Parameters"]
    given = {
        name
        for block in map(plain, BLOCKS)
        for text in re.findall(r"PARAMETERS=\"([^\"]*)\"", block)
        for name in re.findall(r"(?:^|\s)(\w+)=", text)
    }
    assert given
    assert given <= known.keys()

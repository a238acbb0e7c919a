"""Shell blocks of the docs are shell, their `aws` commands and those of operations.md exist with the
options given, the parameters they set are the template's. The block that needs no account is run by `make test-sam`."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from typing import Any

import pytest
from botocore import xform_name
from botocore.session import Session

from local.template import load_template
from tests.documents import ROOT, shell_blocks

BLOCKS = [*shell_blocks("docs/deploy.md"), *shell_blocks("docs/models.md")]
INLINE = re.findall(
    r"`((?:aws|make deploy) [^`]+)`", (ROOT / "docs" / "operations.md").read_text("utf-8")
)
OF_THE_COMMAND_LINE = {"query", "output", "region", "notification-endpoint"}
"""Options that are no parameter of the operation: its own, and one it names otherwise."""


@cache
def _service(name: str) -> Any:
    return Session().get_service_model(name)


def plain(block: str) -> str:
    """The block with what the reader fills in filled in, lines joined."""
    return re.sub(r"<[^>\n]+>", "X", block).replace("\\\n", " ")


def aws_commands() -> list[list[str]]:
    """Every `aws` command, as words."""
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
        for name in re.findall(r"(\w+)=", text)
    }
    assert given
    assert given <= known.keys()

"""docs/deploy.md and docs/operations.md typed word for word: from a fresh clone, in a shell that
knows `PATH` and `HOME`, into AWS as ministack plays it.

How far that goes: build, upload, change set, execution, a turn over the HTTP API with a token of the
pool, the schedule, a second deployment, the way back, a table restored, a second stage, the end. Not
shown are what needs the account (blocks marked so in the pages), what only AWS checks (permissions,
quotas, alarms, CodeDeploy), and what `stand_in.supply` says. The clone differs in the default of three
parameters, `AwsEndpoint`, `Alarms` (ministack refuses alarms with metric math) and `Tenancy` (its
CloudFormation makes no function with tenant isolation).
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.deploying.stand_in import PROGRAMS, ROOT, StandIn, running
from tests.documents import typed_blocks
from tests.emulator.runtime import MACHINE
from tests.processes import free_port
from webbee_kernel.api.process_pool import adopt, descendants

pytestmark = pytest.mark.timeout(1_800)

NOT_TYPED = ("sam local", "make test-built")
"""The blocks of Lambda on this machine: `make test-sam` runs them."""
READER_HAS = {"KEY": "the key of a model", "NEW_KEY": "the next one"}
"""What the pages take for given."""


@cache
def blocks() -> dict[str, str]:
    """The blocks to be typed, in order, each under its first words."""
    return {
        f"{page[5:-3]} {number}": block
        for page in ("docs/deploy.md", "docs/operations.md")
        for number, (block, needs) in enumerate(typed_blocks(page))
        if not needs and not any(words in block for words in NOT_TYPED)
    }


def holding(words: str) -> str:
    """The name of the one block with these words."""
    [found] = [name for name, block in blocks().items() if words in block]
    return found


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    adopt()  # a tenant's process outlives the function that started it, halted
    before = descendants()
    with running(tmp_path_factory.mktemp("aws"), free_port()) as found:
        yield found
    for pid in descendants().keys() - before.keys():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def clone(stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone of what is committed here, with an origin to pull from."""
    folder = tmp_path_factory.mktemp("clone")
    origin, clone = folder / "origin", folder / "webbee"
    quiet = ["git", "-c", "init.defaultBranch=main", "-c", "advice.detachedHead=false"]
    _run([*quiet, "init", "-q", "--bare", str(origin)])
    _run([*quiet, "push", "-q", str(origin), "HEAD:refs/heads/main"], cwd=ROOT)
    _run([*quiet, "clone", "-q", str(origin), str(clone)])
    template = (clone / "template.yaml").read_text("utf-8")
    defaults = {"AwsEndpoint": stand_in.address, "Alarms": "false", "Tenancy": "process"}
    for name, default in defaults.items():
        declared = rf'(^  {name}: \{{ Type: String, Default: )"?\w*"?,'
        template, changed = re.subn(declared, rf'\g<1>"{default}",', template, flags=re.M)
        assert changed == 1
    (clone / "template.yaml").write_text(template, "utf-8")
    author = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    _run([*quiet, *author, "commit", "-qam", "As the stand-in needs it"], cwd=clone)
    _run([*quiet, "push", "-q"], cwd=clone)
    return clone


def _run(command: list[str], cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True)


@pytest.fixture(scope="module")
def bare(stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A shell with `PATH` and `HOME`; the account stands in the home's profile, as `aws configure`
    puts it there. `ARCH` is this machine's: the stand-in runs the functions itself."""
    home, programs = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("bin")
    (home / ".aws").mkdir()
    (home / ".aws" / "config").write_text(f"[default]\nendpoint_url = {stand_in.address}\n")
    keys = "aws_access_key_id = test\naws_secret_access_key = test\n"
    (home / ".aws" / "credentials").write_text(f"[default]\n{keys}")
    for name in (".config", ".cache", ".pyenv"):  # where this machine's pip and Pythons are
        if (Path.home() / name).exists():
            (home / name).symlink_to(Path.home() / name)
    # Version 1 takes the address of SQS from no profile.
    aws = f'#!/bin/sh\nexec {PROGRAMS / "aws"} --endpoint-url {stand_in.address} "$@"\n'
    (programs / "aws").write_text(aws)
    (programs / "aws").chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {"PATH": path, "HOME": str(home), "ARCH": MACHINE}


@pytest.fixture(scope="module")
def said(
    stand_in: StandIn,
    clone: Path,
    bare: Mapping[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, str]:
    """What each block said."""
    folder = tmp_path_factory.mktemp("typed")
    script, out = folder / "script", folder / "out"
    script.write_text("\n".join(_script(stand_in, clone)), "utf-8")
    # `sam deploy` shows each change set and asks.
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as yes, out.open("w") as told:
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", str(script)],
            cwd=clone,
            env=dict(bare),
            stdin=yes.stdout,
            stdout=told,
            stderr=subprocess.STDOUT,
            check=False,
        )
        yes.terminate()
    text = re.sub(r"[^\n]*\r", "", out.read_text("utf-8"))
    assert done.returncode == 0, text[-5_000:]
    _, *parts = re.split(r"^=== (.*)\n", text, flags=re.M)
    shutil.rmtree(clone)  # environments and a build: half a gigabyte
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _script(stand_in: StandIn, clone: Path) -> Iterator[str]:
    ours = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(sys.executable)}"
    helps = f"(cd {shlex.quote(str(ROOT))}; {ours} -m tests.deploying.stand_in {stand_in.address}"
    yield from (f"{name}={shlex.quote(value)}" for name, value in READER_HAS.items())
    for name, block in blocks().items():
        if "delete-stack" in block:
            yield f"printf '\\n=== schedule\\n'\n{helps})"
        yield f"printf '\\n=== {name}\\n'\n{block}"
        if "make deploy" in block:
            yield f"{helps} {shlex.quote(str(clone / '.aws-sam' / 'build'))})"
        if "Policy=" in block:
            yield 'printf "\\n=== policy\\n"\ncurl -s "$API/v1/me" -H "Authorization: Bearer $TOKEN"'


def as_json(text: str) -> Any:
    """The first JSON value in a text."""
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]


def test_every_block_is_typed_or_says_what_it_needs() -> None:
    for page in ("docs/deploy.md", "docs/operations.md"):
        assert len(typed_blocks(page)) > 5
    waiting = [n for p in ("docs/deploy.md", "docs/operations.md") for _, n in typed_blocks(p) if n]
    assert len(blocks()) > 2 * len(waiting)


def test_the_first_deployment_makes_the_stack(said: Mapping[str, str]) -> None:
    text = said["deploy 2"]
    assert "region: eu-central-1" in text
    assert "Successfully created/updated stack - webbee in eu-central-1" in text


def test_the_api_answers_and_finds_its_tables(said: Mapping[str, str]) -> None:
    health = as_json(said[holding("/v1/health")])
    assert (health["status"], set(health["tables"].values())) == ("ok", {"ok"})


def test_a_turn_with_a_token_of_the_pool_does_what_it_was_asked(said: Mapping[str, str]) -> None:
    turn = as_json(said[holding("/v1/chat")])
    assert [(call["app_id"], call["status"]) for call in turn["calls"]] == [("tasks", "ok")]


def test_a_policy_is_in_parameter_store_when_its_function_starts(said: Mapping[str, str]) -> None:
    assert "PolicyText" in said[holding("Policy=")]
    assert as_json(said["policy"])["imperal_id"]


def test_the_webhook_key_of_the_stack_is_rotated(said: Mapping[str, str]) -> None:
    assert as_json(said[holding("put-secret-value")])["VersionId"]


def test_the_schedule_has_a_section_refreshed(said: Mapping[str, str]) -> None:
    assert re.search(r"the schedule has had \w+#\w+ refreshed", said["schedule"])


def test_every_later_deployment_succeeds(said: Mapping[str, str]) -> None:
    deployed = [name for name, block in blocks().items() if "make deploy" in block]
    assert len(deployed) >= 4
    for name in deployed:
        assert "Successfully created/updated stack - webbee" in said[name], said[name][-2_000:]


def test_the_way_back_moves_each_function_to_the_version_before(said: Mapping[str, str]) -> None:
    moved = re.findall(r"^(\d+)\t(arn:\S+):live$", said[holding("update-alias")], re.M)
    assert len({alias for _, alias in moved}) == 4
    assert {int(version) >= 2 for version, _ in moved} == {True}  # three and more were deployed


def test_the_night_shift_sees_what_waits_and_if_the_clock_runs(said: Mapping[str, str]) -> None:
    looked = said[holding("receive-message")]
    assert '"ApproximateNumberOfMessages"' in looked and '"ConcurrentExecutions"' in looked
    assert re.search(r"^webbee-SkeletonRefresh\S*\tENABLED$", looked, re.M)


def test_a_restored_table_gives_its_items_back(said: Mapping[str, str]) -> None:
    text = said[holding("./webbee restore store")]
    assert re.search(r"^ *[1-9]\d* left as they are$", text, re.M), text


def test_deleting_the_stack_keeps_the_tables_until_they_are_deleted_too(
    said: Mapping[str, str], stand_in: StandIn
) -> None:
    text = said[holding('delete-table --table-name "$table"')]
    tables = re.findall(r"^webbee-(\w+Table)-", text, re.M)
    assert len(tables) == 18 and len(set(tables)) == 9  # unprotected, deleted
    left = stand_in.client("dynamodb").list_tables()["TableNames"]
    assert [name for name in left if not name.startswith("webbee-staging-")] == []
    stacks = stand_in.client("cloudformation").list_stacks()["StackSummaries"]
    assert {s["StackName"]: s["StackStatus"] for s in stacks}["webbee-staging"] == "CREATE_COMPLETE"

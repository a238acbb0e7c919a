"""Extension code that one tenant's call has changed meets no other tenant's: the real handler of
`tool_dispatch` in a process of its own, asked as both callers ask it."""

import asyncio
import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.aws import CREDENTIALS, aws_server, client
from local.project import ROOT, child_environment
from local.template import create_tables, load_template
from tests.processes import ran
from webbee_kernel.api.process_pool import ProcessPool
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.errors import DispatchRefused
from webbee_kernel.sdk import User
from webbee_kernel.types import CallOutcome, CallRequest, user_dict

EXTENSIONS = Path(__file__).parent / "tenants"
ALICE = User("alice", tenant_id="acme", scopes=("*",))
BOB = User("bob", tenant_id="umbrella", scopes=("*",))
SECRET = "the note of umbrella"

ANSWER = """
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("handler", "functions/tool_dispatch/handler.py")
handler = importlib.util.module_from_spec(spec)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
spec.loader.exec_module(handler)
for line in sys.stdin:
    try:
        said = {"answer": handler.lambda_handler(json.loads(line), None)}
    except Exception as error:
        said = {"error": {"errorType": type(error).__name__, "errorMessage": str(error)}}
    print(json.dumps(said), file=answers, flush=True)
"""
"""A process that answers events with the function's handler, one at a time as Lambda has it."""


class Environment:
    """An execution environment of the function; `invoke` is Lambda's, as boto3 has it."""

    def __init__(self, env: dict[str, str]) -> None:
        here = {"cwd": ROOT, "env": {**child_environment(), **env}, "text": True}
        piped = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        self._process = subprocess.Popen([sys.executable, "-c", ANSWER], **here, **piped)
        self._lock = threading.Lock()
        self.pid = self._process.pid

    def invoke(self, Payload: str, **_: Any) -> dict[str, Any]:  # noqa: N803 - boto3's own name
        assert self._process.stdin and self._process.stdout
        with self._lock:
            self._process.stdin.write(Payload + "\n")
            self._process.stdin.flush()
            said = json.loads(self._process.stdout.readline())
        raw = json.dumps(said.get("answer", said.get("error"))).encode()
        failed = {"FunctionError": "Unhandled"} if "error" in said else {}
        return {"Payload": io.BytesIO(raw), **failed}

    def end(self) -> None:
        with self._process:
            assert self._process.stdin
            self._process.stdin.close()


class Tenants:
    """Lambda's tenant isolation mode: an environment for each `TenantId`."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._of: dict[str, Environment] = {}

    def invoke(self, TenantId: str, **asked: Any) -> dict[str, Any]:  # noqa: N803 - boto3's own name
        if TenantId not in self._of:
            self._of[TenantId] = Environment(self._env)
        return self._of[TenantId].invoke(**asked)

    def end(self) -> None:
        for environment in self._of.values():
            environment.end()


class Processes:
    """The local cell, invoked."""

    def __init__(self, env: dict[str, str]) -> None:
        self._cell = ProcessPool({**child_environment(), **env})

    def invoke(self, Payload: str, **_: Any) -> dict[str, Any]:  # noqa: N803 - boto3's own name
        return {"Payload": io.BytesIO(json.dumps(self._cell.invoke(json.loads(Payload))).encode())}

    def end(self) -> None:
        self._cell.stop()


@pytest.fixture(scope="module")
def account() -> Iterator[dict[str, str]]:
    with aws_server() as url:
        tables = create_tables(client(url, "dynamodb"), load_template())
        here = {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "eu-central-1"}
        yield {**CREDENTIALS, **tables, **here, "WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS)}


@contextmanager
def invoked(function: Any) -> Iterator[Any]:
    try:
        yield function
    finally:
        function.end()


def call(function: Any, name: str, user: User, **given: Any) -> CallOutcome:
    """One call, as `chat_turn` and `skeleton_refresh` ask for it."""
    dispatch = LambdaDispatch("cell", lambda _: function, per_tenant=isinstance(function, Tenants))
    request = CallRequest("function", user_dict(user), "patcher", name, given)
    return asyncio.run(dispatch.call(replace(request, deadline_s=60)))


WALLS = {
    "environment": Tenants,
    "process": lambda env: Environment({**env, "WEBBEE_TENANCY": "process"}),
    "the default": Environment,
    "make run": Processes,
}


@pytest.mark.parametrize("wall", WALLS)
def test_a_patched_kernel_reads_no_other_tenants_note(account: dict[str, str], wall: str) -> None:
    env = account if wall != "environment" else {**account, "WEBBEE_TENANCY": "environment"}
    with invoked(WALLS[wall](env)) as function:
        planted = call(function, "plant", ALICE)
        assert planted.ok
        if wall == "process":  # what hands calls on runs no extension itself
            assert planted.data["pid"] != function.pid
        assert call(function, "note", ALICE, text="acme's own").ok
        assert call(function, "loot", ALICE).data["seen"] == [{"text": "acme's own"}]
        noted = call(function, "note", BOB, text=SECRET)
        assert noted.ok and noted.data["pid"] != planted.data["pid"]
        assert SECRET not in json.dumps(call(function, "loot", ALICE).data)
        assert call(function, "loot", BOB).data["seen"] == []


@pytest.mark.parametrize("tenancy", ["environment", "shared"])
def test_a_process_of_one_tenant_refuses_another(account: dict[str, str], tenancy: str) -> None:
    """Whatever the caller says: the environment is acme's by its first call, or by the setting."""
    env = {**account, "WEBBEE_TENANCY": tenancy, "WEBBEE_TENANTS": "acme"}
    with invoked(Environment(env)) as function:
        assert call(function, "plant", ALICE).ok
        with pytest.raises(DispatchRefused, match="another tenant"):
            call(function, "note", BOB, text=SECRET)
        assert call(function, "loot", ALICE).data["seen"] == []


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def test_what_a_tenants_code_leaves_behind_stands_still_and_ends_before_another_tenants_call(
    account: dict[str, str],
) -> None:
    with invoked(Environment({**account, "WEBBEE_TENANCY": "process"})) as function:
        left = call(function, "linger", ALICE).data["left"]
        assert state_of(left) == "T"
        assert call(function, "loot", ALICE).ok
        assert state_of(left) == "T"
        assert call(function, "loot", BOB).ok
        assert state_of(left) in ("", "Z")
        assert call(function, "leave", BOB).error_code == "INTERNAL"  # no outage, as on Lambda


CLOSED = """
import ctypes, os, pathlib
from webbee_kernel.api import process_pool
if os.getuid() == 0:
    os.setgroups([])
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)

def looked_up():
    reading, writing = os.pipe()
    if not os.fork():
        try:
            os.write(writing, pathlib.Path(f"/proc/{os.getppid()}/environ").read_bytes())
        except PermissionError:
            os.write(writing, b"closed")
        os._exit(0)
    os.wait()
    return b"closed" if os.read(reading, 1 << 20) == b"closed" else b"open"

before = looked_up()
process_pool.adopt()
print(before.decode(), looked_up().decode())
"""


def test_the_process_that_hands_calls_on_is_closed_to_those_below_it() -> None:
    done = ran(sys.executable, "-c", CLOSED, env=child_environment())
    assert done.stdout.split() == ["open", "closed"], done.stderr


@pytest.mark.parametrize("wall", ["process", "make run"])
def test_asking_for_the_catalogue_between_opens_no_way(account: dict[str, str], wall: str) -> None:
    """What is asked for nobody is answered, and no process goes from one tenant to another by it."""
    with invoked(WALLS[wall](account)) as function:
        catalogue = LambdaDispatch("cell", lambda _: function).catalogue
        assert "patcher" in asyncio.run(catalogue()).apps
        planted = call(function, "plant", ALICE).data["pid"]
        again = LambdaDispatch("cell", lambda _: function).catalogue
        assert "patcher" in asyncio.run(again()).apps
        assert call(function, "note", BOB, text=SECRET).data["pid"] != planted
        assert call(function, "loot", BOB).data["seen"] == []

"""`make run` as its user starts it: extension code may do what it likes to its process, and the
server goes on."""

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from local.aws import account
from local.loopback import Client, served
from local.project import ROOT, child_environment
from local.stack import local_stack
from tests.functions.support import until
from tests.processes import kill, ran
from webbee_kernel.api.process_pool import ProcessEnded
from webbee_kernel.sdk import User
from webbee_kernel.types import CallRequest, to_dict, user_dict

if os.name != "posix":
    pytest.skip("signals as of a terminal", allow_module_level=True)

MAIN = """
import ctypes, os, threading, time
from pathlib import Path

from pydantic import BaseModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("daring")
chat = ChatExtension(ext)


class How(BaseModel):
    how: str = ""


def hold():
    Path(__file__).with_name("held").touch()
    ctypes.PyDLL(None).sleep(600)  # which keeps the interpreter to itself


def hold_later():
    while not Path(__file__).with_name("go").exists():
        time.sleep(0.01)
    hold()


@chat.function("look", "Look around")
async def look(ctx: Context, params: How) -> ActionResult:
    if params.how == "exit":
        os._exit(3)
    if params.how == "crash":
        ctypes.string_at(0)
    if params.how == "hold":
        hold()
    if params.how == "close":
        os.closerange(3, 4096)
    if params.how == "later":
        threading.Thread(target=hold_later, daemon=True).start()
    if params.how == "raise":
        raise ValueError("the text of it")
    print("printed", params.how)
    ctx.log("logged")
    return ActionResult.success({"pid": os.getpid(), "env": sorted(os.environ)}, "Looked.")


@chat.function("change", "Change something", action_type="write")
async def change(ctx: Context, params: How) -> ActionResult:
    os._exit(4)


@chat.function("keep", "Keep something", action_type="write")
async def keep(ctx: Context, params: How) -> ActionResult:
    await ctx.store.set("things/1", {"how": params.how})
    return ActionResult.success({"kept": (await ctx.store.get("things", "1")).data}, "Kept.")


@ext.schedule("nightly", "61 * * * *")
async def nightly(ctx: Context) -> None:
    await ctx.store.count("things")
"""


KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
MODEL = "openai:http://127.0.0.1:9/v1#heron"
"""One that does not answer, which no call here asks."""
DEV = (sys.executable, "-m", "local.webbee", "dev", "--fresh", "--port", "0")


class Run:
    """A server in a process of its own, and what its terminal showed."""

    def __init__(self, extensions: Path) -> None:
        secrets = {"SERVERS_SECRET": "x", "WEBBEE_MODEL_KEY": "sk-1"}
        env = {**child_environment(), **secrets, "WEBBEE_CALL_SECONDS": "120"}
        streams: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        command = [*DEV, "--model", MODEL, "--into", str(extensions)]
        # in the background of a shell, which has its children ignore it, too
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen(command, cwd=ROOT, env=env, **streams)
        finally:
            signal.signal(signal.SIGINT, before)
        self.lines: queue.Queue[str] = queue.Queue()
        self.shown = ""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.url = self.wait_for("Webbee listens on ").split()[3].rstrip(":")

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as shown:
            for line in shown:
                self.lines.put(line)

    def wait_for(self, text: str) -> str:
        """The next line that holds the text."""
        while True:
            try:
                line = self.lines.get(timeout=90)
            except queue.Empty:
                pytest.fail(f"{text!r} was not shown, but {self.shown[-4_000:]}")
            self.shown += line
            if text in line:
                return line

    def told(self, text: str) -> None:
        """It was shown, or comes."""
        if text not in self.shown:
            self.wait_for(text)

    def call(self, function: str, how: str = "") -> dict[str, Any]:
        body = {"function": function, "params": {"how": how}}
        return dict(Client(self.url, "dev").post("/v1/extensions/daring/call", body))


def daring(extensions: Path) -> Path:
    """The folder of such an extension."""
    (extensions / "daring").mkdir()
    (extensions / "daring" / "main.py").write_text(MAIN)
    return extensions / "daring"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with serving(tmp_path_factory.mktemp("extensions")) as running:
        yield running


@contextmanager
def serving(extensions: Path) -> Iterator[Run]:
    daring(extensions)
    running = Run(extensions)
    try:
        yield running
    finally:
        kill(running.process)
        running.reader.join()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("exit", "daring.look ended it"),
        ("crash", "daring.look ended it"),
        # that it closed a connection, or first that its process ended
        ("close", "; the next call starts a new one"),
    ],
)
def test_a_handler_that_ends_its_process_ends_its_call(server: Run, how: str, told: str) -> None:
    before = server.call("look")["data"]["pid"]
    ended = server.call("look", how)
    assert (ended["status"], ended["error_code"]) == ("error", "INTERNAL")
    assert "daring" in ended["error"]
    assert "[tool_dispatch] ERROR" in server.wait_for(told)
    assert server.call("look")["data"]["pid"] not in (before, server.process.pid)
    assert server.process.poll() is None


def test_of_an_effect_that_ended_its_process_nobody_says_it_was_not_done(server: Run) -> None:
    with pytest.raises(RuntimeError, match=r"daring .*change.*whether it was done is not known"):
        server.call("change")


def test_a_handler_that_holds_the_interpreter_ends_its_own_call_only(tmp_path: Path) -> None:
    """A call that waits in the process that does not come back has another one, and its whole
    time there; one too large for a process that reads nothing ends in its own time."""
    folder = daring(tmp_path)
    asked = CallRequest("function", user_dict(User("alice")), "daring", "look", deadline_s=120)
    with local_stack(extensions_dir=tmp_path, apart=True) as stack, ThreadPoolExecutor(2) as asking:
        cell = stack.cell
        assert cell
        cell.ready()

        def call(how: str, seconds: float = 120) -> Future[Any]:
            event = replace(asked, arguments={"how": how}, deadline_s=seconds)
            return asking.submit(cell.invoke, to_dict(event))

        holding = call("hold", 2)
        until((folder / "held").exists)
        assert call("").result()["status"] == "ok"
        with pytest.raises(ProcessEnded, match="timed out after 5"):
            holding.result()

        (folder / "held").unlink()
        assert call("later").result()["status"] == "ok"
        (folder / "go").touch()
        until((folder / "held").exists)
        with pytest.raises(ProcessEnded, match="timed out after 4"):
            call("x" * 300_000, 1).result(300)
        assert call("").result()["status"] == "ok"


def test_the_start_says_which_model_answers_what_it_does_and_no_call_shows(server: Run) -> None:
    server.told(f"Model: {MODEL} (without it: the built-in helper). What it can do: ./webbee")
    server.told(f"{MODEL}: answers: Nothing listens at 127.0.0.1:9")
    at = MAIN.splitlines().index('@ext.schedule("nightly", "61 * * * *")') + 1
    server.told(f"daring/main.py:{at}: error")
    server.told("is no cron of five fields (Bad minute)")


def test_its_environment_is_its_own_and_its_tables_are_there(server: Run) -> None:
    seen = set(server.call("look")["data"]["env"])
    assert "PATH" in seen
    assert not {"SERVERS_SECRET", "WEBBEE_TABLE_SESSIONS", "WEBBEE_WEBHOOK_KEY"} & seen
    assert not {"WEBBEE_MODEL", "WEBBEE_MODEL_KEY"} & seen
    assert not {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} & seen
    assert server.call("keep", "blue")["data"] == {"kept": {"how": "blue"}}


def test_what_an_extension_prints_logs_and_raises_shows_in_the_terminal(server: Run) -> None:
    server.call("look", "aloud")
    assert "[daring] printed aloud" in server.wait_for("printed aloud")
    assert "[daring] logged" in server.wait_for("logged")
    server.call("look", "raise")
    assert "main.py:" in server.wait_for("the text of it")
    assert 'raise ValueError("the text of it")' in server.wait_for("main.py:")


def test_an_interrupt_ends_both(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        cell = server.call("look")["data"]["pid"]
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait() == 0  # which a check of the extensions may hold up
        server.wait_for("stopped; nothing of this run is kept")
        assert "Traceback" not in server.shown
        with pytest.raises(ProcessLookupError):
            os.kill(cell, 0)


def test_an_extension_that_ends_whoever_imports_it_is_said_at_the_start(
    tmp_path: Path, written: Callable[..., Path]
) -> None:
    written("fatal", "import os\nos._exit(7)\n")
    done = ran(*DEV, "--into", str(tmp_path), cwd=ROOT, env=child_environment())
    assert done.returncode == 1
    assert "an extension ended the process that loads it" in done.stderr


def test_the_port_answers_whoever_knows_its_address_whatever_region_he_believes_in() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with local_stack(), served(account(), "aws", listener=listener, secret=True) as url:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        database, stranger = (
            boto3.client("dynamodb", endpoint_url=at, region_name="ap-southeast-2", **KEYS)
            for at in (url, url[:-2])
        )
        key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
        assert "Item" not in database.get_item(TableName="StoreTable", Key=key)
        with pytest.raises(ClientError, match="404"):
            stranger.get_item(TableName="StoreTable", Key=key)

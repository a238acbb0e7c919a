"""Two processes that share nothing but the tables, as two Lambda instances do: what happens at the
same moment happens once."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from local.aws import CREDENTIALS, aws_server, client
from local.project import child_environment
from local.stack import ROOT, http_event
from local.template import create_tables, load_template
from tests.functions.support import ALICE, EXTENSIONS

PROCESSES = 2


class Process:
    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "tests.e2e.worker"]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.running = subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)

    def send(self, function: str, event: dict[str, Any]) -> None:
        assert self.running.stdin
        self.running.stdin.write(json.dumps({"function": function, "event": event}) + "\n")
        self.running.stdin.flush()

    def read(self) -> str:
        assert self.running.stdout
        return self.running.stdout.readline().strip()

    def stop(self) -> None:
        self.running.communicate(timeout=30)


class Cloud:
    """The tables' server and the processes in front of it."""

    def __init__(self, processes: list[Process], database: Any) -> None:
        self.processes = processes
        self.database = database

    def at_once(
        self, method: str, path: str, body: Any, claims: Any = ALICE
    ) -> list[dict[str, Any]]:
        """The same request to every process, before any of them answers; the answers' bodies and
        statuses."""
        for process in self.processes:
            process.send("chat_turn", http_event(method, path, claims=claims, body=body))
        answers = [json.loads(process.read()) for process in self.processes]
        return [{"statusCode": a["statusCode"], **json.loads(a["body"])} for a in answers]

    def documents(self, collection: str) -> list[str]:
        items = self.database.scan(TableName="StoreTable", ConsistentRead=True)["Items"]
        return [
            json.loads(i["data"]["S"])["text"]
            for i in items
            if i["sk"]["S"].startswith(f"{collection}#") and "data" in i
        ]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with ExitStack() as stack:
        url = stack.enter_context(aws_server())  # one request after the other, as its writes need
        database = client(url, "dynamodb")
        stack.callback(database.close)
        tables = create_tables(database, load_template())
        here = {"AWS_ENDPOINT_URL": url, "WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS)}
        environment = {**child_environment(), **CREDENTIALS, **tables, **here}
        processes = [Process(environment) for _ in range(PROCESSES)]
        for process in processes:
            stack.callback(process.stop)
        for process in processes:
            assert process.read() == "ready"
        yield Cloud(processes, database)


def same(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The one answer that all of them are, but for the time each took."""
    for answer in answers:
        for made in answer.get("calls", []):
            made.pop("duration_ms")
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["statusCode"] == 200
    return answers[0]


def chat(message: str, session: str) -> dict[str, str]:
    return {"message": message, "session_id": session, "request_id": "r1"}


@pytest.mark.parametrize("number", range(5))
def test_a_request_delivered_to_two_processes_is_done_once(cloud: Cloud, number: int) -> None:
    session = f"once-{number}"
    body = chat(f'probe.save {{"text": "{session}"}}', session)
    answer = same(cloud.at_once("POST", "/v1/chat", body))
    assert (answer["reply"], answer["turn"]) == (f'Saved "{session}".', 1)
    assert cloud.documents("texts").count(session) == 1


@pytest.mark.parametrize("number", range(3))
def test_a_confirmation_accepted_in_two_processes_runs_once(cloud: Cloud, number: int) -> None:
    session = f"confirm-{number}"
    body = chat(f'probe.remove {{"text": "{session}"}}', session)
    question = same(cloud.at_once("POST", "/v1/chat", body))
    path = f"/v1/confirmations/{question['confirmation']['id']}"
    answer = same(cloud.at_once("POST", path, {"accept": True}))
    assert answer["reply"] == f'Removed "{session}".'
    assert cloud.documents("removed").count(session) == 1


def test_two_processes_number_the_turns_of_one_session_without_a_gap(cloud: Cloud) -> None:
    claims = {**ALICE, "sub": "numbered"}
    body = {"message": "probe.look {}", "session_id": "s"}
    for first in (1, 3, 5, 7):
        both = cloud.at_once("POST", "/v1/chat", body, claims)
        assert {answer["turn"] for answer in both} == {first, first + 1}

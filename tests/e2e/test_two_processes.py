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

PROCESS = """
import json, sys
from tests.functions.support import functions
handlers = functions()
for handler in handlers.values():
    handler.lambda_handler.service()
print("ready", flush=True)
for event in sys.stdin:  # one on each line, as is each answer
    print(json.dumps(handlers["chat_turn"].lambda_handler(json.loads(event), None)), flush=True)
"""


class Cloud:
    """The tables' server and two processes in front of it."""

    def __init__(self, stack: ExitStack) -> None:
        url = stack.enter_context(aws_server())  # one request after the other, as its writes need
        self.database = client(url, "dynamodb")
        stack.callback(self.database.close)
        tables = create_tables(self.database, load_template())
        here = {"AWS_ENDPOINT_URL": url, "WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS)}
        own: Any = {"cwd": ROOT, "env": {**child_environment(), **CREDENTIALS, **tables, **here}}
        own |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        command = [sys.executable, "-c", PROCESS]
        self.processes = [subprocess.Popen[str](command, **own) for _ in range(2)]
        for process in self.processes:
            stack.callback(process.communicate, timeout=30)
        assert self._answers() == ["ready", "ready"]

    def _answers(self) -> list[str]:
        return [process.stdout.readline().strip() for process in self.processes if process.stdout]

    def at_once(self, path: str, body: Any, sub: str = ALICE["sub"]) -> list[dict[str, Any]]:
        """What both answer to the same request, which each has before the other answers."""
        event = http_event("POST", path, claims={**ALICE, "sub": sub}, body=body)
        for process in self.processes:
            assert process.stdin
            process.stdin.write(json.dumps(event) + "\n")
        answers = [json.loads(answer) for answer in self._answers()]
        assert [answer["statusCode"] for answer in answers] == [200, 200]
        return [json.loads(answer["body"]) for answer in answers]

    def alike(self, path: str, body: Any) -> dict[str, Any]:
        """The one answer of both, but for the time each took."""
        one, other = self.at_once(path, body)
        for made in (*one["calls"], *other["calls"]):
            del made["duration_ms"]
        assert one == other
        return one

    def documents(self, collection: str) -> list[str]:
        items = self.database.scan(TableName="StoreTable", ConsistentRead=True)["Items"]
        own = (i for i in items if i["sk"]["S"].startswith(f"{collection}#") and "data" in i)
        return [json.loads(item["data"]["S"])["text"] for item in own]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with ExitStack() as stack:
        yield Cloud(stack)


def asking(call: str, text: str) -> dict[str, str]:
    return {"message": f'probe.{call} {{"text": "{text}"}}', "session_id": text, "request_id": "r"}


@pytest.mark.parametrize("number", range(5))
def test_a_request_delivered_to_two_processes_is_done_once(cloud: Cloud, number: int) -> None:
    answer = cloud.alike("/v1/chat", asking("save", f"once-{number}"))
    assert (answer["reply"], answer["turn"]) == (f'Saved "once-{number}".', 1)
    assert cloud.documents("texts").count(f"once-{number}") == 1


@pytest.mark.parametrize("number", range(3))
def test_a_card_accepted_in_two_processes_runs_once(cloud: Cloud, number: int) -> None:
    card = cloud.alike("/v1/chat", asking("remove", f"card-{number}"))["confirmation"]
    answer = cloud.alike(f"/v1/confirmations/{card['id']}", {"accept": True})
    assert answer["reply"] == f'Removed "card-{number}".'
    assert cloud.documents("removed").count(f"card-{number}") == 1


def test_two_processes_number_the_turns_of_one_session_without_a_gap(cloud: Cloud) -> None:
    body = {"message": "probe.look {}", "session_id": "s"}
    for first in (1, 3, 5, 7):
        assert {a["turn"] for a in cloud.at_once("/v1/chat", body, "numbered")} == {
            first,
            first + 1,
        }

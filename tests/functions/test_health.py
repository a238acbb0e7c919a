"""`GET /v1/health` asks every app side by side, waits for none of them longer than it may, and asks
nobody twice within a minute: the route is public. And what the functions count as failed."""

import asyncio
import json
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.stack import Stack, http_event
from tests.alarms import embedded
from tests.functions.support import ALICE, Person, deployed, event
from tests.hasty_loop import HastyLoop
from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.testing import TestKernel

APPS = 12


class Probes:
    """Apps whose health checks answer once `needed` of them have been asked."""

    def __init__(self, count: int, needed: int, **env: str) -> None:
        self.asked = 0
        self.tenants: set[str] = set()
        self.needed = needed
        self.kernel = TestKernel([self._app(f"app{n}") for n in range(count)], env=env)
        app, kernel = self.kernel.app, self.kernel.kernel
        self._service = ChatService(app.settings, app=app, kernel=kernel)

    def _app(self, name: str) -> Extension:
        extension = Extension(name)

        @extension.health_check
        async def health(ctx: Context) -> dict[str, Any]:
            self.asked += 1
            self.tenants.add(ctx.user.tenant_id)
            while self.asked < self.needed:  # noqa: ASYNC110 - the test moves it from its own thread
                await asyncio.sleep(0.001)
            return {"status": "ok"}

        return extension

    def answer(self) -> dict[str, Any]:
        """What the route says, with a clock that does not wait for apps that were asked and do not
        answer, and stands still for all others."""
        never = self.needed > APPS
        loop = partial(HastyLoop, lambda: never and self.asked > 0)
        with asyncio.Runner(loop_factory=loop) as runner:
            answer = runner.run(self._service.handle(http_event("GET", "/v1/health")))
        assert answer["statusCode"] == 200
        body: dict[str, Any] = json.loads(answer["body"])
        return body


def test_an_app_that_does_not_answer_is_named_and_holds_nobody_up() -> None:
    probes = Probes(1, needed=APPS + 1)
    try:
        said = [probes.answer() for _ in range(2)]
    finally:
        probes.needed = 0
    assert {(s["status"], s["extensions"]["app0"]) for s in said} == {("ok", "timeout")}
    assert probes.asked == 1


def test_all_apps_are_asked_at_once_and_once_a_minute_however_often_the_route_is() -> None:
    """All before any has to answer, for a tenant that the deployment serves."""
    probes = Probes(APPS, needed=APPS, WEBBEE_TENANTS="acme,umbrella")
    for _ in range(3):
        assert probes.answer()["extensions"] == {f"app{n}": "ok" for n in range(APPS)}
    assert probes.asked == APPS
    probes.kernel.clock.advance(61)
    probes.answer()
    assert (probes.asked, probes.tenants) == (2 * APPS, {"acme"})


def test_an_app_that_does_not_load(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "main.py").write_text('raise RuntimeError("the key is s3cret")\n')
    with deployed(extensions=tmp_path) as stack:
        said = Person(stack, ALICE).send("GET", "/v1/health")["extensions"]
    assert said == {"broken": "RuntimeError"}
    assert "app=broken | not loaded, it is left out: RuntimeError: the key is s3cret" in caplog.text


# ---- what counts as failed


ENV = {"POWERTOOLS_METRICS_NAMESPACE": "Webbee/webbee"}
pytestmark = pytest.mark.deployed(env=ENV)


def broken(error: Exception) -> FunctionModel:

    def model(_: Any) -> Any:
        raise error

    return FunctionModel(model)


def invoked(function: str, **arguments: Any) -> dict[str, Any]:
    return event("invoke_call") | {"app_id": "probe", "name": function, "arguments": arguments}


BAD = event("http_chat") | {"body": "{"}
READ, CHAT = event("http_events"), event("http_chat")
BATCH = event("sqs_refresh_batch")
AWAY = {"env": {**ENV, "WEBBEE_TABLE_EVENTS": "nowhere"}}
FAILED, REFUSED = {"Requests": 2, "ServerErrors": 2}, {"Calls": 2, "CallFailures": 0}


@pytest.mark.parametrize(
    ("function", "events", "options", "expected"),
    [
        ("chat_turn", [CHAT, CHAT], {"model": broken(ZeroDivisionError())}, FAILED),
        ("chat_turn", [CHAT, CHAT], {"model": broken(ModelUnavailable("away"))}, FAILED),
        ("chat_turn", [CHAT, BAD, *[READ] * 20], {}, {"Requests": 2, "ServerErrors": 0}),
        ("chat_turn", [READ], AWAY, {"Requests": 1, "ServerErrors": 1}),
        (
            "tool_dispatch",
            [invoked("fail")],
            {},
            {"Calls": 1, "CallFailures": 1, "ServerErrors": 0},
        ),
        ("tool_dispatch", [invoked("save", text=1), invoked("none")], {}, REFUSED),
        # one of a kind that is not known, one that is no JSON
        ("skeleton_refresh", [BATCH], {}, {"Requests": len(BATCH["Records"]), "ServerErrors": 2}),
    ],
)
def test_what_counts_as_a_request_and_as_failed(
    capsys: pytest.CaptureFixture[str], function: str, events: Any, options: Any, expected: Any
) -> None:
    with deployed(**{"env": ENV, **options}) as stack:
        capsys.readouterr()
        for given in events:
            stack.handlers[function].lambda_handler(given, SimpleNamespace(function_version="8"))
    found: Counter[str] = Counter()
    for line in capsys.readouterr().out.splitlines():
        for point in embedded(line, 0):
            if dict(point.dimensions).get("version") == "8":
                assert {name for name, _ in point.dimensions} == {"function", "version"}
                found[point.name] += point.value
    assert found.items() >= expected.items()


class NoQueue:
    async def send(self, messages: Any) -> None:
        raise ConnectionError


def written(capsys: pytest.CaptureFixture[str], name: str) -> list[list[float]]:
    """The values of a metric, by the line that holds them."""
    lines = [json.loads(x) for x in capsys.readouterr().out.splitlines() if '"_aws"' in x]
    return [line[name] for line in lines if name in line]


@pytest.mark.deployed(env={**ENV, "WEBBEE_DUE_SHARDS": "8"})
def test_a_shard_that_dies_has_said_how_long_somebody_waits_and_a_tick_that_it_was_one(
    stack: Stack, alice: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = [{"kind": "shard_due", "shard": n, "at": 1_778_865_660.0} for n in range(8)]
    records = [{"messageId": str(s["shard"]), "body": json.dumps(s)} for s in shards]
    function = stack.handlers["skeleton_refresh"].lambda_handler
    alice.install("clockwork")
    function.service()._sender = NoQueue()
    capsys.readouterr()
    answer = function({"Records": records}, SimpleNamespace(function_version="8"))
    assert len(answer["batchItemFailures"]) == 1  # the shard in which somebody is due
    assert sum(map(len, written(capsys, "OldestDueSeconds"))) == len(shards)
    with pytest.raises(ConnectionError):
        function(event("eventbridge_tick"))
    assert written(capsys, "Ticks") == [[1]]

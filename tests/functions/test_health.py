"""`GET /v1/health` asks every app side by side, waits for none of them longer than it may, and asks
nobody twice within a minute: the route is public."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from local.stack import http_event
from tests.functions.support import ALICE, Person, deployed
from tests.hasty_loop import HastyLoop
from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.testing import TestKernel

APPS = 12


class Probes:
    """Apps whose health checks answer once `needed` of them have been asked."""

    def __init__(self, count: int, needed: int) -> None:
        self.asked = 0
        self.needed = needed
        self.kernel = TestKernel([self._app(f"app{n}") for n in range(count)])
        app, kernel = self.kernel.app, self.kernel.kernel
        self._service = ChatService(app.settings, app=app, kernel=kernel)

    def _app(self, name: str) -> Extension:
        extension = Extension(name)

        @extension.health_check
        async def health(ctx: Context) -> dict[str, Any]:
            self.asked += 1
            while self.asked < self.needed:  # noqa: ASYNC110 - the test moves it from its own thread
                await asyncio.sleep(0.001)
            return {"status": "ok"}

        return extension

    def answer(self) -> dict[str, Any]:
        """What the route says, with a clock that does not wait."""
        with asyncio.Runner(loop_factory=HastyLoop) as runner:
            answer = runner.run(self._service.handle(http_event("GET", "/v1/health")))
        assert answer["statusCode"] == 200
        body: dict[str, Any] = json.loads(answer["body"])
        return body


def test_all_apps_are_asked_before_any_has_to_answer() -> None:
    said = Probes(APPS, needed=APPS).answer()
    assert said["extensions"] == {f"app{n}": "ok" for n in range(APPS)}


def test_an_app_that_does_not_answer_is_named_and_holds_nobody_up() -> None:
    probes = Probes(1, needed=2)
    try:
        said = probes.answer()
    finally:
        probes.needed = 0
    assert (said["status"], said["extensions"]) == ("ok", {"app0": "timeout"})


def test_an_app_is_asked_once_a_minute_however_often_the_route_is() -> None:
    probes = Probes(1, needed=1)
    for _ in range(3):
        assert probes.answer()["extensions"] == {"app0": "ok"}
    assert probes.asked == 1
    probes.kernel.clock.advance(61)
    probes.answer()
    assert probes.asked == 2


def test_an_app_that_does_not_load_is_named_without_the_text_of_its_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "main.py").write_text('raise RuntimeError("the key is s3cret")\n')
    with deployed(extensions=tmp_path) as stack:
        said = Person(stack, ALICE).send("GET", "/v1/health")["extensions"]
    assert said == {"broken": "RuntimeError"}
    assert "extension=broken reason=RuntimeError: the key is s3cret" in caplog.text

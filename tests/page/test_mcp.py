"""A person uses a server that wants a sign-in, in a real browser: connects an account at the
server's own provider, and answers what the server asks in the middle of a call."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.mcp_servers import as_json
from tests.mcp.conftest import Told, told
from tests.mcp.server import TEXT, takes
from tests.mcp.test_signing_in import added
from tests.page.conftest import served
from tests.page.test_page import write
from tests.processes import free_port
from tests.stand_ins.http import Answer
from tests.stand_ins.servers import ChatServer
from tests.stand_ins.sign_in import Guard, guarded

__all__ = ["told"]

ASKED = {"message": "Which rounding do you want?", "requestedSchema": takes(mode=TEXT)}


@pytest.fixture
def guard(told: Told) -> Iterator[Guard]:
    with guarded(told.url) as standing:
        yield standing


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer() as serving:
        yield serving


@pytest.fixture
def url(guard: Guard, model: ChatServer, tmp_path: Path) -> Iterator[str]:
    """A deployment whose operator has added the server."""
    port = free_port()
    server = added(guard, tmp_path, f"http://127.0.0.1:{port}")
    env = {"WEBBEE_MCP_SERVERS": as_json([server]), "WEBBEE_HTTP_ALLOW_PRIVATE": "true"}
    model_name = f"openai:{model.url}#stand-in"
    with served(tmp_path / "extensions", port=port, model=model_name, **env) as [address]:
        yield address


def test_a_person_connects_an_account_and_answers_what_the_server_asks(
    visit: Any, told: Told, guard: Guard, model: ChatServer
) -> None:
    page = visit("bob")
    model.play(Answer(calls=(("sums__connect", {}),)))
    write(page, "connect my account of sums")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Connect an account of sums").click()
    question = opened.value
    question.get_by_role("button", name="Connect").click()
    question.get_by_role("heading", name="Connected").wait_for()
    page.bring_to_front()
    told.behave(elicit=ASKED)
    model.play(Answer(calls=(("sums__add", {"a": 1, "b": 2}),)))
    write(page, "add 1 and 2 with sums")
    page.get_by_text("Which rounding do you want?").locator("visible=true").first.wait_for()
    assert told.answered == [{"action": "cancel"}]
    answers = {"a": 1, "b": 2, "_answers": {"mode": "up"}}
    model.play(Answer(calls=(("sums__add", answers),)))
    write(page, "round up")
    while len(told.answered) < 2:
        page.wait_for_timeout(100)
    assert told.answered[-1] == {"action": "accept", "content": {"mode": "up"}}

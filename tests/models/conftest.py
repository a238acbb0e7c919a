from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.stand_ins.servers import Answer, BedrockServer, ChatServer, ModelServer, error
from webbee_kernel.aws.clients import forget_clients
from webbee_kernel.background import LoopThread
from webbee_kernel.llm.bedrock import BedrockModel
from webbee_kernel.llm.openai_compatible import OpenAICompatibleModel
from webbee_kernel.llm.options import ModelOptions
from webbee_kernel.llm.protocol import Model, ModelRequest, ModelResponse, ToolSpec, streamed

MODEL_ID = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"

LIST = ToolSpec(
    name="mail__list_inbox",
    app_id="mail",
    fn_name="list_inbox",
    description="List messages of the inbox",
    input_schema={"type": "object", "properties": {"day": {"type": "string"}}},
    action_type="read",
    examples=("покажи письма за сегодня", 'show "new" mail', "inbox", "what is new", "a fifth one"),
)
SEND = ToolSpec(
    name="mail__send",
    app_id="mail",
    fn_name="send",
    description="Send a message",
    input_schema={"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
    action_type="write",
    examples=(),
)


def asking(**changes: Any) -> ModelRequest:
    values: dict[str, Any] = {"role": "classifier", "system": "Decide.", "tools": (LIST, SEND)}
    values["prompt"] = "[HISTORY]\n[now user] покажи письма"
    return ModelRequest(**(values | changes))


@dataclass(frozen=True)
class Wire:
    """One service: its stand-in and the adapter that talks to it. The words of each protocol stand
    here, once."""

    kind: str
    server: ModelServer
    model: Model
    loop: LoopThread
    streams: bool = False

    def ask(self, request: ModelRequest | None = None) -> ModelResponse:
        """The answer; where it streams, what was heard on the way is its text."""
        request = request or asking()
        if not self.streams:
            return self.loop.run(self.model.complete(request))
        heard: list[str] = []
        response: ModelResponse = self.loop.run(streamed(self.model, request, heard.append))
        assert "".join(heard) == response.text
        return response

    def another(self, options: ModelOptions) -> Model:
        if self.kind == "bedrock":
            return BedrockModel(MODEL_ID, options=options)
        return OpenAICompatibleModel(self.server.url, "llama3", options=options)

    def fails(self, how: str) -> Answer:
        """`throttled`, `broken`, `denied`, `no model`, in the words of the service."""
        return FAILS[how][self.kind == "openai"]

    def invalid(self, message: str) -> Answer:
        if self.kind == "bedrock":
            return error("ValidationException", message)
        return Answer(status=400, message=message)

    @property
    def cut(self) -> str:
        return "max_tokens" if self.kind == "bedrock" else "length"

    @property
    def filtered(self) -> str:
        return "content_filtered" if self.kind == "bedrock" else "content_filter"


DENIED = "User: arn:aws:sts::1:assumed-role/prompt is not authorized: bedrock:InvokeModel"
FAILS = {
    "throttled": (
        error("ThrottlingException", "Too many requests", retry_after=0.01),
        Answer(status=429, code="rate_limit_exceeded", retry_after=0.01),
    ),
    "broken": (error("InternalServerException"), Answer(status=500)),
    "denied": (error("AccessDeniedException", DENIED), Answer(status=401, code="invalid_api_key")),
    "no model": (error("ResourceNotFoundException"), Answer(status=404, code="model_not_found")),
}


@pytest.fixture(scope="session")
def loop() -> LoopThread:
    return LoopThread("model-tests")


@pytest.fixture(scope="session")
def bedrock_server() -> Iterator[BedrockServer]:
    with BedrockServer() as server:  # one for all tests of a process: boto3 clients are kept
        yield server


@pytest.fixture(scope="session")
def chat_server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def bedrock(
    bedrock_server: BedrockServer, loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> Wire:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", bedrock_server.url)
    forget_clients(is_lazy=True)  # of a server that another file of this process had
    bedrock_server.reset()
    return Wire("bedrock", bedrock_server, BedrockModel(MODEL_ID), loop)


@pytest.fixture
def openai(chat_server: ChatServer, loop: LoopThread) -> Wire:
    chat_server.reset()
    return Wire("openai", chat_server, OpenAICompatibleModel(chat_server.url, "llama3"), loop)


@pytest.fixture(params=["bedrock", "openai"])
def service(request: pytest.FixtureRequest) -> Wire:
    """Each service in turn, for whole turns: nobody reads along, so nothing is streamed."""
    found: Wire = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def wire(request: pytest.FixtureRequest, service: Wire) -> Wire:
    """Each service in turn, asked for the answer in one piece and for a stream of it."""
    return replace(service, streams=request.param)

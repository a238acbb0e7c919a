"""Whole turns over the wire as `make run` plays them: what a failing or odd model does to a user."""

import json

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import BotocoreStubber
from pydantic import BaseModel

from local import demo
from local.aws import local_aws
from local.loopback import Client
from local.world import local_world
from tests.stand_ins.servers import Answer, ChatServer
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension


class SendParams(BaseModel):
    to: str
    copies: int = 1


class Sent:
    def __init__(self) -> None:
        self.to: list[str] = []

    def extension(self) -> Extension:
        ext = Extension("mail", "1.0.0", description="Mail")
        chat = ChatExtension(ext)

        @chat.function("list_inbox", "List the inbox")
        async def list_inbox(ctx: Context) -> ActionResult:
            return ActionResult.success({"unread": 8}, summary="8 unread messages.")

        @chat.function("send", "Send a message", action_type="write")
        async def send(ctx: Context, params: SendParams) -> ActionResult:
            self.to.append(params.to)
            return ActionResult.success({"to": params.to}, summary=f"Sent to {params.to}.")

        return ext


def test_a_turn_of_the_demo_runs_over_the_wire_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBBEE_MODEL_KEY", "sk-local")
    with (
        ChatServer(key="sk-local", model="llama3") as server,
        local_world(tokens=demo.TOKENS, model=f"openai:{server.url}#llama3") as world,
    ):
        demo.connect(demo.Story(world))
        sarah = Client(world.url, "sarah-en")
        server.play(Answer(calls=(("mail__list_inbox", {}),)), Answer("There it is."))
        [call] = sarah.turn("show my inbox", "s1")["calls"]
        assert (call["fn_name"], call["status"]) == ("list_inbox", "ok")
        sent = json.dumps([r.body for r in server.requests], ensure_ascii=False)
        # the gate is closed: no model saw the address of whoever wrote
        assert "<EMAIL_" in sent and "sarah@example.com" not in sent
        assert sarah.get("/v1/health")["model"] == "openai:llama3"
        server.play(Answer(status=429), Answer(status=429))
        with pytest.raises(RuntimeError, match=r"503.*model_unavailable"):
            sarah.post("/v1/chat", {"message": "what is new?", "session_id": "s1"})
        assert server.problems == []


def test_only_a_bedrock_model_lets_requests_leave_the_machine() -> None:
    def real(service: str) -> bool:
        url = f"https://{service}.eu-central-1.amazonaws.com/model/m/converse"
        try:
            asked = AWSPreparedRequest("POST", url, HTTPHeaders(), b"", False)
            return BotocoreStubber().process_request(asked) is None
        except NotImplementedError:  # moto took it
            return False

    with local_aws(bedrock=True):
        assert real("bedrock-runtime") is True
        assert real("dynamodb") is False
        assert real("bedrock-agent") is False
    with local_aws():
        assert not real("bedrock-runtime")

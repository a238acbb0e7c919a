"""Strands Agents: an agent a turn, as a function without state makes it, its session in DynamoDB.

The package ships sessions in files and in S3; the repository for DynamoDB is written here, an item
a message, in the shape of its own S3 one. Its window is 20 messages, which is five turns.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from typing import Any

import boto3
from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.models import Model
from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.session import Session, SessionAgent, SessionMessage

from benchmarks.peers import REPLY, SYSTEM, number_in, orders
from benchmarks.peers import message as said

WINDOW = 20


class Repository(SessionRepository):
    """Sessions, agents and messages as items of one partition."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def create_session(self, session: Session, **_: Any) -> Session:
        self._put(session.session_id, "session", session.to_dict())
        return session

    def read_session(self, session_id: str, **_: Any) -> Session | None:
        found = self._get(session_id, "session")
        return Session.from_dict(found) if found else None

    def create_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        self._put(session_id, f"agent#{session_agent.agent_id}", session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **_: Any) -> SessionAgent | None:
        found = self._get(session_id, f"agent#{agent_id}")
        return SessionAgent.from_dict(found) if found else None

    update_agent = create_agent

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any
    ) -> None:
        at = f"message#{agent_id}#{session_message.message_id:010d}"
        self._put(session_id, at, session_message.to_dict())

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **_: Any
    ) -> SessionMessage | None:
        found = self._get(session_id, f"message#{agent_id}#{message_id:010d}")
        return SessionMessage.from_dict(found) if found else None

    update_message = create_message

    def list_messages(
        self,
        session_id: str,
        agent_id: str,
        limit: int | None = None,
        offset: int = 0,
        **_: Any,
    ) -> list[SessionMessage]:
        answer = self._client.query(
            TableName=os.environ["PEER_TABLE"],
            KeyConditionExpression="pk = :pk AND sk BETWEEN :low AND :high",
            ExpressionAttributeValues={
                ":pk": {"S": session_id},
                ":low": {"S": f"message#{agent_id}#{offset:010d}"},
                ":high": {"S": f"message#{agent_id}#~"},
            },
            ConsistentRead=True,
        )
        return [SessionMessage.from_dict(json.loads(i["body"]["S"])) for i in answer["Items"]]

    def _put(self, session_id: str, sk: str, body: dict[str, Any]) -> None:
        item = {"pk": {"S": session_id}, "sk": {"S": sk}, "body": {"S": json.dumps(body)}}
        self._client.put_item(TableName=os.environ["PEER_TABLE"], Item=item)

    def _get(self, session_id: str, sk: str) -> Any:
        key = {"pk": {"S": session_id}, "sk": {"S": sk}}
        answer = self._client.get_item(
            TableName=os.environ["PEER_TABLE"], Key=key, ConsistentRead=True
        )
        return json.loads(answer["Item"]["body"]["S"]) if "Item" in answer else None


class Scripted(Model):
    """A model that costs nothing: calls the tool, then replies."""

    def update_config(self, **_: Any) -> None:
        return None

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError("nothing here asks for structured output")

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterable[Any]:
        yield {"messageStart": {"role": "assistant"}}
        told = messages[-1]["content"][0]
        if "toolResult" in told:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": REPLY}}}
            reason, tokens = "end_turn", (700, 30)
        else:
            number = number_in(told["text"])
            use = {"name": "latest", "toolUseId": f"call-{number}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {
                "contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"number": {number}}}'}}}
            }
            reason, tokens = "tool_use", (1500, 40)
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}
        usage = dict(zip(("inputTokens", "outputTokens"), tokens, strict=True))
        usage["totalTokens"] = sum(tokens)
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


@tool
def latest(number: int) -> dict[str, Any]:
    """The latest orders.

    Args:
        number: Which.
    """
    return {"status": "success", "content": [{"json": orders(number)}]}


def player(url: str, pem: str) -> Callable[[str, int], str]:
    """Plays a turn of a session."""
    repository = Repository(boto3.client("dynamodb", endpoint_url=url, verify=pem))
    model = Scripted()

    def play(session: str, turn: int) -> str:
        agent = Agent(
            model=model,
            system_prompt=SYSTEM,
            tools=[latest],
            agent_id="orders",
            session_manager=RepositorySessionManager(session, repository),
            conversation_manager=SlidingWindowConversationManager(window_size=WINDOW),
            callback_handler=None,
        )
        return str(agent(said(turn))).strip()

    return play

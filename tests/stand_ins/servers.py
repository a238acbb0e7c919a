"""Stand-ins of the two model services: real HTTP servers on loopback that check what they receive
and play what they are told.

    with ChatServer() as server:  # or BedrockServer
        server.play(Answer(calls=(("mail__list_inbox", {}),)), Answer(status=429, retry_after=1))
        …  # past the script, they agree
        assert server.problems == []
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from .http import Answer, ModelServer, Received, tokens
from .pieces import EVENT_STREAM, SSE, chat_chunks, converse_events
from .wire import answer_problems, chat_problems, converse_problems, error_status

MODEL_ID = "eu.stand-in.offline-v1:0"


class BedrockServer(ModelServer):
    """Converse. The signature is not checked."""

    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
            "AWS_ACCESS_KEY_ID": "stand-in",
            "AWS_SECRET_ACCESS_KEY": "stand-in",
            "AWS_DEFAULT_REGION": "eu-central-1",
        }

    def refusal(self, received: Received) -> Answer | None:
        """Paths other than Converse, and whatever the service model refuses."""
        known = re.fullmatch(r"/model/(.+)/converse(-stream)?", received.path)
        if known is None:
            return self.refuse([f"unknown path {received.path}"], "UnknownOperationException", 404)
        if not isinstance(received.body, dict):
            return self.refuse(["the body is no JSON object"], "ValidationException")
        return self.refuse(converse_problems(known[1], received.body), "ValidationException")

    def body(self, answer: Answer, received: Received) -> dict[str, Any]:
        content = [{"reasoningContent": block} for block in answer.reasoning or ()]
        content += [{"text": answer.text}] if answer.text else []
        content += [
            {"toolUse": {"toolUseId": f"tooluse_{n}", "name": name, "input": a}}
            for n, (name, a) in enumerate(answer.calls)
        ]
        sent, wrote = tokens(received, answer)
        cached = answer.cached_tokens
        usage = {"inputTokens": sent, "outputTokens": wrote, "totalTokens": sent + wrote + cached}
        if cached:
            usage |= {"cacheReadInputTokens": cached, "cacheWriteInputTokens": 0}
        body = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": answer.stop or ("tool_use" if answer.calls else "end_turn"),
            "usage": usage,
            "metrics": {"latencyMs": 1},
        }
        self.problems.extend(answer_problems(body))
        return body

    def pieces(self, answer: Answer, received: Received) -> tuple[str, Iterator[bytes]] | None:
        if not received.path.endswith("/converse-stream"):
            return None
        return EVENT_STREAM, converse_events(self.body(answer, received))

    def error_body(self, answer: Answer) -> dict[str, Any]:
        return {"message": answer.message}

    def error_headers(self, answer: Answer) -> dict[str, str]:
        return {"x-amzn-errortype": answer.code}


class ChatServer(ModelServer):
    """Chat completions. With `key`, requests must carry it; with `model`, they must name it."""

    path = "/v1"

    def __init__(self, *, key: str = "", model: str = "") -> None:
        super().__init__()
        self.key = key
        self.model = model

    def refusal(self, received: Received) -> Answer | None:
        """Other paths, a wrong key, an unknown model, and whatever the published shape refuses."""
        if received.path != f"{self.path}/chat/completions":
            return Answer(status=404, raw=b"404 page not found")
        if self.key and received.headers.get("authorization") != f"Bearer {self.key}":
            return Answer(status=401, code="invalid_api_key", message="Incorrect API key provided.")
        if refused := self.refuse(chat_problems(received.body), "invalid_request_error"):
            return refused
        if self.model and received.body["model"] != self.model:
            return Answer(status=404, code="model_not_found", message="The model does not exist.")
        return None

    def body(self, answer: Answer, received: Received) -> dict[str, Any]:
        calls: list[dict[str, Any]] = []
        for n, (name, given) in enumerate(answer.calls):
            text = given if isinstance(given, str) else json.dumps(given)
            named = {"function": {"name": name, "arguments": text}}
            calls.append(
                {"id": f"call_{n}", "type": "function", **named, **dict(*answer.extras[n : n + 1])}
            )
        sent, wrote = tokens(received, answer)
        sent += answer.cached_tokens
        message: dict[str, Any] = {
            "role": "assistant",
            "content": answer.text or None,
            "refusal": answer.refusal or None,
            **(answer.reasoning or {}),
        }
        choice = {
            "index": 0,
            "message": message | ({"tool_calls": calls} if calls else {}),
            "finish_reason": answer.stop or ("tool_calls" if calls else "stop"),
            "logprobs": None,
        }
        usage = {
            "prompt_tokens": sent,
            "completion_tokens": wrote,
            "total_tokens": sent + wrote,
            "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
        }
        about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1}
        return {**about, "model": received.body["model"], "choices": [choice], "usage": usage}

    def pieces(self, answer: Answer, received: Received) -> tuple[str, Iterator[bytes]] | None:
        if not received.body.get("stream") or answer.raw is not None:
            return None
        options = received.body.get("stream_options") or {}
        usage = bool(options.get("include_usage"))
        return SSE, chat_chunks(self.body(answer, received), usage=usage)

    def error_body(self, answer: Answer) -> dict[str, Any]:
        named = {"param": None, "code": answer.code or None}
        return {"error": {"message": answer.message, "type": "error", **named}}


def error(code: str, message: str = "no", *, retry_after: float | None = None) -> Answer:
    """An error of Converse by its name, with the status that the service model gives it."""
    return Answer(status=error_status(code), code=code, message=message, retry_after=retry_after)


__all__ = ["MODEL_ID", "Answer", "BedrockServer", "ChatServer", "ModelServer", "Received", "error"]

"""The refresh queue on SQS."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import orjson

from ..base.logs import correlation_id
from ..sdk.context import User
from ..values import RefreshMessage, user_dict
from .clients import ClientFactory, aws_client

BATCH = 10  # messages SQS takes in one call
_log = logging.getLogger("webbee.queue")


class SqsRefreshQueue:
    """Both ends that send: turns that ask for a refresh, and the tick that plans them."""

    def __init__(self, url: str, client_factory: ClientFactory = aws_client) -> None:
        self._url = url
        self._client_factory = client_factory

    async def ask(self, user: User, sections: Sequence[tuple[str, str]], reason: str) -> None:
        """One message per section; a queue that does not answer costs a log line, never the
        turn."""
        if not sections:
            return
        who = {**user_dict(user), "scopes": []}
        try:
            await self.send(
                [
                    RefreshMessage(who, app, section, reason, correlation_id=correlation_id())
                    for app, section in sections
                ]
            )
        except Exception as error:
            _log.warning(
                "error=%s sections=%d | refresh request not sent",
                type(error).__name__,
                len(sections),
            )

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Batches of ten; raises RuntimeError when the queue refused some."""
        for start in range(0, len(messages), BATCH):
            entries = [_entry(i, m) for i, m in enumerate(messages[start : start + BATCH])]
            client = self._client_factory("sqs")
            answer = await asyncio.to_thread(
                client.send_message_batch, QueueUrl=self._url, Entries=entries
            )
            if answer.get("Failed"):
                raise RuntimeError(
                    f"{len(answer['Failed'])} refresh messages were refused by the queue"
                )


def _entry(index: int, message: RefreshMessage) -> dict[str, Any]:
    return {
        "Id": str(index),
        "MessageBody": orjson.dumps(asdict(message)).decode(),
        "DelaySeconds": message.delay_s,
    }

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
from ..values import RefreshMessage, Wanted, user_dict
from .clients import ClientFactory, aws_client

BATCH = 10  # messages SQS takes in one call
PATIENCE_S = 0.5
"""Seconds that a reply may wait for its requests for refreshes."""

_log = logging.getLogger("webbee.queue")


class SqsRefreshQueue:
    """Both ends that send: turns that ask for a refresh, and the tick that plans them."""

    def __init__(
        self,
        url: str,
        client_factory: ClientFactory = aws_client,
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._url = url
        self._patience_s = patience_s
        self._client_factory = client_factory
        self._brisk_factory = _brisk(client_factory)

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """One message per section, all sent at once; a queue that does not answer within half a
        second costs a log line, never the reply."""
        if not wanted:
            return
        who = {**user_dict(user), "scopes": []}
        messages = [RefreshMessage(who, *w, correlation_id=correlation_id()) for w in wanted]
        batches = [messages[i : i + BATCH] for i in range(0, len(messages), BATCH)]
        try:
            async with asyncio.timeout(self._patience_s):
                await asyncio.gather(*(self._send(b, self._brisk_factory) for b in batches))
        except Exception as error:
            _log.warning(
                "error=%s sections=%d | refresh request not sent",
                type(error).__name__,
                len(wanted),
            )

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Batches of ten; raises RuntimeError when the queue refused some."""
        for start in range(0, len(messages), BATCH):
            await self._send(messages[start : start + BATCH], self._client_factory)

    async def _send(self, messages: Sequence[RefreshMessage], factory: ClientFactory) -> None:
        entries = [_entry(i, m) for i, m in enumerate(messages)]
        answer = await asyncio.to_thread(
            lambda: factory("sqs").send_message_batch(QueueUrl=self._url, Entries=entries)
        )
        if answer.get("Failed"):
            raise RuntimeError(
                f"{len(answer['Failed'])} refresh messages were refused by the queue"
            )


def _brisk(factory: ClientFactory) -> ClientFactory:
    """The same clients, but the process's own give up soon: nobody waits for them longer."""
    if factory is not aws_client:
        return factory
    return lambda service: aws_client(service, read_timeout=PATIENCE_S, attempts=1)


def _entry(index: int, message: RefreshMessage) -> dict[str, Any]:
    return {
        "Id": str(index),
        "MessageBody": orjson.dumps(asdict(message)).decode(),
        "DelaySeconds": message.delay_s,
    }

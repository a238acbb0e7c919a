"""The refresh queue on SQS."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import orjson

from ..base.logs import correlation_id
from ..sdk.user import User
from ..values import AuditRecord, CallRequest, RefreshMessage, Wanted, user_dict
from ..values.plain import JSONObject
from ..values.refreshing import asked, still_open, to_wire
from .clients import BRISK_S, ClientFactory, aws_client, brisk_client, in_thread, threads

BATCH = 10  # messages SQS takes in one call
SENDERS = 20
"""Batches on their way at once: as many as the client holds connections."""
PATIENCE_S = BRISK_S
"""Seconds that a reply may wait for its requests for refreshes."""

_log = logging.getLogger("webbee.queue")
_EXECUTOR = threads(SENDERS, "sqs")


class SqsRefreshQueue:
    """Both ends that send: turns that ask for a refresh, and the tick that plans them."""

    def __init__(self, url: str, client_factory: ClientFactory = aws_client) -> None:
        self._url = url
        self._client_factory = client_factory
        self._brisk_factory = brisk_client if client_factory is aws_client else client_factory

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """One message for all sections, one to note the user; a queue that does not answer within
        half a second costs a log line, never the reply."""
        if not wanted:
            return
        who = {**user_dict(user), "scopes": []}
        messages = asked(who, wanted, correlation_id())
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._send(messages, self._brisk_factory)
        except Exception as error:
            _log.warning(
                "error=%s sections=%d | refresh request not sent", type(error).__name__, len(wanted)
            )

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """One delayed message to the clock; raises what the queue raises."""
        message = still_open(request.user, record, request.correlation_id)
        await self._send([message], self._brisk_factory)

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Batches of ten, twenty at once; raises RuntimeError when the queue refused some."""
        batches = [messages[i : i + BATCH] for i in range(0, len(messages), BATCH)]
        await asyncio.gather(*(self._send(batch, self._client_factory) for batch in batches))

    async def _send(self, messages: Sequence[RefreshMessage], factory: ClientFactory) -> None:
        entries = [_entry(i, m) for i, m in enumerate(messages)]
        answer = await in_thread(
            lambda: factory("sqs").send_message_batch(QueueUrl=self._url, Entries=entries),
            pool=_EXECUTOR,
        )
        if answer.get("Failed"):
            raise RuntimeError(
                f"{len(answer['Failed'])} refresh messages were refused by the queue"
            )


class Letters:
    """A queue that takes JSON, one message at a time."""

    def __init__(self, url: str, client_factory: ClientFactory = aws_client) -> None:
        self._url = url
        self._client_factory = client_factory

    async def send(self, letter: JSONObject, delay_s: int = 0) -> None:
        """Send it, to be there in so many seconds; raises what the queue raises."""
        body = orjson.dumps(letter, default=str).decode()
        await in_thread(
            lambda: self._client_factory("sqs").send_message(
                QueueUrl=self._url, MessageBody=body, DelaySeconds=delay_s
            ),
            pool=_EXECUTOR,
        )


def _entry(index: int, message: RefreshMessage) -> JSONObject:
    return {
        "Id": str(index),
        "MessageBody": orjson.dumps(to_wire(message)).decode(),
        "DelaySeconds": message.delay_s,
    }

"""Runs turns for requests, which wait for them or let them continue in the same invocation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

from ..background import start
from ..bootstrap import App
from ..config import Price
from ..errors import (
    KernelError,
    LimitReached,
    NotFound,
    RequestConflict,
    StorageUnavailable,
    TurnWorking,
)
from ..observability import bind, flush, watch_spans
from ..sdk.result import User
from ..stores.rate_limits import CONTINUES, LEASE_S, NO_RESULT, Limits
from ..turn.confirmation import CardAnswer
from ..turn.kernel import Kernel, TurnRequest
from ..turn.messages import Reply
from ..turn.stream import Follower
from ..types import JSONObject, UserKey
from .identity import has_role
from .router import Answer, kernel_error, log_outage, to_response

if TYPE_CHECKING:
    from .sockets import Peer

BEAT_S: Final = 1.0
"""Seconds between two checks whether a running turn is to stop."""

STOPS_S: Final = 600
"""Seconds for which a request to stop is kept."""

Work = Callable[[TurnRequest], Coroutine[None, None, Reply]]
"""Runs a turn: the kernel's `turn`, or an answer to a card."""

_log = logging.getLogger("webbee.turns")


class Turns:
    """Runs turns. One that outlives its request is recorded, and its answer is an event of kind
    `turn`."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self.kernel = kernel

    async def answer(self, ask: TurnRequest, work: Work, *, at_once: bool) -> Answer:
        """The turn's reply within `WEBBEE_ANSWER_SECONDS`, else 202; with `at_once` 202 as soon as
        the turn has begun. Raises what the turn raises."""
        bind(session=ask.session_id, turn=ask.request_id)
        follower = Follower(ask.request_id)
        running = asyncio.ensure_future(self._run(ask, follower, work))
        # not before it has begun: a limit or a conflict is still an error of the request
        if at_once:
            begun = asyncio.ensure_future(follower.started.wait())
            await asyncio.wait({running, begun}, return_when=asyncio.FIRST_COMPLETED)
            begun.cancel()
        else:
            await asyncio.wait({running}, timeout=self._app.settings.answer_seconds)
        if running.done():
            return Answer(running.result().body)
        # from now on a failure is recorded for clients that poll
        follower.is_detached = True
        start(self._finish(ask, running, follower), f"turn-{ask.request_id}")
        return Answer(TurnWorking(ask.request_id, ask.session_id).body(), 202)

    async def reply(self, ask: TurnRequest) -> Reply:
        """A turn's reply, for a client that hears of nothing later and may repeat what took long:
        while another delivery runs the turn it is waited for. RequestConflict after
        `WEBBEE_ANSWER_SECONDS`, else what the turn raises."""
        until = time.monotonic() + self._app.settings.answer_seconds
        while True:
            try:
                return await self._run(ask, Follower(ask.request_id), self.kernel.turn)
            except TurnWorking:
                if time.monotonic() >= until:
                    raise RequestConflict("this request is at work: ask again later") from None
            await asyncio.sleep(BEAT_S)

    def follow(self, ask: TurnRequest, work: Work, peer: Peer) -> None:
        """Run the turn in the background with a page as its reader."""
        bind(session=ask.session_id, turn=ask.request_id)
        follower = Follower(ask.request_id, peer.put, peer.sent)
        running = asyncio.ensure_future(self._run(ask, follower, work))
        start(self._finish(ask, running, follower, peer), f"turn-{ask.request_id}")

    async def confirmation_work(
        self, user: User, confirmation_id: str, accept: bool, how: CardAnswer
    ) -> tuple[TurnRequest, Work]:
        """The request and the work that answer a confirmation; NotFound where there is none."""
        session_id = await self._app.stores.sessions.find_pending(
            UserKey.of(user), confirmation_id, now=self._app.clock.now()
        )
        if session_id is None:
            raise NotFound(
                "there is no such confirmation: it expired after 5 minutes or never was", field="id"
            )

        confirm = self.kernel.confirm
        work = partial(confirm, confirmation_id=confirmation_id, accept=accept, how=how)
        return TurnRequest(user, session_id, "", confirmation_id), work

    async def stop(self, user: UserKey, request_id: str) -> None:
        """Ask the turn of this request to stop, wherever it runs."""
        until = int(self._app.clock.now()) + STOPS_S
        await self._app.stores.connections.stop(user, request_id, expires_at=until)

    async def _run(self, ask: TurnRequest, follower: Follower, work: Work) -> Reply:
        heartbeat = _Heartbeat(self._app, self.kernel.limits, ask, follower)
        try:
            with _trace(ask, follower, self._app.settings.model_prices):
                reply = await work(ask._replace(follower=follower))
            if ask.user_messages:  # asked for anew it is another turn, at once
                start(heartbeat.release(), "release")
            return reply
        except Exception as error:
            told = kernel_error(error, "turn", ask.user, ask.message)
            # for the text in the message's language, which is not known later
            body = to_response(told, ask.user, ask.message)
            if not isinstance(told, LimitReached | TurnWorking):  # no turn began
                # the same request may begin the turn again, unless its failure is recorded
                if not (follower.is_detached and await self._record_failure(ask, body)):
                    await heartbeat.release()
            if told is error:
                raise
            raise told from error
        finally:
            heartbeat.end()

    async def _record_failure(self, ask: TurnRequest, body: JSONObject) -> bool:
        """Record the failure of a turn that was answered 202, for clients that poll; whether that
        worked."""
        try:
            await self.kernel.fail(ask, str(body["error"]["message"]))
        except KernelError as failure:
            _log.warning("code=%s | a failed turn was not recorded", failure.code)
            return False
        return True

    async def _finish(
        self,
        ask: TurnRequest,
        running: asyncio.Future[Reply],
        follower: Follower,
        peer: Peer | None = None,
    ) -> None:
        """Send the end of a turn as an event, and as the last frame of its page."""
        body = await self._result_body(running)
        data = {"request_id": ask.request_id, "session_id": ask.session_id, **body}
        mark = {}
        # not for a repeated request, which has the first one's reply
        if follower.started.is_set():
            mark = {"id": await self._store(ask, data)}
        if peer:
            peer.put({"type": "turn.ended", **mark, **data})
            await peer.sent()
        flush()

    @staticmethod
    async def _result_body(running: asyncio.Future[Reply]) -> JSONObject:
        """The reply's body, or the error's."""
        try:
            return dict((await running).body)
        except TurnWorking as error:
            return error.body()
        except KernelError as error:
            log_outage(error)
            return {"status": "error", **error.body()}

    async def _store(self, ask: TurnRequest, data: JSONObject) -> str:
        """The event's id; empty where it could not be stored: the turn is in its session."""
        event = self._app.events.new("turn", data)
        try:
            await self._app.events.put(ask.key.user, event)
        except KernelError as error:
            _log.warning("code=%s | end of a turn not stored as an event", error.code)
            return ""
        return event.event_id


def _trace(
    ask: TurnRequest, follower: Follower, prices: Mapping[str, Price]
) -> AbstractContextManager[None]:
    """Sends a developer who follows a turn its spans with their cost."""
    if not (follower.has_reader and has_role(ask.user, "developer")):
        return nullcontext()
    return watch_spans(lambda span: follower.tell("trace", **with_cost(span, prices)))


class _Heartbeat:
    """Every second of a running turn checks whether it is to stop, and renews its lease at half
    time; the first lease was taken with the count of its request."""

    def __init__(self, app: App, limits: Limits, ask: TurnRequest, follower: Follower) -> None:
        self._limits = limits
        self._connections = app.stores.connections
        self._clock = app.clock
        self._ask = ask
        self._working = TurnWorking(ask.work_id, ask.session_id)
        self._follower = follower
        follower.has_lease = True
        self._marked_at = self._clock.now()
        self._mark_lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        # a turn of less than a second needs no task and no read
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._begin)

    def end(self) -> None:
        """The turn has ended."""
        self._timer.cancel()
        if self._task:
            self._task.cancel()

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while True:
            try:
                async with self._mark_lock:
                    await self._once(self._clock.now())
            except StorageUnavailable as error:  # the turn goes on
                _log.warning("code=%s | running turn could not say so", error.code)
            await asyncio.sleep(BEAT_S)

    async def _once(self, now: float) -> None:
        ask = self._ask
        # at half of the lease: one write may fail
        if self._follower.started.is_set() and now - self._marked_at >= LEASE_S / 2:
            await self._limits.update_mark(ask.user, self._working, CONTINUES)
            self._marked_at = now
        if await self._connections.is_stopped(ask.key.user, ask.request_id, now=now):
            self._follower.stop()

    async def release(self) -> None:
        """Release the lease of a turn, so that the same request begins it again. Waits for a
        renewal in progress, which would undo that."""
        async with self._mark_lock:
            try:
                await self._limits.update_mark(self._ask.user, self._working, NO_RESULT)
            except StorageUnavailable as error:
                _log.warning("code=%s | ended turn could not say so", error.code)


def with_cost(span: JSONObject, prices: Mapping[str, Price]) -> JSONObject:
    """A span of a turn with the `cost` of a model request, if its price is known."""
    price = prices.get(str(span.get("model", "")))
    if price is None or "input_tokens" not in span:
        return span
    used = (span[f"{kind}_tokens"] for kind in ("input", "cached", "output"))
    return {**span, "cost": price.of(*used)}

"""The local world: the stack, mail servers, the API on a port, and the clocks that drive
refreshes."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from webbee_kernel.clock import SystemClock

from .gateway import PATH, TENANT, TOKENS, Gateway, open_to
from .loopback import served
from .mail_servers import MailServers
from .project import COMMAND
from .saved_state import StateFile
from .stack import Stack, local_stack
from .terminal import CliError

STREAM_S, POLL_S, KEEP_S = 0.05, 0.5, 5.0
"""Seconds between two looks at the stream of events, which Lambda takes four times a second, and at
the queue, and between two times that the state is kept."""
LAST_S = 10.0
"""Seconds for which a world that ends waits for each of its threads."""

_log = logging.getLogger("webbee.local")
Work = Callable[["World"], None]


class ShiftedClock(SystemClock):
    """The system clock plus an offset: a demo need not wait a minute for what happens every
    minute."""

    def __init__(self) -> None:
        self._offset = 0.0

    def now(self) -> float:
        """Unix seconds."""
        return super().now() + self._offset

    def advance(self, seconds: float) -> None:
        """Move the kernel's time forward."""
        self._offset += seconds


@dataclass(slots=True)
class World:
    """What runs. `clock` is the handlers' clock."""

    stack: Stack
    mail: MailServers
    url: str
    clock: ShiftedClock
    stop: threading.Event = field(default_factory=threading.Event)
    _beside: list[threading.Thread] = field(default_factory=list)

    def beside(self, work: Callable[[], Any], name: str) -> threading.Thread:
        """Do work on a thread of its own; the world waits for it before it ends."""
        thread = threading.Thread(target=self._quietly, args=(work,), name=name, daemon=True)
        self._beside.append(thread)
        thread.start()
        return thread

    def again(self, work: Callable[[], Any], name: str, pause: Callable[[], float]) -> None:
        """Do work again and again, with a pause where it found nothing to do."""

        def until_the_end() -> None:
            while not self.stop.is_set():
                if not self._quietly(work):
                    self.stop.wait(pause())

        self.beside(until_the_end, name)

    def end(self) -> None:
        """Tell what runs beside to stop, and wait for it."""
        self.stop.set()
        for thread in self._beside:
            thread.join(LAST_S)

    def keep_fresh(self) -> None:
        """Drive the schedule and the refresh queue in the background, as EventBridge and Lambda's
        poller do."""
        self.again(lambda: self.stack.tick() and None, "schedule", lambda: 60 - time.time() % 60)
        self.again(self.stack.drain, "queue-poller", lambda: POLL_S)

    def advance(self, seconds: float) -> None:
        """Let time pass for the handlers and for what waits in the queue."""
        self.clock.advance(seconds)
        self.stack.hasten(seconds)

    def refresh(self) -> None:
        """The schedule's tick and the queue's poller, until nothing waits or the world ends."""
        self.stack.tick()
        while not self.stop.is_set() and self.stack.drain():
            pass

    @staticmethod
    def _quietly(work: Any) -> Any:
        try:
            return work()
        except Exception as error:  # the loop must go on: the next round tries again
            _log.warning("error=%s | local background work failed", error)
            return None


@contextmanager
def local_world(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    model: str = "offline",
    tokens: Mapping[str, Mapping[str, str]] = TOKENS,
    env: Mapping[str, str] | None = None,
    prepare: Work | None = None,
    keep: Path | None = None,
    extensions_dir: Path | None = None,
    origins: Sequence[str] = (),
    apart: bool = False,
    clock: ShiftedClock | None = None,
) -> Iterator[World]:
    """Start everything, serve until the block ends. A port of 0 takes a free one; CliError where
    it is taken, where another run has the folder to `keep`, or extension code does not come up.

    Nothing is answered before `prepare` is through: who connects earlier waits. With `keep`, a
    folder, the state of an earlier run is put back and this one's kept there. `origins` are those
    whose pages may call the API. Extension code runs in this process, on its clock, or, `apart`, in
    one of its own, on the system's.
    """
    with ExitStack() as kept:  # the folder first: another port is no way out where it is in use
        keeper = kept.enter_context(StateFile.exclusive(keep)) if keep else None
        listener = kept.enter_context(closing(_listening(host, port)))
        address = f"http://{host}:{listener.getsockname()[1]}"
        prefix = f"/{secrets.token_urlsafe(12)}"  # only handlers are told where `@connections` is
        live = {
            "WEBBEE_LIVE_URL": f"ws{address.removeprefix('http')}{PATH}",
            "WEBBEE_CONNECTIONS_URL": address + prefix,
        }
        given = {"WEBBEE_PUBLIC_URL": address, "WEBBEE_TENANTS": TENANT, **live, **(env or {})}
        if keeper:
            given = {**keeper.settings(), **given}
        with (
            local_stack(
                extensions_dir=extensions_dir, model=model, env=given, apart=apart
            ) as stack,
            MailServers(demo=not (keeper and keeper.has_mail)) as mail,
            ExitStack() as run,
        ):
            clock = clock or ShiftedClock()
            for module in stack.handlers.values():
                module.lambda_handler.clock = clock
            world = World(stack, mail, address, clock)
            if keeper:
                keeper.restore(stack.env, mail)
                save = partial(keeper.save, stack.env, mail)
                run.callback(save)
                run.callback(world.end)
                world.again(save, "keeper", lambda: KEEP_S)
            try:
                if stack.cell:
                    stack.cell.ready()
            except OSError as error:
                raise CliError(f"{error.strerror}; {COMMAND} check says which") from None
            if prepare:
                prepare(world)
            erased = partial(prepare_one, world) if prepare else lambda _: None
            gateway = Gateway(stack, tokens, prefix, erased)
            api = open_to(origins, gateway, stack.template, host)
            with served(api, "api-gateway", listener=listener):
                stream = stack.stream()
                # by its name each time: a benchmark holds it while it counts
                world.again(lambda: stream.hand_over(), "events", lambda: STREAM_S)
                try:
                    yield world
                finally:
                    world.end()


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        why = str(error.strerror).partition(" (")[0].lower()  # less the address, which is added
        told = f"cannot listen on {host}:{port} ({why}): {COMMAND} dev --port {port + 1}"
        raise CliError(told) from None


FIRST_REFRESH_S = 5.0
"""Seconds the first refresh may hold up the start; a slower section appears when it is there."""


def prepare(world: World) -> None:
    """Give the users their apps and their mail, straight through the functions: the API need not
    listen yet."""
    for claims in TOKENS.values():
        prepare_one(world, claims)


def prepare_one(world: World, claims: Mapping[str, str]) -> None:
    """Give one user the apps and the demo's mailbox, at the start and again after all was
    erased."""
    there = [a for a in _extensions(world, claims) if not a["error"] and a["installed"]]
    apps = [a["app_id"] for a in there]  # an app taken away in an earlier run stays away
    mail = "/v1/extensions/mail/secrets"
    kept = world.stack.ask("GET", mail, claims)["secrets"] if "mail" in apps else ()
    # accounts of an earlier run stay, the demo's among them
    if any(secret["name"] == "accounts" and not secret["is_set"] for secret in kept):
        accounts = {"value": world.mail.accounts_secret("demo")}
        world.stack.ask("PUT", f"{mail}/accounts", claims, accounts)
    for app_id in apps:
        world.stack.ask("PUT", f"/v1/extensions/{app_id}/installation", claims)


def prepare_and_refresh(world: World) -> None:
    """The same, and a first refresh, so that the first message meets a world that has run for a
    while."""
    prepare(world)
    world.beside(world.refresh, "first-refresh").join(FIRST_REFRESH_S)


def apps_of(world: World) -> dict[str, str]:
    """Every extension by its id, with the reason why it did not load; empty where it did."""
    return {a["app_id"]: a["error"] or "" for a in _extensions(world, TOKENS["dev"])}


def _extensions(world: World, claims: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.stack.ask("GET", "/v1/extensions", claims)["extensions"]
    return found

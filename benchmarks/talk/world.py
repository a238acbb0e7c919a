"""The demo world in this process: shipped extensions, mail servers, one user, the embedded model.

What handlers were called with is taken down where they are called, so that an effect is known by
its true arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from functools import cache, wraps
from pathlib import Path
from typing import Any

from local.gateway import TOKENS
from local.mail_servers import DEMO_ACCOUNTS, MailServers
from webbee_kernel.extensions.registry import LoadedExtension
from webbee_kernel.sdk import ActionResult, FunctionDef, User
from webbee_kernel.testing import NOW, ExtensionHarness, TestKernel, registry_of

from .cases import Given, Language, Letter

EXTENSIONS = Path(__file__).parents[2] / "extensions"
APPS = ("mail", "tasks", "notes")
USERS = {"ru": "alice", "en": "bob"}


@dataclass(frozen=True, slots=True)
class Ran:
    """A handler that ran: `app.function`, what it may do, what it took and what it answered."""

    call: str
    action_type: str
    arguments: dict[str, Any]
    data: Any
    ok: bool

    @property
    def is_effect(self) -> bool:
        """Whether something was changed or sent."""
        return self.ok and self.action_type != "read"


@dataclass(frozen=True, slots=True)
class Happened:
    """What came of one message."""

    reply: str
    ran: tuple[Ran, ...] = ()
    waiting: tuple[Ran, ...] = ()
    confirmation_id: str = ""

    @property
    def effects(self) -> tuple[Ran, ...]:
        """The writes that succeeded."""
        return tuple(r for r in self.ran if r.is_effect)


@dataclass(slots=True)
class TalkWorld:
    """One user's world. `say` is a turn, `accept` presses the button of a confirmation."""

    kernel: TestKernel
    apps: dict[str, ExtensionHarness]

    def say(self, message: str, session_id: str = "s1") -> Happened:
        """One message; sections are refreshed after a write, as the queue would."""
        _ran.clear()
        return self._after(self.kernel.chat(message, session_id=session_id).body)

    def accept(self, confirmation_id: str, session_id: str = "s1") -> Happened:
        """Say yes to what waits."""
        _ran.clear()
        return self._after(self.kernel.confirm(confirmation_id, session_id=session_id).body)

    def do(self, given: Sequence[Given]) -> None:
        """What the user had done before; AssertionError where a call fails."""
        for call in given:
            app_id, _, name = call.call.partition(".")
            result = self.apps[app_id].call(name, **call.arguments)
            assert result.ok, f"{call.call}: {result.error}"
        self.refresh()

    def refresh(self) -> None:
        """Every section of every app, as the schedule does."""
        for app in self.apps.values():
            for section in app.registry.loaded[app.app_id].ext.skeletons:
                app.skeleton(section)

    def _after(self, body: dict[str, Any]) -> Happened:
        confirmation = body.get("confirmation") or {}
        waiting = tuple(map(_waiting, confirmation.get("calls", ())))
        happened = Happened(str(body["reply"]), tuple(_ran), waiting, confirmation.get("id", ""))
        if happened.effects:
            self.refresh()
        return happened


def _waiting(call: dict[str, Any]) -> Ran:
    """A call that would run; what its card shows a person takes the place of its result."""
    shown = [[field["value"], field.get("title", "")] for field in call["fields"]]
    return Ran(f"{call['app_id']}.{call['fn_name']}", "write", call["arguments"], shown, ok=False)


@contextmanager
def talk_world(
    language: Language,
    given: Sequence[Given] = (),
    letters: Sequence[Letter] | None = None,
    now: str = NOW,
) -> Iterator[TalkWorld]:
    """A fresh world for the block, every section refreshed. The clock stands at `now`: a Friday
    unless told. `letters`: one mailbox with these instead of the demo's two."""
    claims = TOKENS[USERS.get(language, "bob")]
    user = User(
        imperal_id=claims["sub"],
        email=claims["email"],
        tenant_id=claims["tenant_id"],
        language=claims["language"],
    )
    moment = datetime.fromisoformat(now)
    accounts = DEMO_ACCOUNTS if letters is None else DEMO_ACCOUNTS[:1]
    with MailServers(accounts, now=moment, demo=letters is None) as servers:
        _deliver(servers, letters or (), moment)
        mail = ExtensionHarness(
            _apps()["mail"],
            user=user,
            now=now,
            secrets={"accounts": servers.accounts_secret("demo")},
        )
        stores = mail.app.stores
        others = {
            a: ExtensionHarness(_apps()[a], user=user, now=now, stores=stores)
            for a in APPS
            if a != "mail"
        }
        loaded = list(_apps().values())
        kernel = TestKernel(loaded, user=user, now=now, stores=stores)
        world = TalkWorld(kernel, {"mail": mail, **others})
        world.refresh()
        world.do(given)
        yield world


@cache
def _apps() -> dict[str, LoadedExtension]:
    """The shipped extensions, loaded once: most of what a world costs. Every call of their chat
    functions is taken down."""
    loaded = registry_of(*(EXTENSIONS / app for app in APPS)).loaded
    for app_id, app in loaded.items():
        for chat in app.ext.chats:
            for name, function in list(chat.functions.items()):
                chat.functions[name] = replace(function, func=_watched(app_id, function))
    return loaded


_ran: list[Ran] = []
"""The calls since the last message."""


def _watched(app_id: str, function: FunctionDef) -> Callable[..., Awaitable[ActionResult]]:
    @wraps(function.func)
    async def watched(*arguments: Any, **named: Any) -> ActionResult:
        taken = dict(named)
        for value in arguments[1:]:
            taken |= value.model_dump(mode="json")
        result: ActionResult = await function.func(*arguments, **named)
        name = f"{app_id}.{function.name}"
        _ran.append(Ran(name, function.action_type, taken, result.data, result.ok))
        return result

    return watched


def _deliver(servers: MailServers, letters: Sequence[Letter], now: datetime) -> None:
    """All of today, a minute apart."""
    address = servers.accounts[0].address
    for minutes, letter in reversed(list(enumerate(letters, start=1))):
        when = now - timedelta(minutes=minutes)
        message = EmailMessage(policy=SMTP)
        message["From"] = Address(letter.from_name, addr_spec=letter.sender)
        message["To"], message["Subject"] = address, letter.subject
        message["Date"], message["Message-ID"] = format_datetime(when), make_msgid()
        message.set_content(letter.body)
        servers.deliver(address, message, when=when)

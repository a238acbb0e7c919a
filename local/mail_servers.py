"""Real mail servers on loopback for the local run and the tests: IMAP by pymap, SMTP by aiosmtpd.

Both are other people's servers and speak the real protocols; ours is only the wiring and the demo
mail. One background thread holds one event loop for both. What the SMTP server accepts is recorded
and, where the recipient has a mailbox here, delivered into it, so that a reply comes back.
"""

from __future__ import annotations

import asyncio
import email
import email.policy
import functools
import json
import logging
import ssl
import time
import uuid
from argparse import Namespace
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from pathlib import Path
from typing import Any, Literal, TypeVar

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from proxyprotocol.sock import SocketInfo
from proxyprotocol.version import ProxyProtocolVersion
from pymap.backend.dict import Config, Identity, Login
from pymap.concurrent import Subsystem
from pymap.imap import IMAPServer
from pymap.parsing.message import AppendMessage
from pymap.parsing.specials.flag import Flag, Seen
from pymap.user import UserMetadata
from pysasl import SASLAuth
from pysasl.hashing import BuiltinHash

from webbee_kernel.background import LoopThread

T = TypeVar("T")
Security = Literal["none", "starttls", "tls"]

FOLDERS = ("Archive", "Sent", "Trash")
REFUSED = ("nobody@example.com",)
"""Recipients who get a 550."""
DEMO_MAIL = Path(__file__).with_name("demo_mail.json")

# aiosmtpd warns of its own deprecations at every login.
logging.getLogger("mail.log").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Mail:
    """A message as it lies in a mailbox; `when` it arrived, in ISO's form."""

    address: str
    folder: str
    raw: bytes
    seen: bool
    when: str


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """A mailbox here. `owner` groups the accounts of one demo user."""

    owner: str
    address: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message that the SMTP server accepted, with the addresses of its envelope."""

    envelope_from: str
    envelope_to: tuple[str, ...]
    message: EmailMessage

    @property
    def subject(self) -> str:
        """The decoded subject."""
        return str(self.message["Subject"] or "")

    @property
    def text(self) -> str:
        """The plain text, without the line end that mail adds."""
        body = self.message.get_body(("plain",))
        return str(body.get_content()).rstrip("\r\n") if body else ""


DEMO_ACCOUNTS = (
    DemoAccount("demo", "sarah@work.com", "work-demo-password"),
    DemoAccount("demo", "me@personal.com", "personal-demo-password"),
    DemoAccount("sarah", "sarah@example.com", "sarah-demo-password"),
    DemoAccount("ivan", "ivan@work.com", "ivan-demo-password"),
)


_mechanisms = functools.cache(SASLAuth.defaults)


class _Config(Config):  # type: ignore[misc]  # pymap counts as untyped
    """pymap's in-memory backend, without what takes long: the host name look-up in its greeting,
    and for each connection a search of all that is installed for ways to sign in."""

    hidden: frozenset[bytes] = frozenset()

    @property
    def login_capability(self) -> list[bytes]:
        return [name for name in super().login_capability if name not in self.hidden]

    @property
    def tls_auth(self) -> SASLAuth:
        return _mechanisms()

    @property
    def greeting(self) -> bytes:
        return b"Server ready"


class MailServers:
    """IMAP and SMTP on free ports of 127.0.0.1.

    `now` (default: the present) dates the demo mail, and the clock of the mailboxes goes on from
    there; `demo=False` leaves them empty. `security` other than `none` wants `certificate`, the
    paths of a certificate and its key. `folders` are those of each mailbox beside INBOX; `hidden`
    capabilities, such as `MOVE` or `UIDPLUS`, are not announced, as on older servers.
    """

    def __init__(
        self,
        accounts: Sequence[DemoAccount] = DEMO_ACCOUNTS,
        *,
        now: datetime | None = None,
        demo: bool = True,
        security: Security = "none",
        certificate: tuple[str, str] | None = None,
        folders: Sequence[str] = FOLDERS,
        hidden: Iterable[str] = (),
    ) -> None:
        self.accounts = list(accounts)
        self.received: list[ReceivedMessage] = []
        self.security: Security = security
        self.imap_port = 0
        self.smtp_port = 0
        self._now = now or datetime.now(UTC)
        self._started = time.monotonic()
        self._demo = demo
        self._tls = None
        if certificate:
            self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._tls.load_cert_chain(*certificate)
        self._folders = tuple(folders)
        self._hidden = frozenset(name.encode() for name in hidden)
        self._thread = LoopThread("mail-servers")
        self._open: list[asyncio.Server] = []
        self._config = self._imap_config()
        self._login = Login(self._config)

    def __enter__(self) -> MailServers:
        """Listen, with the demo mail delivered. Raises what went wrong in the thread."""
        self._call(self._serve())
        return self

    def __exit__(self, *_: object) -> None:
        """Close both servers; connections that are open break."""
        self._call(self._end())

    def account(self, address: str) -> DemoAccount:
        """The account with this address; KeyError when there is none."""
        return {a.address.lower(): a for a in self.accounts}[address.lower()]

    def accounts_secret(self, owner: str = "demo", **overrides: Any) -> str:
        """The mail extension's secret `accounts` for this demo user; `overrides` change a field in
        each entry."""
        entries = [
            {
                "address": account.address,
                "password": account.password,
                "imap_host": "127.0.0.1",
                "imap_port": self.imap_port,
                "smtp_host": "127.0.0.1",
                "smtp_port": self.smtp_port,
                "security": self.security,
                **overrides,
            }
            for account in self.accounts
            if account.owner == owner
        ]
        return json.dumps(entries)

    def deliver(
        self,
        address: str,
        message: EmailMessage | bytes,
        *,
        folder: str = "INBOX",
        seen: bool = False,
        when: datetime | None = None,
    ) -> int:
        """Put a message into a mailbox, as if it had just arrived. Returns its UID. KeyError for an
        unknown address."""
        raw = message if isinstance(message, bytes) else eight_bit(message)
        arrived = (when or self.clock()).isoformat()
        return self._call(
            self._append(Mail(self.account(address).address, folder, raw, seen, arrived))
        )

    def clock(self) -> datetime:
        """The mailboxes' time: `now` plus what has passed since."""
        return self._now + timedelta(seconds=time.monotonic() - self._started)

    def messages(self, address: str, folder: str = "INBOX") -> list[EmailMessage]:
        """What a mailbox holds now, oldest first."""
        found = self._call(self._all([self.account(address)], [folder]))
        return [_parsed(mail.raw) for mail in found]

    def kept(self) -> list[Mail]:
        """Every message of every mailbox."""
        return self._call(self._all(self.accounts, ("INBOX", *self._folders)))

    def restore(self, mails: Iterable[Mail]) -> None:
        """Put messages back; those of unknown accounts are left out."""
        known = {a.address for a in self.accounts}
        for mail in (m for m in mails if m.address in known):
            self._call(self._append(mail))

    async def _all(self, accounts: Sequence[DemoAccount], folders: Sequence[str]) -> list[Mail]:
        found = []
        for account in accounts:
            mailboxes = await self._mailboxes(account.address)
            for folder in folders:
                mailbox = await mailboxes.get_mailbox(folder)
                async for m in mailbox.messages():
                    seen = Seen in m.permanent_flags
                    raw, when = bytes(m._content), m.internal_date.isoformat()
                    found.append(Mail(account.address, folder, raw, seen, when))
        return found

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.run(work, timeout=30)

    async def _serve(self) -> None:
        self._config.apply_context()
        for account in self.accounts:
            user, hashed = account.address, self._config.hash_context.hash(account.password)
            self._login.users_dict[user] = UserMetadata(self._config, user, password=hashed)
            for folder in self._folders:
                await (await self._mailboxes(user)).add_mailbox(folder)
        implicit_tls = self._tls if self.security == "tls" else None
        talk = IMAPServer(self._login, self._config)

        async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            """One client. The stream keeps this task; one made beside it, as pymap's own start
            does, the collector may take."""
            await talk(reader, writer, SocketInfo.get(writer, None, unique_id=uuid.uuid4().bytes))

        imap = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=implicit_tls)
        loop = asyncio.get_running_loop()
        smtp = await loop.create_server(self._smtp, "127.0.0.1", 0, ssl=implicit_tls)
        self._open = [imap, smtp]
        self.imap_port, self.smtp_port = (s.sockets[0].getsockname()[1] for s in self._open)
        for mail in demo_mail(self._now) if self._demo else ():
            await self._append(mail)

    async def _end(self) -> None:
        while self._open:
            self._open.pop().close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _imap_config(self) -> _Config:
        config = _Config(
            Namespace(passlib_cfg=None, proxy_protocol=None),
            host="127.0.0.1",
            port=0,
            demo_data=False,
            demo_user="",
            demo_password="",
            # Demo passwords: the usual rounds cost a quarter of a second at each login.
            hash_context=BuiltinHash(rounds=1),
            cpu_subsystem=Subsystem.for_asyncio(),
            proxy_protocol=ProxyProtocolVersion.get(None),
            invalid_user_sleep=0.0,
            tls_enabled=self.security == "starttls",
            ssl_context=self._tls,
        )
        config.hidden = self._hidden
        return config

    async def _mailboxes(self, address: str) -> Any:
        """pymap's mailbox set of an account: one session creates it, all share it."""
        if address not in self._config.set_cache:
            async with Identity(address, self._login, None, frozenset()).new_session():
                pass
        return self._config.set_cache[address][0]

    async def _append(self, mail: Mail) -> int:
        mailbox = await (await self._mailboxes(mail.address)).get_mailbox(mail.folder)
        flags: frozenset[Flag] = frozenset({Seen} if mail.seen else ())
        when = datetime.fromisoformat(mail.when)
        appended = await mailbox.append(AppendMessage(mail.raw, when, flags), recent=not mail.seen)
        return int(appended.uid)

    def _smtp(self) -> SMTP:
        is_starttls = self.security == "starttls"
        return SMTP(
            self,
            hostname="localhost",
            auth_require_tls=False,
            authenticator=self._authenticate,
            tls_context=self._tls if is_starttls else None,
            require_starttls=is_starttls,
            loop=asyncio.get_running_loop(),
        )

    def _authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        accepted = isinstance(data, LoginPassword) and any(
            data.login == a.address.encode() and data.password == a.password.encode()
            for a in self.accounts
        )
        return AuthResult(success=accepted, handled=False)

    async def handle_MAIL(  # noqa: N802 - aiosmtpd calls it
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Nobody sends without signing in. aiosmtpd would see to that itself, and warn that there
        is no TLS."""
        if not session.authenticated:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Some recipients are refused."""
        if address.lower() in REFUSED:
            return "550 5.1.1 No such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Record the message, and deliver it to whom has a mailbox here."""
        given = envelope.content or b""
        raw = given if isinstance(given, bytes) else given.encode()
        recipients = tuple(str(r) for r in envelope.rcpt_tos)
        self.received.append(ReceivedMessage(str(envelope.mail_from), recipients, _parsed(raw)))
        local = {a.address.lower(): a.address for a in self.accounts}
        for address in (local[r.lower()] for r in recipients if r.lower() in local):
            copy, now = eight_bit(_parsed(raw)), self.clock().isoformat()
            await self._append(Mail(address, "INBOX", copy, seen=False, when=now))
        return "250 Message accepted"


def _parsed(raw: bytes) -> EmailMessage:
    return email.message_from_bytes(raw, policy=email.policy.default)


def demo_mail(now: datetime) -> list[Mail]:
    """The demo mailbox, oldest first, with dates that end at `now`.

    Messages of today stand in the file newest first and are spread over the time since midnight, at
    most 25 minutes apart.
    """
    entries: list[dict[str, Any]] = json.loads(DEMO_MAIL.read_text("utf-8"))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = [entry for entry in entries if entry["days_ago"] == 0]
    step = min(timedelta(minutes=25), (now - midnight) / (len(today) + 1))

    def date(entry: dict[str, Any]) -> datetime:
        if entry["days_ago"] == 0:
            return now - step * (today.index(entry) + 1)
        hour, minute = map(int, entry["at"].split(":"))
        return midnight - timedelta(days=entry["days_ago"]) + timedelta(hours=hour, minutes=minute)

    return [
        Mail(
            entry["account"],
            entry.get("folder", "INBOX"),
            eight_bit(_composed(entry, when)),
            entry["seen"],
            when.isoformat(),
        )
        for when, entry in sorted(((date(e), e) for e in entries), key=lambda dated: dated[0])
    ]


def _composed(entry: dict[str, Any], when: datetime) -> EmailMessage:
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"] = entry["from"]
    message["To"] = entry["account"]
    message["Subject"] = entry["subject"]
    message["Date"] = format_datetime(when)
    message["Message-ID"] = make_msgid(domain="demo.example")
    kind = "html" if "html" in entry else "plain"
    text = "\n".join(entry.get("html") or entry.get("text", []))
    message.set_content(text, subtype=kind)
    for name in entry.get("attachments", []):
        message.add_attachment(
            b"A demo attachment.", maintype="application", subtype="octet-stream", filename=name
        )
    return message


def eight_bit(message: EmailMessage) -> bytes:
    """The message with its texts unencoded: pymap searches bodies byte by byte, where larger
    servers decode them first."""
    for part in message.walk():
        payload = part.get_payload(decode=True)
        unicode = part.get_content_charset() in (None, "utf-8", "us-ascii")
        if part.get_content_maintype() == "text" and unicode and isinstance(payload, bytes):
            del part["Content-Transfer-Encoding"]
            part["Content-Transfer-Encoding"] = "8bit"
            part.set_payload(payload.decode("ascii", "surrogateescape"))
    return message.as_bytes(policy=email.policy.SMTP.clone(cte_type="8bit"))

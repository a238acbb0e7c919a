"""The user's accounts: what the secret `accounts` holds, checked and completed.

A JSON list of up to five entries. For a well-known provider, address and password are enough:

    [{"address": "me@gmail.com", "password": "an app password"}]

For any other, name the hosts; everything else has a default:

    [{"address": "sarah@work.com", "password": "…", "imap_host": "mail.work.com", "smtp_host":
    "mail.work.com"}]

Optional: `username` (default: the address), `security` (`tls`, `starttls` or `none`, default `tls`;
`none` only for loopback hosts), `imap_port` (993, or 143 without TLS), `smtp_port` (465, 587 with
STARTTLS, 25 without), `smtp_security` (default: `security`, save that ports 465 and 587 mean `tls`
and `starttls`), `timeout` (seconds for one network step, 1 to 30, default 10).

No error of this module repeats a value of the secret.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from mail_errors import MailError
from mail_text import valid_address

SETTING = "accounts"
MAX_ACCOUNTS = 5
TIMEOUT = 10.0  # seconds for one network step

Security = Literal["tls", "starttls", "none"]

EXAMPLE = '[{"address": "me@gmail.com", "password": "an app password"}]'
EXAMPLE_HOSTS = '[{"address": "…", "password": "…", "imap_host": "…", "smtp_host": "…"}]'

# IMAP host, SMTP host, SMTP port, as the providers' own help pages give them.
_PROVIDERS: dict[str, tuple[str, str, int]] = {
    "gmail.com": ("imap.gmail.com", "smtp.gmail.com", 465),
    "googlemail.com": ("imap.gmail.com", "smtp.gmail.com", 465),
    "yandex.ru": ("imap.yandex.ru", "smtp.yandex.ru", 465),
    "yandex.com": ("imap.yandex.com", "smtp.yandex.com", 465),
    "ya.ru": ("imap.yandex.ru", "smtp.yandex.ru", 465),
    "mail.ru": ("imap.mail.ru", "smtp.mail.ru", 465),
    "inbox.ru": ("imap.mail.ru", "smtp.mail.ru", 465),
    "list.ru": ("imap.mail.ru", "smtp.mail.ru", 465),
    "bk.ru": ("imap.mail.ru", "smtp.mail.ru", 465),
    "yahoo.com": ("imap.mail.yahoo.com", "smtp.mail.yahoo.com", 465),
    "icloud.com": ("imap.mail.me.com", "smtp.mail.me.com", 587),
    "me.com": ("imap.mail.me.com", "smtp.mail.me.com", 587),
    "fastmail.com": ("imap.fastmail.com", "smtp.fastmail.com", 465),
}
_IMAP_PORTS: dict[Security, int] = {"tls": 993, "starttls": 143, "none": 143}
_SMTP_PORTS: dict[Security, int] = {"tls": 465, "starttls": 587, "none": 25}
_SMTP_BY_PORT: dict[int, Security] = {465: "tls", 587: "starttls"}


@dataclass(frozen=True, slots=True)
class MailAccount:
    """One account, complete. `number` is its place in the list, from 1; `password` stays out of
    `repr`; `private` opens private networks."""

    number: int
    address: str
    username: str
    password: str = field(repr=False)
    imap_host: str
    imap_port: int
    imap_security: Security
    smtp_host: str
    smtp_port: int
    smtp_security: Security
    timeout: float = TIMEOUT
    private: bool = False


def _address(value: str) -> str:
    if not valid_address(value):
        raise ValueError("give one e-mail address such as me@gmail.com")
    return value


def _printable(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("must not hold line breaks, control characters or surrounding spaces")
    return value


Port = Annotated[int, Field(ge=1, le=65535)]
Line = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_printable)]


class _Entry(BaseModel):
    """One entry as a person writes it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True)

    address: Annotated[Line, AfterValidator(_address)]
    password: SecretStr = Field(min_length=1, max_length=1024)
    username: Line | None = None
    imap_host: Line | None = None
    imap_port: Port | None = None
    smtp_host: Line | None = None
    smtp_port: Port | None = None
    security: Security = "tls"
    smtp_security: Security | None = None
    timeout: float = Field(default=TIMEOUT, ge=1, le=30)

    @model_validator(mode="after")
    def _complete(self) -> _Entry:
        if not self.password.get_secret_value().isprintable():
            raise ValueError("password must not hold line breaks or control characters")
        if self._provider() is None:
            missing = [name for name in ("imap_host", "smtp_host") if getattr(self, name) is None]
            if missing:
                raise ValueError(
                    f"give {' and '.join(missing)}: the provider of this address is not one of the"
                    " known ones"
                )
        if "none" in (self.security, self.smtp_security) and not all(
            map(_is_loopback, (self.imap_host or "", self.smtp_host or ""))
        ):
            raise ValueError(
                'security "none" would send the password in the clear: it is allowed only for'
                " loopback hosts"
            )
        return self

    def _provider(self) -> tuple[str, str, int] | None:
        return _PROVIDERS.get(self.address.rpartition("@")[2].lower())

    def account(self, number: int, *, private: bool) -> MailAccount:
        imap_host, smtp_host, provider_port = self._provider() or ("", "", None)
        own_smtp = (
            self.smtp_host is not None or self.smtp_security is not None or provider_port is None
        )
        smtp_port = (
            self.smtp_port
            or (_SMTP_PORTS[self.smtp_security or self.security] if own_smtp else provider_port)
            or 0
        )
        return MailAccount(
            number=number,
            address=self.address,
            username=self.username or self.address,
            password=self.password.get_secret_value(),
            imap_host=self.imap_host or imap_host,
            imap_port=self.imap_port or _IMAP_PORTS[self.security],
            imap_security=self.security,
            smtp_host=self.smtp_host or smtp_host,
            smtp_port=smtp_port,
            smtp_security=self.smtp_security
            or ("none" if self.security == "none" else _SMTP_BY_PORT.get(smtp_port, self.security)),
            timeout=self.timeout,
            private=private,
        )


def parse_accounts(secret: str | None, *, private: bool = False) -> tuple[MailAccount, ...]:
    """The accounts of a secret's value. Raises `MailError` NO_ACCOUNTS or ACCOUNTS_INVALID, which
    say what to write."""
    if not (secret or "").strip():
        raise MailError(
            "NO_ACCOUNTS", "no_accounts", setting=SETTING, example=EXAMPLE, hosts=EXAMPLE_HOSTS
        )
    try:
        entries = json.loads(secret or "")
    except json.JSONDecodeError as error:
        problem = f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise _invalid(problem) from None
    entries = [entries] if isinstance(entries, dict) else entries
    if not isinstance(entries, list) or not entries or len(entries) > MAX_ACCOUNTS:
        raise _invalid(f"give a JSON list of 1 to {MAX_ACCOUNTS} accounts")
    accounts = tuple(
        _entry(entry, number).account(number, private=private)
        for number, entry in enumerate(entries, start=1)
    )
    if len({account.address.lower() for account in accounts}) < len(accounts):
        raise _invalid("the same address is given twice")
    return accounts


def choose(accounts: Sequence[MailAccount], wanted: str | None) -> MailAccount:
    """The account whose number, address or unique part of the address is `wanted`; the first one
    without it."""
    text = (wanted or "").strip().lower()
    if not text:
        return accounts[0]
    exact = [a for a in accounts if text in (a.address.lower(), str(a.number), f"#{a.number}")]
    matching = exact or [a for a in accounts if text in a.address.lower()]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(f"{a.address} (#{a.number})" for a in accounts)
    raise MailError("NOT_FOUND", "no_such_account", known=known)


def _entry(entry: object, number: int) -> _Entry:
    try:
        return _Entry.model_validate(entry)
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)
        problems = [
            _problem(e["type"], [str(part) for part in e["loc"]], e["msg"]) for e in details
        ]
    raise _invalid(f"account {number}: " + "; ".join(dict.fromkeys(problems)))


def _problem(kind: str, loc: list[str], message: str) -> str:
    if kind == "extra_forbidden":  # an unknown field's name may be a password in the wrong place
        return f"a field is unknown; the known ones are {', '.join(_Entry.model_fields)}"
    return ": ".join([*loc[:1], message.removeprefix("Value error, ")])


def _invalid(problem: str) -> MailError:
    return MailError(
        "ACCOUNTS_INVALID", "accounts_invalid", setting=SETTING, problem=problem, example=EXAMPLE
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

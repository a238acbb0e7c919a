"""What can go wrong with a mail account, said in the user's language and without a secret.

Foreign errors are translated in one place, `foreign_errors`. Nothing that a server or a library
wrote is repeated: a server may echo a command back, and `UnicodeEncodeError` carries the whole
text, password included.
"""

from __future__ import annotations

import imaplib
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wording import say


class MailError(Exception):
    """A failure that a person can act on: a code, the key of its sentence with the values, and
    whether trying again may help."""

    def __init__(self, code: str, key: str, *, retryable: bool = False, **values: Any) -> None:
        super().__init__(f"{code}: {say('en', key, **values)}")
        self.code = code
        self.key = key
        self.values = values
        self.retryable = retryable

    def text(self, language: str) -> str:
        """The message in this BCP 47 language."""
        return say(language, self.key, **self.values)


def not_found(message_id: str) -> MailError:
    """The id is unknown, or the message has been moved or erased since it was listed."""
    return MailError("NOT_FOUND", "no_such_message", id=message_id)


@contextmanager
def foreign_errors(address: str, host: str, protocol: str) -> Iterator[None]:
    """Turn what imaplib, smtplib, ssl and sockets raise into `MailError`, with nothing chained to
    it.

    `protocol` is IMAP or SMTP; it only names the setting to look at.
    """
    try:
        yield
    except MailError:
        raise
    except (OSError, imaplib.IMAP4.error, smtplib.SMTPException, UnicodeError) as error:
        translated = _translate(error, address, host, protocol)
    else:
        return
    raise translated


def _translate(error: Exception, address: str, host: str, protocol: str) -> MailError:
    where = f"{host} ({protocol}, {address})"
    setting = f"{protocol.lower()}_host"
    if isinstance(error, TimeoutError) or isinstance(
        error.__context__, TimeoutError
    ):  # both libraries may wrap it
        return MailError("BACKEND_TIMEOUT", "timeout", where=where, retryable=True)
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return auth_failed(address, protocol)
    if isinstance(error, ssl.SSLError | smtplib.SMTPNotSupportedError):
        return tls_failed(where)
    if isinstance(error, socket.gaierror):
        again = error.errno == socket.EAI_AGAIN
        return MailError(
            "UNREACHABLE", "host_unknown", where=where, setting=setting, retryable=again
        )
    if isinstance(error, ConnectionRefusedError):
        return MailError(
            "UNREACHABLE", "refuses_connections", where=where, setting=setting, retryable=True
        )
    if isinstance(
        error, OSError | imaplib.IMAP4.abort | smtplib.SMTPServerDisconnected
    ) and not isinstance(error, smtplib.SMTPResponseException):
        return MailError("BACKEND_5XX", "connection_broke", where=where, retryable=True)
    busy = isinstance(error, smtplib.SMTPResponseException) and 400 <= error.smtp_code < 500
    key = "server_busy" if busy else "request_refused"
    return MailError("BACKEND_5XX", key, where=where, retryable=busy)


def tls_failed(where: str) -> MailError:
    """The server's certificate, or what it speaks on that port, does not allow a secure
    connection."""
    return MailError("TLS_FAILED", "tls_failed", where=where)


def auth_failed(address: str, protocol: str) -> MailError:
    """The server did not accept the login."""
    return MailError("AUTH_FAILED", "auth_failed", address=address, protocol=protocol)

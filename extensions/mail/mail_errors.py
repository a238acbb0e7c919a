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


class MailError(Exception):
    """A failure that a person can act on: a code, the text in English and in Russian, and whether
    trying again may help."""

    def __init__(self, code: str, en: str, ru: str, *, retryable: bool = False) -> None:
        super().__init__(f"{code}: {en}")
        self.code = code
        self.en = en
        self.ru = ru
        self.retryable = retryable

    def text(self, language: str) -> str:
        """The message for this BCP 47 language: Russian, or else English."""
        return self.ru if language.lower().startswith("ru") else self.en


def not_found(message_id: str) -> MailError:
    """The id is unknown, or the message has been moved or erased since it was listed."""
    return MailError(
        "NOT_FOUND",
        f"There is no message {message_id}: it was moved or erased, or the id is wrong. "
        "List or search again and use an id from that answer.",
        f"Письма {message_id} нет: оно перемещено или удалено, либо номер неверен. "
        "Запросите список или поиск ещё раз и возьмите номер из ответа.",
    )


def refused(en: str, ru: str) -> MailError:
    """An argument that no repetition will make right."""
    return MailError("INVALID_ARGUMENT", en, ru)


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
        return MailError(
            "BACKEND_TIMEOUT",
            f"{where} did not answer in time. Try again in a minute.",
            f"{where} не ответил вовремя. Попробуйте через минуту.",
            retryable=True,
        )
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return auth_failed(address, protocol)
    if isinstance(error, ssl.SSLError | smtplib.SMTPNotSupportedError):
        return tls_failed(where)
    if isinstance(error, socket.gaierror):
        return MailError(
            "UNREACHABLE",
            f"The host name in {where} is not known. Check {setting} in the secret `accounts`.",
            f"Имя сервера {where} не найдено. Проверьте {setting} в секрете `accounts`.",
            retryable=error.errno == socket.EAI_AGAIN,
        )
    if isinstance(error, ConnectionRefusedError):
        return MailError(
            "UNREACHABLE",
            f"{where} refuses connections. Check {setting} and its port in the secret `accounts`,"
            " or try again later.",
            f"{where} не принимает соединения. Проверьте {setting} и порт в секрете `accounts` или"
            " попробуйте позже.",
            retryable=True,
        )
    if isinstance(
        error, OSError | imaplib.IMAP4.abort | smtplib.SMTPServerDisconnected
    ) and not isinstance(error, smtplib.SMTPResponseException):
        return MailError(
            "BACKEND_5XX",
            f"The connection to {where} broke. Try again.",
            f"Связь с {where} прервалась. Попробуйте ещё раз.",
            retryable=True,
        )
    busy = isinstance(error, smtplib.SMTPResponseException) and 400 <= error.smtp_code < 500
    return MailError(
        "BACKEND_5XX",
        f"{where} refused the request."
        + (" It is busy: try again in a few minutes." if busy else ""),
        f"{where} отклонил запрос."
        + (" Он занят: попробуйте через несколько минут." if busy else ""),
        retryable=busy,
    )


def tls_failed(where: str) -> MailError:
    """The server's certificate, or what it speaks on that port, does not allow a secure
    connection."""
    return MailError(
        "TLS_FAILED",
        f"No secure connection to {where}: its certificate or its TLS port is not right. Check the"
        " port and `security` of the account.",
        f"Нет защищённого соединения с {where}: сертификат или порт TLS не подходит. Проверьте порт"
        " и `security` ящика.",
    )


def auth_failed(address: str, protocol: str) -> MailError:
    """The server did not accept the login."""
    return MailError(
        "AUTH_FAILED",
        f"{protocol} login for {address} was refused. Check `username` and `password` in the secret"
        " `accounts`; many providers want an app password there, not the one of the web page.",
        f"Вход по {protocol} для {address} отклонён. Проверьте `username` и `password` в секрете"
        " `accounts`; многим почтовым службам нужен пароль приложения, а не пароль от сайта.",
    )

"""Sending through an account's SMTP server. Blocking; callers run it in a thread."""

from __future__ import annotations

import base64
import smtplib
import ssl
from contextlib import suppress
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, make_msgid

from mail_accounts import MailAccount
from mail_errors import MailError, auth_failed, foreign_errors
from mail_hosts import check_host


def compose(
    sender: str,
    to: str,
    subject: str,
    body: str,
    *,
    now: datetime,
    to_name: str = "",
    in_reply_to: str = "",
    references: str = "",
) -> EmailMessage:
    """A plain-text message. The header values hold no line breaks: `EmailMessage` would raise
    ValueError."""
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = sender
    message["To"] = formataddr((to_name, ascii_address(to)))
    message["Subject"] = subject
    message["Date"] = format_datetime(now)
    message["Message-ID"] = make_msgid(domain=ascii_address(sender).rpartition("@")[2])
    if in_reply_to:
        message["In-Reply-To"] = in_reply_to
        message["References"] = references or in_reply_to
    message.set_content(body)
    return message


def ascii_address(address: str) -> str:
    """The address with an international domain in its ASCII form. Raises `MailError` where there is
    none."""
    local, _, domain = address.rpartition("@")
    with suppress(UnicodeError):
        return f"{local}@{domain.encode('idna').decode('ascii')}"
    raise _refused_recipient(address)


def deliver(account: MailAccount, message: EmailMessage, to: str) -> None:
    """Hand the message to the server. Raises `MailError`; a break after the text went out is not
    retryable, it may have arrived."""
    with foreign_errors(account.address, account.smtp_host, "SMTP"):
        smtp = _connect(account)
        try:
            _login(smtp, account)
            _transact(smtp, account.address, ascii_address(to), message)
        finally:
            with suppress(OSError, smtplib.SMTPException):
                smtp.quit()


def _connect(account: MailAccount) -> smtplib.SMTP:
    check_host(account.smtp_host, private=account.private)
    if account.smtp_security == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(
            account.smtp_host, account.smtp_port, timeout=account.timeout, context=context
        )
    smtp = smtplib.SMTP(account.smtp_host, account.smtp_port, timeout=account.timeout)
    if account.smtp_security == "starttls":
        try:
            smtp.starttls(context=ssl.create_default_context())
        except BaseException:
            smtp.close()
            raise
    return smtp


def _login(smtp: smtplib.SMTP, account: MailAccount) -> None:
    smtp.ehlo_or_helo_if_needed()
    if not smtp.has_extn("auth"):
        return  # a relay that knows its clients
    if "PLAIN" in smtp.esmtp_features["auth"].upper().split():  # smtplib's own login is ASCII only
        plain = base64.b64encode(f"\0{account.username}\0{account.password}".encode()).decode()
        code, _ = smtp.docmd("AUTH", f"PLAIN {plain}")
        accepted = code in (235, 503)
    else:
        accepted = True
        try:
            smtp.login(account.username, account.password)
        except (smtplib.SMTPAuthenticationError, UnicodeError):
            accepted = False
    if not accepted:
        raise auth_failed(account.address, "SMTP")


def _transact(smtp: smtplib.SMTP, sender: str, to: str, message: EmailMessage) -> None:
    code, answer = smtp.mail(ascii_address(sender))
    if code != 250:
        raise smtplib.SMTPResponseException(code, answer)
    code, answer = smtp.rcpt(to)
    if code >= 500:
        raise _refused_recipient(to)
    if code not in (250, 251):
        raise smtplib.SMTPResponseException(code, answer)
    uncertain = False
    try:
        code, answer = smtp.data(message.as_bytes())
    except smtplib.SMTPResponseException:
        raise
    except OSError:  # SMTPServerDisconnected is one
        uncertain = True
    if uncertain:
        raise MailError("DELIVERY_UNKNOWN", "delivery_unknown", to=to)
    if code != 250:
        raise smtplib.SMTPResponseException(code, answer)


def _refused_recipient(to: str) -> MailError:
    return MailError("RECIPIENT_REFUSED", "recipient_refused", to=to)

"""The demo mailbox: realistic mail in English and Russian, dated relative to a given present."""

from __future__ import annotations

import email.policy
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from pathlib import Path
from typing import Any

DEMO_MAIL = Path(__file__).with_name("demo_mail.json")


@dataclass(frozen=True, slots=True)
class Mail:
    """A message as it lies in a mailbox; `when` it arrived, in ISO's form."""

    address: str
    folder: str
    raw: bytes
    seen: bool
    when: str


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

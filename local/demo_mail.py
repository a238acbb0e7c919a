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
class DemoMail:
    """One message of the demo mailbox."""

    address: str
    folder: str
    seen: bool
    when: datetime
    message: EmailMessage


def demo_mail(now: datetime) -> list[DemoMail]:
    """The demo mailbox, oldest first, with dates that end at `now`.

    Messages of today stand in the file newest first and are spread over the time since midnight, at
    most 25 minutes apart.
    """
    entries: list[dict[str, Any]] = json.loads(DEMO_MAIL.read_text("utf-8"))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = [entry for entry in entries if entry["days_ago"] == 0]
    step = min(timedelta(minutes=25), (now - midnight) / (len(today) + 1))
    mails = []
    for entry in entries:
        if entry["days_ago"] == 0:
            when = now - step * (today.index(entry) + 1)
        else:
            hour, minute = map(int, entry["at"].split(":"))
            when = (
                midnight - timedelta(days=entry["days_ago"]) + timedelta(hours=hour, minutes=minute)
            )
        mails.append(
            DemoMail(
                entry["account"],
                entry.get("folder", "INBOX"),
                entry["seen"],
                when,
                _composed(entry, when),
            )
        )
    return sorted(mails, key=lambda mail: mail.when)


def _composed(entry: dict[str, Any], when: datetime) -> EmailMessage:
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"] = entry["from"]
    message["To"] = entry["account"]
    message["Subject"] = entry["subject"]
    message["Date"] = format_datetime(when)
    message["Message-ID"] = make_msgid(domain="demo.example")
    text = "\n".join(entry.get("text", []))
    if "html" in entry:
        message.set_content("\n".join(entry["html"]), subtype="html")
    else:
        message.set_content(text)
    for name in entry.get("attachments", []):
        message.add_attachment(
            b"A demo attachment.", maintype="application", subtype="octet-stream", filename=name
        )
    return message

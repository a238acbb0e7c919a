"""From bytes to words: headers, addresses and bodies of messages as people wrote them, however
broken."""

from __future__ import annotations

import email
import re
from contextlib import suppress
from dataclasses import dataclass
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses, parseaddr
from html.parser import HTMLParser

# Deliberately narrower than RFC 5322: no quoted local parts, no comments, nothing that could become
# a second header or recipient.
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W_](?:[\w-]{0,61}[^\W_])?"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BLANK_LINES = re.compile(r"\n\s*\n\s*(?:\n\s*)*")
_SPACES = re.compile(r"[ \t\u00a0\u200b\u200c\ufeff]+")


@dataclass(frozen=True, slots=True)
class Body:
    """A message's text (`html` says it was stripped of tags) and the names of its attachments."""

    text: str
    html: bool
    attachments: list[str]


def valid_address(value: str) -> bool:
    """Whether this is one plain e-mail address, at most 254 characters long; domains may be
    international."""
    return len(value) <= 254 and _ADDRESS.fullmatch(value) is not None and ".." not in value


def parse_headers(raw: bytes) -> Message:
    """The header block as a message without body. Raw UTF-8 in headers, which many programs send,
    is read as such."""
    block = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    try:
        return email.message_from_string(block.decode("utf-8") + "\n\n")
    except UnicodeDecodeError:
        return email.message_from_string(block.decode("latin-1") + "\n\n")


def header(message: Message, name: str) -> str:
    """A header unfolded, decoded (RFC 2047) and on one line; an empty string when it is missing."""
    return decoded(str(message.get(name) or ""))


def decoded(value: str) -> str:
    """Encoded words as text; what cannot be decoded stays as it was sent."""
    with suppress(
        LookupError, ValueError
    ):  # an unknown charset, broken base64; UnicodeError is a ValueError
        value = str(make_header(decode_header(value.replace("\r", "").replace("\n", ""))))
    return _CONTROL.sub(" ", value).strip()


def sender(message: Message) -> tuple[str, str]:
    """Display name and bare address of the From header; the name is empty when it only repeats the
    address."""
    name, address = parseaddr(str(message.get("From") or "").replace("\r", "").replace("\n", ""))
    name = decoded(name)
    return "" if name.lower() == address.lower() else name, _CONTROL.sub("", address)


def addresses(message: Message, name: str) -> list[str]:
    """The bare addresses of a header."""
    values = [str(v).replace("\r", "").replace("\n", "") for v in message.get_all(name, [])]
    return [_CONTROL.sub("", address) for _, address in getaddresses(values) if address]


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, the last one an ellipsis where something is missing."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def body_of(raw: bytes) -> Body:
    """The readable text of a message: text/plain parts, or else text/html without its tags."""
    plain: list[str] = []
    html: list[str] = []
    attachments: list[str] = []
    for part in email.message_from_bytes(raw).walk():
        if part.is_multipart():
            continue
        name = part.get_filename()
        if name or part.get_content_disposition() == "attachment":
            attachments.append(cut(decoded(name or part.get_content_type()), 120))
        elif part.get_content_type() == "text/plain":
            plain.append(_part_text(part))
        elif part.get_content_type() == "text/html":
            html.append(_part_text(part))
    text = tidy("\n\n".join(plain))
    if text or not html:
        return Body(text, False, attachments)
    return Body(html_to_text("\n".join(html)), True, attachments)


def _part_text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    for charset in (part.get_content_charset() or "utf-8", "utf-8"):
        try:
            return raw.decode(charset)
        except (LookupError, ValueError):
            continue
    return raw.decode("utf-8", "replace")


def tidy(text: str) -> str:
    """Line ends as \\n, no control characters, runs of spaces and of empty lines reduced to one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    text = "\n".join(_SPACES.sub(" ", _CONTROL.sub(" ", line)).rstrip() for line in lines)
    return _BLANK_LINES.sub("\n\n", text).strip()


def html_to_text(html: str) -> str:
    """The visible words of an HTML mail, one line per block."""
    stripper = _Stripper()
    stripper.feed(html)
    stripper.close()
    return tidy("".join(stripper.words))


class _Stripper(HTMLParser):
    SILENT = frozenset({"script", "style", "head", "title", "template"})
    BLOCKS = frozenset(
        "p div br tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote pre hr section article header"
        " footer".split()
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.SILENT:
            self._silent.append(tag)
        elif tag == "body":  # an unclosed head must not silence the whole mail
            self._silent.clear()
        elif tag in self.BLOCKS:
            self.words.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        elif tag in self.BLOCKS and tag not in ("br", "hr", "li"):
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(re.sub(r"\s+", " ", data))

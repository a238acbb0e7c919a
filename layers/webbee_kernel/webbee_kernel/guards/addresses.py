"""Addresses: the forms by which a value is known to be one, and the form in which two are compared.
Pure.

Compared whole: an address, a domain, an id counts as itself only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from typing import Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from .. import language
from ..clock import digest

Form = Literal["recipient", "account", "url"]

# a name may stand before it in angle brackets, as mail programs write it: Ann <ann@example.org>
_EMAIL = re.compile(r"(?:[^<>@]{0,80}<)?(?:\"[^\"]*\"|[^\s<>@,;]+)@[^\s<>@,;]+>?")
# of any scheme, and a share of Windows'
_LINK = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]*://|www\.|//[\w-]+(?:\.[\w-]+)+|\\\\\w)\S*")
_HOST = re.compile(
    r"(?i)(?:(?:[\w-]+\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|localhost(?=:))"
    r"(:\d+)?([/?#]\S*)?"
)
_MAILTO = re.compile(r"(?i)^(?:mailto|tel|sms|sip|xmpp):")
# groups of four as people write them, or all digits together
_IBAN = re.compile(r"(?i)[a-z]{2}\d{2}(?: ?[a-z0-9]{3,4}){3,8}(?: ?[a-z0-9]{1,4})?")
# Ethereum, Bitcoin's bech32, and its older base58 form
_WALLET = re.compile(r"0x[0-9a-fA-F]{40}|bc1[0-9a-z]{20,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34}")
_PHONE = re.compile(r"\+[\d\s().\-/]{6,24}\d")
_HANDLE = re.compile(r"(?:@[\w.-]{2,64}){1,2}(?::[\w.-]+)?")
# 24:00 is the end of a day
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d"
_MOMENT = re.compile(
    rf"\d{{4}}-\d\d(?:-\d\d)?(?:[T ]{_CLOCK}(?::\d\d(?:\.\d+)?)?)?\s?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_CLOCK}(?::\d\d)?|P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?"
)
_GROUPED = re.compile(r"[\s().\-/]")
_NETWORK = re.compile(
    r"(?i)(?:https?|wss?|s?ftps?|webcals?|feeds?|git|ssh|rtsps?|rtmps?|gopher|ldaps?|smb)://"
    r"|www\.|//"
)
"""How an address of the network begins."""
_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.:-]*://|www\.|//")
_EDGES = "#№ \t\r\n\"'«»“”„‘’`()[]{}<>,;:!?.…"
_SEPARATED = re.compile(r"[\s\"'«»“”„‘’`<>()\[\]{}|,;]+")


def form_of(value: str) -> Form | None:
    """What the value's own form tells: an e-mail address, a phone, an account, a web address."""
    # a full-width @ is one to whoever sends it
    text = unicodedata.normalize("NFKC", value.strip()).replace("\u3002", ".")
    if not text or "\n" in text:
        return None
    if _LINK.fullmatch(text) or is_linked(text):  # before people: a link may hold an @
        return "url"
    # no server takes a longer one, and the patterns below are not for whole texts
    if len(text) > 2_048:
        return None
    if _is_person(text):
        return "recipient"
    # a word such as "DE12 ABCD EFGH" needs as many digits as a real account has
    iban = _IBAN.fullmatch(text) and sum(c.isdigit() for c in text) >= 8
    return "account" if iban or _WALLET.fullmatch(text) else None


def _is_person(text: str) -> bool:
    """One or several e-mail addresses, a phone, a handle, or a link to one of them."""
    if any(form.fullmatch(text) for form in (_PHONE, _HANDLE)):
        return True
    if _MAILTO.match(text) and " " not in text:
        return True
    # a list of addresses in one text is one destination: all of it has to be accepted
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    return bool(parts) and all(map(_EMAIL.fullmatch, parts))


def web_address(value: str) -> bool:
    """Whether a value that an argument for addresses holds leads to the web."""
    text = value.strip()
    return bool(_LINK.fullmatch(text) or _HOST.fullmatch(text))


def is_linked(value: str) -> bool:
    """Whether a value under any name is a bare host with a path or a port behind it."""
    found = _HOST.fullmatch(value.strip())
    return found is not None and bool(found[1] or "/" in (found[2] or ""))


def is_networked(value: str) -> bool:
    """Whether a value begins as an address of the network does, whatever follows."""
    return bool(_NETWORK.match(value.strip()))


def has_scheme(value: str) -> bool:
    """Whether a value begins as an address does, of the network or an app's own (`memo://`)."""
    return bool(_SCHEME.match(value.strip()))


def is_moment(value: object) -> bool:
    """Whether it is a date of the calendar, a time or a duration, which binds nothing."""
    text = value.strip() if isinstance(value, str) else ""
    if not (_MOMENT.fullmatch(text) and has_years_only(text)):
        return False
    day = _DAY.match(text)
    with suppress(ValueError):
        return not day or bool(date.fromisoformat(f"{day[0]}-01"[:10]))
    return False


def has_years_only(text: str) -> bool:
    """Whether each long figure of what may be a date is a year that somebody means."""
    return all(1900 <= int(figure) <= 2199 for figure in _LONG.findall(text))


_LONGEST_DATE: Final = 40
"""Characters of a date in words."""
_ANY_DAY: Final = "2026-01-01T00:00:00Z"
"""From which a relative date is counted: only that it is one matters."""


def is_date(value: object) -> bool:
    """Whether the whole value is a date or a time, in figures or in words of any language: a model
    writes `friday` where its user says "am Freitag"."""
    # numbers are looked at elsewhere
    text = value.strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= _LONGEST_DATE or not has_years_only(text):
        return False
    return is_moment(text) or any(
        len(mention.text) == len(text)
        for tag in language.tags()
        for mention in language.dates(text, tag, _ANY_DAY)
    )


DEEPEST = 8
"""Times that a link is decoded."""
_LONG = re.compile(r"(?<!:\d\d[+-])\d{4,}")
_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")


def normal(value: object, *, cased: bool = False) -> str:
    """The form in which destinations and ids are compared: NFKC, case and outer spaces do not
    count, nor the scheme of the web and the slash behind a host, nor what groups the digits of a
    phone or an account. `cased`: case counts where it may make another one."""
    text = unicodedata.normalize("NFKC", str(value)).strip()
    if web_address(text):
        return _normal_url(text)
    text = _MAILTO.sub("", text)
    if not cased or _EMAIL.fullmatch(text) or _IBAN.fullmatch(text):
        text = text.casefold()
    if _PHONE.fullmatch(text) or _IBAN.fullmatch(text):
        return _GROUPED.sub("", text)
    return " ".join(text.split())


def id_digits(value: object) -> str:
    """Those of a whole number, as an id has them, also of `13.0` and `013`; of others none."""
    whole, _, rest = str(value).strip().lstrip("+").partition(".")
    return (whole.lstrip("0") or "0") if whole.isdigit() and not rest.strip("0") else ""


def _normal_url(text: str) -> str:
    """Host in small letters; path, query and fragment as they are."""
    bare = re.sub(r"(?i)^(?:(?:https?|wss?|ftps?):)?//", "", text)
    host, slash, rest = bare.partition("/")
    # nothing parts the host from what is asked of it: no letter may be changed
    if "?" in host or "#" in host:
        return bare
    return host.lower() + (slash + rest if rest else "")


def host_of(value: str) -> str:
    """The host of the web that an address leads to, with its port where that is not the usual one,
    and its scheme where that is not `https`; empty where it is not plain which one that is, or
    where it holds another address, or in what is asked of it another host, to which it may be
    handed on. The dots in a path are those of files."""
    text = value.strip()
    # `https://good.example@evil.example` leads to the second host
    if any(c in text for c in "\\@\t\r\n ") or not text.isprintable():
        return ""
    try:
        parts = urlsplit(text if "://" in text else f"https://{text.removeprefix('//')}")
        host = _origin(parts)
    except ValueError:
        return ""
    # redirects carry a second address in the query: `?next=//evil.example`
    asked = _decoded(f"?{parts.query}#{parts.fragment}")
    another = _ADDRESS_IN.search(_decoded(parts.path) + asked) or _HOST_IN.search(asked)
    return "" if another else host


def _origin(parts: SplitResult) -> str:
    """Where on the web an address leads to; empty where that is elsewhere."""
    # other schemes have no host that was accepted as one of the web
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    if not usual or not parts.hostname:
        return ""
    port = f":{parts.port}" if parts.port not in (None, usual) else ""
    return f"{parts.scheme}://{parts.hostname}{port}".removeprefix("https://")


def _decoded(text: str) -> str:
    """The text as it is read once nothing is left to decode; of what is wrapped deeper than any
    server wraps it, what counts as another address."""
    # `%252f` is `%2f` is `/`: a server may decode as often as it likes
    for _ in range(DEEPEST):
        if (once := unquote(text)) == text:
            return unicodedata.normalize("NFKC", text)
        text = once
    return "//"


_ADDRESS_IN = re.compile(r"(?i)//|[\\@]|\bwww\.|\b(?:https?|wss?|ftps?|mailto|tel|sms|sip|xmpp):")
_HOST_IN = re.compile(
    r"(?<![\w.-])(?:[\w-]+[.\u3002])+[^\W\d_][\w-]+|\d(?:\.\d{1,3}){3}|\[[\da-fA-F]*:"
)


def is_typed(address: str, message: str) -> bool:
    """Whether an address stands in a message whole, with its scheme: one that was typed without is
    opened by `https` alone, and only where it is written as one."""
    scheme = _scheme(address)
    same = (w for w in _typed(message) if normal(w) == normal(address) and _is_place(w, address))
    return any(scheme in ("", _scheme(word) or "https") for word in same)


def _is_place(word: str, address: str) -> bool:
    """Whether a word is written as an address, where it is taken for this one: `Node.js`, `3.14`
    and the end of a sentence before a missing space are none."""
    # who types `//host` means its own scheme, who types `https://` has told it
    if has_scheme(word) or is_linked(word):
        return word.startswith("//") or not address.startswith("//")
    return word.islower() if _HOST.fullmatch(word) else not has_scheme(address)


def _scheme(address: str) -> str:
    before, mark, _ = address.strip().partition("://")
    return before.casefold() if mark else ""


def typed(message: str) -> frozenset[str]:
    """Every word of a message in the form of `normal`: what an address that was typed whole is
    among."""
    return frozenset(normal(word) for word in _typed(message))


def _typed(message: str) -> Iterator[str]:
    # full-width letters that a phone's keyboard writes are the usual ones
    text = unicodedata.normalize("NFKC", message)
    for word in text.split():
        yield from (word, word.strip(_EDGES))
    for word in _SEPARATED.split(text):
        yield word.strip(_EDGES)


def key_of(app_id: str, fn_name: str, kind: str, value: str, place: str = "") -> str:
    """Under what a destination is remembered as accepted for a function: `mail.send#<hash>`. With
    letters beyond ASCII, or as a path or what no argument names, it counts as it is written: what
    is one to NFKC need not be to a server. A link counts with its scheme, and each with the place
    of its argument, in whichever item of a list: one to pay from is none to pay to."""
    # beyond ASCII two texts can be one to NFKC and two to a server: no form is taken off them
    same = value.strip()
    if value.isascii() and kind not in ("host", "path", "app"):
        scheme = _scheme(value).replace("https", "")
        same = f"{scheme}:{normal(value)}" if scheme else normal(value, cased=True)
    # which item of a list it was does not count: `to.0` and `to.1` are both `to`
    if place:
        same = f"{re.sub(r'[.][0-9]+(?![^.])', '', place)}={same}"
    return f"{app_id}.{fn_name}#{digest(kind == 'host', same)[:24]}"


def spelled(value: str) -> str:
    """A value as a card shows it: an address with letters beyond ASCII has them spelled out behind
    it, which tells it from one that looks the same."""
    if value.isascii() or not form_of(value):
        return value
    return f"{value} ({''.join(c if c.isascii() else f'<U+{ord(c):04X}>' for c in value)})"


_HEADER = re.compile(
    r"(?i)(?:^|[\r\n])[ \t]*(?:resent-)?(?:to|b?cc)[ \t]*:((?:[^\r\n]|\r?\n[ \t]|\r(?=\n[ \t]))+)"
)
_BLOCK = re.compile(r"\s*(?:(?:[A-Za-z][\w-]{0,40}[ \t]*:|[ \t]+\S)[^\r\n]*(?:\r\n?|\n|\Z))+")
"""Lines of a mail's header that a text begins with."""
_END = r"[^\s<>\"'«»“”]+"
_ADDRESS = re.compile(
    rf"(?i)[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+|\b[a-z][a-z0-9+.-]*://{_END}|\bwww\.{_END}"
)


def header_recipients(text: str, *, is_body: bool, is_mail: bool) -> Iterator[str]:
    """Recipients in lines of a mail's header. A body holds some only where it begins with a header,
    which an app may put behind its own, and with an address in it."""
    text = _plain_lines(text)
    block = _BLOCK.match(text) if is_body and is_mail else None  # people quote headers in mails
    for match in _HEADER.finditer(block[0] if block else "" if is_body else text):
        if not is_body or _ADDRESS.search(match[1]):
            yield " ".join(match[1].split())


def _plain_lines(text: str) -> str:
    """A text with a line feed for whatever ends a line for one program or another, and without the
    marks that nobody sees."""
    if not text.isascii():
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
        text = unicodedata.normalize("NFKC", text)
    return "\n".join(text.splitlines())


def addresses_in(text: str) -> Iterator[str]:
    """The addresses of people and of the web in a text, without the signs of its sentences."""
    return (match[0].rstrip(".,;:!?)]}") for match in _ADDRESS.finditer(text))

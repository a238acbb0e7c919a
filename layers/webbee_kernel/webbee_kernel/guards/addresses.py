"""Recognition and comparison of addresses (e-mail, phone, account, URL). Pure.

Values compare whole: an address, a domain or an id equals only itself.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from .. import language
from ..clock import digest

Form = Literal["recipient", "account", "url"]

# patterns are compiled by `re` where they are first used: a cold start pays for none
# a name may stand before it in angle brackets, as mail programs write it: Ann <ann@example.org>
_EMAIL: Final = r"(?:[^<>@]{0,80}<)?(?:\"[^\"]*\"|[^\s<>@,;]+)@[^\s<>@,;]+>?"
# of any scheme, and a share of Windows'
_LINK: Final = r"(?i)(?:[a-z][a-z0-9+.-]*://|www\.|//[\w-]+(?:\.[\w-]+)+|\\\\\w)\S*"
_HOST: Final = (
    r"(?i)(?:(?:[\w-]+\.)+[a-z]{2,24}\.?|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|localhost(?=:))"
    r"(:\d+)?([/?#\\]\S*)?"
)
_MAILTO: Final = r"(?i)^(?:mailto|tel|sms|sip|xmpp):"
# groups of four as people write them, or all digits together
_IBAN: Final = r"(?i)[a-z]{2}\d{2}(?: ?[a-z0-9]{3,4}){3,8}(?: ?[a-z0-9]{1,4})?"
# Ethereum, Bitcoin's bech32, and its older base58 form
_WALLET: Final = r"0x[0-9a-fA-F]{40}|bc1[0-9a-z]{20,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34}"
_PHONE: Final = r"\+[\d\s().\-/]{6,24}\d"
_HANDLE: Final = r"(?:@[\w.-]{2,64}){1,2}(?::[\w.-]+)?"
# 24:00 is the end of a day
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d"
_MOMENT: Final = (
    rf"\d{{4}}-\d\d(?:-\d\d)?(?:[T ]{_CLOCK}(?::\d\d(?:\.\d+)?)?)?\s?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_CLOCK}(?::\d\d)?|P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?"
)
_GROUPING: Final = r"[\s().\-/]"
_NETWORK: Final = (
    r"(?i)(?:https?|wss?|s?ftps?|webcals?|feeds?|git|ssh|rtsps?|rtmps?|gopher|ldaps?|smb)://"
    r"|www\.|//"
)
"""The start of a network address."""
_SCHEME: Final = r"(?i)[a-z][a-z0-9+.:-]*://|www\.|//"
_EDGES = "#№ \t\r\n\"'«»“”„‘’`()[]{}<>,;:!?.…"
_SEPARATORS: Final = r"[\s\"'«»“”„‘’`<>()\[\]{}|,;]+"


def form_of(value: str, *, is_secret: bool = False) -> Form | None:
    """The kind of address by the value's format, or None. Of a secret an `@` makes an address only
    before a domain with a dot: `P@ss1` is a password."""
    if is_secret and "@" in value and "." not in value.rpartition("@")[2]:
        return None
    # a full-width @ is one to whoever sends it
    text = unicodedata.normalize("NFKC", value.strip()).replace("\u3002", ".")
    if not text or "\n" in text:
        return None
    # before people: a link may hold an @
    if re.fullmatch(_LINK, text) or is_bare_url(text) or _is_ip(text):
        return "url"
    # no server takes a longer one, and the patterns below are not for whole texts
    if len(text) > 2_048:
        return None
    if _is_recipient(text):
        return "recipient"
    # a word such as "DE12 ABCD EFGH" needs as many digits as a real account has
    iban = re.fullmatch(_IBAN, text) and len(re.findall(r"\d", text)) >= 8
    return "account" if iban or re.fullmatch(_WALLET, text) else None


def _is_ip(text: str) -> bool:
    with suppress(ValueError):
        return (text[0].isdigit() or ":" in text) and bool(ip_address(text))
    return False


def _is_recipient(text: str) -> bool:
    """One or several e-mail addresses, a phone, a handle, or a link to one of them."""
    if any(re.fullmatch(form, text) for form in (_PHONE, _HANDLE)):
        return True
    if re.match(_MAILTO, text) and " " not in text:
        return True
    # a list of addresses in one text is one destination: all of it has to be accepted
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    return bool(parts) and all(re.fullmatch(_EMAIL, part) for part in parts)


def is_web_address(value: str) -> bool:
    """Whether the value of an address argument is a URL or a host."""
    text = value.strip()
    return bool(re.fullmatch(_LINK, text) or re.fullmatch(_HOST, text))


def is_bare_url(value: str) -> bool:
    """Whether a value is a host with a path or port, without a scheme."""
    found = re.fullmatch(_HOST, value.strip())
    return found is not None and bool(found[1] or "/" in (found[2] or ""))


def is_network_url(value: str) -> bool:
    """Whether a value begins like a network address."""
    return bool(re.match(_NETWORK, value.strip()))


def has_scheme(value: str) -> bool:
    """Whether a value begins with a scheme, of the network or an app's own (`memo://`)."""
    return bool(re.match(_SCHEME, value.strip()))


def is_moment(value: object) -> bool:
    """Whether a value is a calendar date, a time or a duration in ISO 8601."""
    text = value.strip() if isinstance(value, str) else ""
    if not (re.fullmatch(_MOMENT, text) and has_years_only(text)):
        return False
    day = re.match(_DAY, text)
    with suppress(ValueError):
        return not day or bool(date.fromisoformat(f"{day[0]}-01"[:10]))
    return False


def has_years_only(text: str) -> bool:
    """Whether every number of four or more digits is a year from 1900 to 2199."""
    return all(1900 <= int(figure) <= 2199 for figure in re.findall(_LONG_NUMBER, text))


_MAX_DATE: Final = 40
"""Maximum characters of a date in words."""
_ANY_DAY: Final = "2026-01-01T00:00:00Z"
"""Any reference date: only whether a text is a relative date matters."""


def is_date(value: object) -> bool:
    """Whether the whole value is a date or a time, in digits or in words of any language: a model
    may write `friday` for "am Freitag"."""
    # numbers are looked at elsewhere
    text = value.strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= _MAX_DATE or not has_years_only(text):
        return False
    return is_moment(text) or any(
        len(mention.text) == len(text)
        for tag in language.tags()
        for mention in language.dates(text, tag, _ANY_DAY)
    )


MAX_DECODES = 8
"""Maximum rounds of URL decoding."""
_LONG_NUMBER: Final = r"(?<!:\d\d[+-])\d{4,}"
_DAY: Final = r"\d{4}-\d{2}(?:-\d{2})?"


def normal(value: object, *, keep_case: bool = False) -> str:
    """The form in which destinations and ids are compared: NFKC, without case, outer spaces, the
    web scheme, the slash after a host and separators of phones and accounts. `keep_case`: for
    values in which case may matter."""
    text = unicodedata.normalize("NFKC", str(value)).strip()
    if is_web_address(text):
        return _normalise_url(text)
    text = re.sub(_MAILTO, "", text)
    if not keep_case or re.fullmatch(_EMAIL, text) or re.fullmatch(_IBAN, text):
        text = text.casefold()
    if re.fullmatch(_PHONE, text) or re.fullmatch(_IBAN, text):
        return re.sub(_GROUPING, "", text)
    return " ".join(text.split())


def id_digits(value: object) -> str:
    """The digits of a whole number used as an id, also of `13.0` and `013`; else empty."""
    whole, _, rest = str(value).strip().lstrip("+").partition(".")
    return (whole.lstrip("0") or "0") if whole.isdigit() and not rest.strip("0") else ""


def _normalise_url(text: str) -> str:
    """The host in lower case; path, query and fragment unchanged."""
    bare = re.sub(r"(?i)^(?:(?:https?|wss?|ftps?):)?//", "", text)
    host, slash, rest = bare.partition("/")
    # nothing parts the host from what is asked of it: no letter may be changed
    if "?" in host or "#" in host:
        return bare
    return host.lower() + (slash + rest if rest else "")


def host_of(value: str) -> str:
    """The web host of a URL, with a non-default port and a scheme other than `https`.

    Empty if the host is ambiguous, or if path, query or fragment hold another address or host, to
    which it might redirect.
    """
    text = value.strip()
    # `https://good.example@evil.example` leads to the second host
    if re.search(r"[\\@\s]", text) or not text.isprintable():
        return ""
    try:
        parts = urlsplit(text if "://" in text else f"https://{text.removeprefix('//')}")
        number = parts.port
    except ValueError:
        return ""
    # other schemes have no host that was accepted as one of the web
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    if not usual or not parts.hostname:
        return ""
    port = f":{number}" if number not in (None, usual) else ""
    host = f"{parts.scheme}://{parts.hostname}{port}".removeprefix("https://")
    # redirects carry a second address in the query: `?next=//evil.example`
    query = _decode(f"?{parts.query}#{parts.fragment}")
    other = re.search(_ADDRESS_IN, _decode(parts.path) + query) or re.search(_HOST_IN, query)
    return "" if other else host


def _decode(text: str) -> str:
    """The fully decoded text; beyond MAX_DECODES rounds `//`, which counts as another address."""
    # `%252f` is `%2f` is `/`: a server may decode as often as it likes
    for _ in range(MAX_DECODES):
        if (decoded := unquote(text)) == text:
            return unicodedata.normalize("NFKC", text)
        text = decoded
    return "//"


_ADDRESS_IN: Final = r"(?i)//|[\\@]|\bwww\.|\b(?:https?|wss?|ftps?|mailto|tel|sms|sip|xmpp):"
_HOST_IN: Final = r"(?<![\w.-])(?:[\w-]+[.\u3002])+[^\W\d_][\w-]+|\d(?:\.\d{1,3}){3}|\[[\da-fA-F]*:"


def has_address(address: str, message: str) -> bool:
    """Whether a message contains a whole address with its scheme; one typed without a scheme allows
    only `https`."""
    scheme = _scheme(address)
    same = (w for w in _words(message) if normal(w) == normal(address) and _is_url_like(w, address))
    return any(scheme in ("", _scheme(word) or "https") for word in same)


def _is_url_like(word: str, address: str) -> bool:
    """Whether a word that equals an address is written as one; not `Node.js`, `3.14` or the end of
    a sentence before a missing space."""
    # who types `//host` means its own scheme, who types `https://` has told it
    if has_scheme(word) or is_bare_url(word):
        return word.startswith("//") or not address.startswith("//")
    return word.islower() if re.fullmatch(_HOST, word) else not has_scheme(address)


def _scheme(address: str) -> str:
    before, mark, _ = address.strip().partition("://")
    return before.casefold() if mark else ""


def word_forms(message: str) -> frozenset[str]:
    """Every word of a message in the form of `normal`."""
    return frozenset(normal(word) for word in _words(message))


def _words(message: str) -> Iterator[str]:
    # full-width letters that a phone's keyboard writes are the usual ones
    text = unicodedata.normalize("NFKC", message)
    for word in text.split():
        yield from (word, word.rstrip(_EDGES), word.strip(_EDGES))
    for word in re.split(_SEPARATORS, text):
        yield word.strip(_EDGES)


def key_of(app_id: str, fn_name: str, kind: str, value: str, place: str = "") -> str:
    """The key under which an accepted destination is stored for a function: `mail.send#<hash>`.

    Hosts, paths, non-ASCII values and whole calls are not normalised: equality under NFKC need not
    hold for a server. A link includes its scheme, and each value its argument path without list
    indices: an account to pay from is not one to pay to.
    """
    # beyond ASCII two texts can be one to NFKC and two to a server: no form is taken off them
    same = value.strip()
    if value.isascii() and kind not in ("host", "path", "app"):
        scheme = _scheme(value).replace("https", "")
        same = f"{scheme}:{normal(value)}" if scheme else normal(value, keep_case=True)
    # which item of a list it was does not count: `to.0` and `to.1` are both `to`
    if place:
        same = f"{re.sub(r'[.][0-9]+(?![^.])', '', place)}={same}"
    return f"{app_id}.{fn_name}#{digest(kind == 'host', same)[:24]}"


_BASE64: Final = r"[A-Za-z0-9+/_-]{16,}={0,2}"


def decoded(value: str) -> str:
    """The text that a value holds in base64, such as a whole mail; empty for any other value."""
    if not re.fullmatch(_BASE64, value):
        return ""
    with suppress(ValueError):
        text = b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), b"-_").decode()
        return text if "".join(text.split()).isprintable() else ""
    return ""


def with_code_points(value: str) -> str:
    """A value for display; non-ASCII characters of an address are also shown as code points, to
    reveal lookalikes."""
    if value.isascii() or not form_of(value):
        return value
    return f"{value} ({''.join(c if c.isascii() else f'<U+{ord(c):04X}>' for c in value)})"


_HEADER: Final = (
    r"(?i)(?:^|[\r\n])[ \t]*(?:resent-)?(?:to|b?cc)[ \t]*:((?:[^\r\n]|\r?\n[ \t]|\r(?=\n[ \t]))+)"
)
_BLOCK: Final = r"(?:[ \t]*+\n)*+(?:(?:[A-Za-z][\w-]{0,40}[ \t]*:|[ \t]++\S)[^\n]*(?:\n|\Z))+"
"""A mail header at the beginning of a text."""
_END = r"[^\s<>\"'«»“”]+"
_ADDRESS: Final = (
    rf"(?i)[\w.+%'-]{{1,64}}@[\w-]+(?:\.[\w-]+)+|\b[a-z][a-z0-9+.-]{{0,40}}://{_END}|\bwww\.{_END}"
    # as browsers mend them: the page's own scheme, one slash, slashes the other way
    rf"|\bhttps?:[/\\]{_END}|(?<![:/\w])//[\w-]+(?:\.[\w-]+)+{_END}"
    rf"|(?<![\w./-])(?:[\w-]+\.)+[a-z]{{2,24}}(?::\d+)?/{_END}"
)


def header_recipients(text: str, *, is_body: bool, is_mail: bool) -> Iterator[str]:
    """Recipients in mail header lines of a text. A body counts only if it begins with a header,
    which an app may append to its own, and the line has an address."""
    text = _normalise_lines(text)
    block = re.match(_BLOCK, text) if is_body and is_mail else None  # people quote headers in mails
    for match in re.finditer(_HEADER, block[0] if block else "" if is_body else text):
        if not is_body or re.search(_ADDRESS, match[1]):
            yield " ".join(match[1].split())


def _normalise_lines(text: str) -> str:
    """A text with all line separators as line feeds and without invisible characters."""
    if not text.isascii():
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
        text = unicodedata.normalize("NFKC", text)
    return "\n".join(text.splitlines())


def addresses_in(text: str) -> Iterator[str]:
    """The e-mail addresses and URLs in a text, without trailing punctuation."""
    return (match[0].rstrip(".,;:!?)]}") for match in re.finditer(_ADDRESS, text))

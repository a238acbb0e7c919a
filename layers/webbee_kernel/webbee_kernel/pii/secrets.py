"""Keys, tokens and passwords: what lets its bearer in, told by its form, its key or its word.

Forms are those that issuers publish, so that leaked ones are found (`AKIA…`, `ghp_…`), private keys
in PEM, JSON web tokens and passwords in addresses. Random characters alone prove nothing: ids of
files and commits look the same and functions take them. So everything else needs a key
(`client_secret`), an assignment (`DB_PASSWORD=`) or a word before it (`People.secret_words`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from webbee_kernel.language import people_keys, people_phrases
from webbee_kernel.pii.keys import ends_in, subject_of
from webbee_kernel.pii.prose import Span, either

_TOKEN = re.compile(r"(?<![A-Za-z0-9_.-])[A-Za-z0-9_][A-Za-z0-9_.-]{15,}")
_PROVIDER_TOKEN = re.compile(
    r"(?:AKIA|ASIA)[A-Z0-9]{16}\b|gh[opsru]_\w{20,}|github_pat_\w{20,}|gl(?:pat|dt|rt)-[\w-]{16,}"
    r"|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{16,}|[prs]k_(?:live|test)_\w{10,}|whsec_\w{16,}"
    r"|sk-(?=[a-z_-]*[A-Z0-9])[\w-]{16,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}"
    r"|npm_\w{30,}|pypi-[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|hf_\w{20,}|do[opr]_v1_\w{20,}"
    r"|shp(?:at|ca|pa|ss)_\w{20,}|sq0[a-z]{3}-[\w-]{20,}|lin_api_\w{20,}|ntn_\w{20,}"
    r"|secret_\w{30,}|SK[0-9a-f]{32}\b|key-[0-9a-f]{32}\b|hvs\.[\w-]{20,}|xkeysib-[\w-]{30,}"
    r"|rubygems_\w{30,}|EAA[A-Za-z0-9]{60,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}"
)
_EDGE = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = re.compile(rf"(?s)-----BEGIN {_EDGE}(?:.*?-----END {_EDGE}|.*)")
_IN_ADDRESS = re.compile(r"://[^\s/:@]{0,64}:([^\s/@]{1,128})@|://hooks\.\S{1,64}/services/(\S+)")
_BOT = re.compile(r"(?<![\w:])\d{8,10}:[A-Za-z0-9_-]{30,50}(?![\w-])")
_HEADER = re.compile(r"\b(?:Bearer|Basic|Token) ([A-Za-z0-9._~+/=-]{16,})")
_VALUE = r"[^\s\"'`&,;<>()\[\]{}\u00ab\u00bb\u201c\u201d\u201e]"
_ASSIGNMENT = re.compile(
    rf"(?<![\w.-])([A-Za-z_][\w.-]{{1,60}})[\"']?[ ]?[:=][ ]?[\"']?({_VALUE}{{3,4096}})"
)
_MOMENT = re.compile(r"\d{1,4}[-./:]\d\d?(?:[-./:]\d+)?(?:[T ].*)?")
_HIDDEN = re.compile(r"[\W_xX]+")
LONG, TOKEN, PASSWORD, PIN = 1, 2, 3, 4
"""What is a secret under a key: what is too long to be read to anybody (a tracking token); what no
word would be (a token); anything (a password); a few characters with a digit (a PIN)."""
_OAUTH = frozenset(("access_token", "refresh_token", "id_token"))  # of RFC 6749, in any form
READ, SHORT = 20, 12  # characters of what people read to each other, and of a PIN
KEYED_MAX = 16_384  # characters: a longer value under a secret's key is a document
PHRASE_MAX = 64  # … of a password with spaces in it


def find_secrets(text: str, key: str = "") -> list[Span]:
    """Spans of the secrets in `text`, which stood under `key`; they may overlap. Linear."""
    whole = _under_key(text, key) if key and len(text) <= KEYED_MAX else None
    return [whole] if whole else [*_by_form(text), *_assigned_values(text), *_told(text)]


@lru_cache(maxsize=2048)
def is_secret_key(key: str) -> bool:
    """Whether a key says that its value is a secret: `client_secret`, `dbPassword`, `api_key`; not
    `next_page_token`, `token_count`, `password_changed_at`."""
    return _strength(key) > 0


@lru_cache(maxsize=2048)
def _strength(key: str) -> int:
    """Which values are secrets under a key; 0 where none is."""
    words = subject_of(key, "key_tails")
    if not words or not people_keys("public_keys").isdisjoint(words):
        return 0
    if ends_in(words, "pin_keys"):
        return PIN
    if ends_in(words, "passwords"):
        return PASSWORD
    led = len(words) > 1 and words[-2] in people_keys("key_leads")
    if not ends_in(words, "tokens") and not (led and ends_in(words, "key_heads")):
        return 0
    return TOKEN if people_keys("shown_keys").isdisjoint(words) else LONG


def _under_key(text: str, key: str) -> Span | None:
    strength = PASSWORD if key.rpartition(".")[2] in _OAUTH else _strength(key)
    value = text.strip()
    if not strength or not _is_secret(value, strength):
        return None
    if any(c.isspace() for c in value) and not (strength == PASSWORD and len(value) <= PHRASE_MAX):
        return None
    start = text.index(value)
    return start, start + len(value)


def _is_secret(value: str, strength: int) -> bool:
    """Whether a value is a secret under a key of that strength."""
    if len(value) < 3 or _HIDDEN.fullmatch(value) or _MOMENT.fullmatch(value):
        return False
    if strength == PIN:
        return len(value) <= SHORT and any(map(str.isdigit, value))
    if "://" in value or (strength == LONG and len(value) < READ):
        return False
    if strength == PASSWORD:
        return value.casefold() not in ("true", "false", "null", "none")
    return len(value) >= 8 and _is_random(value) and "@" not in value


def _is_random(value: str) -> bool:
    """Whether letters stand among digits, or large ones among small ones in a long value."""
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_mixed or (len(value) >= 16 and value not in (value.lower(), value.upper()))


def _by_form(text: str) -> Iterator[Span]:
    for whole in (_PRIVATE_KEY, _BOT):
        yield from (m.span() for m in whole.finditer(text))
    for token in _TOKEN.finditer(text):
        issued = _PROVIDER_TOKEN.match(text, *token.span())
        if issued:
            yield issued.start(), issued.start() + len(issued[0].rstrip("."))
    if "://" in text:
        yield from (m.span(m.lastindex or 0) for m in _IN_ADDRESS.finditer(text))
    for header in _HEADER.finditer(text):
        if _is_secret(header[1], TOKEN):
            yield header.span(1)


def _assigned_values(text: str) -> Iterator[Span]:
    """`DB_PASSWORD=…`, `"apiKey": "…"`, `?access_token=…`."""
    if "=" not in text and ":" not in text:
        return
    at = 0
    while match := _ASSIGNMENT.search(text, at):
        strength = _strength(match[1])
        value = match[2].rstrip(".:!?")
        at = match.end() if strength else match.end(1) + 1
        if strength and _is_secret(value, strength) and _is_not_a_word(value, text, match.end()):
            yield match.start(2), match.start(2) + len(value)


def _told(text: str) -> Iterator[Span]:
    """`password for the router: …`, `the PIN is …`."""
    pattern = _after_word()
    for match in pattern.finditer(text):
        value = match["value"].rstrip(".:!?")
        shown = match["sign"] is not None or match["link"] is not None
        digits = any(map(str.isdigit, value))
        if not shown:
            told = _is_secret(value, TOKEN)
        elif digits:
            told = _is_secret(value, PASSWORD)
        else:
            told = match["sign"] is not None and _is_not_a_word(value, text, match.end())
        if told and _is_secret(value, PASSWORD):
            yield match.start("value"), match.start("value") + len(value)


def _is_not_a_word(value: str, text: str, end: int) -> bool:
    """Whether a value is none of a sentence's words: it has more than small letters in it, or
    nothing follows it on its line."""
    return not (value.isalpha() and value[1:].islower()) or text[end : end + 1] in ("", "\n", '"')


@lru_cache(maxsize=1)
def _after_word() -> re.Pattern[str]:
    word = either(people_phrases("secret_words"))
    link = either(people_phrases("secret_links"))
    return re.compile(
        rf"(?<![\w-]){word}(?![^\W_])(?:(?:[ ][^\s:=,.;]{{1,24}}){{0,3}}[ ]?(?P<sign>[:=]|->)"
        rf"[ ]?|[ ](?P<link>{link})[ :]{{1,2}}|[ ])[\"'`\u00ab\u201c\u201e]?"
        rf"(?P<value>{_VALUE}{{3,256}})",
        re.IGNORECASE,
    )

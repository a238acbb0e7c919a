"""Text that strangers wrote, made safe to stand on one line of a prompt, and cut to fit. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, Final, NamedTuple

import orjson

ELLIPSIS = "…"
ARROW = " → "

_BREAKS = "\\s\x00-\x1f\x7f-\x9f\u2028\u2029"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
# strings are compiled, and kept by `re`, with their first use: most text is harmless
_SPACES = re.compile(f"[{_BREAKS}]+")
_HIDDEN: Final = f"[{_INVISIBLE}\U000e0000-\U000e0fff\ud800-\udfff]"
_UNSEEN: Final = (
    f"(?![\ufe0e\ufe0f](?![\ufe00-\ufe0f\U000e0100-\U000e01ef]))"
    f"[{_INVISIBLE}\U000e0000-\U000e0fff\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_BLOCKS = "SKELETON|HISTORY|MESSAGE|RESULTS|PROBLEMS|CATALOGUE|POLICY|APPS"
_BLOCK = re.compile(rf"\[(\s*(?:{_BLOCKS})\s*)\]", re.IGNORECASE)
_LINE: Final = r"\b(FACTS|ARGS)(\s*):"
_JSON_UNSAFE: Final = f"[\x7f-\x9f\u2028\u2029{_INVISIBLE}\U000e0000-\U000e0fff\ud800-\udfff]"
_JSON_BLOCK: Final = rf"(?i)\[(?=\s*(?:{_BLOCKS})\s*\])"
_JSON_LINE: Final = r"(?<!\\)\b(?:F(?=ACTS\s*:)|A(?=RGS\s*:))"
_UNUSUAL = re.compile(
    "[^ -~\u00a0-\u00ac\u00ae-\u012f\u0131-\u024f\u0400-\u04ff\u2010-\u2027]"
)  # not U+0130: its lower case is an i and a dot
_written = json.JSONEncoder(ensure_ascii=False).encode


def one_line(text: str, limit: int | None = None) -> str:
    """Whitespace and control characters become single spaces, invisible and direction characters
    go, markers are defused.

    `[HISTORY]` becomes `(HISTORY)`, `FACTS:` and `ARGS:` become `FACTS -` and `ARGS -`; everything
    else stays as written.
    With `limit`, longer text is cut so that it ends in `…` and holds at most `limit` characters.
    """
    if _is_suspect(text):
        # what is hidden goes first: it could part a marker that is looked for next
        text = _SPACES.sub(" ", re.sub(_HIDDEN, "", text))
        text = _BLOCK.sub(r"(\1)", text)
        text = re.sub(_LINE, r"\1\2 -", text)
    text = _SPACES.sub(" ", text).strip()
    return text if limit is None or len(text) <= limit else cut(text, limit)


def revealed(text: str) -> str:
    """The text with what nobody sees made visible: `<U+200B>` for each invisible, direction, tag or
    control character, and the same in a sequence of variation selectors. One such selector behind
    a symbol, as emoji have it, is no hiding place."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSEEN, lambda found: "".join(f"<U+{ord(c):04X}>" for c in found.group()), text)


def squeezed(text: str) -> str:
    """The text with one space for each stretch of white space, none around it."""
    return " ".join(text.split())


_RENDERED: Final = r"(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])"
_INDENT: Final = r"(?:[^\S\n]|[>*+\-\d.)])*"
_FENCE: Final = rf"(?m)^({_INDENT}(?:`{{3,}}(?=[^`\n]*$)|~{{3,}}(?!~)))(?=.*\S)"
_AGAIN: Final = rf"{_INDENT}(?:`{{3}}|~{{3}})"
_INSIDE: Final = "\n" + 8 * " "
_LINKED: Final = r"\w://|(?i:\bwww\.)|(?<![\w.])@(?=\w)|<(?=[@#&])|\[\[|\|\|"
_SIGN: Final = r"[\\`*~]|(?<!\w)_|_(?!\w)|\$.*\$|&#?\w+;|" + f"{_LINKED}|{_RENDERED}"


def as_typed(text: str) -> str:
    """A text that no client's Markdown or HTML makes a picture or a link of, which would carry data
    to an address that is fetched or hidden: of `![a](https://b)` it shows what is typed, a space
    parts the brackets. Code has its language on a line of its own: some clients draw or run it; a
    language that would begin code itself is moved in."""
    text, again = re.sub(_RENDERED, " ", text), re.compile(_AGAIN)
    return re.sub(_FENCE, lambda m: m[1] + (_INSIDE if again.match(text, m.end()) else "\n"), text)


def as_code(text: str) -> str:
    """A value on one line that Markdown shows as it is typed, too: in backticks, more of them than
    it holds in a row, where it has any sign of Markdown's or HTML's, or one that chat systems make
    a link or a mention of."""
    if not re.search(_SIGN, text):
        return text
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"{ticks}{text}{ticks}"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, the last one `…` where something was cut."""
    return text if len(text) <= limit else head(text, max(limit - 1, 0)).rstrip() + ELLIPSIS


def head(text: str, length: int) -> str:
    """A prefix of at most `length` characters that does not end inside a placeholder such as
    `<EMAIL_1>`."""
    part = text[:length]
    # placeholders are short: a `<` further back is the text's own
    opened = part.rfind("<")
    return (
        part[:opened]
        if opened > part.rfind(">")
        and len(part) - opened < 16
        and ">" in text[length : length + 16]
        else part
    )


def dumps(value: Any) -> str:
    """JSON with `json.dumps` spacing, non-ASCII kept, on one line whatever the strings hold.

    Line separators, invisible characters and block markers inside strings are written as `\\uXXXX`,
    so parsing gives back exactly what was put in while no reader of lines can be fooled.
    """
    text = _written(value)
    plain = text.isascii() and "\x7f" not in text  # all other control characters are escaped
    if not _is_suspect(text, plain=plain):
        return text
    text = re.sub(_JSON_UNSAFE, _escape, text)
    text = re.sub(_JSON_BLOCK, lambda _: "\\u005b", text)
    return re.sub(_JSON_LINE, _escape, text)


def json_text(value: Any) -> str:
    """Compact JSON, also of integers and broken surrogates that orjson refuses: extensions may
    return both."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"))


def _is_suspect(text: str, *, plain: bool = False) -> bool:
    """Whether the patterns above could find anything: a quick look, because nearly every text is
    harmless. A `plain` one holds no unusual character."""
    if ":" in text and ("FACTS" in text or "ARGS" in text):
        return True
    if "[" in text and _BLOCK.search(text):
        return True
    return not plain and bool(_UNUSUAL.search(text))


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass").hex()
    return re.sub("....", r"\\u\g<0>", units)


def json_size(value: Any) -> int:
    """`len(dumps(value))`, for texts and small numbers without writing them."""
    if type(value) is str:
        return _short_size(value) if len(value) <= _SHORT else _text_size(value)
    return len(str(value)) if type(value) is int else len(dumps(value))


def size_up_to(value: Any, enough: int) -> int:
    """How many characters its JSON has, nothing in it escaped; not counted any further once that is
    more than `enough`."""
    if not isinstance(value, dict | list | tuple):
        return len(str(value)) + 2 * isinstance(value, str)
    if 3 * len(value) > enough > _LEAST:  # so many that none needs a look
        return enough + 1
    # `, ` behind each item but the last, and two brackets
    total = 2 * len(value)
    items: Iterable[Any] = value
    if isinstance(value, dict):
        total, items = 3 * total + len("".join(map(str, value))), value.values()
    for item in items:
        total += len(item) + 2 if type(item) is str else size_up_to(item, enough - total)
        if total > enough:
            break
    return total or 2


_LEAST: Final = 80
"""Characters below which every item is looked at."""


def _text_size(text: str) -> int:
    if text.isprintable() and '"' not in text and "\\" not in text and not _is_suspect(text):
        return len(text) + 2
    return len(dumps(text))


_SHORT = 120  # characters
_short_size = lru_cache(maxsize=8_192)(_text_size)
"""A value is weighed several times before it is shown, remembered or cut."""


TRUNCATED: Final = "_truncated"
_LEFT_OUT: Final = "fields left out"
# compiled, and kept by `re`, with their first use: most turns cut nothing
_CUT: Final = rf"{ELLIPSIS}\[(\d+) chars\]\Z"
_GONE: Final = rf"{ELLIPSIS} (?:(\d+) more)?(?:, )?({_LEFT_OUT})?"
_GONE_FIELDS: Final = r"(\d+) more fields"


class More(NamedTuple):
    """What a list's last item says: how many items are gone, and whether rows lack fields."""

    gone: int = 0
    left_out: bool = False


def more(count: int, left_out: bool = False) -> str:
    """`… 12 more`, `… fields left out`, or both."""
    parts = [f"{count} more"] * bool(count) + [_LEFT_OUT] * left_out
    return f"{ELLIPSIS} {', '.join(parts)}"


def more_of(items: Sequence[Any]) -> More | None:
    """The inverse, of a list that was cut before; None where it was not."""
    last = items[-1] if items else None
    said = re.fullmatch(_GONE, last) if isinstance(last, str) and last[:1] == ELLIPSIS else None
    return More(int(said[1] or 0), bool(said[2])) if said else None


def more_fields(count: int) -> str:
    """What an object says under `_truncated`."""
    return f"{count} more fields"


def more_fields_of(value: Mapping[str, Any]) -> int:
    """The inverse; 0 where nothing was cut."""
    said = value.get(TRUNCATED)
    cut = re.fullmatch(_GONE_FIELDS, said) if isinstance(said, str) else None
    return int(cut[1]) if cut else 0


def tail(text: str) -> str:
    """What a text ends in that is cut: how long it was before anybody cut it."""
    cut = re.search(_CUT, text)
    return f"{ELLIPSIS}[{cut[1] if cut else len(text)} chars]"


def fair_shares(wants: Sequence[int], room: int) -> list[int]:
    """What each gets of `room`: its want where that is no more than an equal share, and what the
    modest leave goes to the others in equal parts (max-min fairness). Same units in and out."""
    shares = [0] * len(wants)
    waiting = sorted(range(len(wants)), key=wants.__getitem__)  # stable: the first of equals
    left = max(0, room)
    for place, i in enumerate(waiting):
        shares[i] = min(wants[i], left // (len(waiting) - place))
        left -= shares[i]
    return shares


LONGEST_SHOWN = 40
"""Characters of a value that is worth showing beside a title."""
MOST_FIELDS = 12
"""Fields of a record that are looked at, before its id."""
_ID_FIELDS = ("id", "id_", "uid")


def disambiguate(things: Sequence[tuple[str, Mapping[str, object]]]) -> list[str]:
    """What to say behind the title of each of these `(title, fields)`: nothing where no other reads
    like it, else ` (2026-05-16)` or ` (2026-05-16, open)`, what only it has, its `id` where that is
    nothing. Titles are compared as they are read: without case and what nobody sees."""
    alike: dict[str, list[int]] = {}
    for i, (title, _) in enumerate(things):
        alike.setdefault(_read(title), []).append(i)
    behind = [""] * len(things)
    for title, places in alike.items():
        if len(places) > 1:
            for i, told in zip(places, _own([things[i][1] for i in places], title), strict=True):
                whole = f"{things[i][0]} ({told})"
                # another title may read just like this one with its addition
                is_taken = _read(whole) in alike
                told = _id_of(things[i][1]) if is_taken or not told else told
                behind[i] = f" ({told})" if told else ""
    return behind


def _read(title: str) -> str:
    return one_line(unicodedata.normalize("NFKC", title)).casefold()


def _own(rows: Sequence[Mapping[str, object]], title: str) -> list[str]:
    """What each row of one title has that no other has: by the field, else the two fields, that
    tell the most of them apart."""
    few = _fields(rows)
    best: list[str] = []
    for by in chain(combinations(few, 1), combinations(few, 2)):
        told = [_shown(row, by) for row in rows]
        count = Counter(told)
        own = [t if count[t] == 1 and _read(t) != title else "" for t in told]
        # max keeps the first of equals: one field rather than two
        best = max(best, own, key=lambda found: sum(map(bool, found)))
    return best or [""] * len(rows)


def _fields(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Those that are looked at: none that is the id, or that says the same of all."""
    names = dict.fromkeys(chain.from_iterable(rows))
    ids = {n for n in names if all(row.get(n) == row.get("id") for row in rows)}
    found = (n for n in names if n not in ids.union(_ID_FIELDS))
    return [n for n in found if len({_shown(row, (n,)) for row in rows}) > 1][:MOST_FIELDS]


def _id_of(row: Mapping[str, object]) -> str:
    return next((str(row[key]) for key in _ID_FIELDS if key in row), "")


def _shown(row: Mapping[str, object], names: Sequence[str]) -> str:
    told = (row.get(name) for name in names)
    return ", ".join(str(value) for value in told if _is_short(value))


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_SHOWN and value.isprintable()
    return type(value) in (int, float)

"""Untrusted text: made safe for one line of a prompt, and cut to fit. Pure."""

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
_INVISIBLE_CHARS: Final = f"[{_INVISIBLE}\U000e0000-\U000e0fff\ud800-\udfff]"
_INVISIBLE_OR_CONTROL: Final = (
    f"(?![\ufe0e\ufe0f](?![\ufe00-\ufe0f\U000e0100-\U000e01ef]))"
    f"[{_INVISIBLE}\U000e0000-\U000e0fff\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_BLOCKS = "SKELETON|HISTORY|MESSAGE|RESULTS|PROBLEMS|CATALOGUE|POLICY|APPS"
_BLOCK = re.compile(rf"\[(\s*(?:{_BLOCKS})\s*)\]", re.IGNORECASE)
_LINE: Final = r"(?:\b|(?<=\\n))(FACTS|ARGS)(\s*):"  # also behind `\n` as two characters
_JSON_UNSAFE: Final = f"[\x7f-\x9f\u2028\u2029{_INVISIBLE}\U000e0000-\U000e0fff\ud800-\udfff]"
_JSON_BLOCK: Final = rf"(?i)\[(?=\s*(?:{_BLOCKS})\s*\])"
_JSON_LINE: Final = r"(?<!\\)\b(?:F(?=ACTS\s*:)|A(?=RGS\s*:))"
_UNUSUAL = re.compile(
    "[^ -~\u00a0-\u00ac\u00ae-\u012f\u0131-\u024f\u0400-\u04ff\u2010-\u2027]"
)  # not U+0130: its lower case is an i and a dot
_encode = json.JSONEncoder(ensure_ascii=False).encode


def one_line(text: str, limit: int | None = None) -> str:
    """Whitespace and control characters become single spaces, invisible and direction characters
    go, markers are defused.

    `[HISTORY]` becomes `(HISTORY)`, `FACTS:` and `ARGS:` become `FACTS -` and `ARGS -`; everything
    else stays as written.
    With `limit`, longer text is cut so that it ends in `…` and holds at most `limit` characters.
    """
    if _is_suspect(text):
        # what is hidden goes first: it could part a marker that is looked for next
        text = _SPACES.sub(" ", re.sub(_INVISIBLE_CHARS, "", text))
        text = _defuse_marks(text)
    text = _SPACES.sub(" ", text).strip()
    return text if limit is None or len(text) <= limit else cut(text, limit)


def _defuse_marks(text: str) -> str:
    return re.sub(_LINE, r"\1\2 -", _BLOCK.sub(r"(\1)", text))


BREAKS_NOTE: Final = r"NOTE: in the new message \n is a line break, \\n a backslash and an n"


def message_line(message: str) -> tuple[str, str]:
    """A user's message on one line, and the note that tells how its line breaks are written, empty
    without one: then the line is `one_line` of the message."""
    text = tidy_lines(message)
    if "\n" not in text:
        return text, ""
    # a backslash before an n, or before a break, would be read as another break
    escaped = re.sub(r"(?<!\\)(\\++)(?=[n\n])", r"\1\1", text)
    return escaped.replace("\n", r"\n"), BREAKS_NOTE


def restore_breaks(line: str) -> str:
    """The tidy lines that stand, with the note, on such a line."""
    return re.sub(
        r"(?<!\\)(\\++)n",
        lambda found: "\\" * (len(found[1]) // 2) + ("n", "\n")[len(found[1]) % 2],
        line,
    )


def tidy_lines(text: str) -> str:
    """The text with `one_line` for each line, behind its indentation; every kind of break is a line
    feed, two in a row at most, and no marker is left across one."""
    lines = ((line.removesuffix(line.lstrip(" \t")), one_line(line)) for line in text.splitlines())
    tidy = "\n".join(indentation + line if line else "" for indentation, line in lines).strip()
    return _defuse_marks(re.sub("\n{3,}", "\n\n", tidy))


def reveal(text: str) -> str:
    """The text with `<U+200B>` in place of each invisible, direction, tag or control character and
    of variation selectors in a row; a single selector behind a symbol, as in emoji, stays."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(
        _INVISIBLE_OR_CONTROL,
        lambda found: "".join(f"<U+{ord(c):04X}>" for c in found.group()),
        text,
    )


def squeeze(text: str) -> str:
    """The text with each run of white space as one space, stripped."""
    return " ".join(text.split())


_MARKUP: Final = r"(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])"
_INDENT: Final = r"(?:[^\S\n]|[>*+\-\d.)])*"
_FENCE: Final = rf"(?m)^({_INDENT}(?:`{{3,}}(?=[^`\n]*$)|~{{3,}}(?!~)))(?=.*\S)"
_AGAIN: Final = rf"{_INDENT}(?:`{{3}}|~{{3}})"
_DEEPER: Final = "\n" + 8 * " "
_LINK: Final = r"\w://|(?i:\bwww\.)|(?<![\w.])@(?=\w)|<(?=[@#&])|\[\[|\|\|"
_SIGN: Final = r"[\\`*~]|(?<!\w)_|_(?!\w)|\$.*\$|&#?\w+;|" + f"{_LINK}|{_MARKUP}"


def defuse_markup(text: str) -> str:
    """Stop clients from rendering Markdown or HTML images and links, which could send data to a
    fetched or hidden URL: `![a](https://b)` gets a space between its brackets. A code fence loses
    its language to the next line, since some clients draw or run it."""
    text, again = re.sub(_MARKUP, " ", text), re.compile(_AGAIN)
    return re.sub(_FENCE, lambda m: m[1] + (_DEEPER if again.match(text, m.end()) else "\n"), text)


def as_code(text: str) -> str:
    """A value on one line that Markdown shows verbatim: in enough backticks where it holds anything
    that Markdown, HTML or a chat system would interpret."""
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
    start = part.rfind("<")
    return (
        part[:start]
        if start > part.rfind(">") and len(part) - start < 16 and ">" in text[length : length + 16]
        else part
    )


def dumps(value: Any) -> str:
    """JSON with `json.dumps` spacing, non-ASCII kept, on one line whatever the strings hold.

    Line separators, invisible characters and block markers inside strings are written as `\\uXXXX`,
    so parsing gives back exactly what was put in while no reader of lines can be fooled.
    """
    text = _encode(value)
    is_plain = text.isascii() and "\x7f" not in text  # all other control characters are escaped
    if not _is_suspect(text, is_plain=is_plain):
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


def _is_suspect(text: str, *, is_plain: bool = False) -> bool:
    """Whether the patterns above could find anything: a quick look, because nearly every text is
    harmless. An `is_plain` one holds no unusual character."""
    if ":" in text and ("FACTS" in text or "ARGS" in text):
        return True
    if "[" in text and _BLOCK.search(text):
        return True
    return not is_plain and bool(_UNUSUAL.search(text))


def _escape(match: re.Match[str]) -> str:
    return re.sub("....", r"\\u\g<0>", match.group().encode("utf-16-be", "surrogatepass").hex())


def json_size(value: Any) -> int:
    """`len(dumps(value))`, for texts and small numbers without writing them."""
    if type(value) is str:
        return _short_size(value) if len(value) <= _SHORT else _text_size(value)
    return len(str(value)) if type(value) is int else len(dumps(value))


def size_up_to(value: Any, limit: int) -> int:
    """The length of its JSON without escapes; counting stops beyond `limit`."""
    if not isinstance(value, dict | list | tuple):
        return len(str(value)) + 2 * isinstance(value, str)
    if 3 * len(value) > limit > _LEAST:  # so many that none needs a look
        return limit + 1
    # `, ` behind each item but the last, and two brackets
    total = 2 * len(value)
    items: Iterable[Any] = value
    if isinstance(value, dict):
        total, items = 3 * total + len("".join(map(str, value))), value.values()
    for item in items:
        # most are texts
        total += len(item) + 2 if type(item) is str else size_up_to(item, limit - total)
        if total > limit:
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
"""Cached: the same value is measured several times."""


TRUNCATED: Final = "_truncated"
_LEFT_OUT: Final = "fields left out"
# compiled, and kept by `re`, with their first use: most turns cut nothing
_CUT: Final = rf"{ELLIPSIS}\[(\d+) chars\]\Z"
_MORE: Final = rf"{ELLIPSIS} (?:(\d+) more)?(?:, )?({_LEFT_OUT})?"
_MORE_FIELDS: Final = r"(\d+) more fields"


class More(NamedTuple):
    """The marker in a cut list's last item: omitted items, and whether rows lack fields."""

    omitted: int = 0
    lacks_fields: bool = False


def more(count: int, lacks_fields: bool = False) -> str:
    """`… 12 more`, `… fields left out`, or both."""
    parts = [f"{count} more"] * bool(count) + [_LEFT_OUT] * lacks_fields
    return f"{ELLIPSIS} {', '.join(parts)}"


def more_of(items: Sequence[Any]) -> More | None:
    """The marker of a list that was cut before; None where it was not."""
    last = items[-1] if items else None
    found = re.fullmatch(_MORE, last) if isinstance(last, str) and last[:1] == ELLIPSIS else None
    return More(int(found[1] or 0), bool(found[2])) if found else None


def more_fields(count: int) -> str:
    """The marker of a cut object, stored under `_truncated`."""
    return f"{count} more fields"


def more_fields_of(value: Mapping[str, Any]) -> int:
    """Fields that an earlier cut omitted; 0 where nothing was cut."""
    text = value.get(TRUNCATED)
    found = re.fullmatch(_MORE_FIELDS, text) if isinstance(text, str) else None
    return int(found[1]) if found else 0


def tail(text: str) -> str:
    """The end of a cut text, `…[N chars]`: its length before the first cut."""
    found = re.search(_CUT, text)
    return f"{ELLIPSIS}[{found[1] if found else len(text)} chars]"


def fair_shares(wants: Sequence[int], room: int) -> list[int]:
    """Max-min fair shares of `room`: each gets its want or an equal share, and what small wants
    leave is split among the others. Same units in and out."""
    shares = [0] * len(wants)
    order = sorted(range(len(wants)), key=wants.__getitem__)  # stable: the first of equals
    remaining = max(0, room)
    for place, i in enumerate(order):
        shares[i] = min(wants[i], remaining // (len(order) - place))
        remaining -= shares[i]
    return shares


MAX_VALUE = 40
"""Characters of a value that is worth showing beside a title."""
MAX_FIELDS = 12
"""Fields of a record that are looked at, before its id."""
_ID_FIELDS = ("id", "id_", "uid")


def disambiguate(things: Sequence[tuple[str, Mapping[str, object]]]) -> list[str]:
    """A suffix for each `(title, fields)` that makes equal titles distinct: empty, or one or two
    unique field values like ` (2026-05-16, open)`, else its `id`. Titles are compared without case
    and invisible characters."""
    titles = [_comparable(title) for title, _ in things]
    additions = [""] * len(things)
    for title in [title for title, count in Counter(titles).items() if count > 1]:
        rows = {i: row for i, (_, row) in enumerate(things) if titles[i] == title}
        for i, addition in zip(rows, _distinguishing([*rows.values()], title), strict=True):
            # another title may read just like this one with its addition
            if not addition or _comparable(f"{things[i][0]} ({addition})") in titles:
                addition = _id_of(rows[i])
            additions[i] = f" ({addition})" * bool(addition)
    return additions


def _comparable(title: str) -> str:
    return one_line(unicodedata.normalize("NFKC", title)).casefold()


def _distinguishing(rows: Sequence[Mapping[str, object]], title: str) -> list[str]:
    """A value unique to each row of one title, from the field, or two, that distinguish the most
    rows; empty where there is none."""
    names = _fields(rows)
    best = [""] * len(rows)
    for by in chain(combinations(names, 1), combinations(names, 2)):
        texts = [_values_text(row, by) for row in rows]
        count = Counter(texts)
        unique = [t if count[t] == 1 and _comparable(t) != title else "" for t in texts]
        # max keeps the first of equals: one field rather than two
        best = max(best, unique, key=lambda found: sum(map(bool, found)))
    return best


def _fields(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Fields worth comparing: not the id, and not the same in all rows."""
    names = dict.fromkeys(chain.from_iterable(rows))
    ids = {n for n in names if all(row.get(n) == row.get("id") for row in rows)}
    found = (n for n in names if n not in ids.union(_ID_FIELDS))
    return [n for n in found if len({_values_text(row, (n,)) for row in rows}) > 1][:MAX_FIELDS]


def _id_of(row: Mapping[str, object]) -> str:
    return next((str(row[key]) for key in _ID_FIELDS if key in row), "")


def _values_text(row: Mapping[str, object], names: Sequence[str]) -> str:
    return ", ".join(str(value) for value in (row.get(name) for name in names) if _is_short(value))


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= MAX_VALUE and value.isprintable()
    return type(value) in (int, float)

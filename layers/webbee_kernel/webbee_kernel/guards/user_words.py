"""Words: whether a text consists of the user's own words. Pure.

A text is his where each of its words stands in what he said, in any order and any number: a title
is put together from a sentence ("remind me to buy milk" → "Buy milk"), and what matters is that
nothing in it comes from elsewhere. A word counts in another form of it too, by the stemmer of its
language or by a long common beginning; a figure, a code or an address counts as itself only.
Contiguity is not asked for: it would refuse each title that leaves a word out, and what words of
the user's can be put together to stays within what he has said.

A text that is written or sent is held to more than its words, for anything can be told in what is
none: each sign of it is his as well (`Said.wrote`).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from .. import language
from ..language.stems import UNSPACED
from .addresses import typed

_WORD = re.compile(r"[^\W_]+(?:[.,:/@+-]+[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_FILE = re.compile(r"(?mi)^[^\n]{1,255}[,(] ?[\w.+-]{1,60}/[\w.+-]{1,80}, \d{1,9} B(?:ytes)?\)?:?$")
_FIGURE = re.compile(r"\d")
_ADDRESS = re.compile(r"@|://|[^\W_]\.[^\W\d_]{2,}")
_MARKS = ".,;:!?\u2026\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b\u0964\u061f\u060c\u061b"
"""Signs that part sentences, one of which may stand behind a word of a text unsaid."""
_QUOTES = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb()[]"
_ALIKE = str.maketrans("\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019", '"""""\'\'')
_CHUNK = re.compile(rf"([{re.escape(_QUOTES)}]*)(.*?)([{re.escape(_QUOTES)}]*)[{_MARKS}]?")
"""What stands between two spaces: what it is quoted by, itself, and a sign of a sentence."""
_USUAL = re.compile(r"[^\W_]+(?:[.,:/+'-][^\W_]+)*")
"""A word as people write it."""
_ALONE = re.compile(rf"[-\u2013\u2014{_MARKS[3:]}]")
_SPACES = re.compile(r"(?: |\n\n?)")
_UNSPACED = "[\u0e00-\u0e7f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]+"
"""A run of a script without spaces; Korean has them."""
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")
"""In Latin and Cyrillic, Chinese and Japanese, Arabic, Greek."""
LEAST_RUN = 4
"""Characters of such a script that have to stand together as he wrote them."""
LEAST_SHARED = 4
"""Letters that two forms of a word begin with, at least."""
SHARE = 0.75
"""Part of the longer form that they share."""
LONGEST = 60
"""Letters of a word that has forms."""


def without_files(message: str) -> str:
    """What was written before the files that a page puts behind a message: `name, type, size` on a
    line of their own, then what they hold, which is no word of the user's."""
    # nobody but the page writes this line; a user who does loses words, and gets none
    found = _FILE.search(message)
    return message[: found.start()] if found else message


def plain(text: str) -> str:
    """NFKC without case and without the marks that nobody sees."""
    return "".join(
        c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf"
    )


@lru_cache(maxsize=512)
def words_in(text: str) -> tuple[str, ...]:
    """The words of a text, in order: figures with what joins them (`17:00`, `3.5`) and addresses
    whole, other words part by part."""
    return tuple(_split(plain(text)))


def _split(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        whole = match[0]
        if _is_one(whole):
            yield whole
            continue
        for part in _PART.findall(whole):
            if not part.isascii() and re.search(UNSPACED, part):  # there each letter is a word
                yield from part
            else:
                yield part


class Said:
    """What the user has said: his message, or with a plain yes the reply that it answers. Where it
    is `strict` a word counts in the forms of its stem alone, not by a common beginning."""

    def __init__(self, texts: Iterable[str], tag: str = "en", *, strict: bool = False) -> None:
        self.texts = tuple(texts)
        self.tag = tag
        self.strict = strict

    def less(self, values: Iterable[str]) -> Said:
        """The same without these."""
        texts = list(self.texts)
        for value in values:
            texts = [text.replace(value, " ") for text in texts]
        return Said(texts, self.tag, strict=self.strict)

    def holds(self, text: str) -> bool:
        """Whether every word of the text is one of his; a text without words (`*`) as itself."""
        words = words_in(text)
        return all(map(self.has, words)) if words else any(text.strip() in t for t in self.texts)

    def wrote(self, text: str, beside: tuple[str, ...] = ()) -> bool:
        """Whether a text is his sign by sign: as it stands in what he said, or of his words, none
        more often than he says it, also in those `beside` it in a list, in upper case only at its
        beginning or whole, with single spaces, and with signs that stand at that very word in what
        he said, but for one of a sentence; in a script without spaces in pieces of four characters
        or whole runs."""
        # said once, written a hundred times: repeating is telling, too
        given, own = text.translate(_ALIKE), _count(self.texts)
        if any(n > max(1, own[w]) for w, n in _count(beside or (text,)).items()):
            return False
        return any(map(_whole(given).search, self._written)) or self._is_put_together(given)

    def tells(self, text: str) -> bool:
        """Whether the text stands in what he said as it is, but for its case, and no longer word or
        figure around it."""
        within = _whole(text.translate(_ALIKE).casefold())
        return any(within.search(t.casefold()) for t in self._written)

    def _is_put_together(self, text: str) -> bool:
        # Thai, Japanese and Chinese have no spaces that would part words
        runs = re.findall(_UNSPACED, text)
        is_longer = sum(map(len, runs)) > sum(map(len, self._runs))
        if is_longer or not all(map(self._has_run, runs)):
            return False
        chunks = re.sub(_UNSPACED, " ", text).split()
        return (
            bool(chunks or runs)
            and all(map(_SPACES.fullmatch, re.findall(r"\s+", text)))
            and all(map(self._has_written, chunks, [*chunks[1:], ""]))
        )

    def _has_run(self, run: str) -> bool:
        """Whether a run without spaces is made of pieces of his."""
        at = 0
        while at < len(run):
            # greedy: the longest piece first, so the scan stays short
            most = next((n for n in range(len(run), at, -1) if self._holds_run(run[at:n])), at)
            if most - at < min(LEAST_RUN, len(run)) and run[at:most] not in self._runs:
                return False
            at = most
        return True

    def _holds_run(self, piece: str) -> bool:
        return any(piece in run for run in self._runs)

    def _has_written(self, chunk: str, behind: str) -> bool:
        """Whether what stands between two spaces is his, with its signs and in its case."""
        found = _CHUNK.fullmatch(chunk)
        if chunk in self._chunks or not found:
            return chunk in self._chunks
        # a dash between words is a sign of the sentence; before a figure it makes another figure
        if _ALONE.fullmatch(chunk):
            return not behind[:1].isdecimal()
        before, core, after = found.groups()
        is_quoted = self._has_sign(before) and self._has_sign(after)
        return is_quoted and (core in self._chunks or self._is_usual(core))

    def _is_usual(self, core: str) -> bool:
        if unicodedata.normalize("NFKC", core) != core or not _USUAL.fullmatch(core):
            return False
        return all(map(self._has_cased, _PART.findall(core))) and self._has_words(core)

    def _has_words(self, core: str) -> bool:
        # Korean puts particles behind a word: what he wrote may begin with it
        if _HANGUL.search(core):
            return len(core) > 1 and any(c.startswith(core) for c in self._chunks)
        return all(map(self.has, words_in(core)))

    def _has_sign(self, sign: str) -> bool:
        return any(sign in text for text in self._written)

    def _has_cased(self, word: str) -> bool:
        """Whether a word is in his case, or in one that a sentence gives it."""
        # `mEET mE` could spell out a second text in its capitals
        usual = word[1:] == word[1:].lower() or word == word.upper()
        return usual or any(word[1:] == w[1:] for w in self._parts)

    @cached_property
    def _written(self) -> tuple[str, ...]:
        """What he said as he wrote it, and with the usual signs for others of the same meaning."""
        # composed and decomposed accents, and ligatures, are typed alike
        forms = (unicodedata.normalize(f, t) for t in self.texts for f in ("NFC", "NFKC"))
        return tuple(form.translate(_ALIKE) for form in forms)

    @cached_property
    def _chunks(self) -> frozenset[str]:
        """What stands between two spaces, also without the signs of a sentence around it."""
        spaced = [c for t in self._written for c in re.sub(_UNSPACED, " ", t).split()]
        bare = (form for c in spaced for form in (c.strip(_MARKS + _QUOTES), c.rstrip(_MARKS)))
        return frozenset((*spaced, *bare)) - {""}

    @cached_property
    def _parts(self) -> frozenset[str]:
        return frozenset(w for text in self._written for w in _PART.findall(text))

    @cached_property
    def _runs(self) -> frozenset[str]:
        return frozenset(r for text in self._written for r in re.findall(_UNSPACED, text))

    def share(self, text: str) -> float:
        """The part of a text's letters that stand in words of his."""
        found = words_in(text)
        total = sum(map(len, found))
        return sum(len(w) for w in found if self.has(w)) / total if total else 0.0

    def has(self, word: str) -> bool:
        """Whether a word is his, in whatever form of it; a figure or a code as itself."""
        if word in self._words:
            return True
        # a figure has no forms: 12 is not 120, `a1b` is not `a1c`
        if _is_one(word):
            return word in self._figures or _hour(word) in self._figures
        if self._stem(word) in self._stems:
            return True
        return not self.strict and not self._beginnings.isdisjoint(_beginnings(word))

    @cached_property
    def typed(self) -> frozenset[str]:
        """His words as addresses and ids are compared."""
        return frozenset(form for text in self.texts for form in typed(text)) - {""}

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(w for text in self.texts for w in words_in(text))

    @cached_property
    def _figures(self) -> frozenset[str]:
        """Figures also without what stands around them: `#12` and `12,` are 12, but a part of a
        longer one is none."""
        return frozenset(w.strip(".,:/@+-") for w in self._words)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(self._stem(w) for w in self._words)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """What a form of one of his words begins with."""
        return frozenset(b for w in self._words if not _FIGURE.search(w) for b in _beginnings(w))

    def _stem(self, word: str) -> str:
        return language.stem(word, self.tag)


@lru_cache(maxsize=64)
def _count(texts: tuple[str, ...]) -> Counter[str]:
    """How often each word stands in these texts."""
    return Counter(
        w for t in texts for w in _PART.findall(unicodedata.normalize("NFKC", t.lower()))
    )


@lru_cache(maxsize=256)
def _whole(text: str) -> re.Pattern[str]:
    """Where a text stands with no longer word, figure or address around it."""
    # (?!) matches nowhere: an empty text stands in no message
    inside = re.escape(unicodedata.normalize("NFC", text)) or "(?!)"
    return re.compile(rf"(?<![\w.@+$€£~/-])(?<!\d,){inside}(?![\w@$€£%]|[.:/+-]\w|,\d)")


def _hour(word: str) -> str:
    """The figure that a full hour is said by: `09:00` is "at 9"."""
    # "at 9" and 09:00
    return word.removesuffix(":00").lstrip("0")


def _is_one(word: str) -> bool:
    """Whether it is a figure, a code or an address, which is nothing but itself."""
    return bool(_FIGURE.search(word) or _ADDRESS.search(word))


def _beginnings(word: str) -> Iterator[str]:
    """The beginnings that make up most of a word: two words that share one are forms of one word.
    What is longer than any word has none."""
    if len(word) <= LONGEST:
        # "meeting" and "meetings" share 7 of 8 letters, "meet" and "meat" only 2
        least = max(LEAST_SHARED, math.ceil(SHARE * len(word)))
        yield from (word[:size] for size in range(least, len(word) + 1))

"""Whether a text consists of the user's own words. Pure.

Every word must occur in the user's messages, in any order and number ("remind me to buy milk" →
"Buy milk"), so that nothing comes from elsewhere. Inflected forms count, by stem; numbers, codes
and addresses only exactly. Contiguity is not required, as titles leave words out.

For texts that are written or sent every character must be the user's as well
(`UserWords.has_text`), since punctuation can carry information, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

from .. import language
from ..language.stems import UNSPACED
from ..text import tidy_lines
from .addresses import word_forms

_WORD = re.compile(r"[^\W_]+(?:[.,:/@+-]+[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_FILE: Final = r"(?mi)^[^\n]{1,255}[,(] ?[\w.+-]{1,60}/[\w.+-]{1,80}, \d{1,9} B(?:ytes)?\)?:?$"
_FIGURE = re.compile(r"\d")
_ADDRESS = re.compile(r"@|://|[^\W_]\.[^\W\d_]{2,}")
_MARKS = ".,;:!?\u2026\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b\u0964\u061f\u060c\u061b"
"""Sentence punctuation, one of which may be added after a word."""
_QUOTES = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb()[]"
_SAME_SIGNS = str.maketrans("\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019", '"""""\'\'')
_CHUNK = re.compile(rf"([{re.escape(_QUOTES)}]*)(.*?)([{re.escape(_QUOTES)}]*)[{_MARKS}]?")
"""A chunk between spaces: opening quotes, core, closing quotes, punctuation."""
_USUAL = re.compile(r"[^\W_]+(?:[.,:/+'-][^\W_]+)*")
"""A usual word."""
_ALONE = re.compile(rf"[-\u2013\u2014{_MARKS[3:]}]")
_SPACES = re.compile(r"(?: |\n\n?)")
_UNSPACED = "[\u0e00-\u0e7f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]+"
"""A run of a script without spaces; Korean has them."""
_HANGUL: Final = "[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"
QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")
"""In Latin and Cyrillic, Chinese and Japanese, Arabic, Greek."""
MIN_RUN = 4
"""Minimum consecutive characters of such a script that must match."""


def without_files(message: str) -> str:
    """The message without the attachments that the page appends (`name, type, size` on a line, then
    the content), which are not the user's words."""
    # nobody but the page writes this line; a user who does loses words, and gets none
    found = re.search(_FILE, message)
    return message[: found.start()] if found else message


@lru_cache(maxsize=512)
def words_in(text: str) -> tuple[str, ...]:
    """The words of a text in order, in NFKC without case and invisible characters: numbers with
    separators (`17:00`, `3.5`) and addresses whole, other words split at punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for match in _WORD.finditer("".join(c for c in plain if unicodedata.category(c) != "Cf")):
        if _is_atomic(match[0]):
            found.append(match[0])
            continue
        for part in _PART.findall(match[0]):
            # in scripts without spaces each letter is a word
            found += part if not part.isascii() and re.search(UNSPACED, part) else [part]
    return tuple(found)


class UserWords:
    """The words of the user's message, or for a plain yes also of the reply that it answers."""

    def __init__(self, texts: Iterable[str], tag: str = "en") -> None:
        self.texts = tuple(texts)
        self.tag = tag

    def without(self, values: Iterable[str]) -> UserWords:
        """A copy without these values."""
        texts = list(self.texts)
        for value in values:
            texts = [text.replace(value, " ") for text in texts]
        return UserWords(texts, self.tag)

    def has_all(self, text: str) -> bool:
        """Whether the user said every word of the text; one without words (`*`) occurs verbatim."""
        words = words_in(text)
        return all(map(self.has, words)) if words else any(text.strip() in t for t in self.texts)

    def has_text(self, text: str, siblings: tuple[str, ...] = ()) -> bool:
        """Whether a text is the user's character by character.

        It occurs verbatim, or is composed of the user's words: none more often than the user says
        it (counting `siblings` of a list), in the user's case and punctuation, with single spaces.
        Scripts without spaces need pieces of four characters.
        """
        # said once, written a hundred times: repeating is telling, too
        flat, own = text.translate(_SAME_SIGNS), _count(self.texts)
        if any(n > max(1, own[w]) for w, n in _count(siblings or (text,)).items()):
            return False
        return any(map(_pattern(flat).search, self._raw)) or self._is_composed(flat)

    def has_phrase(self, text: str) -> bool:
        """Whether the user said the text verbatim except for case, as whole words."""
        pattern = _pattern(text.translate(_SAME_SIGNS).casefold())
        return any(pattern.search(t.casefold()) for t in self._raw)

    def _is_composed(self, text: str) -> bool:
        # Thai, Japanese and Chinese have no spaces that would part words
        runs = re.findall(_UNSPACED, text)
        is_longer = sum(map(len, runs)) > sum(map(len, self._runs))
        if is_longer or not all(map(self._has_run, runs)):
            return False
        chunks = re.sub(_UNSPACED, " ", text).split()
        return (
            bool(words_in(text))
            and all(map(_SPACES.fullmatch, re.findall(r"\s+", text)))
            and all(map(self._has_chunk, chunks, [*chunks[1:], ""]))
        )

    def _has_run(self, run: str) -> bool:
        """Whether a run without spaces consists of pieces of the user's text."""
        at = 0
        while at < len(run):
            # greedy: the longest piece first, so the scan stays short
            ends = range(len(run), at, -1)
            end = next((n for n in ends if any(run[at:n] in r for r in self._runs)), at)
            if end - at < min(MIN_RUN, len(run)) and run[at:end] not in self._runs:
                return False
            at = end
        return True

    def _has_chunk(self, chunk: str, next_chunk: str) -> bool:
        """Whether a chunk between spaces is the user's, with its punctuation and case."""
        found = _CHUNK.fullmatch(chunk)
        if chunk in self._chunks or not found:
            return chunk in self._chunks
        # a dash between words is a sign of the sentence; before a figure it makes another figure
        if _ALONE.fullmatch(chunk):
            return not next_chunk[:1].isdecimal()
        before, core, after = found.groups()
        is_quoted = self._has_sign(before) and self._has_sign(after)
        return is_quoted and (core in self._chunks or self._is_usual(core))

    def _is_usual(self, core: str) -> bool:
        if unicodedata.normalize("NFKC", core) != core or not _USUAL.fullmatch(core):
            return False
        if not all(map(self._has_cased, _PART.findall(core))):
            return False
        # Korean puts particles behind a word: what he wrote may begin with it
        if re.search(_HANGUL, core):
            return len(core) > 1 and any(c.startswith(core) for c in self._chunks)
        return all(self.has(word) or word in self._numerals for word in words_in(core))

    def _has_sign(self, sign: str) -> bool:
        return any(sign in text for text in self._raw)

    def _has_cased(self, word: str) -> bool:
        """Whether a word has the user's case, or lower, title or upper case."""
        # `mEET mE` could spell out a second text in its capitals
        usual = word[1:] == word[1:].lower() or word == word.upper()
        return usual or any(word[1:] == w[1:] for w in self._parts)

    @cached_property
    def _raw(self) -> tuple[str, ...]:
        """The user's texts, and their lines as the model reads them, in NFC and NFKC, with
        equivalent quotes made equal."""
        texts = dict.fromkeys(own for text in self.texts for own in (text, tidy_lines(text)))
        # composed and decomposed accents, and ligatures, are typed alike
        forms = (unicodedata.normalize(f, t) for t in texts for f in ("NFC", "NFKC"))
        return tuple(form.translate(_SAME_SIGNS) for form in forms)

    @cached_property
    def _chunks(self) -> frozenset[str]:
        """The chunks between spaces, with and without surrounding punctuation."""
        spaced = [c for t in self._raw for c in re.sub(_UNSPACED, " ", t).split()]
        bare = (form for c in spaced for form in (c.strip(_MARKS + _QUOTES), c.rstrip(_MARKS)))
        return frozenset((*spaced, *bare)) - {""}

    @cached_property
    def _parts(self) -> frozenset[str]:
        return frozenset(w for text in self._raw for w in _PART.findall(text))

    @cached_property
    def _runs(self) -> frozenset[str]:
        return frozenset(r for text in self._raw for r in re.findall(_UNSPACED, text))

    def share(self, text: str) -> float:
        """The share of a text's letters that are in words of the user's."""
        found = words_in(text)
        total = sum(map(len, found))
        return sum(len(w) for w in found if self.has(w)) / total if total else 0.0

    def has(self, word: str) -> bool:
        """Whether the user said a word in any form; numbers and codes exactly."""
        if word in self._words:
            return True
        # a figure has no forms: 12 is not 120, `a1b` is not `a1c`
        if _is_atomic(word):
            # "at 9" is 09:00
            return not self._figures.isdisjoint((word, word.removesuffix(":00").lstrip("0")))
        return not self._stems.isdisjoint(self._stems_of(word))

    def _stems_of(self, word: str) -> tuple[str, str]:
        # the stem of a case may be a form that has one itself: the dative of Petrov
        stem = language.stem(word, self.tag)
        return stem, language.stem(stem, self.tag)

    def has_acronym(self, word: str) -> bool:
        """Whether the user wrote a word of letters in capitals only, as VPN."""
        return word.upper() in self._parts and len(word) > 1

    @cached_property
    def tokens(self) -> frozenset[str]:
        """The user's words in the form in which addresses and ids are compared."""
        return frozenset(form for text in self.texts for form in word_forms(text)) - {""}

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(w for text in self.texts for w in words_in(text))

    @cached_property
    def _figures(self) -> frozenset[str]:
        """The words without surrounding punctuation: `#12` and `12,` are 12."""
        return frozenset(w.strip(".,:/@+-") for w in self._words)

    @cached_property
    def _numerals(self) -> frozenset[str]:
        """The figures of whole numbers that the user spelled out, 2 of "two lemons"; no 1, as "one"
        stands for other things."""
        found = (m for text in self.texts for m in language.numbers(text, self.tag))
        whole = (m.value for m in found if m.kind == "number" and m.value == int(m.value))
        return frozenset(str(int(value)) for value in whole if value > 1)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(stem for word in self._words for stem in self._stems_of(word))


@lru_cache(maxsize=64)
def _count(texts: tuple[str, ...]) -> Counter[str]:
    return Counter(
        w for t in texts for w in _PART.findall(unicodedata.normalize("NFKC", t.lower()))
    )


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    """A pattern for a text as whole words, numbers or addresses."""
    # (?!) matches nowhere: an empty text stands in no message
    inside = re.escape(unicodedata.normalize("NFC", text)) or "(?!)"
    return re.compile(rf"(?<![\w.@+$€£~/-])(?<!\d,){inside}(?![\w@$€£%]|[.:/+-]\w|,\d)")


def _is_atomic(word: str) -> bool:
    """Whether it is a number, code or address, which has no other forms."""
    return bool(_FIGURE.search(word) or _ADDRESS.search(word))

"""The words of a text: where they stand, and what else the readers of this room find; their stems,
the one way in which forms of a word are made equal; and sounds, which words of two languages share.

A sound is the consonants in one script, rough enough that "Гамбург" and "Hamburg", "Крит" and
"Crete", "инцидент" and "incident" sound alike, and no more than that is meant by it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any, Final, NamedTuple, cast

from .resources import contents, known_tag, script_of_language, tag_for_script

_LETTER = "(?:[^\\W_]|[\u0300-\u036f\u0900-\u109f])"  # with the vowel signs that `\\w` leaves out
_WORD = re.compile(rf"{_LETTER}+(?:[-'\u2019]{_LETTER}+)*")
_IDEOGRAPHS = (
    ("\u0e00", "\u0e7f"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
)
"""Scripts without spaces between words: Thai, Kana, Han and Hangul."""
UNSPACED: Final = f"[{''.join(f'{first}-{last}' for first, last in _IDEOGRAPHS)}]"
"""A character of theirs: a pattern that is compiled with its first use, for it costs 3 ms."""


class Token(NamedTuple):
    """A word or a run of digits as written; inner hyphens and apostrophes belong to it."""

    text: str
    start: int
    end: int


class Mention(NamedTuple):
    """A number, date or time that a text mentions, and every sensible way to read it.

    `kind`: `number`, `percent`, `money`, `ordinal`; `date`, `time`, `moment`, `month`, `weekday`,
    `period`. `value` is the first of `readings`. Of numbers a reading is an int or float; of dates
    `(year | None, month, day)`; of times minutes since midnight; of moments a `datetime`; of months
    `(year | None, month)`; of weekdays 0 (Monday) to 6; of periods `(first, last)` dates.
    `decimals` belong to the reading in the same place, `scale` is 1000 for "12.5 thousand" (the
    value has it applied), `unit` an ISO 4217 code or empty, `spelled` says that words were used,
    `relative` that the value was counted from `now`, `about` that it is a rough one ("a dozen").
    """

    kind: str
    value: Any
    start: int
    end: int
    text: str
    readings: tuple[Any, ...] = ()
    decimals: tuple[int, ...] = ()
    scale: int = 1
    unit: str = ""
    spelled: bool = False
    relative: bool = False
    about: bool = False


def mention(text: str, span: tuple[int, int], kind: str, readings: tuple[Any, ...]) -> Mention:
    """What stands at `span` of `text`, the first of its readings the likeliest."""
    return Mention(kind, readings[0], *span, text[slice(*span)], readings)


@lru_cache(maxsize=64)  # several readers of one text ask in turn
def tokens(text: str) -> tuple[Token, ...]:
    """The words and runs of digits of `text`, in any script, in order; Han, Kana, Hangul and Thai
    characters are tokens of one character. Linear."""
    words = (Token(m[0], *m.span()) for m in _WORD.finditer(text))
    if text.isascii() or not re.search(UNSPACED, text):
        return tuple(words)
    return tuple(piece for word in words for piece in _pieces(word))


def _pieces(word: Token) -> Iterator[Token]:
    """The characters of scripts without spaces one by one, and what stands between them."""
    for found in re.finditer(rf"{UNSPACED}|(?:(?!{UNSPACED}).)+", word.text):
        yield Token(found[0], word.start + found.start(), word.start + found.end())


def apart(found: Iterable[Mention]) -> tuple[Mention, ...]:
    """What was found, in order; of those that overlap the one that begins first, then the
    longer."""
    kept: list[Mention] = []
    for one in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


_SAME = str.maketrans({"ё": "е", "ß": "ss", "’": "'", "ʼ": "'"})
_WHOLE = ("нее",)  # stems that are another word: "не"
LONGEST = 60  # letters: what is longer is no word, and a stemmer's cost grows with it
_one_at_a_time = Lock()  # Snowball's stemmers hold the word that they work on


@lru_cache(maxsize=16384)
def fold(word: str) -> str:
    """A word without letter case, composed, and with the letters that writers leave out or swap
    made equal (`ё`/`е`, `ß`/`ss`, curly apostrophes)."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", word.casefold()).translate(_SAME)


@lru_cache(maxsize=512)
def folded_words(forms: str) -> frozenset[str]:
    """The words of a list as a language's file has it, folded."""
    return frozenset(fold(w) for w in forms.split())


@lru_cache(maxsize=16384)
def stem(word: str, tag: str = "en") -> str:
    """The stem of a word by the Snowball stemmer of the language `tag`; a word in another script
    than that language's is stemmed by the first language that is written in its script.

    A word that no stemmer of the language knows (other scripts, longer than 60 letters) is only
    folded. About 25 µs a new word.
    """
    folded = fold(word)
    if not folded.isalpha() or len(folded) > LONGEST or folded in _WHOLE:
        return folded
    own, script = known_tag(tag), script_of(folded)
    if script != script_of_language(own):
        own = tag_for_script(script)
    stemmer = contents(own)["stemmer"] if own else ""
    if not stemmer:
        return folded
    with _one_at_a_time:
        return _stemmer(stemmer)(folded)


@lru_cache(maxsize=512)
def stems_of(words: str, tag: str) -> tuple[str, ...]:
    """The stems of a list of words as a language's file has it, in its order."""
    return tuple(stem(w, tag) for w in words.split())


def script_of(text: str) -> str:
    """`latin`, `cyrillic` or another script's name as Unicode spells it, of the first letter; empty
    without letters."""
    first = next((c for c in text if c.isalpha()), "")
    if not first:
        return ""
    if first <= "\u024f":
        return "latin"
    return unicodedata.name(first, "").partition(" ")[0].lower()


@lru_cache(maxsize=16)
def _stemmer(name: str) -> Callable[[str], str]:
    """The library's stemmer of a language, without those of the other thirty-five: to import the
    library itself imports them all, 14 of a cold start's milliseconds."""
    module = import_module(f"{_library()}.{name}_stemmer")
    stemmer = getattr(module, f"{name.title()}Stemmer")()
    return cast("Callable[[str], str]", stemmer.stemWord)


@lru_cache(maxsize=1)
def _library() -> str:
    """The library under a name of its own, as a package whose modules can be imported and that has
    not been run."""
    found = find_spec("snowballstemmer")
    if found is None or found.submodule_search_locations is None:
        raise ModuleNotFoundError("snowballstemmer is not installed")
    own = ModuleSpec(f"{__package__}.snowball", None, is_package=True)
    own.submodule_search_locations = found.submodule_search_locations
    sys.modules[own.name] = module_from_spec(own)
    return own.name


_CYRILLIC = str.maketrans(
    dict(zip("бвгджзклмнпрстфхцчшщ", "bvgdssklmnprstfgssss", strict=True))
    | dict.fromkeys("аеёийоуъыьэюяіїєґ", "")
)
_ALIKE = "sch>s sh>s ch>s zh>s kh>g ts>s tz>s ph>f th>t ck>k qu>kv x>ks ce>se ci>si cy>si"
_TOGETHER = tuple(pair.split(">") for pair in _ALIKE.split())
_LATIN = str.maketrans("cwzjhq", "kvssgk", "aeiouyäöüáéíóúàèâêîôû")
_SILENT = re.compile("h(?![aeiouyäöüáéíóúàèâêîôû])")
_TWICE = re.compile(r"(.)\1+")


@lru_cache(maxsize=16384)
def sound(word: str) -> str:
    """The consonants of a word, in one script; a word that has none gives nothing."""
    folded = fold(word)
    if folded[:1] >= "а":
        heard = folded.translate(_CYRILLIC)
    else:
        for letters, one in _TOGETHER:
            folded = folded.replace(letters, one)
        heard = _SILENT.sub("", folded).translate(_LATIN)
    return _TWICE.sub(r"\1", heard)

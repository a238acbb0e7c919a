"""Stems: the one way in which forms of a word are made equal; and sounds, which words of two
languages share.

A sound is the consonants in one script, rough enough that "Гамбург" and "Hamburg", "Крит" and
"Crete", "инцидент" and "incident" sound alike, and no more than that is meant by it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import cast

from .resources import contents, known_tag, script_of_language, tag_for_script

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

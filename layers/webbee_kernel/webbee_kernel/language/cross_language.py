"""What words of two languages sound like.

A sound is the consonants in one script, rough enough that "Гамбург" and "Hamburg", "Крит" and
"Crete", "инцидент" and "incident" sound alike, and no more than that is meant by it."""

from __future__ import annotations

import re
from functools import lru_cache

from .stems import fold

_CYRILLIC = str.maketrans(
    dict(zip("бвгджзклмнпрстфхцчшщ", "bvgdssklmnprstfgssss", strict=True))
    | dict.fromkeys("аеёийоуъыьэюяіїєґ", "")
)
_ALIKE = "sch>s sh>s ch>s zh>s kh>g ts>s tz>s ph>f th>t ck>k qu>kv x>ks ce>se ci>si cy>si"
_TOGETHER = tuple(pair.split(">") for pair in _ALIKE.split())
_LATIN = str.maketrans("cwzjhq", "kvssgk", "aeiouyäöüáéíóúàèâêîôû")
_SILENT = re.compile("h(?![aeiouy])")
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

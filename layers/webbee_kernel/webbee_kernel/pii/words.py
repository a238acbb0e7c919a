"""What words are made of and what they tell: the shapes and look-ups the name detector is built
from.

The predicates take case-folded words unless they say otherwise.
"""

import re
from functools import lru_cache

from webbee_kernel.pii.wordlists import GIVEN_CYRILLIC, GIVEN_LATIN, SURNAMES_LATIN, declined

# Pieces of patterns: a capital of Latin or Cyrillic, a capitalised word (O'Brien, Jean-Luc), up to
# four of these with initials.
UP = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĖĘĚĞĢĪĮİĶĹĽŁŃŅŇŌŐŒŘŚŞŠȘŢŤȚŪŮŰŲŹŻŽА-ЯЁІЇЄҐ"
SPACE = r"[ \u00a0]"
_LETTERS = r"[^\W\d_]{1,40}"  # bounded, as everything here: no text may cost more than its length
WORD = rf"[{UP}](?:{_LETTERS}(?:['’-]{_LETTERS}){{0,3}}|['’][{UP}]{_LETTERS})"
PARTICLE = r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|bin|ibn|al|el|ten|ter)"
SHORT_RUN = (
    rf"(?:[{UP}]\.{SPACE}?){{0,2}}{WORD}(?:{SPACE}(?:{PARTICLE}{SPACE})?(?:{WORD}|[{UP}]\.)){{0,3}}"
)

TOKEN = re.compile(r"\S+")
# Words before a name, and the name.
TITLE = re.compile(
    r"(?<![^\W_])(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Herr|Frau|Mme|Monsieur|Señora?|Dear|Уважаем(?:ый|ая)|Дорог(?:ой|ая)"
    r"|[Гг]осподин[уа]?|[Гг]оспож[аеуи]|[Гг]-(?:ну|на|н|жа|жи|же|жу|ном|жой)|[Дд]-р[уа]?|[Дд]октор[уа]?|[Пп]рофессор[уа]?|[Пп]роф"
    rf"|[Тт]оварищу?|ИП)\.?{SPACE}){{1,3}}({SHORT_RUN})"
)

_CYRILLIC = re.compile(r"[а-яёіїєґ]")
_FAMILY = re.compile(
    r".{2,}(?:[оеё]в(?:а|у|ым|е|ой)?|[иы]н(?:а|у|ым|е|ой)?|[цс]к(?:ий|ого|ому|им|ом|ая|ой|ую)|енко|чук(?:а|у|ом|е)?|[юя]к(?:а|у|ом|е)?"
    r"|[ая]ян(?:а|у|ом|е)?|дзе|швили|[иы]х|(?:ov|ev|in)a?|sk(?:y|iy|i|aya)|enko|chuk)\Z"
)
_PATRONYMIC = re.compile(
    r"[а-яё]{2,}(?:[оеё]вич(?:а|у|ем|е)?|[оеё]вн(?:а|ы|е|у|ой)|ичн(?:а|ы|е|у|ой)|(?:иль|ом|ик|ук)ич(?:а|у|ом|ем|е)?)\Z"
)
_PARTICLE = re.compile(PARTICLE)
_CAMEL = re.compile(rf"(?!Mc|Mac|De|La|Le|Fitz)[{UP}]+[^\W\d_{UP}]+[{UP}]")
_PLAIN = re.compile(rf"[{UP}][^\W\d_]*(?:['’-][^\W\d_]+)*|[{UP}]\.")


def bare(word: str) -> str:
    """A word as the look-ups want it: case-folded, without a possessive ending or a full stop."""
    return without_possessive(word).casefold().rstrip(".")


def without_possessive(word: str) -> str:
    """`Lee` for `Lee's`."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


def is_given(word: str) -> bool:
    """Whether the word is a common given name, in any case form; a double one (`анна-мария`) is
    judged by its first half."""
    word = word.partition("-")[0]
    return word in GIVEN_LATIN or (_CYRILLIC.match(word) is not None and word in _given_cyrillic())


def is_patronymic(word: str) -> bool:
    """Whether the word is a Russian patronymic by its ending, in any case form: `сергеевной`,
    `ильич`."""
    return _PATRONYMIC.match(word) is not None


def is_family(word: str) -> bool:
    """Whether the word looks like a surname: a common English one, or a Slavic or Caucasian ending.
    Alone it proves nothing."""
    return word in SURNAMES_LATIN or _FAMILY.match(word) is not None


def is_particle(word: str) -> bool:
    """Whether the word is one that stands inside surnames: `van`, `de`, `bin`."""
    return _PARTICLE.fullmatch(word) is not None


def is_acronym(word: str) -> bool:
    """Whether the word, as written, is a short one in capitals: `QA`, `IBM`."""
    return len(word) < 5 and word.isupper() and not word.endswith(".")


def is_capitalised(word: str) -> bool:
    """Whether the word, as written, is spelt as in a name: a capital first, none inside (`GitHub`),
    or a script without capitals."""
    return (
        _PLAIN.fullmatch(word) is not None and not _CAMEL.match(word)
    ) or word.lower() == word.upper()


@lru_cache(maxsize=1)
def _given_cyrillic() -> frozenset[str]:
    return declined(GIVEN_CYRILLIC)

"""What words are made of and what they tell: the shapes and look-ups the name detector is built
from. The words themselves stand in the files of `language/`.

The predicates take folded words unless they say otherwise.
"""

import re
from functools import lru_cache

from webbee_kernel.language import fold, of, people, people_phrases, tags

# Pieces of patterns: a capital of Latin or Cyrillic, a capitalised word (O'Brien, Jean-Luc), up to
# four of these with initials.
_CAPITALS = "".join(c for c in map(chr, range(0x100, 0x180)) if c.isupper())
UP = f"A-Z\u00c0-\u00d6\u00d8-\u00de{_CAPITALS}\u0218\u021a\u0400-\u042f\u0490"
SPACE = r"[ \u00a0]"
_LETTERS = r"[^\W\d_]{1,40}"  # bounded, as everything here: no text may cost more than its length
WORD = rf"[{UP}](?:{_LETTERS}(?:['\u2019-]{_LETTERS}){{0,3}}|['\u2019][{UP}]{_LETTERS})"

TOKEN = re.compile(r"\S+")
_CAMEL = re.compile(rf"(?!Mc|Mac|De|La|Le|Fitz)[{UP}]+[^\W\d_{UP}]+[{UP}]")
_PLAIN = re.compile(rf"[{UP}][^\W\d_]*(?:['\u2019-][^\W\d_]+)*|[{UP}]\.")


def either(words: tuple[str, ...] | frozenset[str]) -> str:
    """A pattern for one of these words or phrases; a space in one matches any few."""
    longest = sorted(words, key=lambda w: (-len(w), w))
    return "(?:" + "|".join(re.escape(w).replace(r"\ ", SPACE) for w in longest) + ")"


@lru_cache(maxsize=1)
def particle() -> str:
    """A pattern for one of the words inside surnames."""
    return either(people("particles"))


@lru_cache(maxsize=1)
def short_run() -> str:
    """A pattern for up to four capitalised words, with initials and particles."""
    follows = rf"{SPACE}(?:{particle()}{SPACE})?(?:{WORD}|[{UP}]\.)"
    return rf"(?:[{UP}]\.{SPACE}?){{0,2}}{WORD}(?:{follows}){{0,3}}"


@lru_cache(maxsize=1)
def titled() -> re.Pattern[str]:
    """Words before a name, and the name as the first group."""
    title = rf"{either(people_phrases('honorifics'))}\.?{SPACE}"
    return re.compile(rf"(?<![^\W_])(?:{title}){{1,3}}({short_run()})")


def bare(word: str) -> str:
    """A word as the look-ups want it: folded, without a possessive ending or a full stop."""
    return fold(without_possessive(word)).rstrip(".")


def without_possessive(word: str) -> str:
    """`Lee` for `Lee's`."""
    return word[:-2] if word.endswith(("'s", "\u2019s")) else word


def is_given(word: str) -> bool:
    """Whether the word is a common given name, in any case form; a double one (`anna-maria`) is
    judged by its first half."""
    return word in people("given") or word.partition("-")[0] in people("given")


def is_patronymic(word: str) -> bool:
    """Whether the word is a patronymic by its ending, in any case form."""
    return not word.isascii() and _ending("patronymic_endings").match(word) is not None


def is_family(word: str) -> bool:
    """Whether the word looks like a surname: a common one, or an ending of surnames. Alone it
    proves nothing."""
    return word in people("surnames") or _ending("family_endings").match(word) is not None


def is_particle(word: str) -> bool:
    """Whether the word is one that stands inside surnames: `van`, `de`, `bin`."""
    return word in people("particles")


@lru_cache(maxsize=1)
def not_names() -> frozenset[str]:
    """Words that occur in no person's name, those of currencies included; what stands inside
    surnames is not among them."""
    money = {fold(w) for t in tags() for forms in of(t).currencies.values() for w in forms.split()}
    return (people("not_names") | (money - people("surnames"))) - people("particles")


def is_acronym(word: str) -> bool:
    """Whether the word, as written, is a short one in capitals: `QA`, `IBM`."""
    return len(word) < 5 and word.isupper() and not word.endswith(".")


def is_capitalised(word: str) -> bool:
    """Whether the word, as written, is spelt as in a name: a capital first, none inside (`GitHub`),
    or a script without capitals."""
    return (
        _PLAIN.fullmatch(word) is not None and not _CAMEL.match(word)
    ) or word.lower() == word.upper()


@lru_cache(maxsize=4)
def _ending(field: str) -> re.Pattern[str]:
    given = [endings for t in tags() if (endings := getattr(of(t).people, field))]
    return re.compile(rf"[^\W\d_]{{2,40}}(?:{'|'.join(given)})\Z" if given else r"(?!)")

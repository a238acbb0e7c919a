"""Words, and the stems that make their forms equal, in English and Russian (other languages:
prefixes)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_RU_ENDING = re.compile(
    r"(?:[иы]ми|[аяи]ми|[иы]х|[ао]го|его|[ое]му|[аяо]м|[ое]в|ей|ой|ах|ях|ем|ую|юю|ая|яя|ое|ее|ые|ие|ий|ый|ишь|ешь|ить|ать|ять|еть|[аеиоуыьэюя]|й)$"
)
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_PREFIX = 6

FILLERS = frozenset(
    "a an the to for of in on at my me i we us you your please is are am be do does did have has"
    " had can could would will shall should and or with from by as some any there let want need so"
    " just now then too also it its s t re ve ll m d up out off и а но в во на по с со к ко у о об"
    " обо про для из от до за мне меня мы нам я ты вы тебя мой моя мое мои мою моих моей моим твой"
    " пожалуйста есть ли бы же ну вот нужно надо хочу можно можешь там так еще".split()
)
"""Words that say nothing about which function is meant."""

QUESTION_WORDS = frozenset(
    "what which who whom whose where when why how many much что какой какая какие какое каких кто"
    " где когда почему зачем как сколько".split()
)
"""Words that say little."""

CONNECTIVES = frozenset(
    "a an the to for of me my us our please that about called named titled saying says with text"
    " new on in into onto as s мне нам мой мою мои моих моем что чтобы про о об обо в во на к с со"
    " из от для пожалуйста новую новое новый новая текстом по под названием надо нужно back down"
    " away off".split()
)
"""Words between a command and its content."""

REFERENCES = frozenset(
    "it its that this those these him her them they he she one ones same previous above address"
    " person sender recipient just recently which тот та то ту того тому той тем те этот эта это"
    " эту этого этому этой этим эти его ее ей ему им их нему ней нее него них туда там же самый"
    " самую самое адрес адресу адреса отправителю только что предыдущую предыдущее которую который"
    " которое".split()
)
"""Words that point back at something the last turns brought."""

RECENCY = frozenset(
    "i we you created added wrote made saved sent found got received recently just я мы ты создал"
    " создала добавил добавила записал записала написал написала сделал сделала сохранил сохранила".split()
)
"""Words of "the one I just created"."""

ORDINALS = {
    **dict.fromkeys("first 1st первый первая первое первую первого первому первой".split(), 0),
    **dict.fromkeys("newest latest новейший новейшее свежее".split(), 0),
    **dict.fromkeys("second 2nd второй вторая второе вторую второго второму".split(), 1),
    **dict.fromkeys("third 3rd третий третья третье третью третьего третьему третьей".split(), 2),
    **dict.fromkeys(
        "fourth 4th четвертый четвертая четвертое четвертую четвертого четвертому".split(), 3
    ),
    **dict.fromkeys("fifth 5th пятый пятая пятое пятую пятого пятому".split(), 4),
    **dict.fromkeys(
        "last последний последняя последнее последнюю последнего последнему последней".split(), -1
    ),
}
"""Position in a list."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text, where it stands, folded (no letter case, no ё, no hyphens) and stemmed."""

    start: int
    end: int
    word: str
    stem: str


def tokens(text: str) -> list[Token]:
    """The words of the text in order."""
    return [
        Token(m.start(), m.end(), word, stem(word))
        for m in _WORD.finditer(text)
        for word in [fold(m.group())]
    ]


def fold(word: str) -> str:
    """Without letter case, ё and hyphens."""
    return word.casefold().replace("ё", "е").replace("-", "")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A folded word without its usual ending, at most six characters: `задачами` and `задачу` →
    `задач`, `notes` → `note`."""
    if is_russian(word):
        for _ in range(2 if len(word) > 7 else 1):
            if len(word) > 4:
                word = _RU_ENDING.sub("", word)
        return word[:_PREFIX]
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            word = word[: -len(ending)]
            word = (
                word[:-1]
                if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse"
                else word
            )
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def is_russian(text: str) -> bool:
    """Whether Cyrillic letters stand in it."""
    return _CYRILLIC.search(text) is not None


@lru_cache(maxsize=8192)
def trigrams(word: str) -> frozenset[str]:
    """Character trigrams of the word with a mark at its start and end."""
    marked = f"^{word}$"
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))

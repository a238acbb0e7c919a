"""What a JSON key says about its value: a person's name, a phone number, neither.

A key is given as the last two keys of its path, `customer.name`; a bare key is one segment. The
words are split at case changes and punctuation, so `fromName`, `from_name` and `FROM-NAME` are one
key. They are looked up in the words of all languages, with or without their accents: `nombre`,
`prenom`, `Absender`; words written as one (`kundenname`) are taken apart.
"""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from webbee_kernel.language import key_fold, people_keys

# parents the masker puts in place of a parent that says nothing, judged by the keys beside `name`
PERSON = "person"
THING = "thing"


class NameKey(IntEnum):
    """How sure a key is that its value names a person; each step allows more values."""

    NO = 0  # says nothing: only cues inside the text count
    NEVER = 1  # says what else the value is: `file_name`, `product.name`
    MAYBE = 2  # `name`, `from`, `display_name`: people and things alike
    ROLE = 3  # `sender`, `assignee`, `customer_name`: a person, a company or a mailbox
    SURE = 4  # `first_name`, `surname`: nothing else


_SPLIT = re.compile(r"[^\W_]+")
_PLACEHOLDER = re.compile(r"<[A-Z]+_[0-9]+>")  # a masked key is not a phone-like one


@lru_cache(maxsize=2048)
def name_key(key: str) -> NameKey:
    """What `key` (`parent.key` or `key`) says of its value as a name; unknown keys say `NO`."""
    parent, _, last = key.rpartition(".")
    words = words_of(last)
    if not words:
        return NameKey.NO
    if _is_sure(words):
        return NameKey.SURE
    if words[-1] in people_keys("name_words"):
        return _qualified(words[:-1], words_of(parent))
    if words[-1] in people_keys("role_genitives"):
        return NameKey.ROLE if words[0] in people_keys("roles") else NameKey.NO
    return _by_role(words)


def _is_sure(words: tuple[str, ...]) -> bool:
    """`surname`, `first_name`, `nombre_completo`."""
    if not people_keys("sure_keys").isdisjoint(words):
        return True
    is_name = len(words) > 1 and not people_keys("name_words").isdisjoint((words[0], words[-1]))
    return is_name and not people_keys("part_words").isdisjoint(words)


def _by_role(words: tuple[str, ...]) -> NameKey:
    never = people_keys("never_keys")
    if not (never - people_keys("roles")).isdisjoint(words):
        return NameKey.NEVER if words[-1] in never else NameKey.NO
    if ends_in(words, "roles") or _is_done_by(words):
        return NameKey.ROLE
    alone = len(words) == 1 and words[0] in people_keys("address_keys")
    return NameKey.MAYBE if alone or words == ("reply", "to") else NameKey.NO


@lru_cache(maxsize=2048)
def is_phone_key(key: str) -> bool:
    """Whether `key` says that its value is a phone number: `phone`, `mobile_number`, `telefono`;
    not `phone_model`, `phone_id`."""
    words, phones = subject_of(key, "phone_tails"), people_keys("phone_keys")
    if len(words) > 1 and words[-1] in people_keys("role_genitives"):
        return words[0] in phones
    return bool(words) and words[-1] in phones


def subject_of(key: str, tails: str) -> tuple[str, ...]:
    """The words of a key's last step, without numbers and the `tails` that only end a key."""
    words = [w for w in words_of(key.rpartition(".")[2]) if not w.isdigit()]
    while len(words) > 1 and ends_in(words, tails):
        words.pop()
    return tuple(words)


def ends_in(words: Sequence[str], *lists: str) -> bool:
    """Whether the last word, or its singular, is in one of these lists."""
    last = (words[-1], singular(words[-1]))
    return any(not people_keys(name).isdisjoint(last) for name in lists)


@lru_cache(maxsize=2048)
def is_ambiguous_name(key: str) -> bool:
    """Whether `key` alone cannot tell a person's name from a thing's, so that the keys beside it
    have to."""
    return name_key(key) is NameKey.MAYBE and words_of(key)[-1] in people_keys("name_words")


def object_kind(keys: Iterable[object]) -> str:
    """`person`, `thing` or nothing: what the keys of one object say about the `name` among them."""
    words = {w for key in keys if isinstance(key, str) for w in words_of(key)}
    if words & people_keys("person_beside"):
        return PERSON
    return THING if words & people_keys("thing_beside") else ""


def singular(word: str) -> str:
    """The word less its plural ending, as far as the key lists need: `customers`, `people`,
    `companies`."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _qualified(qualifiers: tuple[str, ...], parent: tuple[str, ...]) -> NameKey:
    """What a `name` is that of, by the words before it, else by what it stands under."""
    if qualifiers:
        if ends_in(qualifiers, "address_keys", "roles") or _is_done_by(qualifiers):
            return NameKey.ROLE
        return NameKey.MAYBE if ends_in(qualifiers, "display_words") else NameKey.NEVER
    if not parent:
        return NameKey.MAYBE
    if ends_in(parent, "roles", "address_keys", "self_keys") or _is_done_by(parent):
        return NameKey.ROLE
    return NameKey.NEVER if ends_in(parent, "never_keys") else NameKey.MAYBE


def _is_done_by(words: tuple[str, ...]) -> bool:
    done, by = people_keys("done_words"), people_keys("by_words")
    return len(words) > 1 and words[-1] in by and words[-2] in done


@lru_cache(maxsize=2048)
def words_of(key: str) -> tuple[str, ...]:
    """The words of one segment of a key, folded: `fromName` is `from`, `name`."""
    found: list[str] = []
    for run in _SPLIT.findall(_PLACEHOLDER.sub(" ", key)):
        capitals = [i for i in range(1, len(run)) if run[i].isupper() and run[i - 1].islower()]
        for start, end in pairwise([0, *capitals, len(run)]):
            found += _split_compound(key_fold(run[start:end]))
    return tuple(found)


_JOINTS = ("", "n", "s", "en", "es")  # between the parts of a German compound


@lru_cache(maxsize=2048)
def _split_compound(word: str) -> tuple[str, ...]:
    """`kundenname` as `kunde`, `name`; a word that the lists know, or know no part of, is whole."""
    never = people_keys("never_keys")
    if len(word) < 8 or not word.endswith("name") or word in people_keys("sure_keys") | never:
        return (word,)
    fronts = (word[:-4].removesuffix(joint) for joint in _JOINTS)
    front = next((f for f in fronts if f in never or f in people_keys("roles")), "")
    return (front, "name") if front else (word,)

"""Names of fields and arguments: that a value is an id, and of what, or a secret, which is shown to
nobody. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from functools import lru_cache

_ID_NAME = re.compile(r"(?:^|_)(?:id|ids|uid|uuid|guid)_?$|[a-z](?:Id|ID|Ids|IDs)$")
_WORDS = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words of an identifier: `userEmail`, `user_email` → user, email."""
    return [w.lower() for w in _WORDS.findall(name)]


NUMBERED = frozenset(
    {"id", "number", "no", "nr", "num", "code", "key", "ref", "reference", "index"}
)
"""Words behind which the number of a record stands."""


def names_an_id(name: str) -> bool:
    """Whether an argument or field of this name holds an id: `id`, `order_id`, `messageIds`."""
    return bool(_ID_NAME.search(name))


FILES = frozenset("attachment attachments file files document documents".split())
"""Names of what goes along with a text."""

_SECRETS = frozenset(
    "password passwords passwd pwd pw passphrase passcode secret secrets token pin otp cvv cvc csc"
    " credential credentials authorization cookie apikey".split()
)
_SECRET_PAIRS = frozenset(
    {
        *((kind, "key") for kind in ("api", "access", "private", "secret", "signing")),
        *((kind, what) for kind in ("security", "verification") for what in ("code", "number")),
    }
)


@lru_cache(maxsize=4096)
def names_a_secret(name: str) -> bool:
    """Whether an argument or field of this name holds what is to be shown to nobody: `password`,
    `api_key`, `card_verification_number`."""
    words = words_of(name)
    return not _SECRETS.isdisjoint(words) or any(
        pair in _SECRET_PAIRS for pair in itertools.pairwise(words)
    )


def near(name: str, others: Iterable[str]) -> str:
    """The one of the others that the name may be misspelt from or into; empty where none is."""
    from difflib import get_close_matches  # only here: an error's

    return next(iter(get_close_matches(name, list(others), 1, 0.5)), "")


LISTED = "[]"
"""Ends the name of a field whose value stood in a list: `order_ids[]`."""


@lru_cache(maxsize=4096)
def root_of(name: str) -> tuple[str, ...]:
    """Of what a name is the id, in the singular: `order_ids` → `("order",)`, `id` → `()`."""
    words = words_of(name)
    while words and (words[-1] in NUMBERED or names_an_id(words[-1])):
        words.pop()
    return tuple(_singular(w) for w in words)


@lru_cache(maxsize=4096)
def may_hold(field: str, argument: str) -> bool:
    """Whether a small number that stood under `field` may be what `argument` means.

    For `order_id`: `id`, `user_id`, `number`, `order`, `order_number` and items of `orders` may,
    `unread`, `order_count`, `page_number` and a mere `orders` (how many) may not.
    """
    name = field.removesuffix(LISTED)
    root = root_of(name)
    if names_an_id(name) or not root:
        return True
    plural = _singular(words_of(name)[-1]) != words_of(name)[-1]
    return root == root_of(argument) and (not plural or field.endswith(LISTED))


_CONTAINERS = frozenset(
    "item items result results row rows data entry entries record records list hit hits match"
    " matches content contents object objects found value values response output".split()
)
"""Names that say nothing of the kind of what stands in them."""


def kind_of(name: str, key: str) -> str:
    """The kind of a record, in the singular: by the name of its id, else by what it stands under;
    empty where neither says it."""
    words = root_of(name) or tuple(map(_singular, words_of(key)))
    return words[-1] if words and words[-1] not in _CONTAINERS else ""


def same_kind(one: str, other: str) -> bool:
    """Whether two names may be of one kind: `category`, `categorie`; what is empty may be any."""
    if not one or not other or FILES.issuperset((one, other)):
        return True
    kept = max(len(one), len(other)) - _ENDING
    return kept > 0 and one[:kept] == other[:kept]


_ENDING = 2
"""Letters by which the plural of a name may differ from it."""


def is_counted(name: str) -> bool:
    """Whether a small number under this name says how many or which in a row: its last word stands
    for several, or for a number itself."""
    last = words_of(name)[-1:]
    return any(_singular(word) != word or word in ("people", "number") for word in last)


def numbers_a_record(name: str) -> bool:
    """Whether a number under this name is one record's own: `issue_number`, `order_no`."""
    words = words_of(name)
    return len(words) > 1 and words[-1] in NUMBERED


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word

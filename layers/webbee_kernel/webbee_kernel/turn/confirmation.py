"""Confirmation: recognises a yes, a no or a choice, and the choices that a reply offers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from .. import language
from ..clock import digest
from ..errors import RequestConflict
from ..guards.user_words import QUESTION_MARKS
from ..stores.types import Turn
from ..types import JSON, JSONObject

# letters, spaces, the marks that end or part a clause, and apostrophes inside a word
_PLAIN = re.compile(
    r"(?:[^\W_]|[\s.,;:!…\-\u2013\u2014\u3001\u3002\uff0c\uff01]|(?<=\w)['’](?=\w))*"
)
_MARKUP = re.compile(r"[\\<\[\u200b-\u200f\u202a-\u202e\u2060-\u206f]")
"""Characters of markup that a client may render invisibly."""

MIN_CHOICES, MAX_CHOICES = 2, 9
"""Number of rows for a list to be choices."""
MAX_LABEL: Final = 120
"""Maximum characters of a choice."""
MAX_OTHER_LINES: Final = 2
"""Maximum lines besides the list, including its question."""

# compiled, and kept by `re`, with their first use
_ROW = r"\s*(?:[-*•–]|(\d{1,2})[.)])\s+(\S.*)"
_EMPHASIS = r"\*\*|__|`"
_NUMBER = r"\s*#?(\d{1,2})[.)]?\s*"


class CardAnswer(NamedTuple):
    """What accompanies a yes: edited texts by call index and path, and whether the destinations are
    accepted permanently."""

    edits: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    remember: bool = False

    def request_id(self, confirmation_id: str) -> str:
        """The request id of a yes with this content."""
        return f"{confirmation_id}:{digest(dict(self.edits), self.remember)}"

    def check_same(self, turn: Turn, confirmation_id: str) -> None:
        """Raise RequestConflict if the turn's card was answered with other content."""
        others = any(name.startswith(f"{confirmation_id}:") for name in turn.also)
        if self.request_id(confirmation_id) not in turn.also and (others or self != PLAIN_ANSWER):
            raise RequestConflict(
                "this confirmation was answered already, and not so: what was said with this yes"
                " has no effect",
                field="id",
            )


PLAIN_ANSWER = CardAnswer()
"""A plain yes or no."""


def answer(message: str, *, behind_card: bool = False) -> bool | None:
    """True for a plain yes ("yes, delete it"), False for a plain no, in any language; None for
    anything longer, for questions, quotations and markup. `behind_card`: "undo that" is a no,
    too."""
    if not _PLAIN.fullmatch(message):
        return None
    words = set(_fold_words(message))
    yes, no = language.forms("yes"), language.forms("no")
    beside_yes = yes | language.forms("yes_filler")
    beside_no = beside_yes | language.forms("no_filler")
    if behind_card:
        undo = language.forms("undo", "restore")
        no, beside_no = no | undo, beside_no.union(*(phrase.split("_") for phrase in undo))
        beside_no |= language.forms("function", "particle", "reference", "opener")
    # where both are said, no yes is heard
    if words & no:
        return None if words - no - beside_no else False
    return None if words - beside_yes or not words & yes else True


def is_yes_and_more(message: str) -> bool:
    """Whether a message is a yes with something else behind it, which answers no card."""
    first, *rest = language.clauses(message) or [""]
    return bool(rest) and answer(first) is True and answer(message) is None


def begins_with_no(message: str) -> bool:
    """Whether the first word of a message is a no, in any language."""
    return not language.forms("no").isdisjoint(_fold_words(message)[:1])


def says_undo(message: str) -> bool:
    """Whether a message has words that take something back, in any language."""
    words = set(_fold_words(message))
    return any(words.issuperset(p.split("_")) for p in language.forms("undo", "restore"))


def is_agreement(message: str, reply: str) -> bool:
    """Whether a message is a yes to the reply's question, with no words that the reply lacks: "yes,
    please do the exchange". It does not answer a card, and a reply must end in a question."""
    if not is_asking(reply) or _MARKUP.search(question_of(reply)):
        return False
    if answer(message):
        return True
    said = _fold_words(message)
    if not said or said[0] not in language.forms("yes") or language.forms("no").intersection(said):
        return False
    fillers = language.forms("yes") | language.forms("yes_filler")
    return "?" not in message and not set(said) - fillers - set(_fold_words(reply))


def _fold_words(text: str) -> list[str]:
    return [language.fold(token.text) for token in language.tokens(text)]


def is_asking(text: str) -> bool:
    """Whether a text ends in a question mark."""
    # quotes, emphasis and brackets may close behind the mark
    return text.rstrip(" \n\"'»”*_)").endswith(QUESTION_MARKS)


def question_of(reply: str) -> str:
    """The last sentence of a reply, or all of it if it offers choices."""
    return reply if choices(reply) else re.split(r"(?<=[.!?…])\s+|\n", reply.strip())[-1]


def choices(reply: str, offer: JSON = None) -> list[JSONObject]:
    """The choices of a reply: the sending buttons of its UI tree, else the rows of its list;
    `message` is sent when one is chosen."""
    if offer:
        buttons = list(_buttons(offer))[:MAX_CHOICES]
        # one alone is a choice where the reply numbers it
        is_choice = len(buttons) >= MIN_CHOICES or any(f"1. {p['label']}" in reply for p in buttons)
        return buttons if is_choice else []
    return labelled(_labels(reply))


def labelled(labels: Iterable[str]) -> list[JSONObject]:
    """Choices that say what they are called."""
    return [{"label": label, "message": label} for label in labels]


def _labels(reply: str) -> list[str]:
    """The rows of a reply that consists of a question and a list."""
    lines = list(filter(str.strip, reply.splitlines()))
    rows = [match[2] for line in lines if (match := re.fullmatch(_ROW, line))]
    labels = [re.sub(_EMPHASIS, "", row.strip()) for row in rows]
    others = [line for line in lines if not re.fullmatch(_ROW, line)]
    if len(others) > MAX_OTHER_LINES or not any(map(is_asking, others)):
        return []
    # rows that read alike could not be told apart by what is picked
    is_choice = MIN_CHOICES <= len(labels) == len(set(labels)) <= MAX_CHOICES
    return labels if is_choice and max(map(len, labels)) <= MAX_LABEL else []


def _buttons(node: JSON) -> Iterator[JSONObject]:
    """The buttons of a UI tree that send a message."""
    if isinstance(node, list):
        for item in node:
            yield from _buttons(item)
    elif isinstance(node, Mapping):
        props = node.get("props") or {}
        action = props.get("on_click") or {}
        if node.get("type") == "Button" and action.get("action") == "send":
            yield {"label": str(props.get("label", "")), "message": str(action.get("message", ""))}
        yield from _buttons(props.get("children"))


def pick_choice(message: str, choices: Sequence[Mapping[str, JSON]]) -> str:
    """The choice that a message selects by label, number or place, or by words that only one record
    has; else empty. Numbers do not count if the labels begin with digits."""
    for choice in choices:
        # words before numbers: a label may be a number itself
        if message.strip().casefold() == str(choice["label"]).casefold():
            return str(choice["message"])
    number = re.fullmatch(_NUMBER, message)
    if number and any(str(choice["label"])[:1].isdigit() for choice in choices):
        return ""
    place = int(number[1]) if number else _place(message, choices)
    place += len(choices) + 1 if place < 0 else 0
    return str(choices[place - 1]["message"]) if 1 <= place <= len(choices) else ""


def _place(message: str, choices: Sequence[Mapping[str, JSON]]) -> int:
    """The place that a message tells ("the second one"), else that of the only record whose label
    has all its words; 0 for neither."""
    for tag in sorted(language.likely_languages(message)):
        words = language.of(tag).words
        small = words.function | words.reference | words.article | words.particle | words.opener
        small -= words.negation | words.prohibition | words.ordinals.keys()
        said = _stems(message, tag) - small
        if len(said) == 1 and (place := words.ordinals.get(min(said))):
            return int(place)
        fits = [n for n, c in enumerate(choices, 1) if said <= _stems(str(c["label"]), tag)]
        # what is said as it is labelled names no record
        is_record = all(c["label"] != c["message"] for c in choices)
        if said and is_record and len(fits) == 1:
            return fits[0]
    return 0


def _stems(text: str, tag: str) -> set[str]:
    return {language.stem(token.text, tag) for token in language.tokens(text)}


def same_choices(
    turn: Turn | None, message: str, text: str, offer: JSON = None
) -> list[JSONObject]:
    """A turn's choices, if a plain yes is answered with the same choices again, or with nothing."""
    before = [*turn.response.get("choices", ())] if turn else []
    labels = [str(c["label"]) for c in before]
    is_same = labels == [str(c["label"]) for c in choices(text, offer)]
    return before if labels and (is_same or not text) and answer(message) else []

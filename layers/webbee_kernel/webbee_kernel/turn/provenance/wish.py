"""Wish: what the user's message asks to be done, and whether a function does that. Pure.

A message asks for a function when it names what the function does (its verb, or another verb of the
same concept) and what the function does it to (a word of its name, description or examples, or a
value that the call directs itself by). What is forbidden ("don't send …") or only asked about
("when did I send …?") is not asked for. A follow-up ("go on", "the second one", a value that the
agent asked for) takes up the message before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ... import language
from ...catalogue import FunctionInfo
from ...language.words import Words
from .directing import words_of

_SENTENCE = re.compile(r"(?<=[.!?;…])\s+|\n+")
_HYPHENS = re.compile(r"[-_.'’]")
_VALUE = re.compile(r"\S+@\S+\.\w|https?://|www\.|[\"«“„]")
_NEAR = 2
"""Words between a negation and the verb it forbids: "don't ever send", but not "do not forget to
send"."""
_EXAMPLE_SHARE = 0.5
"""Part of an example's words that a message must share to ask for its function by that alone."""

_ALIKE = (
    {"send", "save", "create"},
    {"create", "update", "save", "schedule", "move"},
    {"delete", "close"},
    {"update", "close", "move"},
    {"send", "pay", "move"},
    {"schedule", "pay"},
)
"""Concepts that one wish may mean: "post it" is sending and saving, "book" is paying too."""


@dataclass(frozen=True, slots=True)
class Said:
    """An earlier message of the user's and the reply it got."""

    message: str
    reply: str = ""


@dataclass(frozen=True)
class Wish:
    """The messages that say what the user wants now, the newest first."""

    texts: tuple[str, ...]
    tag: str = "en"
    _commands: dict[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all its words, hyphened ones also part by part."""
        return frozenset(s for text in self.texts for s in stems(text, self.tag))

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The stems that stand neither in a question nor behind a "don't"."""
        return frozenset(s for text in self.texts for s in _unforbidden(text, self.tag))

    @cached_property
    def concepts(self) -> frozenset[str]:
        """What its verbs would do: `send`, `delete`, `create` …"""
        return frozenset(c for s in self.wanted if (c := _concept(s, self.tag)))

    @property
    def points_back(self) -> bool:
        """Whether it has a word such as "same", "that", "it", "the first"."""
        words = language.of(self.tag).words
        return bool(self.stems & (words.reference | words.ordinals.keys() | words.recency))

    @cached_property
    def names_a_role(self) -> bool:
        """Whether it speaks of somebody by his part: "the sender", "the customer"."""
        words = (language.fold(t.text) for text in self.texts for t in language.tokens(text))
        return not language.name_keys().isdisjoint(words)

    def asks_for(self, function: FunctionInfo, *, own_values: bool) -> bool:
        """Whether it asks for what the function does. `own_values`: the call directs itself by a
        value that stands in these very messages."""
        if self._like_an_example(function) or self._by_name(function):
            return True
        verbs, nouns = _verbs_and_nouns(function)
        concepts = {_concept(v, "en") for v in verbs} - {""}
        if not concepts and not verbs & self.wanted:  # a verb that no list knows: what it is about
            return bool((nouns | self._own_words(function)) & self.wanted)
        if not (verbs & self.wanted or _alike(concepts, self.concepts)):
            return False
        return own_values or not nouns or self._names(function, nouns)

    def _names(self, function: FunctionInfo, nouns: frozenset[str]) -> bool:
        """Whether it names what the function acts on, as far as that can be told."""
        if nouns & self.stems or self._own_words(function) & self.stems:
            return True
        return not self._described(function)

    def _like_an_example(self, function: FunctionInfo) -> bool:
        for example in function.examples:
            words = _content(example, self.tag)
            shared = len(words & self.wanted)
            if shared >= 2 and shared >= _EXAMPLE_SHARE * len(words):
                return True
        return False

    def _by_name(self, function: FunctionInfo) -> bool:
        """Whether every word of the function's name stands in a sentence that asks for something,
        verb and nouns in whatever part of speech: "a quick contact with customer support"."""
        name = {language.stem(w, "en") for w in words_of(function.fn_name)}
        return len(name) > 1 and name <= self._in_commands

    @cached_property
    def _in_commands(self) -> frozenset[str]:
        found = (_unforbidden(text, self.tag, nouns=True) for text in self.texts)
        return frozenset(s for stems_ in found for s in stems_)

    def _own_words(self, function: FunctionInfo) -> frozenset[str]:
        """The content words of the function's app, description and examples."""
        texts = [" ".join(words_of(function.app_id)), function.description, *function.examples]
        return frozenset(s for text in texts for s in _content(text, self.tag))

    def _described(self, function: FunctionInfo) -> bool:
        """Whether the author describes the function in the language of the message: otherwise what
        the verb acts on cannot be compared."""
        texts = [function.description, *function.examples]
        return any(language.detect(text, "en") == self.tag for text in texts if text)


def wish_of(message: str, before: Sequence[Said], tag: str) -> Wish:
    """What the user wants with this message; `before` are the earlier ones, the newest first."""
    texts = [message]
    for said in before:
        if not _takes_up(texts[-1], said.reply, tag):
            break
        texts.append(said.message)
    return Wish(tuple(texts), tag)


def _takes_up(message: str, reply: str, tag: str) -> bool:
    """Whether a message goes on with what was said before it."""
    words = language.of(tag).words
    have = set(stems(message, tag))
    commands = any(_concept(s, tag) for s in _unforbidden(message, tag))
    if have & words.resume and len(have - words.function - words.yes_filler) <= _GOING_ON:
        return True
    if commands:
        return bool(have & words.reference)
    if have & (words.thanks | words.greeting | words.no | words.prohibition) or "?" in message:
        return False
    back = have & (words.reference | words.ordinals.keys() | words.yes)
    return bool(back or _VALUE.search(message) or reply.rstrip().endswith("?"))


_GOING_ON = 4
"""Words that may stand in a plain "please go on with my request"."""


def stems(text: str, tag: str) -> Iterator[str]:
    """The stems of the words of a text, hyphened and dotted ones also part by part."""
    for token in language.tokens(text):
        yield language.stem(token.text, tag)
        parts = [p for p in _HYPHENS.split(token.text) if p]
        if len(parts) > 1:
            yield from (language.stem(p, tag) for p in parts)


def _content(text: str, tag: str) -> frozenset[str]:
    words = language.of(tag).words
    return frozenset(s for s in stems(text, tag) if len(s) > 1) - words.function - words.reference


def _unforbidden(text: str, tag: str, *, nouns: bool = False) -> Iterator[str]:
    """The stems of the sentences that ask for something, less the verbs behind a negation and,
    unless they are wanted, words that stand there as nouns ("my email")."""
    words = language.of(tag).words
    for sentence in _SENTENCE.split(text):
        line = [language.stem(t.text, tag) for t in language.tokens(sentence)]
        if line and line[0] in words.question and sentence.rstrip().endswith("?"):
            continue
        yield from _asked_for(line, words, nouns)


def _asked_for(line: Sequence[str], words: Words, nouns: bool) -> Iterator[str]:
    no = words.prohibition | words.negation
    for at, word in enumerate(line):
        noun = at > 0 and word in words.named_alike and line[at - 1] not in words.leads
        if (nouns or not noun) and not no.intersection(line[max(0, at - _NEAR) : at]):
            yield word


def _concept(stem: str, tag: str) -> str:
    """What a verb does, in the language of the message or in English."""
    own = language.of(tag).words.effects.get(stem, "")
    return own or language.of("en").words.effects.get(stem, "")


def _alike(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    first, second = set(ours), set(theirs)
    return bool(first & second) or any(group & first and group & second for group in _ALIKE)


def _verbs_and_nouns(function: FunctionInfo) -> tuple[frozenset[str], frozenset[str]]:
    """What a function does and to what, from its name; where the name has no verb, from the first
    words of its description."""
    name = [language.stem(w, "en") for w in words_of(function.fn_name)]
    described = list(stems(function.description, "en"))[:_FIRST_WORDS]
    verbs = {s for s in name if _concept(s, "en")} or set(name[:1])
    verbs |= set(next(([s] for s in described if _concept(s, "en")), []))
    common = language.of("en").words.function
    return frozenset(verbs), frozenset(set(name) - verbs - common)


_FIRST_WORDS = 4
"""Words of a description among which its verb stands: "Sends an email with …"."""

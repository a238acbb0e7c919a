"""The words of a language by role. Files write them as plain strings; they are stemmed when a role
is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .stems import fold, stems_of

Listed = str | list[str]
"""Words separated by spaces; of a long list its lines."""


def joined(given: Any) -> Any:
    """A list's lines as one string, also of each list of a mapping; other values as they are."""
    if isinstance(given, dict):
        return {key: joined(value) for key, value in given.items()}
    return " ".join(given) if isinstance(given, list) else given


class Role:
    """One list of words of a language, as the stems of its words: made when it is first asked for,
    a plain attribute from then on."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, words: Words, owner: type) -> frozenset[str]:
        made = words.__dict__[self.name] = words.stems(self.name)
        return made


class Mapped:
    """Lists of words of a language under a concept each, as a map from stem to concept."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, words: Words, owner: type) -> Mapping[str, str]:
        made = words.__dict__[self.name] = words.concepts(self.name)
        return made


class Words:
    """The words of a language by role, as stems: `"task" in …` is asked with `language.stem(word)`.

    A file gives each role as words separated by spaces, in any form; the mapped roles (`effects`,
    `units`, …) as a mapping from concept to such words. A new role is one line here and one in each
    file that has words for it.
    """

    common = Role()  # words that only tell the language of a text
    begin = Role()  # leads to a command, "_" for a space: please, could_you
    end = Role()  # follows one: please, for_me
    ask = Role()  # leads to a question or a look: what_is, show_me
    address = Role()  # what stands beside "the same": address, e-mail
    negation = Role()  # not, never, no: the sentence denies
    question = Role()  # what, which, how: the sentence asks
    prohibition = Role()  # don't, must not, stop: the user forbids
    greeting = Role()
    thanks = Role()
    yes = Role()
    yes_filler = Role()  # may stand beside a yes: please, it
    no = Role()
    no_filler = Role()  # may stand beside a no: now, wait
    reference = Role()  # points back: same, that, it
    recency = Role()  # "the one I just created"
    function = Role()  # says nothing about the matter: a, the, to, my, please
    plan = Role()  # will, if, when: what has not happened
    about = Role()  # about, roughly: the figure is rounded
    more = Role()  # over, more, at least
    less = Role()  # under, fewer, at most
    and_ = Role()
    opener = Role()  # may stand before a command: please, ok, now
    ability = Role()  # can you, are you able
    sequence = Role()  # then, after that: between two commands
    plural_reference = Role()  # points back at several: them, these, all
    article = Role()  # stands before a name and belongs to none: the
    help = Role()  # asks what there is to do
    toward = Role()  # points back at a person or a place: her, there
    things = Mapped()  # what apps hold and say of it: account, message, address, count
    asks = Mapped()  # what a question word asks for: who, when, where, count
    label = Role()  # field, column: what is quoted behind it is one's name
    limits = Role()  # before, until, than, except: what follows is a limit or left out
    possession = Role()  # you have, your: the sentence speaks of the user's own things
    drafting = Role()  # write, translate, suggest: the user asks for a text
    effects = Mapped()  # send, delete, create …: what a verb does
    ordinals = Mapped()  # concept is the position as a string, "-1" the last
    units = Mapped()  # second, minute, hour, day, week, month, year, byte, kilobyte …
    alike = Mapped()  # words of commands that may stand for each other: delete, remove, erase
    objects = Mapped()  # what collections hold: message, file, booking
    states = Mapped()  # concept is "group:state"; two states of a group exclude each other

    def __init__(self, tag: str, roles: Mapping[str, Listed | Mapping[str, Listed]]) -> None:
        self._tag = tag
        self._roles = {role: joined(given) for role, given in roles.items()}

    @classmethod
    def roles(cls) -> Mapping[str, type]:
        """The roles that there are: `Role`, or `Mapped`."""
        return {n: type(r) for n, r in vars(cls).items() if isinstance(r, Role | Mapped)}

    def forms(self, role: str) -> frozenset[str]:
        """The words of a role as the file has them, for where the exact form matters."""
        return _forms(" ".join(self._lists(role).values()))

    def stems(self, role: str) -> frozenset[str]:
        """The stems of a role's words; empty where the file gives none."""
        return frozenset(stems_of(" ".join(self._lists(role).values()), self._tag))

    def concepts(self, role: str) -> Mapping[str, str]:
        """Stem → concept of a mapped role."""
        return {
            word: concept
            for concept, words in self._lists(role).items()
            for word in stems_of(words, self._tag)
        }

    def meanings(self, role: str) -> Mapping[str, frozenset[str]]:
        """Word → concepts of a mapped role, by the words as the file has them, folded: for where
        the exact form matters, and a word may have several."""
        found: dict[str, set[str]] = {}
        for concept, words in self._lists(role).items():
            for word in words.split():
                found.setdefault(fold(word), set()).add(concept)
        return {w: frozenset(c) for w, c in found.items()}

    def vocabulary(self) -> frozenset[str]:
        """Every word of every role as written in the file: what tells the language of a text."""
        return frozenset().union(*(self.forms(role) for role in self._roles))

    def _lists(self, role: str) -> Mapping[str, str]:
        """The lists of a role by concept; one that has no concepts is one list."""
        lists = self._roles.get(role, "")
        return {"": lists} if isinstance(lists, str) else lists


@lru_cache(maxsize=512)
def _forms(words: str) -> frozenset[str]:
    return frozenset(words.split())

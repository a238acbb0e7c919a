"""The words of a language by role. Files write them as plain strings; they are stemmed when a role
is first asked for."""

from __future__ import annotations

from collections.abc import Mapping

from .stems import fold, stems_of


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
    file that has words for it; a file that names an unknown role does not load.
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
    resume = Role()  # go on, continue: the earlier wish still stands
    undo = Role()  # revert, take back: what was done is regretted
    reference = Role()  # points back: same, that, it
    went = Role()  # worked, out, through: a deed came off
    recency = Role()  # "the one I just created"
    function = Role()  # says nothing about the matter: a, the, to, my, please
    quantifier = Role()  # all, every, some, none, both
    plan = Role()  # will, if, when: what has not happened
    either = Role()  # keep, include: a look, or the deed that was asked for
    listing = Role()  # the list holds, I see, here are: presents all there is
    about = Role()  # about, roughly: the figure is rounded
    more = Role()  # over, more, at least
    less = Role()  # under, fewer, at most
    average = Role()
    total = Role()
    difference = Role()
    and_ = Role()
    failure = Role()  # failed, could not, unable
    opener = Role()  # may stand before a command: please, ok, now
    wish = Role()  # I want to, I would like to
    ability = Role()  # can you, are you able
    saying = Role()  # said, asked: somebody else's words
    again = Role()  # too, as well, again: the same as before, with a change
    sequence = Role()  # then, after that: between two commands
    marker = Role()  # before the content of a command, "_" for a space: saying, with_the_text
    named = Role()  # before the name of a thing: called, titled
    plural_reference = Role()  # points back at several: them, these, all
    manner = Role()  # asks in which way: how
    article = Role()  # stands before a name and belongs to none: the
    help = Role()  # asks what there is to do
    clause = Role()  # after a comma before the content of a command: that
    toward = Role()  # points back at a person or a place: her, there
    source = Role()  # before the person something comes from: from, by
    address_keys = Role()
    commands = Mapped()  # what is asked for, in the very forms that ask: show, send, delete
    things = Mapped()  # what apps hold and say of it: account, message, address, count
    asks = Mapped()  # what a question word asks for: who, when, where, count
    recent = Role()  # before an infinitive: what has just been done
    matter = Role()  # stands for whatever was asked: request, changes
    trouble = Role()  # problem, error: "no problem" denies nothing
    settled = Role()  # a sentence of nothing but these and adverbs says that it is done
    label = Role()  # field, column: what is quoted behind it is one's name
    happened = Role()  # applied, executed: keys of a flag that says whether anything was done
    unfinished = Role()  # queued, draft, refused: what a result says of what is not done
    cause = Role()  # because, due to: the sentence gives a reason
    empty = Role()  # empty: a list that holds nothing
    done = Role()  # done, all set: the whole sentence says that it happened
    limits = Role()  # before, until, than, except: what follows is a limit or left out
    rest = Role()  # more, others, remaining: a list goes on
    possession = Role()  # you have, your: the sentence speaks of the user's own things
    drafting = Role()  # write, translate, suggest: the user asks for a text
    effects = Mapped()  # send, delete, create …: what a verb does
    ordinals = Mapped()  # concept is the position as a string, "-1" the last
    units = Mapped()  # second, minute, hour, day, week, month, year, byte, kilobyte …
    values = Mapped()  # words for flags and states: unread, done, urgent, all
    objects = Mapped()  # what collections hold: message, file, booking
    states = Mapped()  # concept is "group:state"; two states of a group exclude each other

    def __init__(self, tag: str, **roles: str | Mapping[str, str]) -> None:
        self._tag = tag
        self._roles = roles
        self._forms: dict[str, frozenset[str]] = {}
        self._stems: dict[str, frozenset[str]] = {}
        self._concepts: dict[str, Mapping[str, str]] = {}
        self._meanings: dict[str, Mapping[str, frozenset[str]]] = {}
        unknown = [r for r in roles if not isinstance(vars(Words).get(r), Role | Mapped)]
        if unknown:
            raise TypeError(f"roles that Words does not have: {', '.join(sorted(unknown))}")

    def forms(self, role: str) -> frozenset[str]:
        """The words of a role as the file has them, for where the exact form matters."""
        known = self._forms.get(role)
        if known is None:
            words = self._roles.get(role, "")
            listed = words if isinstance(words, str) else " ".join(words.values())
            known = self._forms[role] = frozenset(listed.split())
        return known

    def stems(self, role: str) -> frozenset[str]:
        """The stems of a role's words; empty where the file gives none."""
        known = self._stems.get(role)
        if known is None:
            words = self._roles.get(role, "")
            listed = words if isinstance(words, str) else " ".join(words.values())
            known = self._stems[role] = frozenset(stems_of(listed, self._tag))
        return known

    def concepts(self, role: str) -> Mapping[str, str]:
        """Stem → concept of a mapped role."""
        known = self._concepts.get(role)
        if known is None:
            lists = self._roles.get(role, {})
            assert not isinstance(lists, str)
            known = self._concepts[role] = {
                word: concept
                for concept, words in lists.items()
                for word in stems_of(words, self._tag)
            }
        return known

    def meanings(self, role: str) -> Mapping[str, frozenset[str]]:
        """Word → concepts of a mapped role, by the words as the file has them, folded: for where
        the exact form matters, and a word may have several."""
        known = self._meanings.get(role)
        if known is None:
            lists = self._roles.get(role, {})
            assert not isinstance(lists, str)
            found: dict[str, set[str]] = {}
            for concept, words in lists.items():
                for word in words.split():
                    found.setdefault(fold(word), set()).add(concept)
            known = self._meanings[role] = {w: frozenset(c) for w, c in found.items()}
        return known

    def vocabulary(self) -> frozenset[str]:
        """Every word of every role as written in the file: what tells the language of a text."""
        return frozenset().union(*(self.forms(role) for role in self._roles))

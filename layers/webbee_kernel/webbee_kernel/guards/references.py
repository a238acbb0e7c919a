"""References: the records that a message names, and those that the last reply showed. Pure.

A record is an object with an id in a result. It is named by its label, its id, or a value that
identifies it in the user's words, never by a pronoun, a date or a word for its kind. If two records
of a kind match, none is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, pairwise
from operator import attrgetter

from .. import language
from ..catalogue import FunctionInfo
from .addresses import is_date, normal
from .arguments import parameters
from .field_names import MAX_LABEL, NUMBER_WORDS, root_of, same_kind, words_of
from .result_records import CallData, Record, ids_inside, records_in, scalars_in
from .user_words import UserWords, words_in

MIN_SHARE = 0.5
"""Minimum share of a label's letters in the user's words."""
MIN_LETTERS = 5
"""Minimum letters of a unique word that names a record by itself."""
_MAX_SUFFIX = 6


CallValues = frozenset[str]
"""The values of a call, normalised like ids."""


@dataclass(frozen=True)
class References:
    """The records of this turn's results and of the remembered facts, newest first."""

    results: Sequence[CallData]
    words: UserWords
    reply: str = ""
    """The last reply, if the message may refer to it."""
    question: str = ""
    """The question in which the reply ends that a plain yes answers."""
    functions: Sequence[FunctionInfo] = ()
    """The functions about to be called."""
    named_cache: dict[tuple[int, CallValues], bool] = field(default_factory=dict)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Every record, followed by those nested in it."""
        return tuple(r for source in self.results for r in records_in(source.data, "", source))

    @cached_property
    def _by_id(self) -> Mapping[str, tuple[Record, ...]]:
        found: dict[str, list[Record]] = {}
        for record in self.records:
            found.setdefault(normal(record.ident), []).append(record)
        return {ident: tuple(records) for ident, records in found.items()}

    def of(self, value: object, name: str, app_id: str) -> tuple[Record, ...]:
        """The records with this id: of the function's app, else of other apps if the argument names
        their kind."""
        found = self._by_id.get(normal(value), ())
        root = "".join(root_of(name)[-1:])
        own = tuple(r for r in found if r.app_id == app_id)
        others = tuple(r for r in found if r.kind and root)
        return tuple(r for r in own or others if same_kind(r.kind, root))

    def is_known(self, value: object) -> bool:
        """Whether it is a record's id or label (such as a file name)."""
        return normal(value) in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(normal(v) for r in self.records for v in (r.ident, r.label) if v)

    def has_value(self, app_id: str, value: str) -> bool:
        """Whether a result of this app contains the value, so that it learns nothing new."""
        return (app_id, normal(value)) in self._values

    @cached_property
    def _values(self) -> frozenset[tuple[str, str]]:
        texts = ((s.app_id, str(v)) for s in self.results for _, v, _ in scalars_in(s.data))
        return frozenset((app_id, normal(t)) for app_id, t in texts if len(t) <= MAX_LABEL)

    def is_named(self, value: object, name: str, app_id: str, values: Collection[str] = ()) -> bool:
        """Whether the user's words contain an id, or name its record.

        The only id of the kind of `name` inside a named record is named with it. `values` are the
        call's: two records of a kind may both be named by distinct words.
        """
        records = self.of(value, name, app_id)
        values = frozenset(map(normal, values))
        kinds = {r.kind for r in records} - {""} or {*root_of(name)}
        if self._is_typed(str(value), kinds) or self._has_name(records, values):
            return True
        if any(map(attrgetter("label"), records)):
            return False
        around = (r for r in self._around(normal(value), name) if r.app_id == app_id)
        return any(self._is_typed(r.ident, {r.kind}) or self._is_named(r, values) for r in around)

    def _around(self, ident: str, name: str) -> Iterator[Record]:
        """The records in which this is the only id of its kind."""
        return (r for r in self.records if ids_inside(r, name) == {ident})

    def _has_name(self, records: Sequence[Record], values: CallValues) -> bool:
        own = (r for r in records if r.source.action)  # an argument is a model's word, no app's
        named = {r.label for r in own if self._is_named(r, values)}
        return bool(named) and self._labels(records) <= named

    def _labels(self, records: Iterable[Record]) -> set[str]:
        """The labels of one id, all of which must be named, since a stranger may have written one.
        The result of a write replaces earlier labels; nested records add none."""
        runs = [[*run] for _, run in groupby(records, attrgetter("source"))]
        labels: set[str] = set()
        for r in chain.from_iterable(reversed(runs)):  # the earliest first
            if not r.label or not r.source.action or (r.is_nested and labels):
                continue
            if r.source.action == "write" and self._is_sole(r):
                labels = {r.label}
            elif labels.isdisjoint(r.labels):
                labels.add(r.label)
        return labels

    def _is_typed(self, ident: str, kinds: Collection[str]) -> bool:
        """Whether an id was typed; short numbers only after `#`, `no` or a word for the kind."""
        bare = ident.strip("#\u2116")  # "#12" and "№ 12"
        if not bare.isdigit() or len(bare) >= MIN_LETTERS:
            return bool(self._words(ident) and self.words.tokens & {normal(ident), normal(bare)})
        marked = {f"#{bare}", f"\u2116{bare}", f"no{bare}"}
        return not marked.isdisjoint(self.words.tokens) or self._is_numbered(bare, kinds)

    def _is_numbered(self, figure: str, kinds: Collection[str]) -> bool:
        words = (words_in(text) for part in self._parts[1:] for text in part.texts)
        before = {one for part in words for one in _before(part, figure)}
        said = [any(same_kind(word, kind) for word in before) for kind in kinds]
        return not before.isdisjoint(NUMBER_WORDS) or (bool(said) and all(said))  # "order 7"

    def for_message(self, message: str) -> References:
        """A copy that matches only the words of one message."""
        return replace(
            self, words=UserWords([message], self.words.tag), question="", named_cache={}
        )

    def without(self, values: Iterable[str]) -> References:
        """A copy without these values in the user's words: a recipient does not name a record."""
        texts = [v for v in values if v]  # an empty text stands in every message
        if not any(v in text for v in texts for text in self.words.texts):
            return self
        return replace(self, words=self.words.without(texts), named_cache={})

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every key in the results."""
        return frozenset(key for source in self.results for key, _, _ in scalars_in(source.data))

    def is_new(self, value: object, name: str, app_id: str) -> bool:
        """Whether it is the id of a record that this turn created."""
        found = self.of(value, name, app_id)
        first = found[-1:] if not any(r.source.age for r in found) else ()
        return any(r.source.action == "write" and self._is_sole(r) for r in first)

    def is_only_one(self, value: object, name: str, app_id: str) -> bool:
        """Whether it is the only record of its kind in the last reply."""
        records = self.of(value, name, app_id)
        if not records:
            # a nested id: the only one of its kind in earlier turns
            earlier = (r for r in self.records if r.app_id == app_id and r.source.age)
            inside = {ident for r in earlier for ident in ids_inside(r, name)}
            return bool(self.reply) and inside == {normal(value)}
        is_alone = any(self._is_alone(normal(value), r) for r in records)  # of its kind
        return is_alone and len(self._labels(records)) <= 1

    def _is_sole(self, record: Record) -> bool:
        """Whether it is the only record of its result."""
        values = {normal(r.ident) for r in self.records if r.source is record.source}
        return len(values) == 1

    def _is_alone(self, ident: str, record: Record) -> bool:
        """Whether the last reply mentions no other record of its kind by label or id, but this."""
        reply, which = UserWords([self.reply], self.words.tag), (record.app_id, record.kind)
        shown = (r for r in self.records if (r.app_id, r.kind, r.source.age) == (*which, 1))
        told = (
            r
            for r in shown
            if reply.has_all(r.ident) or (self._keywords(r.label) and reply.has_all(r.label))
        )
        return {normal(r.ident) for r in told} == {ident}

    def _is_named(self, record: Record, values: CallValues) -> bool:
        known = self.named_cache.get((id(record), values))
        if known is None:
            if (record.app_id, record.kind) in self._kinds_typed:
                known = bool(record.label) and self._untyped.has_all(record.label)
            else:
                known = any(self._names(part, record, values) for part in self._parts)
            self.named_cache[id(record), values] = known
        return known

    def _names(self, said: UserWords, record: Record, values: CallValues) -> bool:
        """Whether a part of the user's words names this record, and no other of its kind equally
        well or better."""
        if not self._qualifies(said, record):
            return False
        own = self._matching_words(said, record)
        for other in self._siblings(record):
            others = self._matching_words(said, other)
            if normal(other.ident) in values and own.isdisjoint(others):
                continue
            is_less = others < own and not self._is_within(said, other.label, record)
            if others > own or (not is_less and self._qualifies(said, other)):
                return False
        return True

    def _is_within(self, said: UserWords, label: str, record: Record) -> bool:
        """Whether a label that was said in full is part of a record's label or value ("old plan"
        in "my old plan"), and the rest is not a number."""
        part, texts = (self._keywords(label), map(self._keywords, (record.label, *record.values)))
        more = ["".join(words - part) for words in texts if part and part < words]
        return any(map(str.isalpha, more)) and said.has_all(_stem(label))

    @cached_property
    def _parts(self) -> tuple[UserWords, ...]:
        """The user's words as a whole, and by clause."""
        parts = chain.from_iterable(map(language.clauses, self.words.texts))
        return (self.words, *(UserWords([part], self.words.tag) for part in parts))

    @cached_property
    def _untyped(self) -> UserWords:
        return self.words.without(r.ident for r in self.records if self._is_typed(r.ident, ()))

    def is_other_app(self, value: object, name: str, app_id: str, fn_name: str) -> bool:
        """Whether the id is only known from another app, although the function's name says that
        this app has such records."""
        root = "".join(root_of(name)[-1:])
        is_own = not root or any(same_kind(word, root) for word in words_of(fn_name))
        known = self.of(value, name, app_id)
        return is_own and bool(known) and all(r.app_id != app_id for r in known)

    def names_other(self, value: object, name: str, app_id: str, values: Collection[str]) -> bool:
        """Whether the message also names another record of the kind that no call of the turn
        takes, so that the reference is ambiguous."""
        used = frozenset(map(normal, values))
        others = chain.from_iterable(map(self._siblings, self.of(value, name, app_id)))
        unused = (r for r in others if not (r.is_nested or normal(r.ident) in used))
        return any(self._is_typed(r.ident, {r.kind}) or self._is_named(r, used) for r in unused)

    def _siblings(self, record: Record) -> Iterator[Record]:
        """The other records of its kind."""
        ident = normal(record.ident)
        for other in self.records:
            same = other.app_id == record.app_id and other.kind == record.kind
            if same and normal(other.ident) != ident:
                yield other

    def _matching_words(self, said: UserWords, record: Record) -> frozenset[str]:
        """The words of a record that the user said: of its label, and of fully mentioned values."""
        words = map(self._words, self._values_in(said, record))
        return frozenset(self._words_in(said, record.label)).union(*words)

    def _words_in(self, said: UserWords, label: str) -> Iterator[str]:
        return filter(said.has, self._keywords(label))

    def _values_in(self, said: UserWords, record: Record) -> Iterator[str]:
        """The identifying values that were said; no enum values; none if such an id was typed."""
        may_tell = (record.app_id, record.kind) not in self._kinds_typed
        values = (v for v in record.values if normal(v) not in self._choices) if may_tell else ()
        return filter(said.has_all, filter(self._words, values))

    @cached_property
    def _choices(self) -> frozenset[str]:
        given = chain.from_iterable(parameters(f.input_schema) for f in self.functions)
        shapes = chain.from_iterable(p.shapes for p in given)
        return frozenset(normal(v) for shape in shapes for v in shape.get("enum") or ())

    @cached_property
    def _kinds_typed(self) -> frozenset[tuple[str, str]]:
        rows = chain.from_iterable(self._by_id[i] for i in self._by_id.keys() & self.words.tokens)
        return frozenset((r.app_id, r.kind) for r in rows if self._is_typed(r.ident, ()))

    def _qualifies(self, said: UserWords, record: Record) -> bool:
        """Whether the user's words suffice to name it: half of its label, or a word or value unique
        in its kind."""
        texts = (" ".join(self._words(label)) for label in (record.label, _stem(record.label)))
        is_said = max(map(said.share, texts)) >= MIN_SHARE or self._is_distinct(said, record)
        return is_said and not self._is_generic(record)

    def _is_generic(self, record: Record) -> bool:
        """Whether its label is a date or no more than a word for its kind (a file "Document"):
        whoever speaks of days or files does not mean it."""
        kind, words = language.kind_words(record.kind), map(language.fold, words_in(record.label))
        return bool(record.label) and (is_date(record.label) or kind.issuperset(words))

    def _is_distinct(self, said: UserWords, record: Record) -> bool:
        """Whether a word of its label or a value is said that no other of its kind has or, where it
        has no label, several values that no other has together: "M, red"."""
        words = {*_telling(self._words_in(said, record.label), said, record.label)}
        values = set(map(normal, self._values_in(said, record)))
        others = [*self._siblings(record)] if words or values else []
        if not others:
            return any(len(value) >= MIN_LETTERS for value in values)
        labels = [*map(self._keywords, map(attrgetter("label"), others))]
        held = [{*map(normal, other.values)} for other in others]
        told = map(frozenset, map(words_in, values.difference(*held)))
        is_told = any(not any(map(one.issubset, labels)) for one in told)
        is_variant = not record.label and len(values) > 1
        is_shared = any(map(values.issubset, held))
        return bool(words.difference(*labels)) or is_told or is_variant > is_shared

    def _keywords(self, label: str) -> frozenset[str]:
        return self._words(label) | self._words(_stem(label))

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(w for w in words_in(text) if not self._is_stopword(w))

    @cached_property
    def _verbs(self) -> frozenset[str]:
        return frozenset(language.fold(w) for f in self.functions for w in words_of(f.fn_name)[:1])

    def _is_stopword(self, word: str) -> bool:
        """Whether it is a common word or the verb of a call, which never identifies a record."""
        return (folded := language.fold(word)) in self._verbs or folded in language.common_words()


def _telling(words: Iterable[str], said: UserWords, label: str) -> Iterator[str]:
    """The words that are long, have a digit, or stand in capitals here and there ("VPN")."""
    texts = said, UserWords([label])
    for word in words:
        is_telling = len(word) >= MIN_LETTERS or any(c.isdigit() for c in word)
        if is_telling or all(text.has_acronym(word) for text in texts):
            yield word


def _stem(label: str) -> str:
    """A label without a file extension."""
    stem, dot, ending = label.rpartition(".")
    return stem if dot and stem and " " not in ending and len(ending) < _MAX_SUFFIX else label


def _before(words: Sequence[str], figure: str) -> Iterator[str]:
    """The words directly before a number, except the first word of a clause, which may be a verb
    ("note 5 apples")."""
    starts = 0 if len(words) == 2 else 1
    pairs = pairwise(words[starts:])
    return (one for one, other in pairs if other.lstrip("0") == figure.lstrip("0"))

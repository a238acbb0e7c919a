"""References: which records of an app a message names, and which the last reply showed. Pure.

A record is an object of a result that bears an id. It is named where its own label, its id, or a
value that tells it from its like stands in what the user said; never by a pronoun. Where a part of
it fits two of a kind, none is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, pairwise
from operator import attrgetter

from .. import language
from ..catalogue import FunctionInfo
from .addresses import normal
from .arguments import offered
from .field_names import LONGEST_LABEL, NUMBERED, root_of, same_kind, words_of
from .result_records import Found, Record, ids_inside, records_in, scalars_in
from .user_words import Said, words_in

HALF = 0.5
"""Part of a label's letters that must stand in the user's words for the label to be named."""
TELLING = 5
"""Letters of a word that names a record alone, where no other of its kind has it."""
_SUFFIX_MOST = 6


Beside = frozenset[str]
"""The values of a call, as ids are compared."""


@dataclass(frozen=True)
class References:
    """All records of this turn's results and of the remembered facts, the newest first."""

    found: Sequence[Found]
    said: Said
    reply: str = ""
    """What the user was shown last, where the message may mean what stands in it."""
    answered: str = ""
    """The question of it that his plain yes answers."""
    to_be_done: Sequence[FunctionInfo] = ()
    """The functions that are to be called."""
    named_cache: dict[tuple[int, Beside], bool] = field(default_factory=dict)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Every record, those inside others behind them."""
        return tuple(r for source in self.found for r in records_in(source.data, "", source))

    @cached_property
    def _by_id(self) -> Mapping[str, tuple[Record, ...]]:
        found: dict[str, list[Record]] = {}
        for record in self.records:
            found.setdefault(normal(record.ident), []).append(record)
        return {ident: tuple(records) for ident, records in found.items()}

    def of(self, value: object, name: str = "", app_id: str = "") -> tuple[Record, ...]:
        """The records that bear this id: of the function's own app, else those of another that are
        of the kind which the argument names."""
        found = self._by_id.get(normal(value), ())
        if not app_id:
            return found
        root = "".join(root_of(name)[-1:])
        own = tuple(r for r in found if r.app_id == app_id)
        others = tuple(r for r in found if r.kind and root)
        return tuple(r for r in own or others if same_kind(r.kind, root))

    def is_known(self, value: object) -> bool:
        """Whether it is the id of a record, or a label that is as good as one (a file's name)."""
        return normal(value) in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(normal(v) for r in self.records for v in (r.ident, r.label) if v)

    def gave(self, app_id: str, value: str) -> bool:
        """Whether a result of this app has the value as a field: giving it back tells nothing."""
        return normal(value) in self._fields.get(app_id, frozenset())

    @cached_property
    def _fields(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for source in self.found:
            told = (str(v) for _, v, _ in scalars_in(source.data))
            short = {normal(v) for v in told if len(v) <= LONGEST_LABEL}
            found.setdefault(source.app_id, set()).update(short)
        return {app_id: frozenset(values) for app_id, values in found.items()}

    def is_named(
        self,
        value: object,
        name: str = "",
        app_id: str = "",
        *,
        whole: bool = False,
        beside: Collection[str] = (),
    ) -> bool:
        """Whether an id stands in the user's words, or is that of the one record which they name,
        `whole` by all words of its label. `name` is the argument that it is given for: the one id
        of its kind inside of a named record is named with it. `beside` are the values of the
        call: two of a kind that are named by words of their own may both be among them."""
        records = self.of(value, name, app_id)
        beside = frozenset(map(normal, beside))
        kinds = {r.kind for r in records if not r.inside} - {""} or {*root_of(name)}
        if self._is_typed(str(value), kinds) or self._is_called(records, whole, beside):
            return True
        if whole or any(r.label and not r.inside for r in records):
            return False
        around = (r for r in self._of_app(app_id) if ids_inside(r, name) == {normal(value)})
        return any(self._is_named(r, beside) for r in around)

    def _is_called(self, records: Sequence[Record], whole: bool, beside: Beside) -> bool:
        told = [r for r in records if r.source.action]  # an argument is a model's word, no app's
        if whole:
            told = [r for r in told if any(map(self.said.holds, {r.label, _bare(r.label)} - {""}))]
        named = {r.label for r in told if self._is_named(r, beside)}
        return bool(named) and self._called(records) <= named

    def _called(self, records: Iterable[Record]) -> set[str]:
        """Every label of the records of one id, each of which has to be said: one may be another
        record's, or what a stranger wrote. What a write of the user's gave back takes the place of
        earlier ones; what stands in another record adds none."""
        runs = [[*run] for _, run in groupby(records, attrgetter("source"))]
        known: set[str] = set()
        for r in chain.from_iterable(reversed(runs)):  # the earliest first
            if not r.label or not r.source.action or (r.inside and known):
                continue
            if r.source.action == "write" and self._is_sole(r):
                known = {r.label}
            elif known.isdisjoint(r.labels):
                known.add(r.label)
        return known

    def _is_typed(self, ident: str, kinds: Collection[str]) -> bool:
        """Whether an id was typed. A few digits may be any number: they count behind a sign or a
        word that says of what they are the number."""
        bare = ident.strip("#\u2116")  # "#12" and "№ 12"
        if not bare.isdigit() or len(bare) >= TELLING:
            return bool(self._words(ident) and self.said.typed & {normal(ident), normal(bare)})
        signed = {f"#{bare}", f"\u2116{bare}", f"no{bare}"}
        return not signed.isdisjoint(self.said.typed) or self._is_numbered(bare, kinds)

    def _is_numbered(self, figure: str, kinds: Collection[str]) -> bool:
        words = (words_in(text) for part in self._parts[1:] for text in part.texts)
        before = {one for part in words for one in _before(part, figure)}
        said = [any(same_kind(word, kind) for word in before) for kind in kinds]
        return not before.isdisjoint(NUMBERED) or (bool(said) and all(said))  # "order 7", "no. 7"

    def by(self, message: str) -> References:
        """The same by the words of one message alone, as they stand there."""
        said = Said([message], self.said.tag, strict=True)
        return replace(self, said=said, answered="", named_cache={})

    def without(self, values: Iterable[str]) -> References:
        """The same by the user's words less these: who gets something names no record by it."""
        gone = [v for v in values if v]  # an empty text stands in every message
        if not any(v in text for v in gone for text in self.said.texts):
            return self
        return replace(self, said=self.said.less(gone), named_cache={})

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every key above a value of a result."""
        return frozenset(key for source in self.found for key, _, _ in scalars_in(source.data))

    def is_left_open(self, value: object, beside: Collection[str]) -> bool:
        """Whether the question that a plain yes answers tells several records of a kind, of which
        the call takes this one and leaves others: "which one?" is answered by no yes. `beside` are
        the values of the call."""
        for record in self.of(value) if self.answered else ():
            kind = {normal(r.ident): r for r in (record, *self._like(record))}
            asked = Said([self.answered], self.said.tag)
            told = {i for i, r in kind.items() if asked.holds(r.ident)}
            told |= {i for i, r in kind.items() if not told and r.label and asked.holds(r.label)}
            if len(told) > 1 and not told <= {normal(v) for v in beside}:
                return True
        return False

    def is_made(self, value: object, name: str = "", app_id: str = "") -> bool:
        """Whether it is the id of what this turn has made: nothing told of it before."""
        found = self.of(value, name, app_id)
        first = found[-1:] if not any(r.source.ago for r in found) else ()
        return any(r.source.action == "write" and self._is_sole(r) for r in first)

    def is_only_one(self, value: object, name: str = "", app_id: str = "") -> bool:
        """Whether it is the id of the only record of its kind that the last reply showed."""
        records = self.of(value, name, app_id)
        if not records:
            return bool(self.reply) and self._only_inside(normal(value), name, app_id)
        alone = any(self._is_alone(normal(value), r) for r in records)  # of its kind
        return alone and len(self._called(records)) <= 1

    def _is_sole(self, record: Record) -> bool:
        """Whether no other record stood beside it in its result."""
        beside = {normal(r.ident) for r in self.records if r.source is record.source}
        return len(beside) == 1

    def _is_alone(self, ident: str, record: Record) -> bool:
        kind = [r for r in self.records if (r.app_id, r.kind) == (record.app_id, record.kind)]
        shown = self._shown([r for r in kind if r.source.ago == 1])  # what the last reply told
        return {normal(r.ident) for r in shown} == {ident}

    def _shown(self, records: Sequence[Record]) -> Sequence[Record]:
        """Those of the last turn that its reply tells by label or id."""
        reply = Said([self.reply], self.said.tag)
        told = ((r, self._telling(r.label) and reply.holds(r.label)) for r in records)
        return [r for r, by_label in told if by_label or reply.holds(r.ident)]

    def _only_inside(self, value: str, name: str, app_id: str) -> bool:
        """Whether it is the one id of its kind in what an earlier turn told."""
        earlier = [r for r in self._of_app(app_id) if r.source.ago]
        return {ident for r in earlier for ident in ids_inside(r, name)} == {value}

    def _of_app(self, app_id: str) -> Iterator[Record]:
        return (r for r in self.records if app_id in ("", r.app_id))

    def _is_named(self, record: Record, beside: Beside) -> bool:
        known = self.named_cache.get((id(record), beside))
        if known is None:
            if (record.app_id, record.kind) in self._kinds_typed:
                known = bool(record.label) and self._untyped.holds(record.label)
            else:
                known = any(self._names(part, record, beside) for part in self._parts)
            self.named_cache[id(record), beside] = known
        return known

    def _names(self, said: Said, record: Record, beside: Beside) -> bool:
        """Whether a part of what he said names this record, and none of its kind as well or better:
        where one part fits two labels, neither may be meant."""
        if not self._qualifies(said, record):
            return False
        mine = self._matched(said, record)
        for other in self._like(record):
            theirs = self._matched(said, other)
            if normal(other.ident) in beside and mine.isdisjoint(theirs):
                continue
            is_less = theirs < mine and not self._is_within(said, other.label, record)
            if theirs > mine or (not is_less and self._qualifies(said, other)):
                return False
        return True

    def _is_within(self, said: Said, label: str, record: Record) -> bool:
        """Whether a label that was said whole is a part of what a record is called or holds ("my
        old plan" beside "old plan"), and no number tells them apart."""
        part, texts = self._telling(label), map(self._telling, (record.label, *record.values))
        more = ["".join(words - part) for words in texts if part and part < words]
        return any(map(str.isalpha, more)) and said.holds(_bare(label))

    @cached_property
    def _parts(self) -> tuple[Said, ...]:
        """What he said whole, and each part of it between marks and words for "and"."""
        parts = chain.from_iterable(map(language.clauses, self.said.texts))
        apart = (Said([part], self.said.tag, strict=self.said.strict) for part in parts)
        return (self.said, *apart)

    @cached_property
    def _untyped(self) -> Said:
        """His words without the ids that he typed: whose record is called like one is not meant."""
        return self.said.less(r.ident for r in self.records if self._is_typed(r.ident, ()))

    def is_elsewhere(self, value: object, name: str, app_id: str, fn_name: str) -> bool:
        """Whether an id is known of another app's records alone, though this one has such of its
        own: its function is named by them."""
        root = "".join(root_of(name)[-1:])
        is_own = not root or any(same_kind(word, root) for word in words_of(fn_name))
        known = self.of(value, name, app_id)
        return is_own and bool(known) and all(r.app_id != app_id for r in known)

    def names_another(self, value: object, name: str, app_id: str, called: Collection[str]) -> bool:
        """Whether the message names a record of the same kind by other words, too, which none of
        the turn's calls takes: which of the two is meant, it does not say."""
        taken = frozenset(map(normal, called))
        for record in self.of(value, name, app_id):
            others = (r for r in self._like(record) if normal(r.ident) not in taken)
            if any(self._is_named(other, taken) for other in others if not other.inside):
                return True
        return False

    def _like(self, record: Record) -> Iterator[Record]:
        """The other records of its kind."""
        ident = normal(record.ident)
        for other in self.records:
            same = other.app_id == record.app_id and other.kind == record.kind
            if same and normal(other.ident) != ident:
                yield other

    def _matched(self, said: Said, record: Record) -> frozenset[str]:
        """The words of a record that the user said: those of its label, and those of its values of
        which he said all."""
        words = map(self._words, self._values_in(said, record))
        return frozenset(self._words_in(said, record.label)).union(*words)

    def _words_in(self, said: Said, label: str) -> Iterator[str]:
        return filter(said.has, self._telling(label))

    def _values_in(self, said: Said, record: Record) -> Iterator[str]:
        """The values that tell it, none that may be set; none beside a typed id of its kind."""
        is_told = (record.app_id, record.kind) not in self._kinds_typed
        values = (v for v in record.values if normal(v) not in self._choices) if is_told else ()
        return filter(said.holds, filter(self._words, values))

    @cached_property
    def _choices(self) -> frozenset[str]:
        return frozenset(normal(v) for f in self.to_be_done for v in offered(f.input_schema))

    @cached_property
    def _kinds_typed(self) -> frozenset[tuple[str, str]]:
        said = chain.from_iterable(self._by_id[i] for i in self._by_id.keys() & self.said.typed)
        return frozenset((r.app_id, r.kind) for r in said if self._is_typed(r.ident, ()))

    def _qualifies(self, said: Said, record: Record) -> bool:
        """Whether what he said of it is enough to name it: half of its label, a telling word or a
        value that no other of its kind has."""
        texts = (" ".join(self._words(label)) for label in (record.label, _bare(record.label)))
        return max(map(said.share, texts)) >= HALF or self._is_told_apart(said, record)

    def _is_told_apart(self, said: Said, record: Record) -> bool:
        words = set(filter(_is_telling, self._words_in(said, record.label)))
        values = set(map(normal, self._values_in(said, record)))
        others = [*self._like(record)] if words or values else []
        if not others:
            return any(len(value) >= TELLING for value in values)
        labels = [self._telling(other.label) for other in others]
        values = values.difference(*(map(normal, other.values) for other in others))
        told = (frozenset(words_in(value)) for value in values)
        return bool(words.difference(*labels)) or any(not _is_in(one, labels) for one in told)

    def _telling(self, label: str) -> frozenset[str]:
        """The words of a label that may tell what it stands for."""
        return self._words(label) | self._words(_bare(label))

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(w for w in words_in(text) if not self._says_nothing(w))

    @cached_property
    def _verbs(self) -> frozenset[str]:
        return frozenset(language.fold(w) for f in self.to_be_done for w in words_of(f.fn_name)[:1])

    def _says_nothing(self, word: str) -> bool:
        """Whether sentences are made of this word whatever they are about, or it is what the call
        does: it tells no record, whatever a stranger calls his."""
        return (folded := language.fold(word)) in self._verbs or folded in language.common_words()


def _is_telling(word: str) -> bool:
    return len(word) >= TELLING or any(c.isdigit() for c in word)


def _is_in(words: frozenset[str], labels: Iterable[frozenset[str]]) -> bool:
    return any(map(words.issubset, labels))


def _bare(label: str) -> str:
    """A label without the ending of a file's name."""
    stem, dot, ending = label.rpartition(".")
    return stem if dot and stem and " " not in ending and len(ending) < _SUFFIX_MOST else label


def _before(words: Sequence[str], figure: str) -> Iterator[str]:
    """The words right before a figure, but for one that a part of a message begins with, which may
    say what is done ("note 5 apples"), unless nothing follows."""
    starts = 0 if len(words) == 2 else 1
    pairs = pairwise(words[starts:])
    return (one for one, other in pairs if other.lstrip("0") == figure.lstrip("0"))

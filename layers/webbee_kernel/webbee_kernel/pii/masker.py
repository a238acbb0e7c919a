"""One map per turn: values to placeholders on the way to a model, placeholders to values on the way
back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from types import MappingProxyType
from typing import Any, TypeAlias

from webbee_kernel.language import stem, tokens
from webbee_kernel.pii import NOTHING
from webbee_kernel.pii.contacts import (
    has_digit_run,
    phone_identity,
    regions_of_phone,
    regions_of_zones,
)
from webbee_kernel.pii.keys import is_ambiguous_name, is_phone_key, object_kind
from webbee_kernel.pii.names import NameDetector, find_names, is_distinct, is_distinctive
from webbee_kernel.pii.recognizer import (
    DECLARED,
    EMAIL,
    KINDS,
    LOOKALIKE,
    NAME,
    PHONE,
    PLACEHOLDER,
    Finding,
    identity_of,
    recognizer,
)
from webbee_kernel.pii.secrets import is_secret_key

JSON: TypeAlias = Any  # str, int, float, bool, None, list or tuple of these, dict from str to these
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Placeholders:
    """Every distinct value has one placeholder, counted per kind; its spellings share it."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """Raises `ValueError` for a key of `known` that is not a placeholder."""
        self.values: dict[str, str] = {}
        self.names: list[str] = []  # placeholders of names to look for everywhere
        self._of: dict[tuple[str, str], str] = {}  # by kind and spelling, by kind and identity
        self._reserved: set[str] = set()
        self._last = dict.fromkeys(KINDS, 0)
        for placeholder, value in known.items():
            match = PLACEHOLDER.fullmatch(placeholder)
            if match is None:
                raise ValueError(f"not a placeholder: {placeholder!r}")
            self._last[match[1]] = max(self._last[match[1]], int(match[2]))
            self._add(placeholder, match[1], value)
        self._phones = [p for p in known if p.startswith(f"<{PHONE}_")]  # identities not known yet

    def reserve(self, text: str) -> None:
        """Keep the numbers that `text` shows out of use, those in use excepted."""
        # few texts show any
        shown = {match[0] for match in PLACEHOLDER.finditer(text)} if "<" in text else set()
        self._reserved |= shown - self.values.keys()

    def used_in(self, text: str) -> dict[str, str]:
        """The part of the map whose placeholders occur in `text`."""
        shown = (match[0] for match in PLACEHOLDER.finditer(text))
        return {one: self.values[one] for one in shown if one in self.values}

    def of(self, kind: str, value: str, identity: str) -> str:
        """The placeholder of a value, a new one where it has none."""
        if known := self._of.get((kind, value)):
            return known
        while kind == PHONE and self._phones:  # not before: that takes the library's import
            known = self._phones.pop(0)
            self._of.setdefault((PHONE, phone_identity(self.values[known])), known)
        return self._of.get((kind, identity)) or self.new(kind, value, identity)

    def new(self, kind: str, value: str, identity: str = "") -> str:
        """A placeholder that stands for nothing yet, given to `value`."""
        number = self._last[kind] + 1
        while (placeholder := f"<{kind}_{number}>") in self._reserved:
            number += 1
        self._last[kind] = number
        self._add(placeholder, kind, value, identity)
        return placeholder

    def _add(self, placeholder: str, kind: str, value: str, identity: str = "") -> None:
        self.values[placeholder] = value
        for spelling in (value, identity or identity_of(kind, value)):
            self._of.setdefault((kind, spelling), placeholder)
        if kind == NAME and is_distinct(value):
            self.names.append(placeholder)


_PERSONAL = (f"<{NAME}_", f"<{EMAIL}_")  # what people call each other by
_LONG = 10**6  # a shorter number is nobody's
REGIONS_MAX = 4  # regions of national numbers that the data may add to the user's own

_Field: TypeAlias = tuple[Any, str, str]  # a key as shown, its name, what its value stands under


class UnknownPlaceholder(ValueError):
    """A tool argument holds a placeholder that stands for nothing. `placeholder` is its text."""

    def __init__(self, placeholder: str) -> None:
        super().__init__(
            f"I-PARAMS-NO-PLACEHOLDER-VALUES: {placeholder} stands for no value of this"
            " conversation"
        )
        self.placeholder = placeholder


class Masker:
    """One map per turn: every distinct value has one stable placeholder `<EMAIL_1>`, `<PHONE_2>`,
    `<NAME_1>`, counted per kind.

    Addresses are compared case-folded, phones by E.164, names case-folded with single spaces; the
    first spelling met is the one given back, so `unmask_text(mask_text(x)) == x` unless `x` spells
    one value in two ways. A name that can be told from other words (`is_distinct`), once known, is
    masked wherever it stands. Masking is idempotent: placeholders in a text are left alone, and
    nothing that touches one is masked.

    Text that merely looks like a placeholder (an attacker's, or a remembered turn's whose map is
    gone) keeps its number out of use: every text given to `mask`, `mask_text` or `observe` reserves
    the numbers it shows. Such a number resolves to nothing. A forged number that was *already*
    given out reads as the value it stands for, which the same model has before it anyway; so
    observe all old text before masking anything new.

    Not safe for use by several threads at once; a turn has its own.
    """

    def __init__(
        self,
        known: Mapping[str, str] = NOTHING,
        *,
        names: NameDetector = find_names,
        regions: tuple[str, ...] = (),
        kinds: Iterable[str] = (),
    ) -> None:
        """`known`: the maps of remembered turns, placeholder to value; new numbers go on above the
        highest known of their kind. `names` is another detector, `regions` where national phone
        numbers in prose may be of (the user's; time zones and other numbers of the data add to
        them), `kinds` what else is masked: `IBAN`, `CARD`, `PASSPORT`, `IDENTITY`.

        Raises `ValueError` for a key of `known` that is not a placeholder.
        """
        self._recognizer = recognizer(names, regions, frozenset(kinds))
        self._own_regions = len(regions)
        self._map = Placeholders(known)
        # a value keeps its placeholder, so a masked text keeps its form
        self._memo: dict[tuple[str, str], str] = {}
        self._rows: dict[tuple[tuple[Any, ...], str], list[_Field]] = {}  # of one walk
        self._known_names: Sequence[str] = ()

    def with_map(self, known: Mapping[str, str]) -> Masker:
        """A masker that looks for the same things, with another map."""
        of = self._recognizer
        return Masker(
            known, names=of.names, regions=of.regions[: self._own_regions], kinds=of.kinds
        )

    @property
    def vault(self) -> Mapping[str, str]:
        """The whole map, placeholder to real value, read-only and live. It is personal data: never
        log it, never render it."""
        return MappingProxyType(self._map.values)

    @property
    def state(self) -> tuple[int, tuple[str, ...]]:
        """What masking goes by that data can add to: how many names are known everywhere, and of
        which regions phone numbers may be. While it is the same, so is what a value is masked
        to."""
        return len(self._map.names), self._recognizer.regions

    def observe(self, value: JSON) -> None:
        """Keep the placeholder numbers that `value` shows out of use: for remembered text and the
        user's own words."""
        self._map.reserve(text_of(value))

    def mask(self, value: JSON, declared: Mapping[str, str] = NOTHING, key: str = "") -> JSON:
        """A copy of a JSON-like value with every e-mail address, phone number and name in its
        strings and keys replaced, and numbers that are phone numbers.

        Other numbers, booleans and None stay as they are, tuples become lists. The key over a
        value (`key`, `parent.key`), and the keys beside a `name`, say what it is (`keys.py`);
        `declared` (path → kind) says it for sure. Two keys of one object that spell one value
        differently get a placeholder each, so nothing is lost. Nested deeper than Python's
        recursion limit: `RecursionError`. About 0.5 ms for 10 KB of JSON once the texts are in the
        cache.
        """
        text = text_of(value)
        self._map.reserve(text)
        self._begin()
        if zones := regions_of_zones(text):
            self._add_regions(zones)
        before = self._recognizer
        masked = self._walk(value, "", key, declared)
        if self._recognizer != before and has_digit_run(text_of(masked)):
            # a number told a region that others may be of
            masked = self._walk(masked, "", key, declared)
        # A name may stand, uncued, before the place where its cue was met.
        while self._map.names and (names := self._names_in(text_of(masked))):
            self._begin(names)
            masked = self._walk(masked, "", key, declared)
        return masked

    def mask_text(self, text: str, key: str = "") -> str:
        """`text` with every e-mail address, phone number and name replaced; `key` is the JSON key
        it stood under, if any."""
        return str(self.mask(text, key=key))

    def unmask_text(self, text: str) -> str:
        """`text` with every known placeholder replaced by its value, for the user's eyes; an
        unknown one stays as it is."""
        return PLACEHOLDER.sub(lambda m: self._map.values.get(m[0], m[0]), text)

    def resolve(self, value: JSON) -> JSON:
        """A copy of tool arguments with every placeholder, in strings and keys, replaced by its
        value.

        Raises `UnknownPlaceholder` for one that is not in the map, misspelt ones (`<email_1>`, `<
        EMAIL_1 >`) included.
        """
        if isinstance(value, str):
            for placeholder in LOOKALIKE.findall(value):
                if placeholder not in self._map.values:
                    raise UnknownPlaceholder(placeholder)
            return self.unmask_text(value)
        if isinstance(value, dict):
            return {self.resolve(k): self.resolve(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.resolve(item) for item in value]
        return value

    def used_in(self, text: str) -> dict[str, str]:
        """The part of the map whose placeholders occur in `text`: what a turn has to store beside
        it."""
        return self._map.used_in(text)

    def names_in_message(self, message: str, shown: str, tag: str) -> dict[str, str]:
        """Placeholders of `shown` whose address, or a word of whose name, stands in a user's own
        `message` in the language `tag`, with what stands there: `{"<NAME_5>": "Anna"}`."""
        text = message.replace("'", " ").replace("\u2019", " ")  # "Sarah's", "d'Anna"
        words = [(w.text, one := stem(w.text, tag), stem(one, tag)) for w in tokens(text)]
        low, found = message.casefold(), dict[str, str]()
        for placeholder, value in self.used_in(shown).items():
            own = {stem(w.text, tag): w.text for w in tokens(value.replace("'", " "))}
            names = list(_forms(words, own))
            if placeholder.startswith(f"<{EMAIL}_"):
                names = [value] * (value.casefold() in low)
            if names and placeholder.startswith(_PERSONAL) and any(map(is_distinctive, names)):
                found[placeholder] = " ".join(names)
        return found

    def _begin(self, names: Sequence[str] = ()) -> None:
        """Before a walk: the known names that it replaces without any cue."""
        self._known_names = names
        self._rows.clear()

    def _walk(self, value: JSON, key: str, hint: str, declared: Mapping[str, str]) -> JSON:
        """`hint` is what the value stands under, `key` the last step of it."""
        if isinstance(value, str):
            return self._mask(value, hint)
        if isinstance(value, list | tuple):
            return [self._walk(item, key, hint, declared) for item in value]
        if not isinstance(value, dict):
            return self._number(value, hint)
        masked: dict[Any, JSON] = {}
        fields = self._fields(tuple(value), key, declared)
        for (shown, name, under), item in zip(fields, value.values(), strict=True):
            # most rows hold texts and numbers only
            if type(item) is str:
                masked[shown] = self._mask(item, under)
            elif type(item) in (int, float):
                masked[shown] = self._number(item, under)
            else:
                masked[shown] = self._walk(item, name, under, declared)
        return masked

    def _fields(
        self, keys: tuple[Any, ...], parent: str, declared: Mapping[str, str]
    ) -> list[_Field]:
        """The keys of an object as they are shown, each with what its value stands under. Rows of a
        list have the same ones."""
        if known := self._rows.get((keys, parent)):
            return known
        shown: dict[Any, None] = {}
        for key in keys:
            name = self._mask(key, "") if isinstance(key, str) else key
            # it is known by another spelling, or was written to look like a masked one
            if name in shown and (name := self._map.of(NAME, key, key)) in shown:
                name = self._map.new(NAME, key)
            shown[name] = None
        # Masked keys are the hints, so that masking again sees the same ones.
        fields = [(key, *_under(key, shown, parent, declared)) for key in shown]
        if tuple(shown) == keys:
            self._rows[keys, parent] = fields
        return fields

    def _number(self, value: JSON, hint: str) -> JSON:
        """A number that is a phone's by its key, or a document's; arguments get it back as text."""
        if type(value) not in (int, float) or not 0 <= value < 10**19 or value != int(value):
            return value
        shown = self._mask(str(int(value)), hint) if self._may_match(value, hint) else ""
        return shown if PLACEHOLDER.fullmatch(shown) else value

    def _may_match(self, value: float, hint: str) -> bool:
        """Whether a number there may be one that masking looks for."""
        is_said = hint.startswith(DECLARED) or is_phone_key(hint) or bool(self._recognizer.kinds)
        return is_secret_key(hint) or (hint != "" and is_said and value >= _LONG)

    def _mask(self, text: str, hint: str) -> str:
        for placeholder in self._known_names:
            name = self._map.values[placeholder]
            if name in text:
                text = _whole_word(name).sub(placeholder, text)
        masked = self._memo.get((text, hint))
        if masked is None:
            spans = self._recognizer(text, hint)
            masked = self._memo[text, hint] = (
                self._replace_spans(text, hint, spans) if spans else text
            )
        return masked

    def _names_in(self, text: str) -> list[str]:
        """Placeholders of the known names that stand in `text`, the longest name first."""
        values = self._map.values
        found = [
            p for p in self._map.names if values[p] in text and _whole_word(values[p]).search(text)
        ]
        return sorted(found, key=lambda p: -len(values[p]))

    def _replace_spans(self, text: str, hint: str, spans: Sequence[Finding]) -> str:
        # Replacing one value can uncover another beside it; every round leaves less to replace, so
        # this ends.
        while spans:
            pieces: list[str] = []
            at = 0
            for start, end, kind, identity in spans:
                if kind == PHONE:
                    self._add_regions(regions_of_phone(identity))
                pieces += (text[at:start], self._map.of(kind, text[start:end], identity))
                at = end
            is_whole = spans[0][:2] == (0, len(text))
            text = "".join((*pieces, text[at:]))
            if is_whole:
                break
            spans = self._recognizer(text, hint)
        return text

    def _add_regions(self, regions: Iterable[str]) -> None:
        """National numbers may be of these too: a time zone or another number of the data says
        so."""
        of = self._recognizer
        known = of.regions
        new = [r for r in dict.fromkeys(regions) if r not in known]
        if new and len(known) < self._own_regions + REGIONS_MAX:
            self._recognizer = recognizer(of.names, (*known, *new[:REGIONS_MAX]), of.kinds)
            self._memo.clear()
            self._rows.clear()


@lru_cache(maxsize=256)
def _whole_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _under(
    key: object, keys: Iterable[object], parent: str, declared: Mapping[str, str]
) -> tuple[str, str]:
    """The name of one of an object's keys, and as a hint what its value stands under: its last two
    keys, or the kind its author declared."""
    name = key if isinstance(key, str) else ""
    path = f"{parent}.{name}" if parent else name
    if path in declared:
        return name, f"{DECLARED}{declared[path]}"
    kind = object_kind(keys) if is_ambiguous_name(name) else ""
    return name, f"{kind}.{name}" if kind else path


def text_of(value: JSON) -> str:
    """Every string and key of a value, a line each: no placeholder spans two."""
    texts: list[str] = []
    pending: list[JSON] = [[value]]
    for item in pending:  # which grows
        if isinstance(item, dict):
            texts += [key for key in item if type(key) is str]
            item = item.values()
        for v in item:
            if type(v) is str:
                texts.append(v)
            elif type(v) not in _SCALARS and isinstance(v, dict | list | tuple):
                pending.append(v)
    return "\n".join(texts)


def _forms(words: Sequence[tuple[str, str, str]], own: Mapping[str, str]) -> Iterator[str]:
    """The words (with their stems, and the stems of these) that are forms of a name, whose words
    are `own` by stem: "Ivanov" is none of "Ivan"."""
    for said, stemmed, again in words:
        if stemmed in own:
            yield said
        # a stemmer leaves a letter more of a Russian name in one case than in another
        elif again in own:
            same = commonprefix([said.casefold(), own[again].casefold()])  # noqa: RUF071
            if len(same) >= max(len(said), len(own[again])) - 2:
                yield said

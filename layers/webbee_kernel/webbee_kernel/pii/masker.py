"""One map per turn: values to placeholders on the way to a model, placeholders to values on the way
back."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

from webbee_kernel.pii.emails import email_identity, find_emails
from webbee_kernel.pii.keys import beside, is_bare_name
from webbee_kernel.pii.names import NameDetector, find_names
from webbee_kernel.pii.phones import find_phones, phone_identity

JSON: TypeAlias = Any  # str, int, float, bool, None, list or tuple of these, dict from str to these

# characters: longer texts are looked at anew, so the cache (1024 texts a process) stays within a
# few megabytes
CACHED_MAX = 4096
EMAIL, PHONE, NAME = "EMAIL", "PHONE", "NAME"

_PLACEHOLDER = re.compile(r"<(EMAIL|PHONE|NAME)_([1-9][0-9]{0,8})>")
# What a model may have made of a placeholder: refused in arguments even where it is not one.
_LOOKALIKE = re.compile(r"<\s*(?:EMAIL|PHONE|NAME)_[0-9]+\s*>", re.IGNORECASE)
_Visit: TypeAlias = Callable[[str, str], str]
_Found: TypeAlias = tuple[int, int, str, str]  # start, end, kind, identity


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

    One value is one placeholder: addresses are compared case-folded, phones by E.164, names
    case-folded with single spaces; the first spelling met is the one given back, so
    `unmask_text(mask_text(x)) == x` unless `x` spells one value in two ways. A name of two words or
    more, once known, is masked wherever it stands, with or without a cue. Masking is idempotent:
    placeholders in a text are left alone, and nothing that touches one is masked.

    Text that merely looks like a placeholder (an attacker's, or a remembered turn's whose map is
    gone) keeps its number out of use: every text given to `mask`, `mask_text` or `observe` reserves
    the numbers it shows, a whole value before its first placeholder is given out. Such a number
    resolves to nothing. Two things cannot be told apart and are not: a forged number that was
    *already* given out reads as the value it stands for, which the same model has before it anyway.
    So observe all old text before masking anything new.

    Not safe for use by several threads at once; a turn has its own.
    """

    def __init__(
        self, known: Mapping[str, str] = MappingProxyType({}), *, names: NameDetector = find_names
    ) -> None:
        """`known`: the maps of remembered turns, placeholder to value; new numbers go on above the
        highest known of their kind.

        Raises `ValueError` for a key of `known` that is not a placeholder.
        """
        self._detector = names
        self._values: dict[str, str] = {}
        self._by_spelling: dict[tuple[str, str], str] = {}
        self._by_identity: dict[tuple[str, str], str] = {}
        self._unkeyed_phones: list[
            str
        ] = []  # known phones not yet in `_by_identity`: that takes the library's import
        self._names: list[str] = []  # placeholders of names to look for everywhere
        self._reserved: set[str] = set()
        self._memo: dict[
            tuple[str, str], str
        ] = {}  # a value keeps its placeholder, so a masked text keeps its form
        self._last = {EMAIL: 0, PHONE: 0, NAME: 0}
        for placeholder, value in known.items():
            self._learn(placeholder, value)

    @property
    def vault(self) -> Mapping[str, str]:
        """The whole map, placeholder to real value, read-only and live. It is personal data: never
        log it, never render it."""
        return MappingProxyType(self._values)

    def observe(self, value: JSON) -> None:
        """Keep the placeholder numbers that `value` shows out of use: for remembered text and the
        user's own words."""
        text = _joined(value)
        if "<" in text:
            self._reserved.update(
                m[0] for m in _PLACEHOLDER.finditer(text) if m[0] not in self._values
            )

    def mask(self, value: JSON) -> JSON:
        """A copy of a JSON-like value with every e-mail address, phone number and name in its
        strings and keys replaced.

        Numbers, booleans and None stay as they are, tuples become lists. The key over a string, and
        the keys beside a `name`, say what it is (`keys.py`). Two keys of one object that spell one
        value differently get a placeholder each, so nothing is lost. Nested deeper than Python's
        recursion limit: `RecursionError`. About 0.5 ms for 10 KB of JSON once the texts are in the
        cache.
        """
        self.observe(value)
        masked = self._walk(value, "", "", self._mask)
        # A name may stand, uncued, before the place where its cue was met.
        while self._names and self._named(_joined(masked)):
            masked = self._walk(masked, "", "", self._mask_everywhere)
        return masked

    def mask_text(self, text: str, key: str = "") -> str:
        """`text` with every e-mail address, phone number and name replaced; `key` is the JSON key
        it stood under, if any."""
        self.observe(text)
        masked = self._mask(text, key)
        while self._named(masked):
            masked = self._mask_everywhere(masked, key)
        return masked

    def unmask_text(self, text: str) -> str:
        """`text` with every known placeholder replaced by its value, for the user's eyes; an
        unknown one stays as it is."""
        if "<" not in text:
            return text
        return _PLACEHOLDER.sub(lambda m: self._values.get(m[0], m[0]), text)

    def resolve(self, value: JSON) -> JSON:
        """A copy of tool arguments with every placeholder, in strings and keys, replaced by its
        value.

        Raises `UnknownPlaceholder` for one that is not in the map, misspelt ones (`<email_1>`, `<
        EMAIL_1 >`) included.
        """
        if isinstance(value, str):
            return _LOOKALIKE.sub(self._real, value) if "<" in value else value
        if isinstance(value, dict):
            return {self.resolve(k): self.resolve(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.resolve(item) for item in value]
        return value

    def used_in(self, text: str) -> dict[str, str]:
        """The part of the map whose placeholders occur in `text`: what a turn has to store beside
        it."""
        return (
            {m[0]: self._values[m[0]] for m in _PLACEHOLDER.finditer(text) if m[0] in self._values}
            if "<" in text
            else {}
        )

    def _real(self, match: "re.Match[str]") -> str:
        try:
            return self._values[match[0]]
        except KeyError:
            raise UnknownPlaceholder(match[0]) from None

    def _walk(self, value: JSON, parent: str, key: str, visit: _Visit) -> JSON:
        if isinstance(value, str):
            return visit(value, f"{parent}.{key}" if parent else key)
        if isinstance(value, dict):
            return self._walk_dict(value, key, visit)
        if isinstance(value, list | tuple):
            return [self._walk(item, parent, key, visit) for item in value]
        return value

    def _walk_dict(self, value: dict[Any, JSON], parent: str, visit: _Visit) -> dict[Any, JSON]:
        masked: dict[Any, JSON] = {}
        for key, item in value.items():
            shown = visit(key, "") if isinstance(key, str) else key
            masked[self._distinct(key, masked) if shown in masked else shown] = item
        # Masked keys are the hints, so that masking again sees the same ones.
        for key, item in masked.items():
            hint = key if isinstance(key, str) else ""
            over = (beside(masked) or parent) if is_bare_name(hint) else parent
            masked[key] = self._walk(item, over, hint, visit)
        return masked

    def _distinct(self, key: str, taken: Mapping[Any, JSON]) -> str:
        """A masked form for a key whose values are known by other spellings, or that was written to
        look like a masked one."""
        shown = self._rounds(key, "", spelt=True)
        return self._new(NAME, key) if shown in taken or self._named(shown) else shown

    def _mask(self, text: str, key: str) -> str:
        masked = self._memo.get((text, key))
        if masked is None:
            masked = self._memo[text, key] = self._rounds(text, key)
        return masked

    def _mask_everywhere(self, text: str, key: str) -> str:
        """As `_mask`, and known names without any cue."""
        for placeholder in self._named(text):
            text = _whole(self._values[placeholder]).sub(placeholder, text)
        return self._mask(text, key)

    def _named(self, text: str) -> list[str]:
        """Placeholders of the known names that stand in `text`."""
        found = [
            p
            for p in self._names
            if (name := self._values[p]) in text and _whole(name).search(text)
        ]
        return sorted(found, key=lambda p: -len(self._values[p]))

    def _rounds(self, text: str, key: str, *, spelt: bool = False) -> str:
        # Replacing one value can uncover another beside it; every round leaves less to replace, so
        # this ends.
        while spans := (
            _cached(text, key, self._detector)
            if len(text) <= CACHED_MAX
            else _found(text, key, self._detector)
        ):
            pieces: list[str] = []
            at = 0
            for start, end, kind, identity in spans:
                pieces += (
                    text[at:start],
                    self._placeholder(kind, text[start:end], identity, spelt),
                )
                at = end
            whole = spans[0][:2] == (0, len(text))
            text = "".join((*pieces, text[at:]))
            if whole:
                break
        return text

    def _placeholder(self, kind: str, value: str, identity: str, spelt: bool) -> str:
        known = self._by_spelling.get((kind, value))
        if known is None and not spelt:
            if kind == PHONE:
                self._key_phones()
            known = self._by_identity.get((kind, identity))
        if known is not None:
            return known
        placeholder = self._new(kind, value)
        self._by_identity.setdefault((kind, identity), placeholder)
        return placeholder

    def _new(self, kind: str, value: str) -> str:
        number = self._last[kind] + 1
        while (placeholder := f"<{kind}_{number}>") in self._reserved:
            number += 1
        self._learn(placeholder, value)
        return placeholder

    def _learn(self, placeholder: str, value: str) -> None:
        match = _PLACEHOLDER.fullmatch(placeholder)
        if match is None:
            raise ValueError(f"not a placeholder: {placeholder!r}")
        kind = match[1]
        self._values[placeholder] = value
        self._last[kind] = max(self._last[kind], int(match[2]))
        self._by_spelling.setdefault((kind, value), placeholder)
        if kind == PHONE:
            self._unkeyed_phones.append(placeholder)
        else:
            self._by_identity.setdefault((kind, _identity(kind, value)), placeholder)
        if kind == NAME and " " in value and "\n" not in value and not value.islower():
            self._names.append(placeholder)

    def _key_phones(self) -> None:
        for placeholder in self._unkeyed_phones:
            self._by_identity.setdefault(
                (PHONE, phone_identity(self._values[placeholder])), placeholder
            )
        self._unkeyed_phones.clear()


def _identity(kind: str, value: str) -> str:
    return email_identity(value) if kind == EMAIL else " ".join(value.split()).casefold()


def _found(text: str, key: str, names: NameDetector) -> tuple[_Found, ...]:
    """Everything to mask in `text`, in order, not overlapping; an address wins over a phone, a
    phone over a name, a placeholder over all."""
    found: list[_Found] = [(s, e, EMAIL, email_identity(text[s:e])) for s, e in find_emails(text)]
    found += [(s, e, PHONE, identity) for s, e, identity in find_phones(text, key)]
    found += [(s, e, NAME, _identity(NAME, text[s:e])) for s, e in names(text, key)]
    if not found:
        return ()
    taken = bytearray(len(text))
    for match in _PLACEHOLDER.finditer(text) if "<" in text else ():
        taken[match.start() : match.end()] = b"\1" * len(match[0])
    kept: list[_Found] = []
    for item in found:
        start, end = item[:2]
        if start < end and taken.find(1, start, end) < 0:
            kept.append(item)
            taken[start:end] = b"\1" * (end - start)
    return tuple(sorted(kept))


@lru_cache(maxsize=1024)
def _cached(text: str, key: str, names: NameDetector) -> tuple[_Found, ...]:
    return _found(text, key, names)


@lru_cache(maxsize=256)
def _whole(name: str) -> "re.Pattern[str]":
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _joined(value: JSON) -> str:
    """Every string and key of a value, a line each: no placeholder spans two."""
    texts: list[str] = []
    _gather(value, texts)
    return "\n".join(texts)


def _gather(value: JSON, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        texts.extend(key for key in value if isinstance(key, str))
        _gather_all(value.values(), texts)
    elif isinstance(value, list | tuple):
        _gather_all(value, texts)


def _gather_all(values: Iterable[JSON], texts: list[str]) -> None:
    for item in values:
        kind = type(item)
        if kind is str:
            texts.append(item)
        elif kind is not int and kind is not bool and item is not None:
            _gather(item, texts)

"""The map of a turn: values to placeholders and back, one placeholder a value."""

from collections.abc import Iterator, Mapping

from webbee_kernel.pii.finding import KINDS, NAME, PHONE, PLACEHOLDER, identity_of
from webbee_kernel.pii.names import is_distinct
from webbee_kernel.pii.phones import phone_identity


class Placeholders:
    """Every distinct value has one placeholder, counted per kind; two spellings of one value share
    it, unless each asks for its own."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """Raises `ValueError` for a key of `known` that is not a placeholder."""
        self.values: dict[str, str] = {}
        self.names: list[str] = []  # placeholders of names to look for everywhere
        self._by_spelling: dict[tuple[str, str], str] = {}
        self._by_identity: dict[tuple[str, str], str] = {}
        # known phones not yet in `_by_identity`: that takes the library's import
        self._unkeyed_phones: list[str] = []
        self._reserved: set[str] = set()
        self._last = dict.fromkeys(KINDS, 0)
        for placeholder, value in known.items():
            self._learn(placeholder, value)

    def reserve(self, text: str) -> None:
        """Keep the numbers that `text` shows out of use, those in use excepted."""
        if "<" in text:
            self._reserved.update(m for m in self._shown(text) if m not in self.values)

    def used_in(self, text: str) -> dict[str, str]:
        """The part of the map whose placeholders occur in `text`."""
        shown = self._shown(text) if "<" in text else ()
        return {p: self.values[p] for p in shown if p in self.values}

    def of(self, kind: str, value: str, identity: str, *, spelt: bool = False) -> str:
        """The placeholder of a value, a new one where it has none; `spelt` gives each spelling its
        own."""
        known = self._by_spelling.get((kind, value))
        if known is None and not spelt:
            if kind == PHONE:
                self._key_phones()
            known = self._by_identity.get((kind, identity))
        if known is not None:
            return known
        return self.new(kind, value, identity)

    def new(self, kind: str, value: str, identity: str = "") -> str:
        """A placeholder that stands for nothing yet, given to `value`."""
        number = self._last[kind] + 1
        while (placeholder := f"<{kind}_{number}>") in self._reserved:
            number += 1
        self._last[kind] = number
        self._keep(placeholder, kind, value, identity or self._identity(placeholder, kind, value))
        return placeholder

    def _learn(self, placeholder: str, value: str) -> None:
        match = PLACEHOLDER.fullmatch(placeholder)
        if match is None:
            raise ValueError(f"not a placeholder: {placeholder!r}")
        kind = match[1]
        self._last[kind] = max(self._last[kind], int(match[2]))
        self._keep(placeholder, kind, value, self._identity(placeholder, kind, value))

    def _identity(self, placeholder: str, kind: str, value: str) -> str:
        """Of a phone number none yet."""
        if kind != PHONE:
            return identity_of(kind, value)
        self._unkeyed_phones.append(placeholder)
        return ""

    def _keep(self, placeholder: str, kind: str, value: str, identity: str) -> None:
        self.values[placeholder] = value
        self._by_spelling.setdefault((kind, value), placeholder)
        if identity:
            self._by_identity.setdefault((kind, identity), placeholder)
        if kind == NAME and is_distinct(value):
            self.names.append(placeholder)

    def _key_phones(self) -> None:
        for placeholder in self._unkeyed_phones:
            identity = phone_identity(self.values[placeholder])
            self._by_identity.setdefault((PHONE, identity), placeholder)
        self._unkeyed_phones.clear()

    @staticmethod
    def _shown(text: str) -> Iterator[str]:
        return (m[0] for m in PLACEHOLDER.finditer(text))

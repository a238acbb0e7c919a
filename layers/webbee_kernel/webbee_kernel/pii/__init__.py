"""The reversible PII gate: what a model may see in place of an address, a phone or a name.

- `masker`   masks and unmasks what a turn shows to models, with the map of a turn, values to
  placeholders and back
- `secrets`    where keys, tokens and passwords are
- `emails`     where the e-mail addresses of a text are
- `phones`     where its phone numbers may be, and of which regions
- `dialling`   which of these `phonenumbers` takes for some
- `documents`  numbers of banks and states, told by their checksums
- `names`      where its personal names are: best effort, behind the protocol `NameDetector`
- `prose`      its names in prose, by their cues; the shapes of words that both are built from
- `keys`       what a JSON key says about its value: a person's name, a phone number, neither
- `recognizer` what of a text has to be masked

Functions of their arguments: no I/O, no settings, no clock. Whether the gate is closed
(`IMPERAL_FACT_LEDGER_EXPOSE_PII`) is the caller's business.

May import: language, base. Entrance: `Masker`. Each name is imported when it is first asked for:
most patterns of the kernel stand here, and a start that masks nothing does without.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .masker import Masker, UnknownPlaceholder
    from .phones import regions_of_language

NOTHING: Mapping[str, str] = MappingProxyType({})
"""What a function declares of its values whose author said nothing."""

_HOMES = {"Masker": "masker", "UnknownPlaceholder": "masker", "regions_of_language": "phones"}

__all__ = ["NOTHING", "Masker", "UnknownPlaceholder", "regions_of_language"]


def __getattr__(name: str) -> Any:
    """A name of `__all__`, from the module that has it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)

"""The reversible PII gate: what a model may see in place of an address, a phone or a name.

`masker` masks and unmasks what a turn shows to models; `recognizer` says what of a text has to be
masked, and asks the others where secrets, addresses, phone numbers, documents and names are.
Functions of their arguments: no I/O, no settings, no clock. Whether the gate is closed
(`IMPERAL_FACT_LEDGER_EXPOSE_PII`) is the caller's business.

May import: language, types, clock and text. Entrance: `masker.Masker`, imported where the first
text is masked: most patterns of the kernel stand here, and a start that masks nothing does without.
"""

from collections.abc import Mapping
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})
"""What a function declares of its values whose author said nothing."""

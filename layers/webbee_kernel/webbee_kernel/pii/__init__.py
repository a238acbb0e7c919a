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

May import: language, base. Entrance: `masker.Masker`, imported where the first text is masked: most
patterns of the kernel stand here, and a start that masks nothing does without.
"""

from collections.abc import Mapping
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})
"""What a function declares of its values whose author said nothing."""

"""The reversible PII gate: what a model may see in place of an address, a phone or a name.

- `masker`   masks and unmasks what a turn shows to models
- `placeholders`  the map of a turn, values to placeholders and back
- `secrets`    where keys, tokens and passwords are: `masked_with_places` tells which fields
- `emails`     where the e-mail addresses of a text are
- `phones`     where its phone numbers are, judged by `phonenumbers`
- `names`      where its personal names are: best effort, behind the protocol `NameDetector`
- `prose`      its names in prose, by their cues
- `keys`       what a JSON key says about its value: a person's name, a phone number, neither
- `words`    what words are made of and what they tell; the words stand in `language/`

Functions of their arguments: no I/O, no settings, no clock. Whether the gate is closed
(`IMPERAL_FACT_LEDGER_EXPOSE_PII`) is the caller's business.

May import: language, base. Entrance: `Masker`.
"""

from webbee_kernel.pii.declared import declared
from webbee_kernel.pii.masker import NOTHING, Masker, UnknownPlaceholder, masked_with_places
from webbee_kernel.pii.names import beside_own, find_names
from webbee_kernel.pii.regions import of_language

__all__ = [
    "NOTHING",
    "Masker",
    "UnknownPlaceholder",
    "beside_own",
    "declared",
    "find_names",
    "masked_with_places",
    "of_language",
]

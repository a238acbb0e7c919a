"""Deterministic grounding of a reply in what the turn's tools returned
(I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS).

`check` is pure: no I/O, no clock, no model. A reply is contradicted, never "not understood": what
is flagged the evidence is closed for. A few ideas, one module each:

- `evidence`  what a reply is held against (`Evidence`, `Call`) and what comes of it (`Verdict`,
  `Source`)
- `index`     from a value to the fields that show it, built once a turn (`building`, `wording`)
- `reading`   what a reply asserts: values, sentences, words; `layout`: items, headings, numbers of
  lines
- `values`    one value against the index: exact text; `figures` and `dates` for the others
- `closure`   what figures follow from shown ones; `arithmetic` of two, `tables` for groups of rows,
  `units`
- `counts`    a number with a noun is compared with what there is to count; `picking` of a part
- `records`   the values of one clause come from one record
- `states`    words that have an opposite; `names` of records and people
- `effects`   what was done is known to the kernel, not believed; `told` reads what a reply says,
  `deeds` what a call does and a message asks for
- `defence`   words that a model defends by where they come from; `formulas` that it gives
- `verdict`   `check`, which sets the one against the other; `owned` where no call was made
- `unseen`    sentences that no rule sees, for a model that is asked about them
- `render`    the reply of last resort: the data itself

Words of natural languages stand in the room `language`. What is not caught: docs/grounding.md.
May import: language, base. Entrance: `check`, of an `Evidence`.
"""

from .defence import defences, undefended
from .evidence import Call, Evidence, Source, Verdict
from .reading import complete
from .render import render
from .unseen import stands_in, unseen
from .verdict import check

__all__ = [
    "Call",
    "Evidence",
    "Source",
    "Verdict",
    "check",
    "complete",
    "defences",
    "render",
    "stands_in",
    "undefended",
    "unseen",
]

"""The reversible PII gate: what a model may see in place of an e-mail address, a phone number or a
person's name.

    masker.py      Masker: one map per turn, values to placeholders and back emails.py      where
    the e-mail addresses of a text are phones.py      where its phone numbers are (judged by
    `phonenumbers`, imported on the first candidate) names.py       where its personal names are
    (best effort, behind the protocol `NameDetector`) prose.py     its names in prose, by their cues
    keys.py        what a JSON key says about its value: a person's name, a phone number, neither
    words.py     what words are made of and what they tell wordlists.py   given names, surnames and
    words of titles, in English and Russian

Everything here is a function of its arguments: no I/O, no settings, no clock. Whether the gate is
closed (`IMPERAL_FACT_LEDGER_EXPOSE_PII`) is the caller's business. Measured on
`benchmarks/pii_corpus.json` by `benchmarks/pii.py`.
"""

from webbee_kernel.pii.masker import JSON, Masker, UnknownPlaceholder
from webbee_kernel.pii.names import NameDetector, find_names

__all__ = ["JSON", "Masker", "NameDetector", "UnknownPlaceholder", "find_names"]

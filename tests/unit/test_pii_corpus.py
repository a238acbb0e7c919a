"""The PII gate on a labelled corpus, `pii_corpus.json`: a list of `{kind, text, key?, expect}`, where
`expect` holds the values that must leave the text, each under a placeholder of its own.

Kinds: `email`, `phone_intl` (with a plus), `phone_national`, `name_key` (under a name-like key),
`name_text` (in prose) and `lookalike` (nothing may be masked). It was written by hand: 508 strings
before the detector was tuned on them, then 116 more to see what it does with strings it was not
tuned on (e-mail 1.00, phones with a plus 0.92, names under keys 1.00, names in prose 0.83,
look-alikes left alone 0.964), and a third batch of 268 for the same end (e-mail 1.00, phones with a
plus 0.96, look-alikes 0.996). Cases that are still missed or wrong stay in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from webbee_kernel.pii import Masker

CORPUS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("pii_corpus.json").read_text("utf-8")
)


@dataclass
class Row:
    """Figures of a kind: values expected, found and masked without need, strings left untouched,
    and the failures themselves as `(text, missed, wrong)`."""

    strings: int = 0
    expected: int = 0
    missed: int = 0
    wrong: int = 0
    untouched: int = 0
    failures: list[tuple[str, list[str], list[str]]] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Of the values that must leave, the share that does."""
        return (self.expected - self.missed) / self.expected

    @property
    def precision(self) -> float:
        """Of the values that leave, the share that must."""
        hits = self.expected - self.missed
        return hits / (hits + self.wrong)


def evaluate(entries: Sequence[dict[str, Any]]) -> dict[str, Row]:
    """Figures by kind."""
    rows: dict[str, Row] = {}
    for entry in entries:
        row = rows.setdefault(entry["kind"], Row())
        masker = Masker()
        masker.mask_text(entry["text"], entry.get("key", ""))
        masked = list(masker.vault.values())
        missed = [v for v in entry["expect"] if v not in masked]
        wrong = [v for v in masked if v not in entry["expect"]]
        row.strings += 1
        row.expected += len(entry["expect"])
        row.missed += len(missed)
        row.wrong += len(wrong)
        row.untouched += not wrong
        row.failures += [(entry["text"], missed, wrong)] if missed or wrong else []
    return rows


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return evaluate(CORPUS)


def test_the_corpus_is_large_and_in_both_scripts() -> None:
    assert len(CORPUS) >= 300
    assert sum(1 for e in CORPUS if any("а" <= c <= "я" for c in e["text"].lower())) >= 80
    assert all(value in e["text"] for e in CORPUS for value in e["expect"])


@pytest.mark.parametrize(
    ("kind", "bar"), [("email", 0.98), ("phone_intl", 0.98), ("name_key", 0.85)]
)
def test_what_must_be_masked_is(rows: dict[str, Row], kind: str, bar: float) -> None:
    assert rows[kind].recall >= bar, rows[kind].failures


def test_look_alikes_stay(rows: dict[str, Row]) -> None:
    row = rows["lookalike"]
    assert row.untouched / row.strings >= 0.99, row.failures


@pytest.mark.parametrize("kind", ["email", "phone_intl", "phone_national", "name_key", "name_text"])
def test_little_else_is_masked_beside_them(rows: dict[str, Row], kind: str) -> None:
    assert rows[kind].precision >= 0.95, rows[kind].failures


def test_what_is_missed_is_counted() -> None:
    row = evaluate([{"kind": "email", "text": "nothing", "expect": ["nothing"]}] * 9)["email"]
    assert (row.recall, len(row.failures)) == (0, 9)

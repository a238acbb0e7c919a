"""The table of invariants, its tests and its page say the same."""

import re
from pathlib import Path

import pytest

from webbee_kernel.invariants import INVARIANTS, Invariant, breach, limit

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "invariants.md"
ROWS = list(INVARIANTS.values())


def proofs() -> dict[str, list[str]]:
    """Every test of the project whose name is an invariant's, with the files that define it."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        text = file.read_text("utf-8")
        for name in re.findall(r"^(?:async )?def (test_i_\w+)\(", text, re.MULTILINE):
            found.setdefault(name, []).append(file.relative_to(ROOT).as_posix())
    return found


def proof_of(row: Invariant) -> str:
    """`I-CACHE-KEY-SAFETY` is proved by `test_i_cache_key_safety`."""
    return "test_" + row.id.lower().replace("-", "_")


def page_rows() -> list[list[str]]:
    lines = [x for x in PAGE.read_text("utf-8").splitlines() if x.startswith(("| I-", "| `I-"))]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", x)[1:-1]] for x in lines]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.id)
def test_every_invariant_has_exactly_one_test_of_its_name(row: Invariant) -> None:
    assert len(proofs().get(proof_of(row), [])) == 1


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.id)
def test_every_invariant_has_one_line_on_its_page_as_the_code_says_it(row: Invariant) -> None:
    (line,) = [cells for cells in page_rows() if cells[0] == f"`{row.id}`"]
    figure = f"{row.limit:,} {row.unit}" if row.limit is not None else "–"
    (file,) = proofs()[proof_of(row)]
    assert line == [
        f"`{row.id}`",
        row.sentence.replace("<", "&lt;").replace("|", "\\|"),
        figure,
        f"[{Path(file).name}](../{file})",
    ]


def test_the_page_lists_nothing_the_code_does_not_know_and_keeps_its_order() -> None:
    assert [cells[0] for cells in page_rows()] == [f"`{row.id}`" for row in ROWS]


def test_a_breach_names_the_invariant_its_figure_and_what_was_met() -> None:
    assert breach("I-CACHE-TTL-CAP-300S", "This is 301.") == (
        "I-CACHE-TTL-CAP-300S: A cached value lives 5 to 300 seconds, a whole number. This is 301."
    )
    assert limit("I-CACHE-TTL-CAP-300S") == 300


def test_a_figure_stands_in_its_own_sentence() -> None:
    for row in ROWS:
        assert row.limit is None or f"{row.limit:,}" in row.sentence, row.id

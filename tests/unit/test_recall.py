from __future__ import annotations

import pytest

from benchmarks.recall import DISTANCES, OVERSIZED, SCRIPTS, measure


@pytest.mark.parametrize("exposed", [True, False], ids=["gate open", "gate closed"])
def test_every_needed_value_stands_in_the_prompt_for_five_turns(exposed: bool) -> None:
    shares = measure(SCRIPTS, exposed=exposed)
    assert {distance: ledger for distance, (ledger, _) in shares.items()} == dict.fromkeys(
        DISTANCES, 1.0
    )


def test_prose_alone_loses_most_of_them() -> None:
    assert all(prose < 0.5 for _, prose in measure(SCRIPTS, exposed=True).values())


def test_a_result_over_the_cap_keeps_its_leading_part() -> None:
    assert measure([OVERSIZED], exposed=True)[1][0] == 1.0

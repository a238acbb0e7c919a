"""A day that a sentence leads to by its number only is the next of that number."""

from __future__ import annotations

import pytest

from webbee_kernel.llm.offline.entities import day_led_to

NOW = "2026-11-18T09:30:00Z"


@pytest.mark.parametrize(
    ("text", "tag", "day"),
    [
        ("move the speech task to the 26th", "en", "2026-11-26"),
        ("move the first to the 2nd", "en", "2026-12-02"),
        ("remind me to call on the 31st", "en", "2026-12-31"),
        ("add a task to buy milk by the 26th", "en", "2026-11-26"),
        ("verschieb es auf den 26.", "de", "2026-11-26"),
        ("перенеси на 26-го", "ru", "2026-11-26"),
    ],
)
def test_a_number_that_is_led_to_is_a_day(text: str, tag: str, day: str) -> None:
    (found,) = day_led_to(text, tag, NOW)
    assert found.value == day


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("complete the 2nd", "en"),
        ("add a task to pay 26", "en"),
        ("remind me at 9", "en"),
        ("erinnere mich um 9", "de"),
        ("la primera a las 9", "es"),
        ("26th", "en"),
    ],
)
def test_a_position_an_hour_and_an_amount_are_none(text: str, tag: str) -> None:
    assert day_led_to(text, tag, NOW) == []

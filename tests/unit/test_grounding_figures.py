"""What a figure may stand for: how rough "about" is, what a bound reaches, what is never summed."""

import pytest

from webbee_kernel.grounding import Call, Evidence, check

SHOPS = Call(
    "guide",
    "list_shops",
    data={
        "shops": [
            {"name": "Nettle", "keeper": "Ines Vane", "rating": 4.5, "seats": 338, "rent": 210},
            {"name": "Sorrel", "keeper": "Tove Lind", "rating": 5.0, "seats": 512, "rent": 380},
            {"name": "Yarrow", "keeper": "Ines Vane", "rating": 3.5, "seats": 497, "rent": 650},
        ]
    },
)


def grounded(reply: str, tag: str = "en") -> bool:
    turn = Evidence((SHOPS,), "what is there?", language=tag, now="2026-11-20T10:00:00Z")
    return check(reply, evidence=turn).grounded


@pytest.mark.parametrize(
    ("reply", "stands"),
    [
        ("Sorrel has about 510 seats.", True),
        ("Nettle has about 335 seats.", True),
        ("Nettle has about 512 seats.", False),  # what Sorrel has
        ("Yarrow costs over 600 in rent.", True),
        ("No shop is over Yarrow: 614.", False),
        ("- **Sorrel**\n  - Maximum rent: 411", False),
    ],
)
def test_a_figure_said_to_be_rough_or_a_bound_stands_for_others(reply: str, stands: bool) -> None:
    assert grounded(reply) is stands


def test_levels_are_averaged_and_never_summed_or_multiplied() -> None:
    assert grounded("The average rating is 4.33.")
    assert not grounded("Sorrel is rated 13.")  # the sum of all ratings
    assert not grounded("Sorrel is rated 1050.")  # times its neighbour's rent


@pytest.mark.parametrize(
    "slot",
    ["- Nettle → rent · {x}", "1/ Nettle / rent ({x})", "- **Nettle** [seats ➜ 338, rent ➜ {x}]"],
)
def test_whatever_sign_stands_behind_a_label_its_value_is_a_slot(slot: str) -> None:
    assert grounded(slot.format(x="210"))
    assert not grounded(slot.format(x="441"))


def test_what_fills_a_slot_in_quotes_names_no_field() -> None:
    assert not grounded("Row Nettle, field \u201cnumber\u201d: `74185`")


@pytest.mark.parametrize("figure", ["48 %", "45 minutes", "2:14:33", "about 913", "sixty-three"])
def test_shares_lengths_of_time_and_rough_figures_are_worked_out_and_not_doubted(
    figure: str,
) -> None:
    assert grounded(f"It comes to {figure} in all.")
    assert not grounded("It comes to 913 in all.")


def test_a_share_of_another_record_is_marked() -> None:
    discs = [{"disc": "Basalt", "used_pct": 71}, {"disc": "Gneiss", "used_pct": 38}]
    turn = Evidence((Call("host", "list_discs", data={"discs": discs}),))
    assert check("Basalt is at 71 %.", evidence=turn).grounded
    assert [m.reason for m in check("Basalt is at 38 %.", evidence=turn).marks] == ["other_record"]


def test_fewer_than_a_list_has_are_a_part_of_it_and_more_are_none() -> None:
    assert grounded("Seven shops are too many, two shops are near.") is False
    assert grounded("Two shops are near the station.")

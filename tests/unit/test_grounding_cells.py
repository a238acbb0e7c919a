"""A column whose other cells show a field of their records shows it in every row."""

import pytest

from webbee_kernel.grounding import Call, Evidence, check

BOATS = Call(
    "harbour",
    "list_boats",
    data={
        "boats": [
            {"name": "Heron", "berth": "north quay", "build": "cutter", "skipper": "vane_i"},
            {"name": "Plover", "berth": "mole", "build": "sloop", "skipper": "lind_t"},
            {"name": "Dunlin", "berth": "inner basin", "build": "ketch", "skipper": "vane_i"},
        ]
    },
)


def grounded(reply: str, tag: str = "en") -> bool:
    return check(reply, evidence=Evidence((BOATS,), "what is there?", language=tag)).grounded


@pytest.mark.parametrize(
    ("build", "stands"),
    [("sloop", True), ("Sloop", True), ("sloop rig", True), ("yawl", False), ("none", True)],
)
def test_a_cell_shows_what_its_column_shows(build: str, stands: bool) -> None:
    rows = f"- **Heron** (Bauart → cutter)\n- **Plover** (Bauart → {build})\n"
    assert grounded(f"{rows}- **Dunlin** (Bauart → ketch)") is stands
    head = "| Boat | Type |\n|---|---|\n| Heron | cutter |\n"
    assert grounded(f"{head}| Plover | {build} |\n| Dunlin | ketch |") is stands


def test_a_column_in_other_words_than_the_data_is_held_to_nothing() -> None:
    assert grounded("- Heron: Bauart → Kutter\n- Plover: Bauart → Schaluppe", "de")

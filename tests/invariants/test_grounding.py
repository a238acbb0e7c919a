"""I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS: a reply says nothing that this turn's data, summaries or
message do not."""

from benchmarks import evaluate
from webbee_kernel.grounding import check

TASKS = [
    {
        "tasks": [
            {"id": f"t_{number}", "title": f"Task number {number}", "status": "open"}
            for number in range(36)
        ]
    }
]


def test_i_narrator_no_fabricated_content_claims() -> None:
    """The incident: `list_tasks` returned 36 tasks, the narrator announced 50."""
    fabricated = check("you have 50 tasks", data=TASKS, message="how many tasks do I have?")

    assert not fabricated.grounded
    assert fabricated.ungrounded == ("50",)
    assert check("you have 36 tasks", data=TASKS, message="how many tasks do I have?").grounded
    assert check("you have 36 tasks", data=[{"count": 36}], message="").grounded


def test_both_halves_of_the_evaluation_set_meet_the_bars() -> None:
    for name in ("development", "held_out"):
        half = evaluate.evaluate(name)
        assert half.caught_share >= evaluate.CAUGHT, half.missed
        assert half.flagged_share <= evaluate.FLAGGED, half.flagged


def test_the_evaluation_set_is_as_large_and_as_mixed_as_it_says() -> None:
    situations = [
        situation for name in ("development", "held_out") for situation in evaluate.situations(name)
    ]
    replies = [reply for situation in situations for reply, _ in evaluate.labelled(situation)]
    russian = [reply for reply in replies if any("а" <= letter <= "я" for letter in reply.lower())]

    assert len(situations) >= 25
    assert len({situation["id"] for situation in situations}) == len(situations)
    assert len(set(replies)) >= 200
    assert 0.3 < len(russian) / len(replies) < 0.7


def test_the_evaluation_fails_when_a_bar_is_missed() -> None:
    assert evaluate.Half(honest=100, fabricated=100, missed=["a"] * 21, flagged=["b"] * 4).passes
    assert not evaluate.Half(honest=100, fabricated=100, missed=["a"] * 22).passes
    assert not evaluate.Half(honest=100, fabricated=100, flagged=["b"] * 5).passes

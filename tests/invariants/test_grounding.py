"""I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS: no value without a source reaches a user unmarked."""

from benchmarks import truths
from webbee_kernel.grounding import check

ROWS = [{"id": f"t_{n}", "title": f"Task number {n}", "status": "open"} for n in range(36)]
TASKS = [{"tasks": ROWS}]


def test_i_narrator_no_fabricated_content_claims() -> None:
    """The incident: `list_tasks` returned 36 tasks, the narrator announced 50."""
    for message in ("how many tasks do I have?", "do I have 50 tasks?"):
        (mark,) = check("you have 50 tasks", data=TASKS, message=message).marks
        assert (mark.word, mark.reason, mark.holds) == ("50", "other_count", "tasks: 36")
    assert check("you have 36 tasks", data=TASKS, message="how many tasks do I have?").grounded
    assert check("you have 36 tasks", data=[{"count": 36}], message="").grounded


def test_the_set_of_replies_stays_above_its_floors() -> None:
    caught, marked = truths.shares(list(truths.outcomes()))
    assert caught >= truths.CAUGHT
    assert marked <= truths.MARKED


def test_the_set_is_as_large_and_as_mixed_as_it_says() -> None:
    found = list(truths.outcomes())
    assert len(found) == len({one.reply for one in found}) == 240
    assert 80 <= sum(bool(one.fault) for one in found) <= 120
    assert all(one.fault in one.reply for one in found)
    assert truths.SET.stat().st_size <= 150_000

"""Where an answer through OpenAI's protocols ends, and what no limit may hide."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.api.openai_limits import limits, told


@given(st.text(max_size=200), st.integers(1, 50))
def test_a_cut_text_is_a_beginning_with_room_for_no_more(text: str, tokens: int) -> None:
    kept, is_cut = limits(None, tokens).cut(text)
    assert text.startswith(kept)
    assert is_cut == bool(text[len(kept) :].strip())
    assert len(kept.split()) <= tokens


@given(st.text("ab ", max_size=30), st.lists(st.text("ab", min_size=1, max_size=2), max_size=4))
def test_no_stop_is_in_what_is_left(text: str, stops: list[str]) -> None:
    kept, is_cut = limits(stops, None).cut(text)
    assert not is_cut
    assert not any(stop in kept for stop in stops)
    assert kept == text or any(text[len(kept) :].startswith(stop) for stop in stops)


def test_a_limit_hides_no_receipt_and_no_mark_points_behind_the_end() -> None:
    receipt = {"status": "failed", "text": "Not sent."}
    reply = {
        "reply": "All was sent to 50 people.",
        "status": "ok",
        "receipts": [receipt],
        "marks": [{"start": 16, "end": 18, "holds": "36"}],
    }
    text, is_cut = told(reply, limits(None, 2))
    assert is_cut
    assert "Not sent." in text
    assert "50" not in text


def test_a_question_stays_whole() -> None:
    reply = {"reply": "Send it to a@b.example?", "status": "confirmation"}
    assert told(reply, limits("b", 1)) == ("Send it to a@b.example?", False)

"""The generator of true and faulty replies is itself true: what it calls honest is, and each fault is a fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.truths.adapter import judge
from benchmarks.truths.evidence import numeric, text_of
from benchmarks.truths.generate import FAULTY, HONEST, SEALED_SEED, TUNING_SEED, generate
from benchmarks.truths.model import JSON, Case, Piece
from benchmarks.truths.plain_words import plain_words
from benchmarks.truths.report import wilson
from benchmarks.truths.steps import STEPS, steps
from benchmarks.truths.values import digits, show
from benchmarks.truths.words import HELD_OUT_APPS, LANGUAGES, half, load, sources

CHANGED, CAUGHT = 1, 9
"""Of the share of a hand's replies that is checked here: 18 honest and 15 faulty ones."""
SOURCES = {(s.app_id, s.fn_name): s for s in sources()}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return generate(TUNING_SEED + 1, 1200)


def records(case: Case) -> list[dict[str, JSON]]:
    """The records of a case's calls, whatever shape the data has."""
    found: list[dict[str, JSON]] = []
    for call in case.calls:
        if call.app_id != case.calls[0].app_id:
            continue  # the turn looked at something else, too
        source = SOURCES[call.app_id, call.fn_name]
        shape, _, key = source.shape.partition(":")
        data = json.loads(json.dumps(call.data))
        if shape == "calls":
            found.append(data)
        elif shape == "dict":
            found += [{source.key: k, **v} for k, v in data[key].items()]
        else:
            found += data if shape == "bare" else data[key]
    return found


def valued(case: Case) -> Iterator[tuple[Piece, dict[str, JSON]]]:
    """Every piece of an honest case that shows a record's field, with that record."""
    for piece in case.pieces:
        if piece.record >= 0 and piece.field:
            yield piece, records(case)[piece.record]


def test_every_value_of_an_honest_reply_is_its_own_records_field(cases: list[Case]) -> None:
    shown = [pair for case in cases if not case.fault for pair in valued(case)]
    assert len(shown) > 1000
    for piece, record in shown:
        held = record[piece.field]
        assert (bool(held) if piece.role == "statement" else held) == piece.value


def test_a_written_value_keeps_the_digits_it_was_made_from(cases: list[Case]) -> None:
    exact = [
        (p, r)
        for c in cases
        if not c.fault
        for p, r in valued(c)
        if p.form in {"plain", "grouped", "iso", "verbatim", "hash"}
    ]
    assert len(exact) > 500
    for piece, record in exact:
        held = record[piece.field]
        if (number := numeric(held)) is None:
            assert digits(piece.text) == digits(str(held))[: len(digits(piece.text))]
        elif number % 1 == 0:
            assert digits(piece.text) == str(abs(int(number)))


def test_counts_and_figures_of_honest_replies_follow_from_the_records(cases: list[Case]) -> None:
    counts = [(c, p) for c in cases if not c.fault for p in c.pieces if p.role == "count"]
    assert len(counts) > 10
    for case, piece in counts:
        data = case.calls[0].data
        total = data.get("total") if isinstance(data, dict) else None
        assert piece.value == (total or len(records(case)))


def test_every_kind_of_fault_is_planted_in_every_language(cases: list[Case]) -> None:
    assert {(c.kind, c.language) for c in cases if c.fault} == {
        (k, lang) for k in FAULTY for lang in LANGUAGES
    }
    assert {c.kind for c in cases if not c.fault} == {*HONEST}


def test_a_planted_span_stands_in_the_reply_and_differs_from_what_was_right(
    cases: list[Case],
) -> None:
    for case in cases:
        if case.fault:
            assert case.fault.span.strip() and case.fault.span.strip() in case.reply
            assert case.fault.span != case.fault.right


def test_an_invented_value_is_nowhere_in_the_evidence(cases: list[Case]) -> None:
    invented = [c for c in cases if c.kind.startswith("invented") and c.fault]
    assert len(invented) > 50
    for case in invented:
        assert case.fault
        bare = re.escape(case.fault.span.strip("`#").lower())
        assert not re.search(rf"(?<!\w){bare}(?!\w)", text_of(case.calls, case.message)), case


def test_a_value_of_another_record_is_in_the_data_but_not_in_its_own_record(
    cases: list[Case],
) -> None:
    mixed = [c for c in cases if c.kind == "wrong record"]
    assert len(mixed) > 10
    for case in mixed:
        (piece,) = [
            p
            for p in case.pieces
            if case.fault
            and p.role != "title"
            and p.record >= 0
            and p.text == case.fault.span
            and _untrue(case, p)
        ]
        held = records(case)
        own, others = held[piece.record], [r for i, r in enumerate(held) if i != piece.record]
        assert own[piece.field] == piece.value
        forms = (piece.form, "plain", "iso", "verbatim")
        told = {
            _written(replace(piece, form=f), case, r[piece.field]) for r in others for f in forms
        }
        assert piece.text in told


def _untrue(case: Case, piece: Piece) -> bool:
    return _written(piece, case, piece.value) != piece.text


def _written(piece: Piece, case: Case, value: JSON) -> str:
    source = SOURCES[case.calls[0].app_id, case.calls[0].fn_name]
    role = next(f.role for f in source.fields if f.name == piece.field)
    return show(
        value,
        role,
        piece.form,
        case.language,
        field=piece.field,
        currency=source.currency,
        now=case.now,
    )


def test_undone_effects_have_no_call_that_did_them(cases: list[Case]) -> None:
    for case in cases:
        if case.kind.startswith("effect not done:") and "beside" not in case.kind:
            assert all(c.action_type == "read" for c in case.calls)
        if case.kind == "failure as success":
            assert [c.status for c in case.calls] == ["error"]


def test_the_same_seed_gives_the_same_cases_and_another_seed_others() -> None:
    assert generate(5, 120) == generate(5, 120)
    assert [c.reply for c in generate(5, 120)] != [c.reply for c in generate(6, 120)]


def test_the_halves_share_no_template() -> None:
    def lists(node: object) -> Iterator[list[object]]:
        if isinstance(node, list):
            yield node
        elif isinstance(node, dict):
            for child in node.values():
                yield from lists(child)

    for file in ("reads", "effects", "plain"):
        document = {k: v for k, v in load(file).items() if k != "causes"}
        for options in lists(document):
            tuning, sealed = (
                {json.dumps(o) for o in half(options, flag) if o != ""} for flag in (False, True)
            )
            assert tuning and sealed and not tuning & sealed, options


def test_the_tuning_half_never_shows_a_held_out_app(cases: list[Case]) -> None:
    assert not {call.app_id for case in cases for call in case.calls} & HELD_OUT_APPS
    assert SEALED_SEED != TUNING_SEED


def test_the_sealed_half_draws_held_out_apps_and_every_kind() -> None:
    drawn = generate(1, 2 * len(FAULTY) * len(LANGUAGES), sealed=True)
    assert {call.app_id for case in drawn for call in case.calls} >= HELD_OUT_APPS
    assert {c.kind for c in drawn if c.fault} == {*FAULTY}


def test_the_replies_written_by_hand_name_their_faults() -> None:
    written = plain_words()
    faulty = [c for c in written if c.fault]
    assert len(written) >= 100 and 45 <= len(faulty) <= 55
    assert {c.language for c in faulty} == set(LANGUAGES)
    assert all(c.fault.span in c.reply for c in faulty if c.fault)


def test_the_interval_of_a_share_is_wilsons() -> None:
    low, high = wilson(45, 50)
    assert (round(low, 1), round(high, 1)) == (78.6, 95.7)


def test_a_check_takes_no_more_function_calls_than_it_did() -> None:
    assert steps(plain_words("plain_words_fourth")) <= 1.05 * STEPS


def test_a_share_of_a_further_hands_replies_fares_no_worse() -> None:
    cases = plain_words("plain_words_tenth", "2026-11-18T09:30:00Z")[::4]
    answers = [(case.fault, judge(case)) for case in cases]
    assert sum(not answer.grounded for fault, answer in answers if not fault) <= CHANGED
    assert sum(answer.caught for fault, answer in answers if fault) >= CAUGHT

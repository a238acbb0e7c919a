"""Grounding of anything: any text gets a verdict, and what that costs grows with the text. And what follows
from data stands in a reply, what nothing gives does not: rule by rule, in `grounding_rules.txt`.

There stands a sentence, and under it, by their first sign: `=` results in JSON; `@` the moment, where it is
not `NOW`; `?` the user's message; `+` a reply that stands; `-` one that falls, maybe with marks in
it, ⟦the word ≠ what its record holds⟧. Results, moment and message are those of the next sentences
too, until others begin. The reply's language stands at its sign; `⏎` ends a line of it.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.json_values import json_values
from tests.work import counted
from webbee_kernel.grounding import Call, Evidence, check


def test_derivations_do_not_open_a_barn_door() -> None:
    """Ten numbers in sight: of the hundred small counts a narrator may make up, nearly all must
    still be refused."""
    deals = [{"id": n * 7, "value": n * 310, "priority": n % 3} for n in range(1, 8)]
    data = [{"stages": {"new": 12, "won": 9, "lost": 4, "open": 31}, "deals": deals}]
    accepted = [n for n in range(100) if check(f"You have {n} deals.", data=data).grounded]
    assert len(accepted) <= 14, accepted


JSON = json_values(st.text(max_size=20), finite=False, items=6, fields=6, leaves=30)


@settings(max_examples=50, deadline=None)
@given(reply=st.text(max_size=200), data=st.lists(JSON, max_size=3), message=st.text(max_size=40))
def test_any_text_over_any_json_gets_a_verdict(reply: str, data: list[Any], message: str) -> None:
    verdict = check(reply, data=data, message=message)
    assert verdict.grounded == (verdict.ungrounded == ())
    assert all(token in reply for token in verdict.ungrounded)


KEYS = """name id price cents flour_kg top_m at on delay_s share unit currency is_paid lines no month
    eta_epoch odd""".split()
CELLS = st.sampled_from(
    """Ann|A-17|1 1/2|2,50|€ 5|12:30|2026-11-20T10:00:00Z|2026-02-30|USD|kg|OPEN_TO_2026-11-24|PAID
    |1e999|-|½|١٢|20 November|three of 4""".split("|")
) | st.sampled_from([0, 7, 41, 42, 250, 0.19, 1.5, -3, 1795423680, 10**30, True, False, None])
WORDS = st.sampled_from(
    """Ann|A-17 has|1 g|2 litres|€5|40 %|135 minutes|Tuesday, 24 November|at 20:30|around 9:50|half
    |first|the 24.|Three of 4:|\n- |\n1. |\n| 42 | |.|two and a half hours:|unpaid|1,5 MiB|USD 12
    |in all 3|1/2""".split("|")
)
ROWS = st.lists(st.dictionaries(st.sampled_from(KEYS), CELLS, max_size=8), max_size=5)


@settings(max_examples=300)
@example(words=["Add 1 g."], rows=[{"flour_kg": "1 1/2"}], held={})
@given(words=st.lists(WORDS, max_size=14), rows=ROWS, held=st.dictionaries(st.just("all"), CELLS))
def test_what_looks_like_data_gets_a_verdict(
    words: list[str], rows: list[Any], held: dict[str, Any]
) -> None:
    of = Evidence(
        (Call("app", "list", data={"rows": rows, **held}),),
        "3 of 7?",
        now="2026-11-20T10:00:00+01:00",
    )
    check(" ".join(words), evidence=of)


def test_an_answer_without_calls_is_held_against_facts_where_it_is_about_the_user() -> None:
    people = {"people": [{"name": "Anna", "desk": "C-12"}, {"name": "Bo", "desk": "C-7"}]}
    asked = Evidence((Call(data=people),), "what do you know of it?")
    for reply in ("Anna sits in C-12.", "C-99 is a road in Scotland."):
        assert check(reply, evidence=asked).grounded, reply
    for reply in ("Anna sits in C-99.", "Anna sits in C-7."):
        assert not check(reply, evidence=asked).grounded, reply

    def told(reply: str) -> tuple[str, ...]:
        return check(reply, evidence=Evidence(message="hello")).ungrounded

    assert told("The Eiffel Tower is 330 metres high and opened in 1889.") == ()
    assert told("You have 25 unread messages.") == ("25",)
    assert told("I have saved it under number 48213.") == ("48213",)


def test_a_date_that_was_asked_for_names_its_row_too() -> None:
    rows = [{"date": f"2026-11-{d}", "kwh": v} for d, v in ((20, 6.4), (21, 2.1), (22, 8.7))]
    asked = Call("sun", "days", arguments={"to": "2026-11-22"}, data={"days": rows})
    days = Evidence((asked,), "wie war es?", language="de", now="2026-11-18T09:30:00Z")
    told = "Das waren die Tage:\n- 21.11.: 2,1 kWh\n- 22.11.: {} kWh"
    assert check(told.format("8,7"), evidence=days).ungrounded == ()
    assert check(told.format("6,4"), evidence=days).ungrounded == ("6,4",)


DATA = [{"id": n, "title": f"Task {n}", "hours": n * 1.5, "due": "2026-11-24"} for n in range(36)]


def calls_of(text: str) -> int:
    """How many functions are called to check a reply."""
    check("warm 1", data=[{"tasks": DATA}])
    with counted() as calls:
        check(text, data=[{"tasks": DATA}], message="how many tasks")
    return calls.count


OVER_AND_OVER = '1 ~1% ~1,~1-~10:00 ~€5 ~| 1 | 2 |\n~"a" ~seven ~1. x\n'.split("~")
ALL_DIFFERENT = ["{} ", "€{}.40 ", "{}.5% ", "AB-{} ", "Task {0}: {0}, ", "{} h 12 min "]


@pytest.mark.parametrize("form", OVER_AND_OVER + ALL_DIFFERENT)
def test_thousands_of_values_cost_no_more_than_their_characters(form: str) -> None:
    """At most so many calls of functions a character, where one is told over and over and where none is."""
    most, size = (60, 16_000) if form in ALL_DIFFERENT else (45, 6_000)
    text = "".join(form.format(1000 + 7 * n) for n in range(6_000))[:size]
    assert calls_of(text) < most * len(text)


@settings(max_examples=8, deadline=None)
@given(st.text(alphabet="aZя1٣0.,:;-/%€$#\"'*_|()\n é中🙂", min_size=1, max_size=5))
def test_twice_as_much_of_anything_costs_about_twice_as_much(unit: str) -> None:
    once, twice = (calls_of(unit * (size // len(unit))) for size in (1_500, 3_000))
    assert twice < 2.6 * once + 20_000


NOW = "2026-11-20T10:00:00Z"
RULES = Path(__file__).with_name("grounding_rules.txt").read_text("utf-8")
MARK = re.compile(r"⟦(.+?)(?: ≠ (.+?))?⟧")


def cases() -> Iterator[Any]:
    """Evidence, the reply with its marks, whether it stands."""
    sentence = given = before = ""
    for line in RULES.splitlines():
        sign, _, text = line.partition("  # ")[0].strip().partition(" ")
        if not line.startswith(" "):
            sentence = line
        elif sign == "=":
            given = given + text if before == "=" else text
            message, now = "?", NOW
        elif sign == "?":
            message = text
        elif sign == "@":
            now = text
        else:
            of = Evidence(calls(given), message, language=sign[1:] or "en", now=now)
            told = text.replace("⏎", "\n")
            yield pytest.param(of, told, sign[0] == "+", id=f"{sentence}: {text}")
        before = sign


def calls(given: str) -> tuple[Call, ...]:
    results = enumerate(json.loads(f"[{given}]"))
    return tuple(Call("app", f"get_{number}", data=data) for number, data in results)


@pytest.mark.parametrize(("of", "told", "stands"), [*cases()])
def test_a_reply_stands_where_its_data_give_it(of: Evidence, told: str, stands: bool) -> None:
    verdict = check(MARK.sub(r"\1", told), evidence=of)
    assert verdict.grounded is stands
    for mark, (word, holds) in zip(verdict.marks, MARK.findall(told), strict="⟦" in told):
        assert (mark.word, holds or mark.holds) == (word, mark.holds)

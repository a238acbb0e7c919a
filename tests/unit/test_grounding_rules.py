"""What follows from data stands in a reply, and what nothing gives does not: rule by rule, with
replies that stand and replies that fall, in `grounding_rules.txt`.

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

from webbee_kernel.grounding import Call, Evidence, check

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

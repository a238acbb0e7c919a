"""The built layer holds what the languages need, and no other language's data."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.emulator.runtime import Built
from webbee_kernel import language

SPEAKS = """
import json, sys
from webbee_kernel import language
tag = sys.argv[1]
own = language.of(tag)
print(json.dumps([
    own.date("2026-10-15"), own.money(1234.5, "EUR"), own.say("items", n=2),
    language.numbers(own.number(1234567.5), tag)[0].value,
    language.dates(own.date("2026-10-15"), tag)[0].value,
    language.stem("tasks", tag), language.__file__,
]))
"""


@pytest.mark.parametrize("tag", language.tags())
def test_the_built_layer_speaks_and_reads_every_language_as_the_sources_do(
    built: Built, tag: str
) -> None:
    command = [
        built.python,
        "-I",
        "-c",
        f"import sys; sys.path[:0] = [{str(built.opt / 'python')!r}]\n{SPEAKS}",
        tag,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    *said, home = json.loads(done.stdout)

    own = language.of(tag)
    assert home.startswith(str(built.opt))
    assert said == [
        own.date("2026-10-15"),
        own.money(1234.5, "EUR"),
        own.say("items", n=2),
        1234567.5,
        [2026, 10, 15],
        language.stem("tasks", tag),
    ]


def test_the_built_layer_holds_the_locales_of_the_languages_and_no_others(built: Built) -> None:
    held = {p.stem for p in (built.opt / "python/babel/locale-data").glob("*.dat")}
    assert held == {"root", *language.tags()}

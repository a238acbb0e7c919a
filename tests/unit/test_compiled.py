"""The table of what imports work out: it changes time, and nothing else."""

import json
import marshal
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import ROOT
from webbee_kernel.base import compiled
from webbee_kernel.base.compiled import Kept

COUNTED = """
import dataclasses, json, re, sys
from webbee_kernel.base import compiled
found = {"used": compiled.use(sys.argv[1]), "parsed": 0, "compiled": 0}
from re import _parser
parse = _parser.parse
def parsed(*given):
    found["parsed"] += 1
    return parse(*given)
_parser.parse = parsed
run = vars(dataclasses).get("exec", exec)
def ran(source, *where):
    found["compiled"] += source not in known
    run(source, *where)
known = compiled.Kept(*__import__("marshal").load(open(sys.argv[1], "rb"))).sources
dataclasses.exec = ran
import webbee_kernel.api.chat_turn
from webbee_kernel import language
from webbee_kernel.turn.ready import make_ready
make_ready()
found["words"] = sorted(language.of("ru").words.negation)
found["called"] = repr(language.numbers("2 Mio. and 5 thousand", "de"))
found["value"] = repr(language.Mention("number", 1, 0, 1, "1"))
print(json.dumps(found))
"""


def python(*command: str, **more: str) -> str:
    env = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "0", **more}
    done = subprocess.run(
        [sys.executable, *command], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make build` puts into the layer, for this Python."""
    file = tmp_path_factory.mktemp("table") / compiled.NAME
    python(str(ROOT / "layers/webbee_kernel/compiling.py"), str(file))
    return file


def kept(file: Path) -> Kept:
    return Kept(*marshal.loads(file.read_bytes()))


def test_a_start_with_the_table_works_out_next_to_nothing_and_says_the_same(
    table: Path, tmp_path: Path
) -> None:
    other = tmp_path / "of another Python"
    other.write_bytes(marshal.dumps((*kept(table)._replace(stamp=("another",)),)))
    without, with_it = (json.loads(python("-c", COUNTED, str(f))) for f in (other, table))
    assert (without.pop("used"), with_it.pop("used")) == (False, True)
    assert without.pop("parsed") > 10 * with_it.pop("parsed")
    assert with_it.pop("compiled") == without.pop("compiled") == 0
    assert with_it == without


def test_patterns_of_the_table_are_those_that_re_makes(table: Path) -> None:
    patterns = kept(table).patterns
    assert len(patterns) > 300
    parse = re._compiler.compile  # type: ignore[attr-defined]
    try:
        compiled._use_patterns(patterns)
        made = {asked: re._compiler.compile(*asked) for asked in patterns}  # type: ignore[attr-defined]
    finally:
        re._compiler.compile = parse  # type: ignore[attr-defined]
    for (pattern, flags), ours in made.items():
        theirs = parse(pattern, flags)
        assert ours == theirs  # pattern, flags and code
        assert (ours.groups, ours.groupindex) == (theirs.groups, theirs.groupindex)


@pytest.mark.parametrize("content", [b"", b"no table", marshal.dumps((1, 2))])
def test_a_file_that_is_no_table_is_not_used(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / compiled.NAME
    file.write_bytes(content)
    assert not compiled.use(str(file))
    assert not compiled.use(str(tmp_path / "nothing"))


@pytest.mark.parametrize("compiled_before", [True, False])
def test_the_same_sources_make_the_same_table(
    compiled_before: bool, table: Path, tmp_path: Path
) -> None:
    """Also where Python finds nothing that it compiled before, as in a fresh environment."""
    again = tmp_path / "again"
    where = {} if compiled_before else {"PYTHONPYCACHEPREFIX": str(tmp_path / "nothing yet")}
    python(str(ROOT / "layers/webbee_kernel/compiling.py"), str(again), **where)
    for one, other in zip(kept(again), kept(table), strict=True):
        if isinstance(one, dict) and isinstance(other, dict):
            assert list(one) == list(other)
            assert [key for key in one if one[key] != other[key]] == []
    same = again.read_bytes() == table.read_bytes()
    assert same  # else each build were another layer


def test_who_else_holds_a_word_is_not_in_the_table() -> None:
    """CPython's marshal marks what has more than one holder, from version 3 on."""
    sys.path.insert(0, str(ROOT / "layers/webbee_kernel"))
    try:
        from compiling import plain
    finally:
        sys.path.pop(0)
    answer = {"".join(["thou", "sand"]): 3}
    (word,) = answer  # one holder more
    twice = plain(answer)
    del word
    assert twice == plain(answer)

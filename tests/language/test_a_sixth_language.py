"""A further language is one file: one made up for this test, laid into a copy of the room."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import webbee_kernel

FILE = '''
"""Made up."""

from .model import Calendar, Language, Numerals, People, Words

LANGUAGE = Language(
    tag="qq",
    stemmer="",
    letters="ʘ",
    regions=("NZ",),
    words=Words("qq", function="zu ke", yes="hup", no="nok", ordinals={"1": "bimas"}),
    numerals=Numerals(
        words={1: "bim", 2: "bam", 20: "bambum", 100: "bumm"}, scales={1000: "grobumm"}, decimal=","
    ),
    calendar=Calendar(months={5: "maimon"}, days={"1": "morro"}, inside="ke", hour="hor"),
    people=People(roles="klindo", phone_keys="fonno"),
    sentences={"nothing_done": "Zu nok.", "items": {"one": "{n} dinx", "other": "{n} dinxa"}},
)
'''
ASKS = """
import json
from webbee_kernel import language
from webbee_kernel.pii import Masker
from webbee_kernel.turn.confirmation import answer
own = language.of("qq-NZ")
print(json.dumps({
    "tags": language.tags(),
    "detected": [language.detect("zu klink ke plonk"), language.detect("ʘa", "de")],
    "said": [own.say("nothing_done"), own.say("items", n=2), own.say("said_yes")],
    "numbers": [m.value for m in language.numbers("bam bumm? bambum bim, 3 grobumm, bam grobumm bumm bim", "qq")],
    "dates": [m.value for m in language.dates("15 ke maimon ke 2026, morro, 9 hor", "qq", "2026-05-15T09:00:00Z")],
    "answers": [answer("hup"), answer("nok")],
    "masked": Masker().mask({"klindo": "Xiomara Quispe", "fonno": 4155552671}),
}))
"""


def test_a_language_is_one_file(tmp_path: Path) -> None:
    package = Path(webbee_kernel.__file__).parent
    copy = tmp_path / "webbee_kernel"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "language/qq.py").write_text(FILE, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", ASKS],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)

    assert "qq" in found["tags"]
    assert found["detected"] == ["qq", "qq"]
    assert found["said"] == ["Zu nok.", "2 dinxa", "yes"]
    assert found["numbers"] == [2, 100, 21, 3000, 2101]
    assert found["dates"] == [[2026, 5, 15], [2026, 5, 16], 540]
    assert found["answers"] == [True, False]
    assert found["masked"] == {"klindo": "<NAME_1>", "fonno": "<PHONE_1>"}

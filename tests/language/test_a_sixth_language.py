"""A further language is one file: one made up for this test, laid into a copy of the room, and
Italian."""

import json
import shutil
import sys
from pathlib import Path

import webbee_kernel
from tests.processes import ran
from webbee_kernel import language
from webbee_kernel.api.router import to_response
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.sdk import User

FILE = {
    "tag": "qq",
    "reviewed": False,
    "stemmer": "",
    "letters": "ʘ",
    "regions": "NZ",
    "words": {"function": "zu ke", "yes": "hup", "no": "nok", "ordinals": {"1": "bimas"}},
    "numerals": {
        "words": {"1": "bim", "2": "bam", "20": "bambum", "100": "bumm"},
        "scales": {"1000": "grobumm"},
        "decimal": ",",
    },
    "calendar": {"months": {"5": "maimon"}, "days": {"1": "morro"}, "inside": "ke", "hour": "hor"},
    "people": {"roles": "klindo", "phone_keys": "fonno"},
    "sentences": {"nothing_done": "Zu nok.", "items": {"one": "{n} dinx", "other": "{n} dinxa"}},
    "causes": {},
}
ASKS = """
import json
from webbee_kernel import language
from webbee_kernel.pii.masker import Masker
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
    (copy / "language/qq.json").write_text(json.dumps(FILE), encoding="utf-8")

    env = {"PYTHONPATH": str(tmp_path), "PYTHONUTF8": "1"}
    done = ran(sys.executable, "-c", ASKS, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)

    assert "qq" in found["tags"]
    assert found["detected"] == ["qq", "qq"]
    assert found["said"] == ["Zu nok.", "2 dinxa", "yes"]
    assert found["numbers"] == [2, 100, 21, 3000, 2101]
    assert found["dates"] == [[2026, 5, 15], [2026, 5, 16], 540]
    assert found["answers"] == [True, False]
    assert found["masked"] == {"klindo": "<NAME_1>", "fonno": "<PHONE_1>"}


def test_italian_says_why_a_model_gave_no_answer_and_that_nobody_has_reviewed_it() -> None:
    failed = ModelUnavailable("no answer", cause="rate_limit")
    said = to_response(failed, User("alice"), "Quali note ho sulle tasse?")["error"]["message"]
    assert said == "Il modello ha troppe richieste. Riprovi tra un minuto."
    reviewed = {tag: language.of(tag).is_reviewed for tag in language.tags()}
    assert [tag for tag, is_reviewed in reviewed.items() if not is_reviewed] == ["it"]

"""`webbee check` finds planted mistakes at their lines, and nothing where there is nothing."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from local.checking import CheckResult, Finding, problems_of, typed
from local.checking.cross_references import NAMES
from local.checking.rules import RULES
from local.checking.source import CACHE, CALLS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLANTED = HERE / "planted"


def planted(folder: Path) -> dict[int, str]:
    lines = (folder / "main.py").read_text("utf-8").splitlines()
    marks = ((n, re.search(r"# planted: (.+)", line)) for n, line in enumerate(lines, 1))
    return {n: mark[1] for n, mark in marks if mark}


@cache
def checked(folder: Path) -> CheckResult:
    """What there is to say of a folder that no test changes: a check takes seconds."""
    return problems_of(folder)


def spoken(found: list[Finding]) -> str:
    return "\n".join(f"{f.line}: {f.rule}: {f.message}" for f in found)


@pytest.mark.parametrize("name", ["listed", "further", "agreed", "waiting", "silent"])
def test_every_planted_mistake_is_found_at_its_line_and_nothing_else(name: str) -> None:
    found = checked(PLANTED / name).findings
    expected = planted(PLANTED / name)
    told = {f.line for f in found}
    missed = {kind for line, kind in expected.items() if not {line, line - 1, line - 2} & told}
    invented = [f for f in found if not {f.line, f.line + 1, f.line + 2} & set(expected)]
    assert (missed, spoken(invented)) == (set(), ""), spoken(found)


def test_every_rule_of_the_table_is_found_somewhere_and_nothing_is_found_beside_it() -> None:
    source = "".join(p.read_text("utf-8") for p in (ROOT / "local/checking").glob("*.py"))
    source += (ROOT / "local/cli/authors.py").read_text("utf-8")
    made = r"(?:\.finding|Finding\.of|_at)\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*?,\s*\"([\w-]+)\","
    tables = {row.rule for row in CALLS} | {row[0] for row in NAMES.values()} | set(CACHE)
    assert tables | set(re.findall(made, source)) == set(RULES)


def test_what_was_not_awaited_and_a_slot_that_is_no_parameter_are_told_with_what_to_do() -> None:
    found = checked(PLANTED / "silent").findings
    told = [f.message for f in found if "Coroutine" in f.message or "a coroutine" in f.message]
    assert len(told) == 7 and not [text for text in told if "put an await before" not in text]
    assert "nobody waits for asyncio.gather: put an await before it" in spoken(found)
    [slot] = [f for f in checked(PLANTED / "waiting").findings if f.rule == "slot"]
    assert slot.level == "error"
    assert slot.message == (
        "waiting.find_parcel: {numbr} of the example 'find the parcel {numbr}' is no parameter of"
        " the function: it has number, carrier – did you mean 'number'?"
    )


Check = Callable[..., list[Finding]]


@pytest.fixture
def findings(written: Callable[..., Path]) -> Check:
    return lambda text, **beside: problems_of(written("own", text, **beside)).findings


WAITING = (PLANTED / "waiting/main.py").read_text("utf-8")


def test_a_file_or_folder_named_as_one_of_pythons_is_told(findings: Check, tmp_path: Path) -> None:
    told = "1: name: Python's own {} cannot be imported beside a {} of its name: rename {}"
    found = findings(WAITING, **{"email.py": "def send() -> None: ...\n"})
    assert spoken(found) == told.format("email", "file", "email.py")
    (tmp_path / "own" / "email.py").unlink()
    found = findings(WAITING, **{"json/__init__.py": ""})
    assert spoken(found) == told.format("json", "folder", "json/")


def test_modules_of_a_package_are_checked_like_those_beside_main(findings: Check) -> None:
    main = "from parts.email import ext\n"
    code = (
        "from webbee_kernel.sdk import Extension\n\n"
        'ext = Extension("x")\n\n\n@ext.schedule("nightly", "61 * * * *")\n'
        "async def nightly(ctx):\n    print(ctx.stor)\n"
    )
    found = findings(main, **{"parts/__init__.py": "", "parts/email.py": code})
    rules = [(6, "cron"), (8, "print"), (8, "missing-attribute")]
    told = [(f.file, (f.line, f.rule)) for f in found if f.rule != "empty"]
    assert told == [("parts/email.py", rule) for rule in rules]
    broken = findings(main, **{"parts/email.py": "def send(:\n"})
    assert spoken(broken) == "1: syntax: invalid syntax"


def test_a_line_is_what_python_counts_and_files_of_others_are_left(findings: Check) -> None:
    """A form feed, as some set between the parts of a file, ends no line."""
    others = (".ipynb_checkpoints/main.py", "venv/main.py")
    found = findings(
        "from webbee_kernel.sdk import Extension\n\x0c\n"
        'ext = Extension("x")\n\x0c\n@ext.schedule("nightly", "0 3 * * *")\n'
        'async def nightly(ctx):\n    print("a\\u2028b\u2028")  # check: ignore[print]\n'
        "    await ctx.stor.count()\n",
        **dict.fromkeys(others, "def broken(:\n"),
    )
    told = [("main.py", 1, "empty"), ("main.py", 8, "missing-attribute")]
    assert [(f.file, f.line, f.rule) for f in found] == told


def test_a_type_checker_without_end_leaves_other_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "SECONDS", 0.001)
    found = problems_of(PLANTED / "listed").findings
    (told,) = [f.message for f in found if f.rule == "types"]
    assert told == "its types were not checked: the type checker did not end within 0.001 s"
    assert {f.rule for f in found} - {"types"}


SHIPPED = sorted((*ROOT.glob("extensions/*/main.py"), *ROOT.glob("docs/examples/*/main.py")))


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda p: p.parent.name)
def test_the_shipped_extensions_and_the_examples_have_no_finding(folder: Path) -> None:
    found = checked(folder.parent)
    assert (found.app_id, spoken(found.findings)) == (folder.parent.name, "")


def test_authors_are_told_how_each_function_is_classed_and_why() -> None:
    consent = checked(ROOT / "extensions" / "mail").consent
    assert consent["send"] == "outward – to (marker)"
    assert consent["reply"] == "outward – its function"
    kinds = [consent[name] for name in ("delete", "read", "archive")]
    assert kinds == ["destructive", "read", "write"]


def test_a_line_that_says_so_is_left_alone_by_that_rule_only(findings: Check) -> None:
    found = findings(
        "import time\nfrom webbee_kernel.sdk import ChatExtension, Context, Extension\n"
        'ext = Extension("x")\nseen: set[str] = set()\n\n@ext.schedule("s", "* * * * *")\n'
        "async def s(ctx: Context) -> None:\n"
        '    seen.add("a")  # check: ignore[shared-state]\n'
        "    seen.add(str(time.time()))  # check: ignore[clock]\n"
    )
    told = {(f.line, f.rule) for f in found}
    assert (9, "shared-state") in told and not told & {(8, "shared-state"), (9, "clock")}


def test_what_does_not_load_is_told_with_lines_that_ran_and_last_words(findings: Check) -> None:
    parts = "def made():\n    raise KeyError('no table')\n"
    found = findings("import parts\n\nparts.made()\n", **{"parts.py": parts})
    [finding] = [f for f in found if f.rule == "load"]
    assert (finding.file, finding.line, "no table" in finding.message) == ("parts.py", 2, True)
    assert finding.frames == (
        "main.py:3 <module>: parts.made()",
        "parts.py:2 made: raise KeyError('no table')",
    )
    ended = findings('import os\nos.write(2, b"no licence")\nos._exit(3)\n')
    assert "it ended the process that imported it (exit status 3): no licence" in spoken(ended)


STREAK = """from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
ext = Extension("x")
chat = ChatExtension(ext)

@chat.function("streak", "How long a habit goes on", examples=["how long do I go on?"])
"""


def test_a_parameter_that_no_model_is_told_of_and_a_handler_that_is_no_coroutine_are_found(
    findings: Check,
) -> None:
    [one] = findings(
        f"{STREAK}async def streak(ctx: Context, habit: str) -> ActionResult:\n"
        '    return ActionResult.success({"habit": habit}, "Long.")\n'
    )
    assert (one.line, one.rule) == (5, "signature")
    assert "takes habit, of which no model is told" in one.message
    found = findings(
        f"{STREAK}def streak(ctx: Context) -> ActionResult:\n"
        '    count = await ctx.store.count("days")\n'
        '    return ActionResult.success({"count": count}, "Long.")\n'
    )
    assert [(f.line, f.level) for f in found] == [(7, "error")], spoken(found)
    assert "'await' outside async function" in found[0].message


@pytest.mark.parametrize("app", ["mail", "notes", "tasks"])
def test_every_sentence_of_a_shipped_app_is_in_all_languages_with_the_same_values(app: str) -> None:
    text = (ROOT / "extensions" / app / "sentences.json").read_text("utf-8")
    for key, texts in json.loads(text).items():
        # without English a title or a label is the name of the function or of the parameter
        may = {"en"} if key.startswith(("title_", "label_")) else set()
        assert {"en", "ru", "de", "fr", "es"} - set(texts) <= may, key
        values = {tag: set(re.findall(r"{(\w+)}", json.dumps(text))) for tag, text in texts.items()}
        assert len(set(map(frozenset, values.values()))) == 1, (key, values)

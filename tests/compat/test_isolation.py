"""What an extension should not do ends with its own call: it is answered, logged, and the others
never notice."""

import importlib
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.compat.conftest import ALICE, BOB, EXTENSIONS, Bench
from tests.functions.support import ALICE as ALICE_CLAIMS
from tests.functions.support import Person, deployed
from tests.processes import said
from webbee_kernel.extensions.registry import Registry, load_folder

ROOT = Path(__file__).resolve().parents[2]
FAILING = Path(__file__).parent / "failing"


# ---- loading


@pytest.fixture(scope="module")
def failing() -> Registry:
    return load_folder(FAILING)


def test_one_that_does_not_load_is_named_with_its_reason_and_others_work(failing: Registry) -> None:
    """A call of it fails without its reason, which a model and a user would read."""
    section = "skeleton: section_name 'a:b' must not contain wildcard/separator"
    assert failing.failed == {
        "empty": "ValueError: empty/main.py has no module attribute that is an Extension",
        "exits": "SystemExit: 4 (main.py:7)",
        "lacks": "ModuleNotFoundError: No module named 'a_library_that_is_not_there' (main.py:3)",
        "raises": f"ValueError: {section} characters (* ? [ ] : /) (app.py:6)",
    }
    bench = Bench(failing)
    assert bench.call("fine", "hello") == {"hello": "alice"}
    assert failing.catalogue().apps["lacks"].error == failing.failed["lacks"]
    outcome = bench.outcome("exits", "anything")
    assert outcome.error_code == "UNKNOWN_TOOL"
    assert outcome.error == "there is no app 'exits': it failed to load"


def test_who_chats_reads_that_it_is_away_and_a_developer_why(failing: Registry) -> None:
    with deployed(extensions=FAILING) as stack:
        person = Person(stack, {**ALICE_CLAIMS, "role": "developer"})
        report = person.send("GET", "/v1/inspect", query={"message": "hello", "search": "lacks"})
        assert report["failed"] == [
            {"app_id": a, "reason": r} for a, r in sorted(failing.failed.items())
        ]
        assert str(FAILING.parent) not in json.dumps(report["failed"])
        assert report["search"]["verdict"] == "lacks failed to load: the model sees nothing of it"
        for answer in (person.call("lacks", "anything"), person.install("lacks")):
            assert answer.status == 404
            assert failing.failed["lacks"] in answer.error["message"]
        assert person.uninstall("lacks").status == 200
        away = "Этим приложением сейчас нельзя пользоваться"
        for role, reads in (("user", away), ("developer", "SystemExit: 4")):
            person = Person(stack, {**ALICE_CLAIMS, "role": role, "language": "ru"})
            listed = person.send("GET", "/v1/extensions").body["extensions"]
            told = {a["app_id"]: a["error"] for a in listed}
            assert told["exits"].startswith(reads)
            assert (told["fine"], person.install("exits").error["message"]) == ("", told["exits"])
            reply = person.chat("good morning")["reply"]
            assert ("exits is not loaded: SystemExit: 4 (main.py:7)" in reply) == (role != "user")


def test_a_folder_that_puts_itself_on_the_path_lends_no_modules(registry: Registry) -> None:
    assert registry.failed == {}
    assert not any(str(EXTENSIONS) in entry for entry in sys.path)
    for name in ("app", "handlers", "models", "views"):
        assert name not in sys.modules
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


SHADOW = """
import calendar as real
from calendar import appointments, ext
import importlib
assert real.isleap(2024) and importlib.import_module("calendar") is real
"""
CALENDAR = "from imperal_sdk import Extension\next = Extension('shadow')\nappointments = []\n"


def test_a_file_named_as_a_standard_module_is_found_too(written: Callable[..., Path]) -> None:
    assert load_folder(written("shadow", SHADOW, **{"calendar.py": CALENDAR}).parent).failed == {}


# ---- cold start


def test_nobody_imports_the_sdk_who_has_no_such_extension_nor_chat_turn_beside_one() -> None:
    theirs = """
        print([m for m in sys.modules if m.split(".")[0] in ("imperal_sdk", "httpx")
               or "compat" in m and "webbee" in m or {more}])"""
    code = f"""
        import sys
        from webbee_kernel.extensions.registry import load_folder
        found = load_folder({str(ROOT / "extensions")!r})
        assert found.loaded and not found.failed, found.failed"""
    assert said(code + theirs.format(more=False)) == "[]"
    code = """
        import sys
        import functions.chat_turn.handler as handler
        from webbee_kernel.api.chat_turn import ChatService"""
    env = {"WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS), "WEBBEE_DISPATCH": "some-function"}
    assert said(code + theirs.format(more="'webbee_ext' in m"), **env) == "[]"


# ---- calls


def test_what_it_prints_is_one_line_of_the_log_under_its_name(
    bench: Bench, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "webbee.extension"):
        bench.call("trouble", "speak")
    assert [r.getMessage() for r in caplog.records if r.name == "webbee.extension"] == [
        'app=trouble | {"level": "INFO", "message": "forged"} second line | alice',
        "app=trouble | to stderr",
    ]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["leave", "leave_sync"])
def test_an_exit_ends_the_call_and_nothing_else(bench: Bench, name: str) -> None:
    assert bench.outcome("trouble", name).error == f"{name} failed: SystemExit"
    assert bench.call("trouble", "whoami")["me"] == "alice"


def test_what_a_handler_does_to_its_context_ends_with_the_call(bench: Bench) -> None:
    bench.call("shelf", "add_book", title="Emma")
    assert bench.call("trouble", "usurp")["worked"] == []
    alice = {"me": "alice", "role": "user", "scopes": ["chat"]}
    assert bench.call("trouble", "whoami") == {**alice, "app": "trouble", "loot": ["trouble"]}
    apps = [("trouble", BOB), ("shelf", BOB), ("shelf", ALICE)]
    assert [bench.documents(app, "loot", user) for app, user in apps] == [[], [], []]


# ---- credentials


def test_in_lambda_the_environment_holds_no_credentials_once_extensions_load() -> None:
    code = f"""
        import json, os
        from webbee_kernel.api.function import Function
        seen = []
        function = Function("tool_dispatch", lambda settings, clock: seen.append(dict(os.environ)) or object())
        os.environ["AWS_LAMBDA_RUNTIME_API"] = "127.0.0.1:9001"
        function.service()
        from webbee_kernel.aws.clients import aws_client
        held = aws_client("dynamodb")._request_signer._credentials.get_frozen_credentials()
        from webbee_kernel.extensions.registry import load_folder
        from tests.compat.conftest import Bench
        bench = Bench(load_folder({str(EXTENSIONS)!r}))
        print(json.dumps({{
            "when built": sorted(k for k in seen[0] if k.startswith("AWS_")),
            "kernel": [held.access_key, held.secret_key, held.token],
            "child": os.popen("env").read().count("s3cr3t"),
            "extension": [k for k in bench.call("trouble", "steal")["found"] if "KEY" in k or "TOKEN" in k],
        }}))
    """
    env = {f"WEBBEE_TABLE_{t}": "t" for t in ("CACHE", "STORE", "AUDIT", "EVENTS")}
    env |= {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SESSION_TOKEN": "t0ken"}
    env |= {"AWS_DEFAULT_REGION": "eu-west-1", "WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS)}
    keys = ("AWS_SECRET_ACCESS_KEY", "WEBBEE_MODEL_KEY", "IMPERAL_APPSECRET_X")
    assert json.loads(said(code, **env, **dict.fromkeys(keys, "s3cr3t")).splitlines()[-1]) == {
        "when built": ["AWS_DEFAULT_REGION", "AWS_LAMBDA_RUNTIME_API"],
        "kernel": ["AKIAEXAMPLE", "s3cr3t", "t0ken"],
        "child": 0,
        "extension": [],
    }

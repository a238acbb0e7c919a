"""An extension of the SDK's version 5.0 runs with the SDK that is installed, and with an older one:
see `test_an_older_sdk_does_too`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.compat.conftest import BOB, Bench
from webbee_kernel.extensions.registry import load_folder

ROOT = Path(__file__).resolve().parents[2]
OLDER = ROOT / ".sdk5"
pytestmark = pytest.mark.filterwarnings(
    "ignore:ChatExtension:DeprecationWarning"
)  # 5.0 warns of what it still takes


@pytest.fixture
def veteran() -> Bench:
    found = load_folder(Path(__file__).parent / "veteran")
    assert found.failed == {}
    return Bench(found)


def test_it_bears_its_folders_id_and_says_what_it_has(veteran: Bench) -> None:
    app = veteran.host.catalogue.apps["veteran"]
    assert {f.fn_name: f.action_type for f in app.functions} == {
        "add": "write",
        "look": "read",
        "drop": "destructive",
        "shout": "write",
    }
    assert [(s.section, s.ttl, s.alert) for s in app.sections] == [("items", 60, True)]
    assert [p.panel_id for p in app.panels if not p.panel_id.startswith("__")] == ["board"]


def test_functions_store_cache_config_secrets_and_events(veteran: Bench) -> None:
    added = veteran.call("veteran", "add", name="pear")
    assert (added["name"], added["at"]) == ("pear", "2026-05-15T00:00:00+00:00")
    seen = veteran.call("veteran", "look")
    assert (seen["names"], seen["count"], seen["cached"], seen["greeting"], seen["user"]) == (
        ["pear"],
        1,
        "pear",
        "hello",
        "alice",
    )
    assert seen["errors"] == ["SkeletonAccessForbidden", "SecretNotDeclaredError"]
    assert seen["hook"] == "https://bee.example/v1/ext/veteran/webhook/paid"
    assert veteran.call("veteran", "look", user=BOB)["count"] == 0
    assert veteran.documents("veteran", "heard") == [{"name": "pear"}]
    assert [e.data["text"] for e in veteran.events("notification")] == ["added pear"]
    assert veteran.call("veteran", "shout", text="ёж") == {"text": "ЁЖ"}
    gone = veteran.outcome("veteran", "drop", item_id=added["id"])
    assert (gone.ok, gone.data) == (True, {"dropped": added["id"]})
    assert veteran.outcome("veteran", "drop", item_id=added["id"]).error == "there is no such item"


def test_sections_alerts_panels_webhooks_schedules_hooks_and_health(veteran: Bench) -> None:
    veteran.call("veteran", "add", name="plum", user=BOB)
    assert [
        veteran.refresh("veteran", "items", BOB),
        veteran.section("veteran", "items", BOB)["count"],
    ] == ["saved", 1]
    assert [e.data["text"] for e in veteran.events("alert", BOB)] == ["0 became 1"]
    tree = veteran.outcome("veteran", "board", call="panel", user=BOB).ui["ui"]
    assert (tree["type"], tree["props"]["items"][0]["props"]["title"]) == ("List", "plum")
    status, headers, body = veteran.webhook("veteran", "paid", "42", headers={"x-test": "yes"})
    assert (status, {k.lower(): v for k, v in headers.items()}["x-seen"], body) == (
        202,
        "yes",
        {"got": "42", "who": "__webhook__"},
    )
    assert veteran.schedule("veteran", "nightly") == "done"
    assert veteran.documents("veteran", "visits", BOB) == [{"by": "__system__", "items": 1}]
    veteran.install("veteran")
    assert veteran.documents("veteran", "hooks") == [{"what": "installed"}]
    assert veteran.call_of("health", "veteran", "health", {}).data["status"] == "ok"


@pytest.mark.skipif(not OLDER.exists(), reason="the older SDK is not there: make test prepares it")
@pytest.mark.skipif(version("imperal-sdk").startswith("5."), reason="this is the older one")
def test_an_older_sdk_does_too() -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(OLDER), str(ROOT / "layers/webbee_kernel"), str(ROOT)]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__))]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed, 1 skipped" in done.stdout

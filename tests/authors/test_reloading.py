"""A saved file is live for the next call; one that does not load leaves the version before. What
is found in it is told at its line."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from local.checking import CheckResult, problems_of
from local.run import check_saved
from tests.functions.support import until
from webbee_kernel.extensions.registry import reload, shared_registry, watch
from webbee_kernel.sdk import User
from webbee_kernel.testing import ExtensionHarness, registry_of
from webbee_kernel.types import UserKey

MAIN = """
from parts import word
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("live")
chat = ChatExtension(ext)


@chat.function("{name}", "Say the word")
async def say(ctx: Context) -> ActionResult:
    import parts

    return ActionResult.success({{"word": word(), "late": parts.word()}}, "Said.")
"""


FAILING = MAIN.format(name="say").replace("import parts", "1 / 0")
DEVELOPER = User("dev", role="developer", tenant_id="test")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "live"
    made.mkdir()
    write(made, "say", "one")
    return made


def write(folder: Path, name: str, word: str) -> None:
    (folder / "parts.py").write_text(f"def word() -> str:\n    return {word!r}\n", "utf-8")
    (folder / "main.py").write_text(MAIN.format(name=name), "utf-8")


def test_what_was_saved_is_live_for_the_next_call_and_in_the_catalogue(folder: Path) -> None:
    harness = ExtensionHarness(folder)
    assert harness.call("say").data == {"word": "one", "late": "one"}
    write(folder, "speak", "two")
    assert reload(harness.registry, folder) == ""
    assert harness.call("speak").data == {"word": "two", "late": "two"}
    assert harness.call("say").error_code == "UNKNOWN_SUB_FUNCTION"
    assert [f.fn_name for f in harness.host.catalogue.apps["live"].functions] == ["speak"]


def test_a_broken_file_keeps_the_version_before_and_says_why(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    harness = ExtensionHarness(folder)
    (folder / "parts.py").write_text("def word() -> str:\n    return nothing(\n", "utf-8")
    reason = reload(harness.registry, folder)
    assert reason == "SyntaxError: '(' was never closed (parts.py:2)"
    assert f"app=live | not loaded, the version before stays: {reason}" in caplog.text
    assert harness.call("say").data == {"word": "one", "late": "one"}
    write(folder, "say", "three")
    assert (reload(harness.registry, folder), harness.call("say").data["late"]) == ("", "three")


def test_a_developer_is_told_of_a_file_that_does_not_load_and_none_of_it(folder: Path) -> None:
    """By the bell, under the app's own name: while he works here, and one who comes later. What
    fails meanwhile ran as it was before."""
    (folder / "imperal.json").write_text('{"app_id": "lively"}', "utf-8")
    (folder / "main.py").write_text(FAILING, "utf-8")
    harness = ExtensionHarness(folder, user=DEVELOPER)
    harness.call("say")
    (fault,) = harness.events("fault")
    assert fault.data["frames"] == ["main.py:11 say: 1 / 0"]

    (folder / "main.py").write_text(f"\n{FAILING}x = = 3\n", "utf-8")
    reason = reload(harness.registry, folder)
    assert reason == "SyntaxError: invalid syntax (main.py:15)"
    faults = harness.host.contexts.faults
    faults.on_saved("live", reason)  # by the folder's name
    text = f"lively is not loaded, the version before stays: {reason}"
    assert harness.events("fault")[1].data == {"app_id": "lively", "text": text}
    harness.call("say")
    assert harness.events("fault")[2].data["frames"] == ["main.py:11 say (the version before)"]

    harness.registry.put({}, failed={"other": "NameError: name 'x' is not defined"})
    faults.on_saved("other", "NameError")
    assert (
        harness.events("fault")[3].data["text"] == "other is not loaded, it is left out: NameError"
    )
    harness.run(faults.add_user(User("ops", role="operator", tenant_id="test")))
    left_out, told = harness.run(harness.app.events.since(UserKey("test", "ops")))
    assert left_out.data["text"].startswith("other is not loaded, it is left out: NameError")
    assert told.data["text"] == text

    (folder / "main.py").write_text(f"\n{FAILING}", "utf-8")
    assert reload(harness.registry, folder) == ""
    harness.call("say")
    assert harness.events("fault")[4].data["frames"] == ["main.py:12 say: 1 / 0"]


def test_extensions_come_and_go(folder: Path) -> None:
    registry = registry_of(folder)
    other = folder.parent / "other"
    other.mkdir()
    (other / "main.py").write_text("x = 1\n", "utf-8")
    assert "no module attribute that is an Extension" in reload(registry, other)
    assert list(registry.failed) == ["other"]
    write(other, "say", "four")
    assert reload(registry, other) == ""
    assert (sorted(registry.loaded), registry.failed) == (["live", "other"], {})
    (folder / "main.py").unlink()
    reload(registry, folder)
    assert list(registry.catalogue().apps) == ["other"]


def test_the_watcher_takes_what_was_saved_before_a_saved_file_and_a_folder_that_is_removed(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "webbee.extension")
    registry = shared_registry(folder.parent)

    def named() -> list[str]:
        return [f.fn_name for f in registry.catalogue().apps["live"].functions]

    write(folder, "speak", "five")
    watch(folder.parent, print, None)
    until(lambda: named() == ["speak"])
    write(folder, "say", "a word")
    until(lambda: named() == ["say"] and "live after" in caplog.text)
    assert "word" in ExtensionHarness(registry.loaded["live"]).call("say").data["late"]
    shutil.rmtree(folder)
    until(lambda: "app=live | gone" in caplog.text)
    assert "live" not in registry.loaded


def test_hosts_of_a_process_share_what_was_loaded(folder: Path) -> None:
    """An editor's lock is no file of an extension: Emacs marks what is being edited with a link to
    nowhere, under a name like its own."""
    (folder / ".#main.py").symlink_to("me@host.123:456")
    assert not [f for f in problems_of(folder).findings if f.level == "error"]
    registry = shared_registry(folder.parent)
    assert shared_registry(folder.parent) is registry
    assert ExtensionHarness(registry.loaded["live"]).call("say").data["word"] == "one"


CALLING = """
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("parcels", display_name="Parcels", description="Parcels on their way")
chat = ChatExtension(ext, description="Parcels")


@chat.function("count_parcels", "Count the parcels on their way", examples=["how many parcels?"])
async def count_parcels(ctx: Context) -> ActionResult:
    count = {call}
    return ActionResult.success({{"count": count}}, "Counted.")
"""


def test_what_a_save_brings_is_told_once_at_its_line(
    tmp_path: Path, written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    told: dict[str, str] = {}

    def save(call: str) -> list[str]:
        written("parcels", CALLING.format(call=call))
        before = len(said)
        check_saved({"parcels", "gone"}, tmp_path, told, said.append)
        return said[before:]

    (text,) = save('await ctx.stor.count("parcels")')
    assert "parcels/main.py:10: error" in text and "stor" in text
    assert save('await ctx.stor.count("parcels")') == []
    assert save("int('x')") == ["parcels: nothing to mend\n    count_parcels: read"]

    def overtaken(folder: Path) -> CheckResult:
        found = problems_of(folder)
        written("parcels", CALLING.format(call="int('y')  # saved while it was checked"))
        return found

    monkeypatch.setattr("local.run.problems_of", overtaken)
    assert save('await ctx.stor.count("parcels")') == []

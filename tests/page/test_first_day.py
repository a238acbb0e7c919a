"""The first day of README.md: what its table says is typed and pressed as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Visit
from .test_page import say

TABLE = Path("README.md").read_text("utf-8").partition("### The first day")[2]
ROWS = dict(re.findall(r"^\| ([a-zA-Z' ]+) \| (.*) \|$", TABLE, re.MULTILINE))


def quoted(task: str) -> list[str]:
    """What is to be typed for a task."""
    row = ROWS[task]
    code = re.findall(r"`([^`]+)`", row)
    return code or re.findall(r'"([^"]+)"', row)


def buttons(task: str) -> list[str]:
    """What is to be pressed."""
    return re.findall(r"\*\*([^*]+)\*\*", ROWS[task])


def pressed(page: Any, name: str) -> None:
    page.get_by_role("group", name="Please confirm").last.get_by_role("button", name=name).click()
    page.locator(".working").wait_for(state="detached")


def test_the_table_has_the_ten_tasks() -> None:
    assert len({task for task in ROWS if task != "to"}) == 10


def test_sign_in_find_a_number_send_and_undo(visit: Visit) -> None:
    [who] = buttons("sign in")
    page = visit(f"{who} developer")
    inbox = quoted("find yesterday's number")[0]
    [field] = buttons("find yesterday's number")
    say(page, inbox)
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("searchbox", name=field).fill("300418")
    page.locator(".found-open").first.click()
    assert "300418" in page.locator(".turn.sought").inner_text()

    [message] = quoted("send")
    say(page, message)
    card = page.get_by_role("group", name="Please confirm").last
    assert "ann@example.com" in card.inner_text()
    pressed(page, buttons("send")[0])
    assert "ann@example.com" in page.locator(".turn.webbee").last.inner_text()
    assert page.locator(".receipt.done").count() == 1

    add, undo = quoted("undo by asking")
    say(page, add)
    say(page, undo)
    pressed(page, buttons("undo by asking")[0])
    assert "Deleted" in page.locator(".turn.webbee").last.inner_text()

    say(page, add)
    undo = page.get_by_role("button", name="Undo")  # that of the first was used
    said = undo.locator("xpath=ancestor::li[1]").inner_text()
    assert said.endswith("done · Undo")
    say(page, "show my notes")
    page.wait_for_timeout(1_000)  # turns are told apart by whole seconds: what follows is later
    undo.click()
    page.locator(".confirm:not(.over)").wait_for()
    pressed(page, "Delete")
    assert "Deleted" in page.locator(".turn.webbee").last.inner_text()
    left = undo.locator(
        "xpath=ancestor::li[1]"
    )  # that of the task was used; what deleted it has one
    assert left.count() == 1 and "Delete a task" in left.inner_text()
    page.reload()
    page.locator(".receipt.done").nth(3).wait_for()
    assert left.count() == 1 and "Delete a task" in left.inner_text()


def test_see_why_the_model_does_not_see_x(visit: Visit) -> None:
    page = visit("dev developer")
    say(page, "show my inbox")
    page.get_by_role("button", name="Inspector").click()
    [label] = buttons("see why the model does not see X")
    field = page.get_by_label(label)
    field.fill("300418")
    field.press("Enter")
    found = page.get_by_role("region", name="Found")
    found.get_by_text("300418").first.wait_for()


def test_export_my_data(visit: Visit, tmp_path: Path) -> None:
    page = visit("dev developer")
    say(page, "add a task: leave with me")
    page.locator(".who-am-i").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=buttons("export my data")[0]).click()
    download.value.save_as(tmp_path / "me")
    lines = [json.loads(line) for line in (tmp_path / "me").read_text("utf-8").splitlines()]
    assert "leave with me" in json.dumps(lines) and lines[-1] == {"kind": "end"}
    for other in ("Erase everything", "Appearance"):
        assert page.get_by_role("dialog").get_by_text(other).count()


def test_what_no_function_does_leads_to_the_search_and_to_ones_own_data(visit: Visit) -> None:
    page = visit("dev developer")
    say(page, "show my inbox")
    page.get_by_role("button", name="New conversation").click()
    say(page, "wherever did you tell me of 300418, please?")
    page.get_by_role("button", name="Search what was said").click()
    page.locator(".found-open").first.click()
    assert "300418" in page.locator(".turn.sought").inner_text()

    page.get_by_role("button", name="New conversation").click()
    say(page, "export my data, please")
    page.get_by_role("button", name="My data, language, sign-out").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("button", name=buttons("export my data")[0]).count()


@pytest.mark.parametrize("task", ["add an MCP server", "write an extension", "switch the model"])
def test_every_command_of_the_table_exists(task: str) -> None:
    for command in re.findall(r"`\./webbee (\w+(?:-\w+)?)", ROWS[task]):
        assert f"`{command}" in Path("docs/command-line.md").read_text("utf-8")

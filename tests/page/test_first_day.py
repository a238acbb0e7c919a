"""The first day of README.md: what its table says is typed and pressed as it stands there."""

import json
import re
from pathlib import Path
from typing import Any

from .conftest import On, Visit
from .test_page import say

TABLE = Path("README.md").read_text("utf-8").partition("### The first day")[2]
ROWS = dict(re.findall(r"^\| ([a-zA-Z' ]+) \| (.*) \|$", TABLE, re.MULTILINE))


def quoted(task: str) -> list[str]:
    row = ROWS[task]
    code = re.findall(r"`([^`]+)`", row)
    return code or re.findall(r'"([^"]+)"', row)


def buttons(task: str) -> list[str]:
    return re.findall(r"\*\*([^*]+)\*\*", ROWS[task])


def pressed(page: Any, name: str) -> None:
    On(page).card.get_by_role("button", name=name).click()
    page.locator(".working").wait_for(state="detached")


def test_sign_in_find_a_number_send_and_undo(visit: Visit) -> None:
    assert len({task for task in ROWS if task != "to"}) == 10
    page = visit(f"{buttons('sign in')[0]} developer")
    [field] = buttons("find yesterday's number")
    on = On(page)
    say(page, quoted("find yesterday's number")[0])
    on.afresh()
    page.get_by_role("searchbox", name=field).fill("300418")
    page.locator(".found-open").first.click()
    assert "300418" in page.locator(".turn.sought").inner_text()

    [message] = quoted("send")
    say(page, message)
    assert "ann@example.com" in on.card.inner_text()
    pressed(page, buttons("send")[0])
    assert "ann@example.com" in on.answers.last.inner_text()
    assert on.done.count() == 1

    add, undo = quoted("undo by asking")
    say(page, add)
    say(page, undo)
    pressed(page, buttons("undo by asking")[0])
    assert "Deleted" in on.answers.last.inner_text()

    say(page, add)
    say(page, "neue Aufgabe: Milch")
    on.button("Rückgängig").wait_for()  # as its receipt speaks
    undo = on.button("Undo")  # that of the first was used
    left = undo.locator("xpath=ancestor::li[1]")
    assert left.inner_text().endswith("done · Undo")
    say(page, "show my notes")
    page.wait_for_timeout(1_000)  # turns are told apart by whole seconds: what follows is later
    undo.click()
    page.locator(".confirm:not(.over)").wait_for()
    pressed(page, "Delete")
    assert "Deleted" in on.answers.last.inner_text()
    for _ in range(2):  # that of the task was used; what deleted it has one
        assert left.count() == 1 and "delete a task" in left.inner_text()
        page.reload()
        on.done.nth(3).wait_for()


def test_see_why_the_model_does_not_see_x_and_open_where_it_is(visit: Visit) -> None:
    page = visit("dev developer", viewport={"width": 1280, "height": 800})
    say(page, "the zebrafinch is far")
    On(page).afresh()
    say(page, "show my inbox")
    On(page).button("Inspector").click()
    [label] = buttons("see why the model does not see X")
    page.get_by_label(label).fill("300418")
    page.keyboard.press("Enter")
    found = page.get_by_role("region", name="Found")
    found.get_by_text("300418").first.wait_for()
    page.get_by_label(label).fill("zebrafinch")
    page.keyboard.press("Enter")
    found.get_by_text("written in “the zebrafinch is far”").wait_for()
    assert "session" not in found.get_by_role("button").first.inner_text()
    assert 0 < page.get_by_text(label).bounding_box()["y"] < 800
    found.get_by_role("button").first.click()
    page.locator(".turn.you").get_by_text("zebrafinch is far").wait_for()
    assert page.locator(".turn.sought").count() == 1


def test_export_my_data(visit: Visit, tmp_path: Path) -> None:
    page = visit("dev developer")
    say(page, "add a task: leave with me")
    page.locator(".who-am-i").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=buttons("export my data")[0]).click()
    download.value.save_as(tmp_path / "me")
    lines = [json.loads(line) for line in (tmp_path / "me").read_text("utf-8").splitlines()]
    assert "leave with me" in json.dumps(lines) and lines[-1] == {"kind": "end"}
    for other in ("Erase everything", "Appearance", "Sign out"):
        assert page.get_by_role("dialog").get_by_text(other).count()


def test_what_no_function_does_leads_to_the_search_and_to_ones_own_data(visit: Visit) -> None:
    page = visit("dev developer")
    on = On(page)
    say(page, "show my inbox")
    on.afresh()
    say(page, "of 300418, wherever, please")
    on.button("Search what was said").click()
    page.locator(".found-open").first.click()
    assert "300418" in page.locator(".turn.sought").inner_text()
    on.afresh()
    say(page, "export my data, please")
    on.button("My data, language, sign-out").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("button", name=buttons("export my data")[0]).count()

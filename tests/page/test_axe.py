"""Accessibility, judged by axe-core: nothing serious in any state of the page."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route

from .conftest import On, Visit
from .test_page import answered, node, say, write

AXE = Path(__file__).parents[2] / ".venv-page/node_modules/axe-core/axe.min.js"


def findings(page: Any) -> list[str]:
    """What axe finds on the page as it is, however grave, with the first elements of each."""
    if not AXE.exists():
        pytest.skip("axe-core is not here: make page prepares it where npm is installed")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [f"{v['id']}: {n['html'][:150]} {n['any'][:1]}" for v in found for n in v["nodes"][:3]]


def in_both_schemes(page: Any) -> list[str]:
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {finding}" for finding in findings(page)]
    return found


def test_axe_finds_nothing(visit: Visit) -> None:
    assert in_both_schemes(visit()) == []  # before anybody is known
    page = visit("dev developer")  # with less motion: what still fades in is pale
    assert in_both_schemes(page) == []
    say(page, "show my inbox")
    say(page, "add a task: be heard")
    page.locator(".call summary").last.click()
    page.locator(".fall > summary").last.click()
    say(page, "delete the task be heard")
    assert in_both_schemes(page) == []
    page.get_by_role("button", name="Inspector").click()
    page.locator(".bars").wait_for()
    page.locator(".inspector details").evaluate_all("all => all.forEach((e) => { e.open = true })")
    assert in_both_schemes(page) == []
    page.get_by_role("button", name="Apps", exact=True).click()
    page.get_by_role("dialog").wait_for()
    assert in_both_schemes(page) == []


def test_a_card_a_receipt_and_a_mark_are_sound_when_narrow_and_enlarged(visit: Visit) -> None:
    """320 pixels, and a screen of 1280 at 200 %: nothing to find, nothing wider than the page."""
    narrow, enlarged = {"width": 320, "height": 640}, {"width": 640, "height": 400}
    page = visit("bob", viewport=narrow)
    say(page, "show my inbox")
    say(page, "add a task: be narrow")
    page.locator(".call summary").last.click()
    say(page, "delete the task be narrow")
    views = page.get_by_role("navigation", name="Navigation")
    for view in (narrow, enlarged):
        page.set_viewport_size(view)
        for name in ("Conversations", "Panels", "Chat"):
            views.get_by_role("button", name=name).click()
            assert findings(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    say(page, "count slowly")
    page.locator(".toast").last.wait_for()
    for view in (narrow, enlarged):
        page.set_viewport_size(view)
        assert findings(page) == []


def test_nothing_that_an_answer_may_hold_has_a_finding(polled: Visit) -> None:
    """Light when narrow, dark when wide."""
    page = polled("bob")
    reply = "# Mail\n\n### Unread\n\n- Q3 plan: 14 pages\n\n| by | of |\n|---|---|\n| Ann | 7 |"
    at = reply.index("14")
    mark = {"start": at, "end": at + 2, "reason": "unfounded", "holds": "12"}
    answered(page, "pages?", reply=reply, marks=[mark])
    one = {"app_id": "mail", "fn_name": "read", "status": "ok", "arguments": {"n": 1}}
    calls = [*({**one, "fn_name": f"read_{n}"} for n in range(4)), {**one, "status": "error"}]
    failed = {"call": 4, "status": "failed", "text": "Mail – read: did not work"}
    done = {"call": 0, "status": "done", "text": "Mail – archive: done"}
    item = answered(page, "read", reply="Read.", calls=calls, receipts=[failed, done])
    item.locator(".bubble > details.call > summary").click()
    assert item.get_by_role("alert").get_by_role("listitem").count() == 1
    guest = node("Fieldset", "value", children=[node("Input", "name"), node("Toggle", "vip")])
    fields = [
        node("Fieldset", "address", children=[node("Input", "city", value="Bonn")]),
        node("ListInput", "guests", item=guest, values=[{"name": "Ann", "vip": True}]),
        *(node("Password", "pin"), node("TextArea", "text"), node("DatePicker", "day")),
    ]
    form = {"type": "Form", "props": {"action": {"action": "call"}, "children": fields}}
    answered(page, "book", reply="Please check.", ui=form)
    answered(page, "where", reply="Where?", choices=[{"label": "Bonn", "message": "Bonn"}])
    answered(page, "lost", code=503, error={"code": "model_failed", "message": "no"})
    page.route("**/v1/chat", lambda route: None)
    write(page, "slow", "next")
    for width, scheme in ((320, "light"), (1400, "dark")):
        page.set_viewport_size({"width": width, "height": 700})
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_a_screen_reader_reads_of_a_card_a_receipt_and_a_mark(visit: Visit) -> None:
    page = visit("bob")
    say(page, "add a task: be heard")
    receipt = page.get_by_role("list", name="What was done").last.aria_snapshot()
    assert receipt == (
        '- list "What was done":\n'
        "  - listitem:\n"
        '    - text: "✓ Tasks – add a task “be heard”: done ·"\n'
        '    - button "Undo"\n'
        "  - listitem: changed 1"
    )
    say(page, "delete the task be heard")
    card = On(page).card.aria_snapshot()
    *lines, waits = [line.strip() for line in card.splitlines()[:7]]
    assert re.fullmatch(r"- paragraph: Waits [45]:\d\d more", waits)
    assert lines == [
        '- group "Please confirm":',
        "- strong: Delete “be heard” (Tasks)?",
        "- term: Title",
        "- definition: be heard",
        '- button "Delete"',
        '- button "No"',
    ]
    mark = page.locator(".sourced").first.get_attribute("aria-label")
    assert mark == "be heard, tasks · data.title"


def test_the_focus_never_falls_to_the_body(visit: Visit) -> None:
    page = visit("bob")

    def focused() -> bool:
        return bool(page.evaluate("document.activeElement !== document.body"))

    say(page, "add a task: hold the focus")
    assert focused()
    say(page, "delete the task hold the focus")
    On(page).card.get_by_role("button", name="Delete").press("Enter")
    On(page).logged("Deleted the task")
    assert focused()
    late: list[Route] = []
    page.route("**/v1/sessions?*", lambda route: late.append(route))
    with page.expect_request("**/v1/sessions?*"):
        say(page, "show my tasks")
    page.locator(".session-menu > summary").first.press("Enter")
    delete = page.get_by_role("button", name="Delete", exact=True).first
    delete.focus()
    drawn = delete.element_handle()
    for route in late:
        route.continue_()
    page.wait_for_function("button => !button.isConnected", arg=drawn)
    page.keyboard.press("Enter")  # the list was drawn anew, and its menu keeps the focus
    page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")
    page.locator(".welcome").wait_for()
    assert focused()

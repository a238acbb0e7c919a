"""What a person reads once and in words: replies beside trees, found places, what is read aloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webbee_kernel.sdk import ui

from .test_page import say, without_socket

Visit = Callable[..., Any]


def answered(page: Any, **body: Any) -> None:
    """From now on every message has this answer."""
    told = {"marks": [], "sources": [], "receipts": [], **body}
    page.unroute("**/v1/chat")
    page.route("**/v1/chat", lambda route: route.fulfill(json={**route.fetch().json(), **told}))


def test_what_a_tree_shows_is_not_counted_or_listed_in_the_reply_as_well(visit: Visit) -> None:
    page = visit("bob", expected="Failed to load")
    without_socket(page)
    names = [f"Letter {n}" for n in range(1, 14)]
    rows = "\n".join(f"| {n} | {name} |" for n, name in enumerate(names[:12], 1))
    tree = ui.List([ui.ListItem(name, name) for name in names]).to_dict()
    answered(
        page, reply=f"13 letters.\n\n| n | title |\n| --- | --- |\n{rows}\n\n… and 1 more", ui=tree
    )
    told = say(page, "show my letters").locator(".bubble")
    assert told.get_by_text("Letter 13").is_visible()
    assert "and 1 more" not in told.inner_text()

    offered = ["show my mail", "roll a die with … sides", "write a note"]
    buttons = [ui.Button(text, ui.UIAction("fill", {"message": text})) for text in offered]
    answered(page, reply=f"I know these: {'; '.join(offered)}.", ui=ui.Stack(buttons).to_dict())
    told = say(page, "what?").locator(".bubble").inner_text()
    assert "I know these" in told
    assert [told.count(text) for text in offered] == [1, 1, 1]


def test_a_found_place_is_read_without_marks_of_a_table(visit: Visit) -> None:
    page = visit("bob", expected="Failed to load")
    without_socket(page)
    table = "Two.\n\n| at | new | subject |\n| --- | --- | --- |\n| 12:04 | yes | **heronry** |"
    excerpt = {"excerpt": table, "where": "reply", "start": table.index("heronry"), "end": 0}
    excerpt["end"] = excerpt["start"] + len("heronry")
    match = {"session_id": "s", "request_id": "r", "title": "Letters", "at": "", **excerpt}
    found = {"matches": [match], "cursor": None}
    page.route("**/v1/search?*", lambda route: route.fulfill(json=found))
    page.get_by_role("searchbox", name="Find in all conversations").fill("heronry")
    hit = page.locator(".found-text")
    hit.wait_for()
    assert "12:04 · yes · heronry" in hit.inner_text()
    assert not {"|", "*", "---"} & set(hit.inner_text())
    assert hit.locator("mark").inner_text() == "heronry"


def test_a_form_tells_limits_and_what_is_wrong_at_its_field(visit: Visit) -> None:
    page = visit("bob")
    form = say(page, "roll a die").locator("form")
    field = form.get_by_label("Sides")
    assert "2 – 100" in form.inner_text()
    assert [field.get_attribute(name) for name in ("min", "max")] == ["2", "100"]
    field.fill("7")
    form.get_by_role("button").last.click()
    form.get_by_role("alert").get_by_text("an odd die does not roll").wait_for()
    assert page.locator(".toast").count() == 0
    assert field.get_attribute("aria-invalid") == "true"
    assert field.evaluate("one => one === document.activeElement")
    field.fill("8")
    form.get_by_role("button").last.click()
    page.locator(".log").get_by_text("Rolled 8.", exact=True).wait_for()


def test_the_inspector_names_the_conversation_that_has_a_value_and_opens_it(visit: Visit) -> None:
    page = visit("dev developer", viewport={"width": 1280, "height": 800})
    say(page, "the zebrafinch is far")
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("button", name="Inspector").click()
    label = page.get_by_text("Find a value")
    page.get_by_label("Find a value").fill("zebrafinch")
    page.keyboard.press("Enter")
    found = page.get_by_role("region", name="Found")
    found.get_by_text("written in “the zebrafinch is far”").wait_for()
    assert "session" not in found.get_by_role("button").first.inner_text()
    box = label.bounding_box()
    assert box
    assert 0 < box["y"] < 800
    found.get_by_role("button").first.click()
    page.locator(".turn.you").get_by_text("zebrafinch is far").wait_for()
    assert page.locator(".turn.sought").count() == 1


def test_another_conversation_is_not_read_aloud_and_the_model_is_named_when_narrow(
    visit: Visit,
) -> None:
    page = visit("bob", viewport={"width": 320, "height": 640})
    assert page.get_by_role("button", name="The small built-in helper answers").is_visible()
    say(page, "add a task: say it once")
    voice = page.locator(".chat > .sr[role=status]")
    voice.get_by_text("say it once").wait_for(state="attached")
    page.get_by_role("button", name="Conversations").click()
    page.get_by_role("button", name="New conversation").click()
    assert voice.inner_text() == ""

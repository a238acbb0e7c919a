"""What is said while a turn runs: it waits in sight and is sent in its order; where the turn fails or is stopped, its
writer has it back. Nothing is lost or overtaken."""

from __future__ import annotations

import json
from typing import Any

from .conftest import Visit
from .test_live_page import begin
from .test_page import write

BUSY = {"error": {"code": "model_unavailable", "message": "The model server failed."}}


def said(page: Any) -> list[str]:
    """What stands in the conversation as said."""
    found: list[str] = page.locator(".turn.you p.pre").all_inner_texts()
    return found


def test_what_is_said_during_a_turn_waits_in_sight_and_is_sent_behind_it(visit: Visit) -> None:
    page = visit("bob English")
    write(page, "add a task: first in line", "add a task: second in line")
    page.locator(".turn.you").get_by_text("add a task: second in line").wait_for()
    page.locator(".turn.webbee").nth(1).locator(".working").wait_for(state="detached")
    assert said(page) == ["add a task: first in line", "add a task: second in line"]
    assert page.locator(".queue li").count() == 0


def test_what_waited_behind_a_turn_that_fails_is_back_in_the_field(polled: Visit) -> None:
    page = polled("bob")
    held: list[Any] = []
    page.route("**/v1/chat", lambda route: held.append(route))
    write(page, "first", "second", "third")
    page.locator(".queue li").nth(1).wait_for()
    page.locator("#composer-text").fill("half a fourth")
    page.wait_for_function("document.querySelector('.working')")
    held[0].fulfill(status=503, content_type="application/json", body=json.dumps(BUSY))
    page.get_by_role("button", name="Try again").wait_for()
    assert page.locator("#composer-text").input_value() == "second\n\nthird\n\nhalf a fourth"
    assert (said(page), page.locator(".queue li").count(), len(held)) == (["first"], 0, 1)
    page.locator("#toasts").get_by_text("back in the field").wait_for()


def test_a_message_that_got_no_answer_is_in_the_field_after_a_reload(polled: Visit) -> None:
    from playwright.sync_api import expect

    page = polled("bob")
    refuse = {"status": 503, "content_type": "application/json", "body": json.dumps(BUSY)}
    page.route("**/v1/chat", lambda route: route.fulfill(**refuse))
    write(page, "add a task: said to nobody")
    page.get_by_role("button", name="Try again").wait_for()
    assert page.locator("#composer-text").input_value() == ""
    page.reload()
    expect(page.locator("#composer-text")).to_have_value("add a task: said to nobody")
    assert said(page) == []


def test_what_waited_behind_a_turn_that_is_stopped_is_back_in_the_field(visit: Visit) -> None:
    page = visit("bob")
    begin(page, "count slowly").get_by_text("step").wait_for()
    write(page, "add a task: only if I say so")
    page.get_by_role("button", name="Stop").click()
    page.locator(".log").get_by_text("You stopped this.").wait_for()
    page.wait_for_function("document.querySelector('#composer-text').value.endsWith('say so')")
    assert said(page) == ["count slowly"]


def test_what_waits_outlives_a_reload_and_is_sent_in_its_order(visit: Visit) -> None:
    page = visit("bob")
    begin(page, "count slowly").get_by_text("step").wait_for()
    write(page, "add a task: after a reload", "add a task: at the end")
    page.reload()
    page.locator(".queue").get_by_text("add a task: after a reload").wait_for()
    page.locator(".log").get_by_text('Added the task "at the end"').wait_for()
    expected = ["count slowly", "add a task: after a reload", "add a task: at the end"]
    assert said(page) == expected


def test_what_waits_is_sent_while_another_conversation_is_shown(visit: Visit) -> None:
    page = visit("bob")
    begin(page, "count slowly").get_by_text("step").wait_for()
    write(page, "add a task: from behind")
    page.get_by_role("button", name="+ New conversation").click()
    assert page.locator(".queue li").count() == 0
    page.locator("[data-panel='tasks.tasks']").get_by_text("from behind").wait_for()
    assert said(page) == []


def test_what_waits_behind_a_question_is_sent_once_that_is_answered(visit: Visit) -> None:
    page = visit("bob")
    write(
        page,
        "add a task: to be asked about",
        "delete the task to be asked about",
        "show my tasks",
        "show my notes",
    )
    card = page.get_by_role("group", name="Please confirm")
    card.wait_for()
    assert page.locator(".queue li .pre").all_inner_texts() == ["show my tasks", "show my notes"]
    card.get_by_role("button", name="No").click()
    page.locator(".turn.you").get_by_text("show my notes").wait_for()
    assert said(page)[-2:] == ["show my tasks", "show my notes"]

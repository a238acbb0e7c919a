"""What is said while a turn runs: it waits in sight and is sent in its order; where the turn fails or is stopped, its
writer has it back. Nothing is lost or overtaken."""

import json
from typing import Any

from .conftest import On, Visit
from .test_live_page import counting
from .test_page import write

BUSY = {"error": {"code": "model_unavailable", "message": "The model server failed."}}


def said(page: Any) -> list[str]:
    found: list[str] = page.locator(".turn.you p.pre").all_inner_texts()
    return found


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
    counting(page)
    write(page, "add a task: only if I say so")
    On(page).button("Stop").click()
    On(page).logged("You stopped this.")
    page.wait_for_function("document.querySelector('#composer-text').value.endsWith('say so')")
    assert said(page) == ["count slowly"]


def test_a_turn_and_what_waits_behind_it_outlive_a_reload_in_their_order(visit: Visit) -> None:
    page = visit("bob English")
    counting(page)
    write(page, "add a task: after a reload", "add a task: at the end")
    page.reload()
    page.locator(".queue").get_by_text("add a task: after a reload").wait_for()
    page.locator(".working").wait_for()
    page.locator(".n-markdown").get_by_text("Counted to 4.").wait_for()
    On(page).logged('Added the task "at the end"')
    expected = ["count slowly", "add a task: after a reload", "add a task: at the end"]
    assert (said(page), page.locator(".queue li").count()) == (expected, 0)


def test_what_waits_is_sent_while_another_conversation_is_shown(visit: Visit) -> None:
    page = visit("bob")
    counting(page)
    write(page, "add a task: from behind")
    On(page).afresh()
    assert page.locator(".queue li").count() == 0
    On(page).panel("tasks").get_by_text("from behind").wait_for()
    assert said(page) == []


def test_what_waits_behind_a_question_is_sent_once_that_is_answered(polled: Visit) -> None:
    page = polled("bob")
    held: list[Any] = []  # the first turn ends when all is written
    page.route("**/v1/chat", lambda route: held.append(route), times=1)
    later = ["show my tasks", "show my notes"]
    write(page, "add a task: to be asked about", "delete the task to be asked about", *later)
    page.locator(".queue li").nth(2).wait_for()
    held[0].continue_()
    On(page).card.wait_for()
    assert page.locator(".queue li .pre").all_inner_texts() == later
    On(page).card.get_by_role("button", name="No").click()
    page.locator(".turn.you").get_by_text("show my notes").wait_for()
    assert said(page)[-2:] == later

"""What stands around the conversation: toasts, and the dialogs of apps and of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from .test_page import call, send

Visit = Callable[..., Any]

COVERED = """() => {
  const toast = document.querySelector('.toast:last-child').getBoundingClientRect();
  return ['header.top', '.log-wrap', '.composer', '.side.left', '.side.right', '.inspector'].filter((name) => {
    const box = document.querySelector(name)?.getBoundingClientRect();
    return box?.width && box.bottom > toast.top + 1 && box.top < toast.bottom - 1;
  });
}"""


@pytest.mark.parametrize("width", [1280, 1000, 320])
def test_a_toast_covers_nothing_and_goes_when_it_is_dismissed(
    visit: Visit, url: str, width: int
) -> None:
    page = visit("dev developer", viewport={"width": width, "height": 700})
    page.get_by_role("button", name="Inspector").click()
    call(url, "dev", "showcase", "slow")
    page.locator(".toast").get_by_text("Counted. <img").wait_for()
    assert page.evaluate(COVERED) == []
    page.locator(".toast").get_by_role("button", name="Close").click()
    page.locator(".toast").wait_for(state="detached")


def test_a_function_of_an_installed_app_is_tried_from_the_dialog_of_apps(
    visit: Visit, url: str
) -> None:
    page = visit()
    answer = send(url, "bob", "GET", "/v1/extensions")
    clock = {"fn_name": "get_current_time", "description": "Tells the time", "action_type": "read"}
    extra = {"app_id": "time", "display_name": "time", "installed": True, "functions": [clock]}
    answer["extensions"].append({**answer["extensions"][0], "panels": [], "offers": {}, **extra})
    page.route("**/v1/extensions", lambda route: route.fulfill(json=answer))
    page.get_by_role("button", name="bob").click()
    page.locator(".chips").get_by_role("button", name="get current time").wait_for()
    field = page.locator("#composer-text")
    tried = {"add": "add a task to …", "get current time": "get current time"}
    for function, sentence in tried.items():
        page.get_by_role("button", name="Apps", exact=True).click()
        dialog = page.get_by_role("dialog")
        app = dialog.locator("li.n-card", has=page.get_by_role("button", name=function, exact=True))
        dialog.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        app.last.get_by_role("button", name=function, exact=True).click()
        dialog.wait_for(state="detached")
        assert field.input_value() == sentence
        assert field.evaluate("one => one === document.activeElement")
    page.keyboard.type(" please")
    assert field.input_value() == "get current time please"


def test_the_command_for_another_model_has_the_port_of_this_page(visit: Visit, url: str) -> None:
    page = visit("bob", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="The small built-in helper answers").click()
    dialog = page.get_by_role("dialog")
    command = f"make run PORT={urlsplit(url).port} MODEL='openai:http://127.0.0.1:11434/v1#<model>'"
    shown = dialog.get_by_text(command)
    assert shown.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 13
    dialog.get_by_role("button", name="Copy code").first.click()
    page.wait_for_function(
        "async (text) => (await navigator.clipboard.readText()) === text", arg=command
    )
    assert f"./webbee dev --port {urlsplit(url).port}" in dialog.inner_text()

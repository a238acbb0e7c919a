"""What a first day found on the page:
panels that fail, what covers what one reads, words that mislead."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from local.loopback import Client

from .conftest import On, Visit, served
from .test_page import call, say

APP = '''"""One panel."""

from typing import Any

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("board", display_name="Board", description="A board")
chat = ChatExtension(ext, description="A board")


@chat.function("read_board", "Read the board", examples=["read the board"])
async def read_board(ctx: Context) -> ActionResult:
    """What stands on it."""
    return ActionResult.success({"text": "hello"}, "hello")


@ext.panel("board", slot="right", title="Board")
async def board(ctx: Context, **_: Any) -> ui.UINode:
    """The board."""
    return DRAWN
'''
RETURNS = '    return ActionResult.success({"text": "hello"}, "hello")'
RAISES = '    ctx.log.info("looking", side=2); raise ValueError("no chalk")'
FAILS = APP.replace("DRAWN", "ui.Text(str(1 / 0))").replace(RETURNS, RAISES)


def test_what_fails_tells_why_and_a_panel_is_drawn_again_when_its_file_is_mended(
    visit: Visit, tmp_path: Path, written: Callable[..., Path]
) -> None:
    main = written("board", FAILS) / "main.py"
    with served(tmp_path, WEBBEE_DEVELOP="true") as [address]:
        person, developer = (
            visit("bob", at=address),
            visit("dev developer", at=address, expected=""),
        )
        theirs, own = (On(page).panel("board") for page in (person, developer))
        why = re.compile(r"ZeroDivisionError: division by zero \(.*main.py:20\)")
        own.get_by_text(why).wait_for()
        theirs.get_by_text("something in its app is broken").wait_for()
        assert "ZeroDivision" not in theirs.inner_text()

        assert "ValueError: no chalk" in say(developer, "read the board").inner_text()
        developer.get_by_role("button", name="Notifications").click()
        notes = developer.get_by_role("region", name="Notifications")
        beside = notes.locator("pre", has_text="no chalk")
        beside.wait_for()
        log, trace = beside.inner_text().splitlines()
        assert log == "looking (side=2)" and trace.startswith("main.py:14 read_board: ")
        developer.keyboard.press("Escape")
        assert "chalk" not in say(person, "read the board").inner_text()

        asked: list[str] = []
        developer.on("request", lambda r: asked.append(f"{r.method} {urlsplit(r.url).path}"))
        for text in ("mended", "edited"):
            main.write_text(APP.replace("DRAWN", f"ui.Text('it is {text}')"), "utf-8")
            own.get_by_text(f"it is {text}").wait_for()
            theirs.get_by_text(f"it is {text}").wait_for()
        assert "PUT /v1/extensions/board/installation" in asked, "its sections are asked for anew"
        assert developer.locator(".toast.error").count() == 0
        developer.get_by_role("button", name="Notifications").click()
        notes.get_by_text(re.compile("panel board.*: ZeroDivisionError")).first.wait_for()
        assert notes.locator("li").count() == notes.get_by_text("saved anew since").count()

        main.write_text(APP.replace("DRAWN", "ui.Text(").replace("read_board", "look"), "utf-8")
        notes.get_by_text("SyntaxError").wait_for()
        assert own.get_by_text("it is edited").is_visible()
        for page in (developer, person):
            page.context.close()


COVERED = """() => {
  const toast = document.querySelector('.toast:last-child').getBoundingClientRect();
  return ['header.top', '.log-wrap', '.composer', '.side.left', '.side.right', '.inspector'].filter((name) => {
    const box = document.querySelector(name)?.getBoundingClientRect();
    return box?.width && box.bottom > toast.top + 1 && box.top < toast.bottom - 1;
  });
}"""


def test_a_toast_covers_nothing_and_goes_when_it_is_dismissed(visit: Visit, url: str) -> None:
    page = visit("dev developer")
    page.get_by_role("button", name="Inspector").click()
    call(url, "dev", "showcase", "slow")
    toast, sizes = page.locator(".toast"), [{"width": w, "height": 700} for w in (1280, 1000, 320)]
    toast.get_by_text("Showcase: Counted. <img").wait_for()
    for size in sizes:
        page.set_viewport_size(size)
        assert page.evaluate(COVERED) == [], size
    toast.get_by_role("button", name="Close").click()
    toast.wait_for(state="detached")
    for size in sizes:
        page.set_viewport_size(size)
        page.get_by_role("button", name=re.compile("Notifications")).click()
        notes = page.get_by_role("region", name="Notifications")
        notes.get_by_text("Showcase · Notification").first.click(trial=True)  # nothing lies over it
        notes.get_by_role("button", name="Close").click()
        notes.wait_for(state="hidden")


def test_a_function_of_an_app_is_tried_from_the_dialog_of_apps(visit: Visit, url: str) -> None:
    page = visit()
    answer = Client(url, "bob").get("/v1/extensions")
    clock = {"fn_name": "get_current_time", "description": "Tells the time", "action_type": "read"}
    extra = {"app_id": "time", "display_name": "time", "installed": True, "functions": [clock]}
    answer["extensions"].append({**answer["extensions"][0], "panels": [], "offers": {}, **extra})
    page.route("**/v1/extensions", lambda route: route.fulfill(json=answer))
    page.get_by_role("button", name="bob").click()
    page.locator(".chips").get_by_role("button", name="time: get current time").wait_for()
    field = page.locator("#composer-text")
    tried = {"add": "add a task to …", "get current time": "time: get current time"}
    for function, sentence in tried.items():
        page.get_by_role("button", name="Apps", exact=True).click()
        dialog = page.get_by_role("dialog")
        app = dialog.locator("li.n-card", has=page.get_by_role("button", name=function, exact=True))
        dialog.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        scrolls = "one => one.scrollHeight > one.clientHeight"  # the box: corners stay round
        assert dialog.locator(".dialog-body").evaluate(scrolls) and not dialog.evaluate(scrolls)
        app.last.get_by_role("button", name=function, exact=True).click()
        dialog.wait_for(state="detached")
        assert field.input_value() == sentence
        assert field.evaluate("one => one === document.activeElement")
    page.keyboard.type(" please")
    assert field.input_value() == "time: get current time please"


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


def test_what_holds_every_word_stands_first_and_answers_before_questions(polled: Visit) -> None:
    page = polled("bob")
    excerpt = {
        "excerpt": "the **heronry** at",
        "where": "reply",
        "start": 6,
        "end": 13,
        "lacks": [],
    }
    match = {"session_id": "s", "request_id": "r", "title": "Letters", "at": "", **excerpt}
    asked = match | {"excerpt": "heronry?", "where": "message", "start": 0, "end": 7}
    partly = [match | {"lacks": ["lake"], "title": f"Part {n}"} for n in range(9)]
    found = [{"matches": partly, "cursor": "more"}, {"matches": [asked, match], "cursor": None}]
    page.route(
        "**/v1/search?*",
        lambda route: route.fulfill(json=found[route.request.url.endswith("cursor=more")]),
    )
    page.get_by_role("searchbox", name="Find in all conversations").fill("heronry lake")
    page.locator(".found-open").nth(10).wait_for()
    hits = page.locator(".found-text").all_inner_texts()
    assert ["heronry?" in hit for hit in hits] == [False, True] + [False] * 9
    assert page.locator(".found-open").locator("s").count() == 9
    assert page.locator(".found-open").nth(1).locator("s").count() == 0
    assert "the heronry at" in hits[0]
    assert page.locator(".found-text mark").first.inner_text() == "heronry"


def test_a_form_tells_limits_and_what_is_wrong_at_its_field(visit: Visit) -> None:
    page = visit("bob")
    form = say(page, "roll a die").locator("form")
    field = form.get_by_label("Sides")
    assert "2 – 100" in form.inner_text()
    assert [field.get_attribute(name) for name in ("min", "max")] == ["2", "100"]
    field.fill("7")
    form.get_by_role("button").last.click()
    form.get_by_role("alert").get_by_text("an odd die does not roll").wait_for()
    assert page.locator(".toast.error").all_inner_texts() == []
    assert field.get_attribute("aria-invalid") == "true"
    assert field.evaluate("one => one === document.activeElement")
    field.fill("8")
    form.get_by_role("button").last.click()
    page.locator(".log").get_by_text("Rolled 8.", exact=True).wait_for()


def test_what_destroys_says_so_and_names_the_missing_field_and_cards_speak_one_language(
    visit: Visit,
) -> None:
    page = visit("alice")
    form = say(page, "supprime une note").locator("form")
    assert "(" not in form.inner_text()
    button = form.get_by_role("button", name="Supprimer")
    assert "danger" in str(button.get_attribute("class"))
    button.click()  # who fills in a form and sends it is not asked once more
    field = form.locator(".n-field").filter(has=page.get_by_label("Titre"))
    field.get_by_role("alert").get_by_text("Чего-то не хватает").wait_for()
    assert page.locator(".toast.error").all_inner_texts() == []

    say(page, "add a task: one language")
    card = say(page, "delete the task one language").locator(".confirm")
    assert card.get_by_role("button").all_inner_texts() == ["Delete", "No"]
    assert card.locator(".n-meta").inner_text().startswith("Waits ")
    assert card.get_attribute("lang") == "en"


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


def test_a_question_that_is_gone_says_so_and_is_not_offered_again(polled: Visit) -> None:
    page = polled("ops operator")
    say(page, "add a task: paint the door")
    delete = On(page).card.get_by_role("button", name="Delete")
    say(page, "delete that task")
    assert delete.is_enabled()
    say(page, "show my notes")  # talked past
    for _ in range(2):
        page.get_by_text("No longer open: you went on to something else").wait_for()
        assert delete.is_disabled()
        page.reload()
    page.get_by_text("No longer open: you went on to something else").wait_for()
    say(page, "delete the task paint the door")
    gone = {"error": {"code": "gone", "message": "this confirmation expired"}}
    page.route("**/v1/confirmations/*", lambda route: route.fulfill(status=410, json=gone))
    delete.click()
    told = page.locator(".turn.failed")
    told.get_by_text("This question is no longer open, and nothing was done.").wait_for()
    assert told.get_by_role("button", name="Try again").count() == 0
    assert delete.is_disabled()

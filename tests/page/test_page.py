"""The page in a real browser, as a person uses it."""

import json
import re
from typing import Any

import httpx
import pytest

from local.loopback import Client

from .conftest import On, Visit


def write(page: Any, *messages: str) -> None:
    for message in messages:
        page.locator("#composer-text").fill(message)
        page.locator("#composer-text").press("Enter")


def say(page: Any, message: str) -> Any:
    """Send a message; the answer's element once it is there."""
    before = page.locator(".turn.webbee").count()
    write(page, message)
    answer = page.locator(".turn.webbee").nth(before)
    answer.locator(".working").wait_for(state="detached")
    answer.wait_for()
    return answer


def answered(page: Any, message: str, **body: Any) -> Any:
    answer = {"reply": "", "turn": 1, "status": "ok", "calls": [], "refresh_panels": []}
    answer |= {"marks": [], "sources": [], "receipts": [], "work": {"text": ""}, **body}

    def fulfil(route: Any) -> None:
        asked = route.request.post_data_json
        told = json.dumps({**answer, "session_id": asked["session_id"]})
        route.fulfill(status=body.get("code", 200), content_type="application/json", body=told)

    page.unroute("**/v1/chat")
    page.route("**/v1/chat", fulfil)
    return say(page, message)


def node(kind: str, name: str, **props: Any) -> dict[str, Any]:
    return {"type": kind, "props": {"param_name": name, "label": name, **props}}


def call(url: str, token: str, app: str, function: str, **params: Any) -> Any:
    body = {"function": function, "params": params}
    return Client(url, token).post(f"/v1/extensions/{app}/call", body)


def test_a_person_chats_in_english_and_sees_what_was_called(visit: Visit) -> None:
    page = visit("bob")
    answer = say(page, "add a task: water the plants")
    assert "water the plants" in answer.inner_text()
    assert re.search(r"Tasks · add a task\s+\d+ ms", answer.locator(".call").inner_text())
    on = On(page)
    assert on.composer.input_value() == ""
    on.panel("tasks").get_by_text("water the plants").wait_for()
    assert on.button("Inspector").count() == 0, "developers get it"


def test_what_is_not_from_the_data_is_dotted_and_a_failure_stands_above(polled: Visit) -> None:
    done = {"call": 0, "status": "done", "what": "Notes – add", "text": "Notes – add: done"}
    failed = {"call": 1, "status": "failed", "what": "Mail – send", "why": "no route"}
    fifty = {"start": 9, "end": 11, "reason": "other_count", "holds": "tasks: 36"}
    told = {
        "marks": [fifty, {"start": 23, "end": 27, "reason": "not_found"}],
        "receipts": [done, {**failed, "text": "Mail – send: failed – no route"}],
        "work": {"looked_up": 1, "changed": 1, "failed": 1, "text": "looked up 1, changed 1"},
    }
    said = "You have 50 tasks, and Igor wrote."
    answer = answered(polled("bob"), "how many tasks do I have?", reply=said, **told)
    marks = answer.locator(".unsourced")
    marks.first.wait_for()
    told = marks.evaluate_all("es => es.map(e => [e.textContent, e.title])")
    assert told == [["50", "the data holds: tasks: 36"], ["Igor", "not found in the data"]]
    assert marks.first.evaluate("e => getComputedStyle(e).textDecorationStyle") == "dotted"
    text = answer.inner_text()
    assert text.index("no route") < text.index("You have 50") < text.index("Notes – add: done")
    assert "looked up 1, changed 1" in text


def test_each_value_of_a_reply_tells_its_field_by_mouse_and_by_keyboard(visit: Visit) -> None:
    page = visit("bob")
    values = say(page, "show my inbox").locator(".sourced")
    values.first.wait_for()
    told = values.evaluate_all("es => es.map(e => [e.textContent, e.title])")
    assert all(re.match(r"\w+ · (data|summary)|follows|worked out|your own", t) for _, t in told)
    assert any(re.match(r"mail · (data|summary)", t) for _, t in told), told
    underline = "e => getComputedStyle(e).textDecorationLine"
    assert values.first.evaluate(underline) == "underline"
    values.first.focus()
    assert values.first.evaluate("e => document.activeElement === e")
    beside = values.first.evaluate("e => getComputedStyle(e, '::after').content")
    assert "(" in beside


def test_frame_and_panels_speak_the_chosen_language_and_replies_the_messages(visit: Visit) -> None:
    page = visit("alice")  # whose language is not the browser's
    on, board = On(page), On(page).panel("tasks")
    assert page.get_by_role("heading", name="Разговоры").is_visible()
    assert "полить цветы" in say(page, "добавь задачу полить цветы").inner_text()
    assert page.evaluate("document.documentElement.lang") == "ru"
    # asked for before the page knew who reads it, and again
    board.get_by_text("Задачи", exact=True).wait_for()
    answer = say(page, "добавь задачу купить хлеб")
    assert "Задачи · добавить задачу" in answer.locator(".call").inner_text()
    board.get_by_role("button", name="Добавить").wait_for()
    page.locator(".who-am-i").click()
    page.get_by_label("Язык").select_option("en")
    page.get_by_role("dialog").get_by_label("Language").wait_for()  # it stays open
    page.keyboard.press("Escape")
    board.get_by_role("button", name="Add").wait_for()
    on.answers.nth(1).wait_for()  # both are drawn again
    assert 'Added the task "trim the hedge"' in say(page, "add a task: trim the hedge").inner_text()
    assert "Добавлена задача" in say(page, "добавь задачу подстричь куст").inner_text()
    on.button("Done: trim the hedge").click()
    page.locator(".toast").get_by_text('Completed the task "trim the hedge".').wait_for()


def test_dates_and_times_are_written_as_where_the_browser_is_by_its_clock(visit: Visit) -> None:
    page = visit("bob", timezone_id="Asia/Tokyo")
    told = say(page, "add a task: call Osaka tomorrow 10:00").locator(".bubble").inner_text()
    assert "19:00" in told and "UTC" not in told
    On(page).panel("tasks").get_by_text("19:00").first.wait_for()
    told = say(visit("bob", locale="de-DE"), "add a task: oil the hinges")
    assert re.fullmatch(r"\d\d:\d\d", told.locator("time").first.inner_text())
    said = say(visit("alice", locale="ru-RU"), "добавь задачу купить молоко завтра").inner_text()
    assert re.search(r"\d{4} г\.$", said, re.MULTILINE), said


def remembering(page: Any, turns: list[dict[str, Any]]) -> Any:
    """The page, signed in, with a conversation of these turns."""
    answer = {"session_id": "known", "turns": turns, "cursor": None}
    page.route("**/v1/sessions/known", lambda route: route.fulfill(json=answer))
    page.evaluate("sessionStorage.setItem('webbee.session.bob', 'known')")
    page.get_by_role("button", name="bob").click()
    return page


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_moments_of_another_zone_stay_in_it_and_say_so(visit: Visit, zone: str) -> None:
    turn = {"request_id": "r", "message": "when?", "status": "ok", "at": "2020-11-28T15:13:00Z"}
    turn["reply"] = "At 2020-11-29T00:13:00+09:00\n\n| a |\n|---|\n| 2020-11-29 00:13 UTC+09:00 |"
    page = remembering(visit(timezone_id=zone), [turn])
    shown = page.locator(".n-markdown time")
    shown.nth(1).wait_for()
    assert shown.all_inner_texts() == ["29 Nov 2020, 00:13 UTC+09:00"] * 2
    assert "2020-11-29T00:13+09:00" in shown.evaluate_all("es => es.map(e => e.dateTime)")


@pytest.mark.parametrize(
    ("locale", "offered", "first"),
    [
        ("en-GB", "show my tasks", "Hello! What can you do?"),
        ("de-DE", "zeig mir meine Aufgaben", "Hallo! Was kannst du?"),
        ("es-ES", "muéstrame mis tareas", "¡Hola!"),
        ("fr-FR", "montre-moi mes tâches", "Bonjour !"),
    ],
)
def test_an_empty_conversation_offers_what_authors_say_in_the_readers_language(
    visit: Visit, url: str, locale: str, offered: str, first: str
) -> None:
    page = visit(locale=locale)
    answer = Client(url, "bob").get("/v1/extensions")
    answer["caller"]["language"] = locale[:2]
    page.route("**/v1/extensions", lambda route: route.fulfill(json=answer))
    page.get_by_role("button", name="bob").click()
    chips = page.locator(".chips").get_by_role("button")  # conversations may be called so, too
    chips.and_(page.get_by_role("button", name=first)).wait_for()
    assert chips.count() >= 4
    chips.and_(page.get_by_role("button", name=offered)).click()
    page.locator(".call.ok").wait_for()


def test_of_a_thousand_turns_those_near_are_built_and_all_can_be_found(visit: Visit) -> None:
    at = {"at": "2026-11-22T10:00:00Z", "status": "ok"}
    done = [{"app_id": "tasks", "fn_name": "add", "status": "ok", "duration_ms": 1}]
    turns: list[dict[str, Any]] = [
        {"turn": n, "request_id": f"r{n}", "remembered": n > 995, "calls": done, **at}
        for n in range(1, 1001)
    ]
    for n, turn in enumerate(turns, 1):
        turn["message"] = "the aardvark" if n == 3 else f"question {n}"
        turn["reply"] = f"- answer **{n}**\n\n| a | b |\n|---|---|\n| 1 | {n} |"
    page = remembering(visit(), turns)
    page.locator(".turn.webbee strong").get_by_text("1000", exact=True).wait_for()
    calls, strong = page.locator(".log .call"), page.locator(".log strong")
    assert page.locator(".turn.you").count() == 1_000
    assert calls.count() < 40
    assert page.locator(".log *").count() < 10_000
    assert page.evaluate("find('aardvark', false, true)")
    page.evaluate("getSelection().anchorNode.parentElement.scrollIntoView()")
    strong.get_by_text("2", exact=True).wait_for()
    assert calls.count() < 80
    page.locator(".log-wrap").evaluate("e => e.scrollTo(0, e.scrollHeight)")
    assert page.get_by_role("button", name="Change and send again").count() == 1


def test_a_limit_is_said_kindly_and_the_button_waits(polled: Visit) -> None:
    page = polled("bob")
    error = {"code": "limit_reached", "message": "Please wait.", "retry_after": 2}
    limited = {"status": 429, "json": {"error": error}}
    page.route("**/v1/chat", lambda route: route.fulfill(**limited), times=1)
    write(page, "hello")
    answer = On(page).answers.last
    answer.get_by_text("Please wait.", exact=True).wait_for()
    again = answer.get_by_role("button", name="Try again")
    assert "Not sent" not in answer.inner_text()
    again.click()  # Playwright waits until it is enabled
    page.locator(".turn.webbee .working").wait_for(state="detached")
    page.locator(".turn.webbee:not(.failed)").last.wait_for()


def test_a_deletion_waits_for_a_yes_over_a_reload_and_a_no_keeps_the_note(visit: Visit) -> None:
    page = visit("bob")
    on = On(page)
    note = on.panel("notes").get_by_text("Lisbon launch").first
    say(page, 'write a note "Lisbon launch: 14 September"')
    note.wait_for()

    card = say(page, "delete that note").get_by_role("group", name="Please confirm")
    assert "Delete “Lisbon launch: 14 September” (Notes)?" in card.inner_text()
    card.get_by_role("button", name="No").click()
    on.logged("nothing was done")
    said = page.locator(".turn.you").last.inner_text()
    assert said.endswith("No, do not: Delete “Lisbon launch: 14 September” (Notes)")
    assert card.get_by_role("button", name="Delete").is_disabled()
    assert card.get_by_text("Answered: no.").is_visible()
    assert note.is_visible()

    say(page, 'delete the note "Lisbon launch: 14 September"')
    page.reload()
    on.card.get_by_role("button", name="Delete").click()
    on.answers.last.get_by_text("Deleted the note").wait_for()
    note.wait_for(state="detached")


def test_a_panel_keeps_what_is_being_typed_when_it_refreshes_calls_and_asks_before_it_deletes(
    visit: Visit, url: str
) -> None:
    page = visit("bob")
    panel, dialog = On(page).panel("tasks"), page.get_by_role("dialog")
    task = panel.get_by_label("Task", exact=True)
    task.fill("half a tho")
    call(url, "bob", "tasks", "add", title="From elsewhere")
    panel.get_by_text("From elsewhere").wait_for()
    assert task.input_value() == "half a tho"
    assert task.evaluate("e => e === document.activeElement")
    task.fill("Buy stamps")
    panel.get_by_role("button", name="Add").click()
    stamps, delete = panel.get_by_text("Buy stamps"), On(page).button("Delete: Buy stamps")
    stamps.wait_for()
    for answer, state in (("Cancel", "visible"), ("Delete", "detached")):
        delete.click()
        dialog.get_by_role("button", name=answer).click()
        stamps.wait_for(state=state)


def test_a_turn_shows_its_calls_while_it_runs_and_its_notification_once(visit: Visit) -> None:
    page = visit("dev developer")
    write(page, "count slowly")
    page.locator(".working").get_by_text(re.compile("step [1-4]")).wait_for()
    running = page.locator(".turn.webbee", has=page.locator(".working"))
    assert "Showcase · slow" in running.locator(".call.running").inner_text()
    page.locator(".n-markdown").get_by_text("Counted to 4.").wait_for()
    assert page.locator(".call.ok").count() == 1
    page.locator(".toast").get_by_text("Counted. <img").wait_for()
    On(page).button("Notifications: 1 new").click()
    assert page.locator("#notes li").count() == 1
    page.reload()
    page.locator(".composer").wait_for()
    page.wait_for_timeout(1500)
    assert page.locator(".toast").all_inner_texts() == []
    page.get_by_role("button", name="Notifications", exact=True).click()
    assert page.get_by_text("No notifications.").is_visible()


def test_no_node_or_reply_runs_anything_and_what_is_unknown_is_data(visit: Visit) -> None:
    page = visit("bob")
    answer = say(page, "show the hostile text")
    assert "<script>window.pwned=1</script>" in answer.inner_text()
    assert answer.locator("script, img").count() == 0
    say(page, "<b onmouseover=alert(1)>hello</b>")
    page.reload()
    page.locator(".log").get_by_text("<b onmouseover=alert(1)>hello</b>").first.wait_for()

    page.get_by_role("tab", name="Every node").click()
    panel = page.locator("[data-panel='showcase.every']")
    panel.get_by_text("<script>window.pwned").first.wait_for()
    assert panel.locator("script, iframe, img[src^=javascript], a[href^=javascript]").count() == 0
    panel.get_by_role("button", name="Open nothing").click()
    refused = page.locator(".toast").filter(has_text="This address is not opened")
    refused.wait_for()
    panel.get_by_role("button", name="Open nothing").click()
    assert refused.count() == 1, "what is shown already is not shown twice"
    assert panel.get_by_role("link", name="good link").get_attribute("rel") == "noopener noreferrer"
    for text in ("first tab", "Teapot (shown as data)"):
        assert panel.get_by_text(text).first.is_visible(), text
    panel.get_by_role("tab", name="first").press("ArrowRight")
    assert panel.get_by_text("second tab").is_visible()
    panel.get_by_label("Text to keep").fill("pearls")
    panel.get_by_role("button", name="Keep it").click()
    panel.get_by_text("kept: pearls").wait_for()


def test_without_sockets_a_lost_answer_and_news_are_asked_for(polled: Visit, url: str) -> None:
    page = polled("dev developer")

    def lose_the_answer(route: Any) -> None:
        route.fetch()
        route.abort()

    page.route("**/v1/chat", lose_the_answer, times=1)
    write(page, "add a task: only once")
    On(page).logged('Added the task "only once"')
    listed = call(url, "dev", "tasks", "list_tasks")["data"]["tasks"]
    assert [t["title"] for t in listed].count("only once") == 1
    call(url, "dev", "tasks", "add", title="Found by a poll")
    On(page).panel("tasks").get_by_text("Found by a poll").wait_for()


def test_a_wrong_token_is_refused_with_words(visit: Visit) -> None:
    page = visit(expected="401")
    page.locator("summary", has_text="Access token").click()
    page.get_by_label("Access token").fill("mallory")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").get_by_text("not accepted").wait_for()


def test_the_page_is_one_small_document_that_loads_nothing_else(url: str) -> None:
    page = httpx.get(url, headers={"accept-encoding": "gzip"}, timeout=60)
    assert "://" not in page.text.replace("http://www.w3.org/2000/svg", "")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["content-encoding"] == "gzip"
    assert int(page.headers["content-length"]) < 70_000
    known = {"if-none-match": page.headers["etag"]}
    assert httpx.get(url, headers=known, timeout=60).status_code == 304


def test_the_list_behind_the_bell_closes_with_escape_and_with_a_message(visit: Visit) -> None:
    page = visit("bob English")
    bell, notes = page.locator("[aria-controls='notes']"), page.locator("#notes")
    bell.click()
    notes.wait_for()
    On(page).composer.press("Escape")
    notes.wait_for(state="hidden")
    assert bell.get_attribute("aria-expanded") == "false"
    bell.press("Enter")
    bell.press("Escape")
    notes.wait_for(state="hidden")
    bell.click()
    say(page, "show my notes")
    notes.wait_for(state="hidden")


def test_appearance_and_language_are_chosen_and_outlive_a_reload(visit: Visit) -> None:
    page = visit("bob English")
    page.locator(".who-am-i").click()
    page.get_by_label("Appearance").select_option("dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(21, 20, 15)"
    page.get_by_label("Language").select_option("de")
    chosen = page.get_by_role("dialog").get_by_label("Sprache")  # as the appearance, it stays open
    assert chosen.evaluate("e => e === document.activeElement && e.value") == "de"
    page.keyboard.press("Escape")
    on = On(page)
    on.button("Abmelden").wait_for()
    on.panel("tasks").get_by_role("button", name="Hinzufügen").wait_for()  # an app's words follow
    page.reload()
    on.button("Abmelden").wait_for()
    assert page.evaluate("document.documentElement.style.colorScheme") == "dark"
    assert page.evaluate(colour) == "rgb(21, 20, 15)"


def test_erasing_everything_is_asked_once_more_and_leaves_an_empty_page(visit: Visit) -> None:
    page = visit("ops operator")
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="ops").click()
    other.locator("#composer-text").wait_for()
    say(other, "add a task: to be forgotten")
    page.locator(".who-am-i").click()
    page.get_by_role("button", name="Erase everything").click()
    sure = page.get_by_role("dialog", name="Erase everything that is kept of you?")
    held: list[Any] = []
    page.route(
        "**/v1/me?confirm=*", lambda route: route.continue_() if held else held.append(route)
    )
    sure.get_by_role("button", name="Erase everything").click()
    page.get_by_text("Erasing everything…").wait_for()
    held[0].continue_()
    page.locator("#toasts").get_by_text("Everything was erased.").wait_for()
    for each in (page, other):
        each.locator(".welcome").wait_for()
        assert each.locator(".turn").count() == 0
        each.locator(".sessions").get_by_text("Nothing here yet.").wait_for()
    assert "helper" in say(page, "what can you do?").inner_text().lower()
    assert "Q3 plan" in say(page, "show my inbox").inner_text()  # the demo's mailbox is there again

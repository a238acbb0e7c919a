"""The page in a real browser, as a person uses it."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest

from .conftest import Visit

UNNAMED = """() => [...document.querySelectorAll('button,a[href],input,select,textarea,summary,[role=tab],img,dialog,[role=region]')]
  .filter(e => e.checkVisibility() && !(e.getAttribute('aria-label') || e.textContent.trim() || e.title || e.alt
    || e.getAttribute('aria-labelledby') || (e.labels && e.labels.length)))
  .map(e => e.outerHTML.slice(0, 120))"""

FAINT = """() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    context.clearRect(0, 0, 1, 1); context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 250) return c; }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('p,span,button,h1,h2,h3,label,dt,dd,li,code,summary,th,td')].filter(e =>
    e.checkVisibility() && !e.closest('[disabled],.over') && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(e => {
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    return [(a + .05) / (b + .05), e.className + ' ' + e.textContent.slice(0, 30)];
  }).filter(([ratio]) => ratio < 4.5).map(([ratio, text]) => `${ratio.toFixed(2)} ${text}`);
}"""


def write(page: Any, *messages: str) -> None:
    """Send these, one after another."""
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
    """The page's answer to a message, where the API's is that."""
    answer = {"reply": "", "turn": 1, "status": "ok", "calls": [], "refresh_panels": []}
    answer |= {"marks": [], "sources": [], "receipts": [], "work": {"text": ""}, **body}

    def fulfil(route: Any) -> None:
        asked = route.request.post_data_json
        told = json.dumps({**answer, "session_id": asked["session_id"]})
        route.fulfill(status=body.get("code", 200), content_type="application/json", body=told)

    page.unroute("**/v1/chat")
    page.route("**/v1/chat", fulfil)
    return say(page, message)


def send(url: str, token: str, method: str, path: str, body: Any = None) -> Any:
    """Another client of the same user."""
    headers = {"authorization": f"Bearer {token}"}
    request = urllib.request.Request(
        url + path, json.dumps(body).encode() if body is not None else None, headers, method=method
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.loads(response.read())


def call(url: str, token: str, app: str, function: str, **params: Any) -> Any:
    """A direct call from elsewhere."""
    return send(
        url, token, "POST", f"/v1/extensions/{app}/call", {"function": function, "params": params}
    )


def test_a_person_chats_in_english_and_sees_what_was_called(visit: Visit) -> None:
    page = visit("bob")
    answer = say(page, "add a task: water the plants")
    assert "water the plants" in answer.inner_text()
    assert re.search(r"Tasks · add\s+\d+ ms", answer.locator(".call").inner_text())
    assert page.locator("#composer-text").input_value() == ""
    page.locator("[data-panel='tasks.tasks']").get_by_text("water the plants").wait_for()
    assert page.get_by_role("button", name="Inspector").count() == 0, "developers get it"


def test_what_is_not_from_the_data_is_dotted_and_what_failed_stands_above_the_reply(
    polled: Visit,
) -> None:
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


def test_the_frame_speaks_the_language_of_the_person_not_of_the_browser(visit: Visit) -> None:
    page = visit("alice")
    assert page.get_by_role("heading", name="Разговоры").is_visible()
    assert "полить цветы" in say(page, "добавь задачу полить цветы").inner_text()
    assert page.evaluate("document.documentElement.lang") == "ru"
    # asked for before the page knew who reads it, and again
    page.locator("[data-panel='tasks.tasks']").get_by_text("Задачи", exact=True).wait_for()
    answer = say(page, "добавь задачу купить хлеб")
    assert "Задачи · добавить задачу" in answer.locator(".call").inner_text()


def test_panels_speak_the_chosen_language_and_replies_that_of_the_message(visit: Visit) -> None:
    page = visit("alice", locale="ru-RU")
    board = page.locator("[data-panel='tasks.tasks']")
    board.get_by_role("button", name="Добавить").wait_for()
    page.locator(".who-am-i").click()
    page.get_by_label("Язык").select_option("en")
    page.get_by_role("dialog").get_by_label("Language").wait_for()  # it stays open
    page.keyboard.press("Escape")
    board.get_by_role("button", name="Add").wait_for()
    assert 'Added the task "trim the hedge"' in say(page, "add a task: trim the hedge").inner_text()
    assert "Добавлена задача" in say(page, "добавь задачу подстричь куст").inner_text()
    board.get_by_role("button", name="Done: trim the hedge").click()
    page.locator(".toast").get_by_text('Completed the task "trim the hedge".').wait_for()


def test_moments_are_shown_by_the_clock_of_the_browser(visit: Visit) -> None:
    page = visit("bob", timezone_id="Asia/Tokyo")
    told = say(page, "add a task: call Osaka tomorrow 10:00").locator(".bubble").inner_text()
    assert "19:00" in told and "UTC" not in told
    page.locator("[data-panel='tasks.tasks']").get_by_text("19:00").first.wait_for()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_moments_of_another_zone_stay_in_it_and_say_so(visit: Visit, zone: str) -> None:
    page = visit(timezone_id=zone)
    turn = {"request_id": "r", "message": "when?", "status": "ok", "at": "2020-11-28T15:13:00Z"}
    turn["reply"] = "At 2020-11-29T00:13:00+09:00\n\n| a |\n|---|\n| 2020-11-29 00:13 UTC+09:00 |"
    page.route("**/v1/sessions/zoned", lambda route: route.fulfill(json={"turns": [turn]}))
    page.evaluate("sessionStorage.setItem('webbee.session.bob', 'zoned')")
    page.get_by_role("button", name="bob").click()
    shown = page.locator(".n-markdown time")
    shown.nth(1).wait_for()
    assert shown.all_inner_texts() == ["29 Nov 2020, 00:13 UTC+09:00"] * 2
    assert "2020-11-29T00:13+09:00" in shown.evaluate_all("es => es.map(e => e.dateTime)")


def test_dates_and_times_are_written_as_where_the_browser_is(visit: Visit) -> None:
    told = say(visit("bob", locale="de-DE"), "add a task: oil the hinges")
    assert re.fullmatch(r"\d\d:\d\d", told.locator("time").first.inner_text())
    said = say(visit("alice", locale="ru-RU"), "добавь задачу купить молоко завтра").inner_text()
    assert re.search(r"\d{4} г\.$", said, re.MULTILINE), said


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
    answer = send(url, "bob", "GET", "/v1/extensions")
    answer["caller"]["language"] = locale[:2]
    page.route("**/v1/extensions", lambda route: route.fulfill(json=answer))
    page.get_by_role("button", name="bob").click()
    page.get_by_role("button", name=first).wait_for()
    assert page.locator(".chips button").count() >= 4
    page.get_by_role("button", name=offered).click()
    page.locator(".call.ok").wait_for()


def test_a_long_conversation_is_there_after_a_reload_with_a_line_where_memory_ends(
    visit: Visit,
) -> None:
    page = visit("bob")
    for number in range(1, 8):
        say(page, f"remark {number}")
    assert page.locator(".log .note").count() == 0
    page.reload()
    page.locator(".turn.you").nth(6).wait_for()
    shown = page.locator(".log > li").evaluate_all(
        "items => items.map(e => e.matches('.note') ? 'line' : e.matches('.you') ? 'turn' : '')"
    )
    assert [x for x in shown if x] == ["turn"] * 2 + ["line"] + ["turn"] * 5


def test_of_a_thousand_turns_those_near_are_built_and_all_can_be_found(visit: Visit) -> None:
    turns = [
        {
            "turn": n,
            "at": "2026-11-22T10:00:00Z",
            "status": "ok",
            "message": "the aardvark" if n == 3 else f"question {n}",
            "reply": f"- answer **{n}**\n\n| a | b |\n|---|---|\n| 1 | {n} |",
            "request_id": f"r{n}",
            "remembered": n > 995,
            "calls": [{"app_id": "tasks", "fn_name": "add", "status": "ok", "duration_ms": 1}],
        }
        for n in range(1, 1001)
    ]
    page = visit()
    answer = {"session_id": "long", "turns": turns, "cursor": None}
    page.route("**/v1/sessions/long", lambda route: route.fulfill(json=answer))
    page.evaluate("sessionStorage.setItem('webbee.session.bob', 'long')")
    page.get_by_role("button", name="bob").click()
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
    page.route(
        "**/v1/chat",
        lambda route: route.fulfill(status=429, json={"error": error}),
        times=1,
    )
    write(page, "hello")
    answer = page.locator(".turn.webbee").last
    answer.get_by_text("Please wait.", exact=True).wait_for()
    again = answer.get_by_role("button", name="Try again")
    assert "Not sent" not in answer.inner_text()
    again.click()  # Playwright waits until it is enabled
    page.locator(".turn.webbee .working").wait_for(state="detached")
    page.locator(".turn.webbee:not(.failed)").last.wait_for()


def test_a_deletion_waits_for_a_yes_and_a_no_keeps_the_note(visit: Visit) -> None:
    page = visit("bob")
    notes = page.locator("[data-panel='notes.notes']")
    say(page, 'write a note "Lisbon launch: 14 September"')
    notes.get_by_text("Lisbon launch").first.wait_for()

    card = say(page, "delete that note").get_by_role("group", name="Please confirm")
    assert "Delete “Lisbon launch: 14 September” (Notes)?" in card.inner_text()
    card.get_by_role("button", name="No").click()
    page.locator(".log").get_by_text("nothing was done").wait_for()
    said = page.locator(".turn.you").last.inner_text()
    assert said.endswith("No, do not: Delete “Lisbon launch: 14 September” (Notes)")
    assert card.get_by_role("button", name="Delete").is_disabled()
    assert card.get_by_text("Answered: no.").is_visible()
    assert notes.get_by_text("Lisbon launch").first.is_visible()

    card = say(page, 'delete the note "Lisbon launch: 14 September"').get_by_role(
        "group", name="Please confirm"
    )
    card.get_by_role("button", name="Delete").click()
    page.locator(".turn.webbee").last.get_by_text("Deleted the note").wait_for()
    notes.get_by_text("Lisbon launch").first.wait_for(state="detached")


def test_a_confirmation_survives_a_reload(visit: Visit) -> None:
    page = visit("bob")
    say(page, "add a task: buy a kettle")
    say(page, "delete the task buy a kettle")
    page.reload()
    page.get_by_role("group", name="Please confirm").get_by_role("button", name="Delete").click()
    page.locator(".log").get_by_text("Deleted the task").wait_for()


def test_a_panel_refreshes_by_an_event_and_keeps_what_is_being_typed(
    visit: Visit, url: str
) -> None:
    page = visit("bob")
    panel = page.locator("[data-panel='tasks.tasks']")
    panel.get_by_label("Task", exact=True).fill("half a tho")
    call(url, "bob", "tasks", "add", title="From elsewhere")
    panel.get_by_text("From elsewhere").wait_for()
    assert panel.get_by_label("Task", exact=True).input_value() == "half a tho"
    assert panel.get_by_label("Task", exact=True).evaluate("e => e === document.activeElement")


def test_a_form_in_a_panel_calls_its_function_and_a_deletion_there_asks_first(visit: Visit) -> None:
    page = visit("bob")
    panel = page.locator("[data-panel='tasks.tasks']")
    panel.get_by_label("Task", exact=True).fill("Buy stamps")
    panel.get_by_role("button", name="Add").click()
    panel.get_by_text("Buy stamps").wait_for()
    panel.get_by_role("button", name="Delete: Buy stamps").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert panel.get_by_text("Buy stamps").is_visible()
    panel.get_by_role("button", name="Delete: Buy stamps").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    panel.get_by_text("Buy stamps").wait_for(state="detached")


def test_a_turn_shows_its_calls_while_it_runs_and_its_notification_once(visit: Visit) -> None:
    page = visit("dev developer")
    write(page, "count slowly")
    page.locator(".working").get_by_text(re.compile("step [1-4]")).wait_for()
    running = page.locator(".turn.webbee", has=page.locator(".working"))
    assert "Showcase · slow" in running.locator(".call.running").inner_text()
    page.locator(".n-markdown").get_by_text("Counted to 4.").wait_for()
    assert page.locator(".call.ok").count() == 1
    page.locator(".toast").get_by_text("Counted. <img").wait_for()
    page.get_by_role("button", name=re.compile("Notifications: 1 new")).click()
    assert page.locator("#notes li").count() == 1
    page.reload()
    page.locator(".composer").wait_for()
    page.wait_for_timeout(1500)
    assert page.locator(".toast").all_inner_texts() == []
    page.get_by_role("button", name="Notifications", exact=True).click()
    assert page.get_by_text("No notifications.").is_visible()


def test_no_node_runs_anything_and_one_that_is_not_known_is_shown_as_data(visit: Visit) -> None:
    page = visit("bob")
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


def test_hostile_replies_are_shown_as_text(visit: Visit) -> None:
    page = visit("bob")
    answer = say(page, "show the hostile text")
    assert "<script>window.pwned=1</script>" in answer.inner_text()
    assert answer.locator("script, img").count() == 0
    say(page, "<b onmouseover=alert(1)>hello</b>")
    page.reload()
    page.locator(".log").get_by_text("<b onmouseover=alert(1)>hello</b>").first.wait_for()


def test_a_message_whose_answer_was_lost_is_asked_again_by_itself_and_runs_once(
    polled: Visit, url: str
) -> None:
    page = polled("dev developer")
    failures = ["/v1/chat"]

    def lose_the_answer(route: Any) -> None:
        if failures:
            failures.pop()
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/v1/chat", lose_the_answer)
    write(page, "add a task: only once")
    page.locator(".log").get_by_text('Added the task "only once"').wait_for()
    listed = call(url, "dev", "tasks", "list_tasks")["data"]["tasks"]
    assert [t["title"] for t in listed].count("only once") == 1


def test_a_wrong_token_is_refused_with_words(browser: Any, url: str) -> None:
    page = browser.new_context(locale="en-GB").new_page()
    page.goto(url)
    page.locator("summary", has_text="Access token").click()
    page.get_by_label("Access token").fill("mallory")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").get_by_text("not accepted").wait_for()
    page.context.close()


def test_the_page_is_one_small_document_that_loads_nothing_else(url: str) -> None:
    with urllib.request.urlopen(url, timeout=60) as response:
        html, headers = response.read().decode(), response.headers
    assert "://" not in re.sub(r"http://www\.w3\.org/2000/svg", "", html)
    assert "unsafe" not in headers["content-security-policy"]
    zipped = urllib.request.Request(url, headers={"accept-encoding": "gzip"})
    with urllib.request.urlopen(zipped, timeout=60) as response:
        assert len(response.read()) < 70_000
        etag = response.headers["etag"]
    known = urllib.request.Request(url, headers={"if-none-match": etag})
    with pytest.raises(urllib.error.HTTPError, match="304") as unchanged:
        urllib.request.urlopen(known, timeout=60)
    unchanged.value.close()


def test_the_list_behind_the_bell_closes_with_escape_and_when_something_is_sent(
    visit: Visit,
) -> None:
    page = visit("bob English")
    bell, notes = page.locator("[aria-controls='notes']"), page.locator("#notes")
    bell.click()
    notes.wait_for()
    page.locator("#composer-text").press("Escape")
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
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 20, 15)"
    page.get_by_label("Language").select_option("de")
    chosen = page.get_by_role("dialog").get_by_label("Sprache")  # as the appearance, it stays open
    assert chosen.evaluate("e => e === document.activeElement && e.value") == "de"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Abmelden").wait_for()
    panel = page.locator("[data-panel='tasks.tasks']")
    panel.get_by_role("button", name="Hinzufügen").wait_for()  # and what an app says follows
    page.reload()
    page.get_by_role("button", name="Abmelden").wait_for()
    assert page.evaluate("document.documentElement.style.colorScheme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 20, 15)"


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
    sure.get_by_role("button", name="Erase everything").click()
    page.locator("#toasts").get_by_text("Everything was erased.").wait_for()
    for each in (page, other):
        each.locator(".welcome").wait_for()
        assert each.locator(".turn").count() == 0
        each.locator(".sessions").get_by_text("Nothing here yet.").wait_for()
    assert "helper" in say(page, "what can you do?").inner_text().lower()
    assert "Q3 plan" in say(page, "show my inbox").inner_text()  # the demo's mailbox is there again

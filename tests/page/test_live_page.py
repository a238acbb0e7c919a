"""The page over its socket: what a person sees when connections, servers and tabs come and go."""

import re
from pathlib import Path
from typing import Any

from tests.processes import free_port

from .conftest import ROOT, On, Visit, folder_of, served, shown
from .test_page import call, say, write


def opened(details: Any) -> Any:
    details.locator("summary").first.click()
    return details


KEPT = """async () => {
  const [kept] = await indexedDB.databases();
  if (!kept) return 0;
  const of = (request) => new Promise((done) => (request.onsuccess = () => done(request.result)));
  const database = await of(indexedDB.open(kept.name));
  const turns = await of(database.transaction('turns').objectStore('turns').count());
  database.close();
  return turns;
}"""


def begin(page: Any, message: str) -> Any:
    """Send a message; the element of its turn while it runs."""
    write(page, message)
    return page.locator(".working")


def counting(page: Any) -> None:
    """Begin what takes seconds, and see that it has begun."""
    begin(page, "count slowly").get_by_text("step").wait_for()


def test_after_a_reload_a_call_opens_and_a_line_stands_where_memory_ends(visit: Visit) -> None:
    page = visit("dev developer")
    say(page, "add a task: look inside")
    assert "look inside" in opened(page.locator(".call")).inner_text()
    say(page, "show the hostile text")
    for number in range(5):
        say(page, f"remark {number}")
    assert page.locator(".log .note").count() == 0
    page.reload()
    page.locator(".turn.you").nth(6).wait_for()
    shown = page.locator(".log > li").evaluate_all(
        "items => items.map(e => e.matches('.note') ? 'line' : e.matches('.you') ? 'turn' : '')"
    )
    assert [x for x in shown if x] == ["turn"] * 2 + ["line"] + ["turn"] * 5
    assert "look inside" in opened(page.locator(".call").first).inner_text()
    page.locator(".reply-ui").get_by_text("<script>window.pwned").first.wait_for()


def test_developers_see_what_a_turn_cost_also_after_a_reload(visit: Visit) -> None:
    page = visit("dev developer")  # whose model here costs nothing, by its price
    fall = opened(say(page, "add a task: dear").locator(".fall"))
    told = fall.locator("> p").inner_text()
    assert re.search(r"tokens · US\$0", told), told
    page.wait_for_function(KEPT)
    page.reload()
    fall = opened(page.locator(".turn.webbee .fall"))
    assert fall.locator("> p").inner_text() == told
    fall.locator("summary.fall-row").first.click()
    assert fall.get_by_text("tokens read").first.is_visible()
    page.get_by_role("button", name="Sign out").click()
    names = "(await indexedDB.databases()).some(d => d.name.startsWith('webbee.traces'))"
    page.wait_for_function(f"async () => !{names}")


def test_an_idle_page_asks_for_nothing_and_hears_of_events_at_once(visit: Visit, url: str) -> None:
    page = visit("bob")
    panel = On(page).panel("tasks")
    panel.get_by_label("Task", exact=True).wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for _ in range(30):  # what opening it asks for has an end, on a busy machine a late one
        asked.clear()
        page.wait_for_timeout(4_000)
        if not asked:
            break
    assert asked == []
    call(url, "bob", "tasks", "add", title="Pushed to the page")
    panel.get_by_text("Pushed to the page").wait_for()
    assert not any("/v1/events" in address for address in asked)


def test_a_panel_that_waits_for_an_event_is_fetched_when_it_comes(visit: Visit, url: str) -> None:
    page = visit()
    held: list[Any] = []
    page.route("**/v1/live", lambda route: held.append(route), times=1)
    page.get_by_role("button", name="bob").click()
    bell = page.locator("[data-panel='showcase.bell']")
    bell.get_by_text("rung 0 times").wait_for()
    call(url, "bob", "showcase", "ring")  # the panel was fetched, and no socket is open yet
    held[0].continue_()
    bell.get_by_text("rung 1 times").wait_for()
    call(url, "bob", "showcase", "ring")
    bell.get_by_text("rung 2 times").wait_for()
    assert "🔔" in bell.get_by_role("heading").inner_text()


def test_a_server_that_starts_anew_in_mid_turn_costs_no_message(visit: Visit, apps: Path) -> None:
    port = free_port()
    with shown(apps, port) as first:
        page = visit("bob", at=first, expected="")
        counting(page)
    page.get_by_text("Connection lost").wait_for()
    with shown(apps, port):
        page.locator(".n-markdown").get_by_text("Counted to 4.").wait_for(timeout=60_000)
        assert page.locator(".turn.you").get_by_text("count slowly").count() == 1
        assert page.locator(".turn.webbee").count() == 1
        assert page.locator(".lost").is_hidden()
        page.context.close()


def test_a_server_that_starts_anew_with_another_model_out_of_reach_is_shown_as_it_is(
    visit: Visit, tmp_path: Path
) -> None:
    tasks, notes = (ROOT / "extensions" / name for name in ("tasks", "notes"))
    port = free_port()
    with shown(folder_of(tmp_path, tasks), port) as first:
        page = visit("bob", at=first, expected="")
        page.get_by_role("button", name="The small built-in helper answers").click()
        page.get_by_role("dialog").get_by_text("The built-in helper only knows").wait_for()
        page.keyboard.press("Escape")
    page.get_by_text("Connection lost").wait_for()
    model = "openai:http://127.0.0.1:9/v1#heron-7b"
    with served(folder_of(tmp_path, notes), port=port, model=model):
        page.get_by_role("button", name="Model: heron-7b", exact=True).click()
        told = page.get_by_role("dialog", name="Model: heron-7b").inner_text()
        assert f"make run PORT={port}\n" in told and "The built-in helper only knows" not in told
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Apps").click()
        page.get_by_role("dialog").get_by_text("Notes", exact=True).first.wait_for()
        page.keyboard.press("Escape")
        say(page, "hello")
        page.get_by_role("button", name="The model heron-7b gave no answer").click()
        told = page.get_by_role("dialog", name="The model gave no answer").inner_text()
        assert "Is its server running" in told and "make run" in told
        page.context.close()


def test_two_tabs_show_one_conversation(visit: Visit) -> None:
    page = visit("bob")
    say(page, "add a task: from the first tab")
    session = page.evaluate("sessionStorage.getItem('webbee.session.bob')")
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="bob").click()
    other.locator(f"[data-session='{session}'] .session-open").click()
    On(other).logged('Added the task "from the first tab"')
    say(other, "add a task: from the second tab")
    On(page).logged('Added the task "from the second tab"')
    assert page.locator(".turn.you").count() == 2


def test_what_is_said_offline_is_sent_when_the_network_is_back(visit: Visit) -> None:
    page = visit("bob", expected="")
    say(page, "add a task: before the tunnel")
    page.context.set_offline(True)
    page.get_by_text("Connection lost").wait_for()
    begin(page, "add a task: in the tunnel").wait_for()
    with page.expect_request(lambda request: "__panel__bell" in (request.post_data or "")):
        page.context.set_offline(False)
    On(page).logged('Added the task "in the tunnel"')
    assert page.locator(".lost").is_hidden()


def test_a_turn_can_be_stopped(visit: Visit) -> None:
    page = visit("bob")
    counting(page)
    On(page).button("Stop").click()
    On(page).logged("You stopped this.")
    assert page.get_by_role("button", name="Send", exact=True).is_visible()
    assert page.evaluate("document.activeElement.id") == "composer-text"

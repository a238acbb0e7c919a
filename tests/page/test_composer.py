"""Where a person writes, what he is told beside it, and the page's head: nothing is cut, in any language, at any
width."""

from .conftest import On, Visit
from .test_axe import findings
from .test_page import say

FOOT = """() => {
  const foot = document.querySelector('.composer-foot');
  const box = document.querySelector('.composer').getBoundingClientRect();
  const parts = [...foot.querySelectorAll('p, button')].filter(e => e.checkVisibility());
  return parts.map(e => [e.textContent, e.getBoundingClientRect(), e.scrollWidth > e.clientWidth + 1 && e.clientWidth])
    .filter(([, r, cut]) => cut || r.left < box.left || r.right > box.right + 1 || r.height > 48)
    .map(([text]) => text);
}"""


HEAD = """() => {
  const parts = [...document.querySelectorAll('.top button, .top .logo')].filter(e => e.checkVisibility());
  const wide = document.documentElement.scrollWidth > innerWidth ? ['the page: ' + document.documentElement.scrollWidth] : [];
  return wide.concat(parts.map(e => [e.textContent, e.getBoundingClientRect(), e.scrollWidth > e.clientWidth + 1])
    .filter(([, r, cut]) => cut || r.left < 0 || r.right > innerWidth || r.height > 48).map(([text]) => text));
}"""


ROOM = """() => [...document.querySelectorAll('input[placeholder]')].filter(e => e.checkVisibility()).filter(e => {
  const style = getComputedStyle(e);
  const context = document.createElement('canvas').getContext('2d');
  context.font = style.font;
  const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return context.measureText(e.placeholder).width > room;
}).map(e => e.placeholder)"""


def test_what_stands_in_head_fields_and_foot_is_whole_in_every_language(visit: Visit) -> None:
    page = visit("dev developer")
    inspector = page.locator("#open-inspector")
    for tag in ("en", "de", "es", "fr", "ru"):
        page.set_viewport_size({"width": 1400, "height": 800})
        page.evaluate("tag => localStorage.setItem('webbee.language', tag)", tag)
        page.reload()
        page.locator("#composer-text").wait_for()
        assert page.evaluate("document.documentElement.lang") == tag
        for inspected in ("false", "true"):
            if inspector.get_attribute("aria-expanded") != inspected:
                inspector.click()
            for width in (320, 480, 721, 1000, 1200, 1280, 1400, 1600):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate(FOOT) == [], (tag, width, inspected)
                if width in (1200, 1400):
                    assert page.evaluate(ROOM) == [], (tag, width, inspected)
        inspector.click()
        for width in (320, 375, 480, 721):
            page.set_viewport_size({"width": width, "height": 800})
            for view in page.locator(".views button").all():
                if view.is_visible():
                    view.click()
                assert page.evaluate(HEAD) == [], (tag, width)
            name = page.locator(".top h1").evaluate("e => [e.clientWidth, e.scrollWidth]")
            assert tag != "en" or name[0] == name[1] > 40, (name, width)


def test_after_a_reload_the_last_turn_is_in_view(visit: Visit) -> None:
    page = visit("dev developer")
    page.get_by_role("button", name="New conversation").click()
    failed = page.get_by_role("region", name="Apps that failed to load")
    assert "RuntimeError: <b>no feathers</b>" in failed.inner_text()
    for message in ("show my inbox", "show my notes", "show my inbox", "show my tasks"):
        say(page, message)
    page.reload()
    page.locator(".turn.webbee .reply-ui").last.wait_for()
    page.wait_for_load_state("networkidle")
    ends = """() => { const wrap = document.querySelector('.log-wrap');
      return wrap.scrollHeight - wrap.scrollTop - wrap.clientHeight; }"""
    page.wait_for_function(f"() => ({ends})() < 2")


def test_a_message_that_is_changed_says_so_until_it_is_sent_or_left(visit: Visit) -> None:
    page = visit("bob")
    say(page, "show my notes")
    edit = page.get_by_role("button", name="Change and send again")
    told = page.get_by_text("You are changing a message")
    cancel = On(page).button("Cancel")
    for leave in (cancel.click, lambda: page.keyboard.press("Escape")):
        edit.click()
        told.wait_for()
        leave()
        told.wait_for(state="hidden")
        assert On(page).composer.input_value() == ""
    edit.click()
    assert findings(page) == []
    say(page, "show my tasks")
    told.wait_for(state="hidden")
    assert page.get_by_role("button", name="Answer again").get_attribute("title") != "Answer again"

"""Every node the SDK's `ui` module can make, drawn in a real Chromium: its words are there, what it
can do is done, nothing breaks it."""

import base64
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from imperal_sdk import ui

from tests.page.conftest import Visit
from tests.page.gallery import NODES, PRESSES, call, words_of
from tests.page.test_axe import in_both_schemes

Draw = Callable[..., tuple[Any, list[dict[str, Any]]]]

READABLE = """card => {
  const named = [...card.querySelectorAll('*')].flatMap(e => ['aria-label', 'alt', 'placeholder'].map(a => e.getAttribute(a) ?? ''));
  const drawn = [...card.querySelectorAll('option,svg text')].map(e => e.textContent);
  return [card.innerText, ...named, ...drawn].join('\\n');
}"""


@pytest.fixture
def draw(visit: Visit) -> Draw:
    """`draw(*nodes)`: the panel that shows them, and a list that grows with every call of the app."""

    def shown(*nodes: Any, user: str = "bob", **options: Any) -> tuple[Any, list[dict[str, Any]]]:
        calls: list[dict[str, Any]] = []
        page = visit(**options)
        children = [one if isinstance(one, dict) else one.to_dict() for one in nodes]
        tree = children[0] if len(children) == 1 else node("Stack", children=children)

        def answer(route: Any) -> None:
            body = route.request.post_data_json
            if body["function"] in ("__panel__every", "__panel__bell"):
                return route.fulfill(json={"ui": tree})
            calls.append(body)
            return route.fulfill(json={"status": "ok", "ui": node("Toast", message="done")})

        page.route("**/v1/extensions/showcase/call", answer)
        page.get_by_role("button", name=user).click()
        page.get_by_role("tab", name="Every node").click()
        panel = page.locator("section[data-panel='showcase.every']")
        panel.locator(".panel-body > :not(.muted)").first.wait_for()
        return panel, calls

    return shown


SEEN_AND_NAMED = r"(color-contrast|[\w-]+-name|[\w-]+-alt|label): "
"""What axe may not find: text too faint, and what has no name. The gallery's own cards have headings
out of order."""


def sent(panel: Any, press: Callable[[], object]) -> dict[str, Any]:
    with panel.page.expect_response("**/v1/extensions/showcase/call") as answered:
        press()
    body: dict[str, Any] = answered.value.request.post_data_json
    return body


def typed(panel: Any, key: str) -> dict[str, Any]:
    return sent(panel, lambda: panel.page.keyboard.press(key))


def pressed(inside: Any, name: str) -> dict[str, Any]:
    button = inside.get_by_role("button", name=name)
    return sent(button, button.click)


def node(kind: str, **props: Any) -> dict[str, Any]:
    return {"type": kind, "props": props}


def cards() -> dict[str, Any]:
    children = [node("Card", title=n, content=made.to_dict()) for n, made in NODES.items()]
    return node("Grid", columns=3, children=children)


def card(panel: Any, name: str) -> Any:
    heading = panel.page.locator(f":scope > .n-heading:text-is('{name}')")
    return panel.locator(".n-card").filter(has=heading)


NO_NODES = """theme AgencyTheme ColorPair MODAL_SIZES MorphingState Affordance CognitiveContext UISignal
    Signal DataColumn CanvasNode CanvasEdge""".split()
"""Exports that are values, classes, parts of a node's props, or under another licence than the
wheel's."""
ACTIONS = {"Call": "call", "Navigate": "navigate", "Open": "open", "Send": "send"}


def test_the_gallery_holds_every_constructor_of_the_sdk() -> None:
    """Enumerated from the SDK, not from memory."""
    assert set(NODES) == set(ui.__all__) - {*NO_NODES, *ACTIONS}
    assert {n: getattr(ui, n)("x").to_dict()["action"] for n in ACTIONS} == ACTIONS


def test_every_node_can_be_read_has_a_name_enough_contrast_and_fits(draw: Draw) -> None:
    panel, _ = draw(cards())
    page = panel.page
    panel.evaluate("panel => panel.querySelectorAll('details').forEach(d => d.open = true)")
    assert panel.locator(".n-unknown summary").all_inner_texts() == ["HTML source"]
    for name in NODES:
        readable = card(panel, name).evaluate(READABLE)
        assert [word for word in words_of(name) if word not in readable] == [], name
    centre = "p => p.closest('.centre').scrollWidth <= p.closest('.centre').clientWidth"
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 850})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert panel.evaluate(centre)
        assert [what for what in in_both_schemes(page) if re.search(SEEN_AND_NAMED, what)] == []


def test_every_action_of_every_node_is_done(draw: Draw) -> None:
    panel, calls = draw(cards())

    def do(here: Any, what: str) -> None:
        way, _, label = what.rpartition(": ")
        if way == "Enter":
            here.get_by_label(label).fill("typed")
            here.get_by_label(label).press("Enter")
        elif way.startswith("choose "):
            here.get_by_label(label).select_option(way.removeprefix("choose "))
        else:
            named = re.compile(rf"^{re.escape(what)}")
            roles = ("button", "checkbox", "switch", "radio")
            one, *others = (here.get_by_role(role, name=named) for role in roles)
            for other in others:
                one = one.or_(other)
            one.first.click()

    for name, presses in PRESSES.items():
        here = card(panel, name)
        here.evaluate("card => card.querySelectorAll('details').forEach(d => d.open = true)")
        for what, function in presses.items():
            assert sent(panel, partial(do, here, what))["function"] == function, f"{name}: {what}"
    given = {body["function"]: body["params"] for body in calls}
    assert given["cell_edit"] == {"row_id": 8, "column": "live", "value": True}
    assert (given["graph_node"], given["input_submit"]) == ({"node_id": "2"}, {"value": "typed"})
    assert given["tags_change"] == {"tags": ["red", "blue"]}
    assert given["form_submit"] == {"hidden": 1}


def test_a_modal_waits_to_be_opened_and_sends_what_was_filled_in(draw: Draw) -> None:
    field, rename = ui.Input(label="New name", param_name="name"), call("rename", id=5)
    erase = (ui.Text("for good"), "Erase", "Keep", call("erase"))
    panel, calls = draw(
        ui.Modal("Rename it", field, "Rename", "Not now", rename, on_close=call("left")),
        ui.Dialog("Erase it", *erase, destructive=True),
        ui.SlideOver("Details", [ui.Text("slid in")], on_close=call("slid_out")),
        ui.Modal("Closed", open=False),
    )
    page = panel.page
    assert page.get_by_role("dialog").count() == 0
    assert panel.get_by_role("button", name="Closed").count() == 0

    panel.get_by_role("button", name="Rename it").press("Enter")
    page.get_by_role("dialog").get_by_label("New name").fill("Pearl")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").wait_for(state="detached")
    assert [(c["function"], c["params"]) for c in calls] == [("rename", {"id": 5, "name": "Pearl"})]

    panel.get_by_role("button", name="Rename it").click()
    assert typed(panel, "Escape")["function"] == "left"

    panel.get_by_role("button", name="Erase it").click()
    page.keyboard.press("Escape")
    page.mouse.click(5, 5)
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    panel.get_by_role("button", name="Details").click()
    assert page.get_by_role("dialog", name="Details").get_by_text("slid in").is_visible()
    assert pressed(page.get_by_role("dialog"), "Close")["function"] == "slid_out"


def test_a_chosen_file_goes_with_its_form_or_at_once_and_a_large_one_not(draw: Draw) -> None:
    limits = {"blocked_extensions": ["exe"], "max_files": 2, "show_previews": True}
    upload = ui.FileUpload(title="Papers", multiple=True, **limits)
    tree = ui.Form([upload, ui.Input(label="Note", param_name="note")], "keep", "Send").to_dict()
    takes = call("upload", album="a")
    panel, _ = draw(tree, ui.FileUpload(title="Picture", on_upload=takes, param_name="pictures"))
    field = panel.get_by_label("Papers")
    pears = "pears и яблоки".encode()

    def choose(*files: tuple[str, bytes]) -> None:
        text = {"mimeType": "text/plain"}
        field.set_input_files([{"name": name, "buffer": held, **text} for name, held in files])

    for files, words in (
        ([("big.txt", b"x" * 95_000)], "big.txt is too large: 90 KB is the most."),
        ([(n, b"x" * 60_000) for n in "ab"], "Papers is too large: 90 KB is the most."),
        ([("run.EXE", b"x")], "Files like run.EXE are not taken here."),
        ([(f"{n}.txt", b"x") for n in range(3)], "At most 2 files."),
    ):
        choose(*files)
        panel.get_by_role("alert").get_by_text(words).wait_for()
        assert field.evaluate("f => f.files.length") == 0

    choose(("list.txt", pears))
    panel.locator("[data-param=files]").evaluate(
        "async f => { while (!f.chosen.length) await new Promise(r => setTimeout(r, 20)); }"
    )
    panel.get_by_label("Note").fill("for Anna")
    tree["props"]["children"].append(ui.Text("news").to_dict())
    panel.get_by_role("button", name="Refresh Every node").click()
    panel.get_by_text("news").wait_for()  # drawn anew, it keeps what was chosen
    params = pressed(panel, "Send")["params"]
    (file,) = params["files"]
    assert (file["name"], file["type"], file["size"]) == ("list.txt", "text/plain", len(pears))
    assert (base64.b64decode(file["content_base64"]), params["note"]) == (pears, "for Anna")
    dot = {"name": "dot.png", "mimeType": "image/png", "buffer": b"\x89PNG"}
    params = sent(panel, lambda: panel.get_by_label("Picture").set_input_files(dot))["params"]
    assert (params["album"], [f["name"] for f in params["pictures"]]) == ("a", ["dot.png"])


def test_rows_are_searched_ticked_sorted_and_moved_by_keyboard(draw: Draw) -> None:
    rows = [ui.ListItem(f"r{n}", f"letter {n}", draggable=True) for n in range(5)]
    folder = ui.ListItem("f1", "Archive", droppable=True, on_drop=call("move"))
    many = [{"label": "Delete", "action": call("drop_all")}]
    options = {"searchable": True, "page_size": 4, "selectable": True, "bulk_actions": many}
    listed = ui.List([*rows, folder], **options)
    prices = [{"id": n, "price": price} for n, price in enumerate((30, 4, 100))]
    table = ui.DataTable([ui.DataColumn("price", "Price")], prices)
    panel, _ = draw(listed, table)

    assert panel.get_by_text("letter 4").is_hidden()
    panel.get_by_role("button", name="More").click()
    assert panel.get_by_text("letter 4").is_visible()
    panel.get_by_role("searchbox").fill("letter 3")
    assert [panel.get_by_text(f"letter {n}").is_visible() for n in (2, 3)] == [False, True]
    assert panel.get_by_role("button", name="Delete").is_disabled()
    panel.get_by_role("checkbox", name="letter 3").press("Space")
    assert pressed(panel, "Delete")["params"] == {"message_ids": ["r3"]}

    panel.get_by_role("searchbox").fill("")
    panel.get_by_role("button", name="Move: letter 1").press("Enter")
    here = panel.get_by_role("button", name="Put it here: Archive")
    moved = sent(panel, lambda: here.press("Enter"))
    assert moved["params"] == {"dragged_id": "r1", "target_id": "f1"}
    assert here.count() == 0

    for order in (["4", "30", "100"], ["100", "30", "4"]):
        panel.get_by_role("button", name="Price").press("Enter")
        assert panel.locator("td").all_inner_texts() == order
    assert panel.locator("th").get_attribute("aria-sort") == "descending"


def test_markdown_is_drawn_and_its_markup_stays_text(draw: Draw) -> None:
    hostile = (
        "<img src=x onerror=window.pwned=1> [bad](javascript:window.pwned=1) ![x](javascript:1)"
        " **b** " + "*" * 3000
    )
    kind = ui.Markdown("## Title\n\n- [x] done\n\n[ok](https://example.com/)")
    panel, _ = draw(kind, ui.Markdown(hostile))
    assert panel.get_by_role("heading", name="Title").is_visible()
    assert panel.get_by_role("link", name="ok").get_attribute("href") == "https://example.com/"
    assert panel.get_by_text("☑ done").is_visible()
    assert panel.locator("img, a[href^=javascript]").count() == 0
    assert panel.get_by_text("<img src=x onerror=window.pwned=1>").is_visible()


def test_long_data_is_cut_and_says_so(draw: Draw) -> None:
    rows = [{"name": n, "value": n % 17} for n in range(10_000)]
    nodes = [{"id": n, "label": f"n{n}"} for n in range(1000)]
    edges = [{"source": n, "target": n + 1} for n in range(999)]
    deep = node("Stack", children=[])
    for _ in range(60):
        deep = node("Stack", children=[deep])
    panel, _ = draw(
        *(ui.Chart(rows, kind) for kind in ("line", "bar", "area", "pie")),
        *(ui.DataTable([], rows), ui.Graph(nodes, edges)),
        *(ui.List([ui.Text(str(n)) for n in range(2000)]), deep),
        node("Stack", children=[node("Text", content=n) for n in range(5000)]),
    )
    text = panel.inner_text()
    cuts = ((500, 10_000), (24, 10_000), (200, 1_000), (400, 999), (500, 2_000))
    told = [*(f"first {shown} of {there}" for shown, there in cuts), "The rest is not shown."]
    assert [words for words in told if words not in text] == []
    assert panel.locator("svg circle, svg path, svg rect").count() < 4000


def test_broken_props_never_break_the_page(draw: Draw) -> None:
    odd = [None, 0, -1, 7, "text", [], [None, 3, "x", [[]]], {}, {"type": "Text"}, True, 1e308]
    names: dict[str, set[str]] = {}
    for made in (one.to_dict() for one in NODES.values()):
        names.setdefault(made["type"], set()).update(made["props"])
    kinds = [(kind, props, value) for kind, props in names.items() for value in odd]
    broken = (node(kind, **dict.fromkeys(props, value)) for kind, props, value in kinds)
    bare = ({"type": kind} for kind in names)
    panel, _ = draw(*broken, *bare, node("Text", content="after all of them"))
    assert panel.get_by_text("after all of them").is_visible()


def test_a_chart_names_its_lowest_and_highest_value(draw: Draw) -> None:
    rows = [
        {"day": "Mon", "spend": -3, "clicks": 200},
        {"day": "Tue", "spend": 12.5, "clicks": None},
        {"day": "Wed", "spend": 4, "clicks": 950},
    ]
    least_of = {"line": "200", "bar": "0", "area": "0"}
    charts = (ui.Chart(rows, kind, "day", y2_keys=["clicks"], title=kind) for kind in least_of)
    panel, _ = draw(*charts)
    for kind, least in least_of.items():
        figure = panel.locator("figure").filter(has_text=kind)
        assert figure.get_by_role("img", name=f"{kind}: spend, clicks").is_visible()
        axes = figure.locator(".n-axis")
        left, right = (axes.nth(n).locator("span").all_inner_texts() for n in (0, 1))
        assert (left[0], left[2], right[0], right[2]) == ("13", "-3", "950", least)
        assert figure.locator(".n-x").inner_text().split() == ["Mon", "Tue", "Wed"]
        assert figure.locator(".n-legend").inner_text().split() == ["spend", "clicks"]
    assert "NaN" not in panel.evaluate("p => p.innerHTML")


def test_media_plays_from_safe_places_only(draw: Draw) -> None:
    film, song = ("javascript:window.pwned=1", "http://example.com/a.mp3")
    media = (NODES["Video"], NODES["Audio"], ui.Video(film, title="bad film"), ui.Audio(song))
    panel, _ = draw(*media)
    assert panel.locator("video[controls][loop], audio[controls]").count() == 2
    for told in (f"bad film · This address is not opened: {film}", f"not opened: {song}"):
        assert panel.get_by_text(told).is_visible()
    assert panel.get_by_label("audio title").evaluate(
        "a => new Promise(r => a.readyState ? r(true) : (a.onloadedmetadata = () => r(true),"
        " a.onerror = () => r(false)))"
    )


def test_a_stages_keys_a_menu_a_notice_and_a_graph_are_used_by_keyboard(draw: Draw) -> None:
    notice, field = ui.Alert("read me", dismissible=True), ui.Input(label="elsewhere")
    panel, calls = draw(NODES["Stage"], NODES["Menu"], notice, field, NODES["Canvas"])
    panel.get_by_label("elsewhere").press("1")
    panel.get_by_role("button", name="2 stage_two").focus()
    assert typed(panel, "1")["function"] == "flush_cache"
    assert len(calls) == 1
    panel.locator("summary").get_by_text("Options").press("Enter")
    assert panel.get_by_role("button", name="Rename").is_visible()
    panel.get_by_role("button", name="Rename").press("Escape")
    assert panel.get_by_role("button", name="Rename").is_hidden()
    panel.get_by_role("button", name="Close").press("Enter")
    assert panel.get_by_text("read me").count() == 0
    database = panel.get_by_role("button", name=re.compile("^Database")).first
    made = sent(panel, lambda: database.press("Enter"))
    assert (made["function"], made["params"]) == ("canvas_node", {"node_id": "db"})


def test_the_pages_own_words_around_nodes_are_russian_for_a_russian(draw: Draw) -> None:
    panel, _ = draw(cards(), user="alice", locale="ru-RU")
    for words in ("Точные числа", "Списком", "первые 3 из 40", "upload hint · всего до 90 КБ"):
        assert panel.get_by_text(words).first.is_visible(), words

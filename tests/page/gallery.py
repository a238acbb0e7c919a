"""Every constructor of the SDK's `ui` module with all it takes: the words of each that a person must
find, the calls they must reach."""

from collections.abc import Iterator
from typing import Any

from imperal_sdk import ui

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
SILENCE = "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
FIELD: dict[str, Any] = {
    "label": "the label",
    "description": "the description",
    "error": "the error",
}


SPOKEN = frozenset(
    """alt caption content description error extra_info hint label message meta name placeholder
    reason search_placeholder subtitle text time title trend validate_message""".split()
)
"""Properties whose texts a person reads, in a node and in what it lists."""
CLOSED = ("Dialog", "Modal", "SlideOver")
"""Nodes of which only the title shows until they are opened."""
MARKUP = ("Markdown", "RichEditor")
"""Nodes whose content is drawn and not shown as it is written."""


def words_of(name: str) -> list[str]:
    """What a person must find in a node of the gallery, visible or as the name of something."""
    return [*spoken(NODES[name].to_dict()), *MADE.get(name, ())]


def spoken(part: Any) -> Iterator[str]:
    """The texts that a part of a tree holds for a person."""
    if isinstance(part, list):
        for one in part:
            yield from spoken(one)
    if not isinstance(part, dict):
        return
    kind = part.get("type")
    for name, value in part.get("props", part).items():
        if (kind in CLOSED and name != "title") or (kind in MARKUP and name == "content"):
            continue
        if not isinstance(value, str):
            yield from spoken(value)
        elif name in SPOKEN:
            yield value


call, text = ui.Call, ui.Text


NODES: dict[str, Any] = {
    "Stack": ui.Stack([text("in a stack")], direction="h", wrap=True, align="center",
        justify="between"),
    "Grid": ui.Grid([text("cell one"), text("cell two")], columns=3),
    "Tabs": ui.Tabs([{"label": "tab one", "content": ui.Divider()},
        {"label": "tab two", "content": text("second")}], 1),
    "Page": ui.Page([text("in the page")], title="page title", subtitle="page subtitle"),
    "Section": ui.Section([text("in the section")], title="section title", collapsible=True),
    "Row": ui.Row([text("in a row")]),
    "Column": ui.Column([text("in a column")]),
    "Accordion": ui.Accordion([{"id": "a", "title": "fold", "children": [text("folded away")]}]),
    "ListItem": ui.ListItem("i1", "item title", subtitle="item subtitle", meta="item meta",
        avatar=ui.Avatar("AB"), badge=ui.Badge("item badge"), selected=True,
        on_click=call("item_click"),
        actions=[{"icon": "Trash2", "label": "Bin", "on_click": call("item_action")}],
        draggable=True, icon="Mail", expandable=True, expanded_content=[text("item expanded")]),
    "List": ui.List([ui.ListItem("l1", "row one"), ui.ListItem("l2", "row two"),
        ui.ListItem("l3", "row three", droppable=True, on_drop=call("list_drop"))], searchable=True,
        on_end_reached=call("list_more"), selectable=True,
        bulk_actions=[{"label": "Archive all", "action": call("list_bulk")}], total_items=40,
        extra_info="3 unread", title="list title", search_placeholder="search rows"),
    "DataTable": ui.DataTable([ui.DataColumn("name", "Name"),
        ui.DataColumn("price", "Price", editable=True),
        ui.DataColumn("live", "Live", editable=True, edit_type="toggle")],
        [{"id": 7, "name": "pears", "price": "3", "live": True},
        {"id": 8, "name": "apples", "price": "2", "live": False}], on_row_click=call("row_click"),
        on_cell_edit=call("cell_edit"), max_height=200, sticky_header=True),
    "Stat": ui.Stat("stat label", 42, trend="+5 %", icon="Coins", color="green",
        description="stat description", trend_direction="up"),
    "Stats": ui.Stats([ui.Stat("one stat", 1)], columns=2),
    "Badge": ui.Badge("badge label", value=9, color="red", size="lg", dot=True),
    "Avatar": ui.Avatar("Zed", size="lg"),
    "Timeline": ui.Timeline([{"title": "moment", "description": "what changed", "time": "13 Aug",
        "icon": "Check", "color": "green"}]),
    "Tree": ui.Tree([{"id": "r", "label": "root", "badge": 12, "expanded": True,
        "on_click": call("tree_root"),
        "children": [{"id": "l", "label": "leaf", "icon": "File", "on_click": call("tree_leaf")}]}],
        label="tree label"),
    "KeyValue": ui.KeyValue([{"key": "a key", "value": "a value"},
        {"key": "nested", "value": ui.Badge("a node")}], columns=2),
    "Text": ui.Text("plain words", variant="heading", truncate=True),
    "Icon": ui.Icon("Coins", 24, "green"),
    "Header": ui.Header("header text", 3, "header subtitle"),
    "Image": ui.Image(PIXEL, alt="image alt", width="40px", height="40",
        on_click=call("image_click"), object_fit="cover", caption="image caption"),
    "Code": ui.Code("let x = 1", language="js", line_numbers=True),
    "Markdown": ui.Markdown(
        "# Big\n\nsome **bold** and *slanted* `code`\n\n- one\n- two\n  - nested\n\n1."
        " first\n\n> quoted\n\n```\nfenced\n```\n\n| a | b |\n|---|---|\n| c1 | c2 |\n\n[a"
        " link](https://example.com) snake_case_name"
    ),
    "Empty": ui.Empty("nothing yet", icon="Inbox", action=call("empty_action", label="Start here")),
    "Divider": ui.Divider("divided"),
    "Html": ui.Html("<b>markup</b>"),
    "Video": ui.Video("data:video/mp4;base64,AAAA", poster=PIXEL, title="video title", loop=True,
        muted=True, width="200px"),
    "Audio": ui.Audio(SILENCE, title="audio title"),
    "Button": ui.Button("button label", on_click=call("button_click"), icon="Mail",
        icon_right="ArrowRight", full_width=True),
    "BackButton": ui.BackButton("Projects", on_click=call("back_click")),
    "Card": ui.Card("card title", "card subtitle", text("card content"), text("card footer"),
        on_click=call("card_click")),
    "Menu": ui.Menu([{"label": "Rename", "icon": "Pencil", "on_click": call("menu_rename")},
        {"separator": True}, {"label": "Copy", "on_click": call("menu_copy")}],
        trigger=ui.Button("Options"), align="end"),
    "Modal": ui.Modal("modal title", text("modal content"), "Do it", "Leave it",
        call("modal_confirm"), subtitle="modal subtitle", size="lg", on_close=call("modal_close")),
    "Dialog": ui.Dialog("dialog title", text("dialog content"), "Erase", "Keep",
        call("dialog_confirm"), destructive=True),
    "SlideOver": ui.SlideOver("slide title", [text("slide content")], subtitle="slide subtitle",
        width="lg", on_close=call("slide_close")),
    "Tooltip": ui.Tooltip("tooltip words", text("explained"), 300),
    "Link": ui.Link("link label", on_click=call("link_click")),
    "Alert": ui.Alert("alert message", "alert title", "warning", dismissible=True),
    "Toast": ui.Toast("toast message", "success", 0, title="toast title",
        action=call("toast_action"), action_label="Undo"),
    "Progress": ui.Progress(7, "progress label", "circle", "green", 12, True, "lg"),
    "Chart": ui.Chart([{"name": "Mon", "spend": 12, "clicks": 300},
        {"name": "Tue", "spend": 17, "clicks": 210}], "bar", colors={"spend": "#aa3355"},
        y2_keys=["clicks"], title="chart title", description="chart description", show_legend=True,
        show_data_table=True),
    "Loading": ui.Loading("loading words"),
    "Error": ui.Error("error message", "error title", call("error_retry")),
    "Ghost": ui.Ghost(text("ghost child"), reason="ghost reason"),
    "AgentPresence": ui.AgentPresence("thinking", "reading the mail", 40),
    "Input": ui.Input("a placeholder", call("input_submit"), **FIELD),
    "Password": ui.Password("a placeholder", call("password_submit"), **FIELD),
    "Form": ui.Form([ui.Input(label="form field", param_name="f")], "form_submit", "Send the form",
        {"hidden": 1}),
    "Select": ui.Select([{"value": "a", "label": "option a"}, {"value": "b", "label": "option b"}],
        placeholder="choose", on_change=call("select_change"), **FIELD),
    "MultiSelect": ui.MultiSelect([{"value": "a", "label": "option a"}], ["a"], "choose some",
        **{**FIELD, "description": ""}),
    "Toggle": ui.Toggle("toggle label", True, call("toggle_change")),
    "Slider": ui.Slider(0, 10, 4, 2, "slider label"),
    "DatePicker": ui.DatePicker("2026-01-02", on_change=call("date_change"), min="2026-01-01",
        max="2026-12-31", **FIELD),
    "FileUpload": ui.FileUpload("image/*,.txt", 10, True, call("file_upload"),
        blocked_extensions=["exe"], max_files=2, title="upload title", hint="upload hint",
        show_previews=True),
    "TextArea": ui.TextArea("a placeholder", "some text", 3, call("area_submit"), **FIELD),
    "RichEditor": ui.RichEditor("<p>rich</p>", on_save=call("rich_save"),
        on_change=call("rich_change"), **FIELD),
    "TagInput": ui.TagInput(["red"], ["blue", "green"], "add", on_change=call("tags_change"),
        validate="^x", validate_message="the rule", **FIELD),
    "Checkbox": ui.Checkbox("check label", True, call("check_change"),
        description="check description", error="check error"),
    "RadioGroup": ui.RadioGroup([{"value": "a", "label": "radio a", "description": "about a"},
        {"value": "b", "label": "radio b", "disabled": True}], on_change=call("radio_change"),
        orientation="horizontal", **FIELD),
    "Graph": ui.Graph([{"data": {"id": "1", "label": "person one", "type": "person"}},
        {"id": "2", "label": "firm two", "type": "firm"}],
        [{"source": "1", "target": "2", "label": "owns"}], "circle", edge_label_visible=True,
        on_node_click=call("graph_node")),
    "Canvas": ui.Canvas([ui.CanvasNode("api", "Gateway", 0, 0, "gateway", "healthy", {"rps": 12},
        "Server", call("canvas_own")),
        ui.CanvasNode("db", "Database", 300, 120, "database", "error")],
        [ui.CanvasEdge("api", "db", "sql", "congested", 8.5)], height=300,
        on_node_click=call("canvas_node")),
    "TrayResponse": ui.TrayResponse(ui.Badge("5", color="red"), text("tray panel"), "warning"),
    "Stage": ui.Stage("hud", "stage title", [text("stage content")],
        {"1": "flush_cache", "2": call("stage_two").to_dict()}, "receipt", {"cpu": "40 %"},
        command="top", status="executing"),
}  # fmt: skip
MADE: dict[str, tuple[str, ...]] = {
    "ListItem": ("AB",),
    "List": ("first 3 of 40",),
    "DataTable": ("Price: pears", "Live: pears"),
    "Stat": ("42",),
    "Badge": ("badge label 9",),
    "Avatar": ("Ze",),
    "Tree": ("12",),
    "KeyValue": ("a key", "a value"),
    "Markdown": (
        *("Big", "bold", "slanted", "code", "two", "nested", "first", "quoted", "fenced", "c2"),
        *("a link", "snake_case_name"),
    ),
    "BackButton": ("Back to Projects",),
    "Alert": ("Close",),
    "Progress": ("7 / 12",),
    "Chart": ("17", "210"),
    "AgentPresence": ("thinking", "reading the mail", "40 / 100"),
    "Slider": ("4",),
    "FileUpload": ("up to 90 KB in all",),
    "Graph": ("person",),
    "Canvas": ("rps 12", "error", "sql · congested · 8.5 ms"),
    "Stage": ("cpu", "40 %", "top", "executing"),
}
"""Words that a node makes of what is no text of its own."""
PRESSES: dict[str, dict[str, str]] = {
    "ListItem": {"item title": "item_click", "Bin: item title": "item_action"},
    "List": {"More": "list_more"},
    "DataTable": {"pears": "row_click", "Live: apples": "cell_edit"},
    "Tree": {"root": "tree_root", "leaf": "tree_leaf"},
    "Image": {"image alt": "image_click"},
    "Empty": {"Start here": "empty_action"},
    "Button": {"button label": "button_click"},
    "BackButton": {"← Back to Projects": "back_click"},
    "Card": {"card title": "card_click"},
    "Menu": {"Copy": "menu_copy"},
    "Link": {"link label": "link_click"},
    "Toast": {"Undo": "toast_action"},
    "Error": {"Try again": "error_retry"},
    "Input": {"Enter: the label": "input_submit"},
    "Password": {"Enter: the label": "password_submit"},
    "Form": {"Send the form": "form_submit"},
    "Select": {"choose b: the label": "select_change"},
    "Toggle": {"toggle label": "toggle_change"},
    "TextArea": {"Save": "area_submit"},
    "RichEditor": {"Save": "rich_save"},
    "TagInput": {"+ blue": "tags_change"},
    "Checkbox": {"check label": "check_change"},
    "RadioGroup": {"radio a about a": "radio_change"},
    "Graph": {"firm two · firm": "graph_node"},
    "Canvas": {
        "Gateway · gateway · healthy · rps 12": "canvas_own",
        "Database · database · error": "canvas_node",
    },
    "Stage": {"1 flush_cache": "flush_cache", "2 stage_two": "stage_two"},
}
"""`{what is pressed: the function it calls}`; what is pressed is visible, or the name of something."""

"""Every constructor of the SDK's `ui` module with all it takes: what each makes, the words a person
must find, the calls they must reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from imperal_sdk import ui

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
SILENCE = "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
FIELD: dict[str, Any] = {
    "label": "the label",
    "description": "the description",
    "error": "the error",
}


@dataclass(frozen=True)
class Shown:
    """A node, the words in it (visible, or the name of something), and `{what is pressed: the
    function it calls}`."""

    node: Any
    words: tuple[str, ...] = ()
    presses: dict[str, str] = field(default_factory=dict)


def call(name: str, **params: Any) -> Any:
    """An action whose function is named after where it stands."""
    return ui.Call(name, **params)


def text(words: str) -> Any:
    """A child."""
    return ui.Text(words)


GALLERY: dict[str, Shown] = {
    "Stack": Shown(
        ui.Stack([text("in a stack")], direction="h", wrap=True, align="center", justify="between"),
        ("in a stack",),
    ),
    "Grid": Shown(
        ui.Grid([text("cell one"), text("cell two")], columns=3), ("cell one", "cell two")
    ),
    "Tabs": Shown(
        ui.Tabs(
            [
                {"label": "tab one", "content": text("first")},
                {"label": "tab two", "content": text("second")},
            ],
            1,
        ),
        ("tab one", "tab two", "second"),
    ),
    "Page": Shown(
        ui.Page([text("in the page")], title="page title", subtitle="page subtitle"),
        ("in the page", "page title", "page subtitle"),
    ),
    "Section": Shown(
        ui.Section([text("in the section")], title="section title", collapsible=True),
        ("in the section", "section title"),
    ),
    "Row": Shown(ui.Row([text("in a row")]), ("in a row",)),
    "Column": Shown(ui.Column([text("in a column")]), ("in a column",)),
    "Accordion": Shown(
        ui.Accordion([{"id": "a", "title": "fold", "children": [text("folded away")]}]),
        ("fold", "folded away"),
    ),
    "ListItem": Shown(
        ui.ListItem(
            "i1",
            "item title",
            subtitle="item subtitle",
            meta="item meta",
            avatar=ui.Avatar("AB"),
            badge=ui.Badge("item badge"),
            selected=True,
            on_click=call("item_click"),
            actions=[{"icon": "Trash2", "label": "Bin", "on_click": call("item_action")}],
            draggable=True,
            icon="Mail",
            expandable=True,
            expanded_content=[text("item expanded")],
        ),
        ("item title", "item subtitle", "item meta", "AB", "item badge", "item expanded"),
        {"item title": "item_click", "Bin: item title": "item_action"},
    ),
    "List": Shown(
        ui.List(
            [
                ui.ListItem("l1", "row one"),
                ui.ListItem("l2", "row two"),
                ui.ListItem("l3", "row three", droppable=True, on_drop=call("list_drop")),
            ],
            searchable=True,
            on_end_reached=call("list_more"),
            selectable=True,
            bulk_actions=[{"label": "Archive all", "action": call("list_bulk")}],
            total_items=40,
            extra_info="3 unread",
            title="list title",
            search_placeholder="search rows",
        ),
        (
            "row one",
            "row three",
            "Archive all",
            "3 unread",
            "first 3 of 40",
            "list title",
            "search rows",
        ),
        {"More": "list_more"},
    ),
    "DataTable": Shown(
        ui.DataTable(
            [
                ui.DataColumn("name", "Name"),
                ui.DataColumn("price", "Price", editable=True),
                ui.DataColumn("live", "Live", editable=True, edit_type="toggle"),
            ],
            [
                {"id": 7, "name": "pears", "price": "3", "live": True},
                {"id": 8, "name": "apples", "price": "2", "live": False},
            ],
            on_row_click=call("row_click"),
            on_cell_edit=call("cell_edit"),
            max_height=200,
            sticky_header=True,
        ),
        ("Name", "Price: pears", "Live: pears", "apples"),
        {"pears": "row_click", "Live: apples": "cell_edit"},
    ),
    "Stat": Shown(
        ui.Stat(
            "stat label",
            42,
            trend="+5 %",
            icon="Coins",
            color="green",
            description="stat description",
            trend_direction="up",
        ),
        ("stat label", "42", "+5 %", "stat description"),
    ),
    "Stats": Shown(ui.Stats([ui.Stat("one stat", 1)], columns=2), ("one stat",)),
    "Badge": Shown(
        ui.Badge("badge label", value=9, color="red", size="lg", dot=True), ("badge label 9",)
    ),
    "Avatar": Shown(ui.Avatar("Zed", size="lg"), ("Ze",)),
    "Timeline": Shown(
        ui.Timeline(
            [
                {
                    "title": "moment",
                    "description": "what changed",
                    "time": "13 Aug",
                    "icon": "Check",
                    "color": "green",
                }
            ]
        ),
        ("moment", "what changed", "13 Aug"),
    ),
    "Tree": Shown(
        ui.Tree(
            [
                {
                    "id": "r",
                    "label": "root",
                    "badge": 12,
                    "expanded": True,
                    "on_click": call("tree_root"),
                    "children": [
                        {"id": "l", "label": "leaf", "icon": "File", "on_click": call("tree_leaf")}
                    ],
                }
            ],
            label="tree label",
        ),
        ("root", "12", "leaf", "tree label"),
        {"root": "tree_root", "leaf": "tree_leaf"},
    ),
    "KeyValue": Shown(
        ui.KeyValue(
            [{"key": "a key", "value": "a value"}, {"key": "nested", "value": ui.Badge("a node")}],
            columns=2,
        ),
        ("a key", "a value", "a node"),
    ),
    "Text": Shown(ui.Text("plain words", variant="heading", truncate=True), ("plain words",)),
    "Icon": Shown(ui.Icon("Coins", 24, "green"), ("Coins",)),
    "Header": Shown(
        ui.Header("header text", 3, "header subtitle"), ("header text", "header subtitle")
    ),
    "Image": Shown(
        ui.Image(
            PIXEL,
            alt="image alt",
            width="40px",
            height="40",
            on_click=call("image_click"),
            object_fit="cover",
            caption="image caption",
        ),
        ("image alt", "image caption"),
        {"image alt": "image_click"},
    ),
    "Code": Shown(ui.Code("let x = 1", language="js", line_numbers=True), ("let x = 1",)),
    "Markdown": Shown(
        ui.Markdown(
            "# Big\n\nsome **bold** and *slanted* `code`\n\n- one\n- two\n  - nested\n\n1."
            " first\n\n> quoted\n\n```\nfenced\n```\n\n| a | b |\n|---|---|\n| c1 | c2 |\n\n[a"
            " link](https://example.com) snake_case_name"
        ),
        (
            "Big",
            "bold",
            "slanted",
            "code",
            "two",
            "nested",
            "first",
            "quoted",
            "fenced",
            "c2",
            "a link",
            "snake_case_name",
        ),
    ),
    "Empty": Shown(
        ui.Empty("nothing yet", icon="Inbox", action=call("empty_action", label="Start here")),
        ("nothing yet", "Start here"),
        {"Start here": "empty_action"},
    ),
    "Divider": Shown(ui.Divider("divided"), ("divided",)),
    "Html": Shown(ui.Html("<b>markup</b>"), ("<b>markup</b>",)),
    "Video": Shown(
        ui.Video(
            "data:video/mp4;base64,AAAA",
            poster=PIXEL,
            title="video title",
            loop=True,
            muted=True,
            width="200px",
        ),
        ("video title",),
    ),
    "Audio": Shown(ui.Audio(SILENCE, title="audio title"), ("audio title",)),
    "Button": Shown(
        ui.Button(
            "button label",
            on_click=call("button_click"),
            icon="Mail",
            icon_right="ArrowRight",
            full_width=True,
        ),
        ("button label",),
        {"button label": "button_click"},
    ),
    "BackButton": Shown(
        ui.BackButton("Projects", on_click=call("back_click")),
        ("Back to Projects",),
        {"← Back to Projects": "back_click"},
    ),
    "Card": Shown(
        ui.Card(
            "card title",
            "card subtitle",
            text("card content"),
            text("card footer"),
            on_click=call("card_click"),
        ),
        ("card subtitle", "card content", "card footer"),
        {"card title": "card_click"},
    ),
    "Menu": Shown(
        ui.Menu(
            [
                {"label": "Rename", "icon": "Pencil", "on_click": call("menu_rename")},
                {"separator": True},
                {"label": "Copy", "on_click": call("menu_copy")},
            ],
            trigger=ui.Button("Options"),
            align="end",
        ),
        ("Options", "Rename", "Copy"),
        {"Copy": "menu_copy"},
    ),
    "Modal": Shown(
        ui.Modal(
            "modal title",
            text("modal content"),
            "Do it",
            "Leave it",
            call("modal_confirm"),
            subtitle="modal subtitle",
            size="lg",
            on_close=call("modal_close"),
        ),
        ("modal title",),
    ),
    "Dialog": Shown(
        ui.Dialog(
            "dialog title",
            text("dialog content"),
            "Erase",
            "Keep",
            call("dialog_confirm"),
            destructive=True,
        ),
        ("dialog title",),
    ),
    "SlideOver": Shown(
        ui.SlideOver(
            "slide title",
            [text("slide content")],
            subtitle="slide subtitle",
            width="lg",
            on_close=call("slide_close"),
        ),
        ("slide title",),
    ),
    "Tooltip": Shown(
        ui.Tooltip("tooltip words", text("explained"), 300), ("tooltip words", "explained")
    ),
    "Link": Shown(
        ui.Link("link label", on_click=call("link_click")),
        ("link label",),
        {"link label": "link_click"},
    ),
    "Alert": Shown(
        ui.Alert("alert message", "alert title", "warning", dismissible=True),
        ("alert message", "alert title", "Close"),
    ),
    "Toast": Shown(
        ui.Toast(
            "toast message",
            "success",
            0,
            title="toast title",
            action=call("toast_action"),
            action_label="Undo",
        ),
        ("toast message", "toast title"),
        {"Undo": "toast_action"},
    ),
    "Progress": Shown(
        ui.Progress(7, "progress label", "circle", "green", 12, True, "lg"),
        ("progress label", "7 / 12"),
    ),
    "Chart": Shown(
        ui.Chart(
            [
                {"name": "Mon", "spend": 12, "clicks": 300},
                {"name": "Tue", "spend": 17, "clicks": 210},
            ],
            "bar",
            colors={"spend": "#aa3355"},
            y2_keys=["clicks"],
            title="chart title",
            description="chart description",
            show_legend=True,
            show_data_table=True,
        ),
        ("chart title", "chart description", "spend", "clicks", "Mon", "17", "210"),
    ),
    "Loading": Shown(ui.Loading("loading words"), ("loading words",)),
    "Error": Shown(
        ui.Error("error message", "error title", call("error_retry")),
        ("error message", "error title"),
        {"Try again": "error_retry"},
    ),
    "Ghost": Shown(
        ui.Ghost(text("ghost child"), reason="ghost reason"), ("ghost child", "ghost reason")
    ),
    "AgentPresence": Shown(
        ui.AgentPresence("thinking", "reading the mail", 40),
        ("thinking", "reading the mail", "40 / 100"),
    ),
    "Input": Shown(
        ui.Input("a placeholder", call("input_submit"), **FIELD),
        tuple(FIELD.values()),
        {"Enter: the label": "input_submit"},
    ),
    "Password": Shown(
        ui.Password("a placeholder", call("password_submit"), **FIELD),
        tuple(FIELD.values()),
        {"Enter: the label": "password_submit"},
    ),
    "Form": Shown(
        ui.Form(
            [ui.Input(label="form field", param_name="f")],
            "form_submit",
            "Send the form",
            {"hidden": 1},
        ),
        ("form field",),
        {"Send the form": "form_submit"},
    ),
    "Select": Shown(
        ui.Select(
            [{"value": "a", "label": "option a"}, {"value": "b", "label": "option b"}],
            placeholder="choose",
            on_change=call("select_change"),
            **FIELD,
        ),
        (*FIELD.values(), "option b"),
        {"choose b: the label": "select_change"},
    ),
    "MultiSelect": Shown(
        ui.MultiSelect(
            [{"value": "a", "label": "option a"}],
            ["a"],
            "choose some",
            **{**FIELD, "description": ""},
        ),
        ("the label", "the error", "option a", "choose some"),
    ),
    "Toggle": Shown(
        ui.Toggle("toggle label", True, call("toggle_change")),
        ("toggle label",),
        {"toggle label": "toggle_change"},
    ),
    "Slider": Shown(ui.Slider(0, 10, 4, 2, "slider label"), ("slider label", "4")),
    "DatePicker": Shown(
        ui.DatePicker(
            "2026-01-02", on_change=call("date_change"), min="2026-01-01", max="2026-12-31", **FIELD
        ),
        tuple(FIELD.values()),
    ),
    "FileUpload": Shown(
        ui.FileUpload(
            "image/*,.txt",
            10,
            True,
            call("file_upload"),
            blocked_extensions=["exe"],
            max_files=2,
            title="upload title",
            hint="upload hint",
            show_previews=True,
        ),
        ("upload title", "upload hint", "up to 90 KB in all"),
    ),
    "TextArea": Shown(
        ui.TextArea("a placeholder", "some text", 3, call("area_submit"), **FIELD),
        tuple(FIELD.values()),
        {"Save": "area_submit"},
    ),
    "RichEditor": Shown(
        ui.RichEditor(
            "<p>rich</p>", on_save=call("rich_save"), on_change=call("rich_change"), **FIELD
        ),
        tuple(FIELD.values()),
        {"Save": "rich_save"},
    ),
    "TagInput": Shown(
        ui.TagInput(
            ["red"],
            ["blue", "green"],
            "add",
            on_change=call("tags_change"),
            validate="^x",
            validate_message="the rule",
            **FIELD,
        ),
        (*FIELD.values(), "the rule"),
        {"+ blue": "tags_change"},
    ),
    "Checkbox": Shown(
        ui.Checkbox(
            "check label",
            True,
            call("check_change"),
            description="check description",
            error="check error",
        ),
        ("check label", "check description", "check error"),
        {"check label": "check_change"},
    ),
    "RadioGroup": Shown(
        ui.RadioGroup(
            [
                {"value": "a", "label": "radio a", "description": "about a"},
                {"value": "b", "label": "radio b", "disabled": True},
            ],
            on_change=call("radio_change"),
            orientation="horizontal",
            **FIELD,
        ),
        (*FIELD.values(), "radio a", "about a", "radio b"),
        {"radio a about a": "radio_change"},
    ),
    "Graph": Shown(
        ui.Graph(
            [
                {"data": {"id": "1", "label": "person one", "type": "person"}},
                {"id": "2", "label": "firm two", "type": "firm"},
            ],
            [{"source": "1", "target": "2", "label": "owns"}],
            "circle",
            edge_label_visible=True,
            on_node_click=call("graph_node"),
        ),
        ("person one", "firm two", "owns", "person"),
        {"firm two · firm": "graph_node"},
    ),
    "Canvas": Shown(
        ui.Canvas(
            [
                ui.CanvasNode(
                    "api",
                    "Gateway",
                    0,
                    0,
                    "gateway",
                    "healthy",
                    {"rps": 12},
                    "Server",
                    call("canvas_own"),
                ),
                ui.CanvasNode("db", "Database", 300, 120, "database", "error"),
            ],
            [ui.CanvasEdge("api", "db", "sql", "congested", 8.5)],
            height=300,
            on_node_click=call("canvas_node"),
        ),
        ("Gateway", "rps 12", "Database", "error", "sql · congested · 8.5 ms"),
        {
            "Gateway · gateway · healthy · rps 12": "canvas_own",
            "Database · database · error": "canvas_node",
        },
    ),
    "TrayResponse": Shown(
        ui.TrayResponse(ui.Badge("5", color="red"), text("tray panel"), "warning"),
        ("5", "tray panel"),
    ),
    "Stage": Shown(
        ui.Stage(
            "hud",
            "stage title",
            [text("stage content")],
            {"1": "flush_cache", "2": call("stage_two", label="Two").to_dict()},
            "receipt",
            {"cpu": "40 %"},
            command="top",
            status="executing",
        ),
        ("stage title", "stage content", "cpu", "40 %", "top", "executing"),
        {"1 flush_cache": "flush_cache", "2 stage_two": "stage_two"},
    ),
}

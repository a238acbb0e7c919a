"""Gallery: a panel with every node the page draws, each made by its constructor."""

from __future__ import annotations

from typing import Any

from webbee_kernel.sdk import Context, Extension, ui

ext = Extension("gallery", "1.0.0", display_name="Gallery", description="Every node of a panel")

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAMyIAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
SAY = ui.Send("hello")
CHOICES = [{"value": "a", "label": "First"}, {"value": "b", "label": "Second"}]
LEAVES = [{"id": "b", "label": "Leaf"}]
FIGURES = [{"name": "May", "sold": 3}, {"name": "June", "sold": 8}, {"name": "July", "sold": 5}]


def text(words: str) -> ui.UINode:
    """A short text."""
    return ui.Text(words)


def containers() -> list[ui.UINode]:
    """Nodes that hold others."""
    return [
        ui.Stack([text("one"), text("below the other")]),
        ui.Row([text("side"), text("by side")]),
        ui.Column([text("one"), text("below the other")]),
        ui.Grid([text("cell"), text("cell"), text("cell"), text("cell")]),
        ui.Section("Title", [text("in a section")], collapsible=True),
        ui.Card("Title", "subtitle", content=text("in a card"), footer=text("footer")),
        ui.Page([text("in a page")], title="Title"),
        ui.Tabs(
            [{"label": "One", "content": text("first")}, {"label": "Two", "content": text("")}]
        ),
        ui.Accordion([{"id": "a", "title": "Open me", "children": [text("inside")]}]),
        ui.Divider("between"),
        ui.Modal("Title", text("in a window")),
        ui.Dialog("Sure?", text("a question"), on_confirm=SAY),
        ui.SlideOver("Title", [text("from the side")]),
        ui.Tooltip("more words", text("with a hint")),
        ui.Ghost(text("not yet there")),
    ]


def words() -> list[ui.UINode]:
    """Words, pictures and sounds."""
    return [
        ui.Header("A heading", 3, "with a line below"),
        ui.Text("A paragraph", tone="warning"),
        ui.Markdown("**Marked** text with a [link](https://example.com)"),
        ui.Code("print('hello')", "python"),
        ui.Html("<b>shown as source</b>"),
        ui.Badge("new", "green"),
        ui.Avatar("AB"),
        ui.Icon("mail"),
        ui.Image(PIXEL, "a coloured square", width="60", height="60"),
        ui.Video("https://example.com/film.mp4", title="A film"),
        ui.Audio("https://example.com/sound.mp3", "A sound"),
        ui.Link("A link", "https://example.com"),
    ]


def data() -> list[ui.UINode]:
    """Lists, tables, figures, graphs."""
    columns = [ui.DataColumn("name", "Month"), ui.DataColumn("sold", "Sold")]
    boxes = [
        {"id": "a", "label": "From", "x": 0, "y": 0},
        {"id": "b", "label": "To", "x": 200, "y": 60},
    ]
    return [
        ui.List([ui.ListItem("1", "First", "subtitle", "meta", badge=ui.Badge("3"))]),
        ui.ListItem("2", "A row", actions=[{"label": "Do it", "on_click": SAY}]),
        ui.DataTable(columns, FIGURES),
        ui.KeyValue([{"key": "Owner", "value": "Shop"}, {"key": "Open", "value": 3}]),
        ui.Stat("Sold", 16, trend="+3"),
        ui.Stats([ui.Stat("In", 12), ui.Stat("Out", 4)]),
        ui.Chart(FIGURES, "bar"),
        ui.Timeline([{"title": "Sent", "description": "to Acme", "time": "09:12"}]),
        ui.Tree(
            [
                {
                    "id": "a",
                    "label": "Root",
                    "expanded": True,
                    "children": [{"id": "b", "label": "Leaf"}],
                }
            ]
        ),
        ui.Graph(boxes, [{"source": "a", "target": "b", "label": "to"}], height=200),
        ui.Canvas(boxes, [{"from": "a", "to": "b"}], height=200),
    ]


def messages() -> list[ui.UINode]:
    """How it stands."""
    return [
        ui.Alert("Something to know", "Title", "warn"),
        ui.Toast("Goes by itself"),
        ui.Empty("Nothing here yet", action=SAY),
        ui.Error("It did not work", retry=SAY),
        ui.Loading(),
        ui.Progress(60, "Reading"),
        ui.AgentPresence("active", "reads your mail"),
    ]


def fields() -> list[ui.UINode]:
    """What a person fills in or presses."""
    return [
        ui.Form([ui.Input("A name", "name", "Name")], submit_label="Keep"),
        ui.Input("One line", "line", "Line"),
        ui.TextArea("Several lines", label="Lines"),
        ui.Password(label="Password"),
        ui.RichEditor("<p>text</p>", label="Text"),
        ui.Select(CHOICES, "a", label="One of"),
        ui.MultiSelect(CHOICES, ["a"], label="Several of"),
        ui.RadioGroup(CHOICES, "a", label="One of, all seen"),
        ui.Checkbox("Yes or no", True),
        ui.Toggle("At once", True),
        ui.Slider(0, 10, value=4, label="How much"),
        ui.DatePicker("2026-05-15", label="Day"),
        ui.TagInput(["one", "two"], label="Words"),
        ui.FileUpload(title="Files", hint="up to 3 MB"),
        ui.Button("Press", SAY),
        ui.BackButton(label="Back"),
        ui.Menu([{"label": "First", "on_click": SAY}], ui.Button("Menu", variant="secondary")),
    ]


GROUPS = {
    "Containers": containers,
    "Words": words,
    "Data": data,
    "Messages": messages,
    "Fields": fields,
}


@ext.panel("nodes", slot="center", title="Nodes")
async def nodes(ctx: Context, **_: Any) -> ui.UINode:
    """Each node in a card of its name."""
    return ui.Stack(
        [
            ui.Section(title, [ui.Grid([ui.Card(n.type, content=n) for n in make()], columns=4)])
            for title, make in GROUPS.items()
        ]
    )

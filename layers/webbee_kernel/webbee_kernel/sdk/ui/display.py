# mypy: disable-error-code="empty-body"
"""Words, pictures and sounds, and the containers that hold other nodes. What the constructors do,
`drawn` gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import Nodes, Props, Rows, UIAction, UINode, drawn


def Header(text: str, level: int = 2, subtitle: str = "") -> UINode:
    """A heading, level 1 to 4."""


def Text(content: str, variant: str = "body", *, tone: str = "", truncate: bool = False) -> UINode:
    """A paragraph: `variant` body, caption, muted or code; `tone` warning."""


def Markdown(content: str) -> UINode:
    """Text with Markdown's marks; its links open in a tab of their own."""


def Code(content: str, language: str = "", *, line_numbers: bool = False) -> UINode:
    """Source text as it stands."""


def Html(content: str, sandbox: bool = True, *, max_height: int = 0, theme: str = "dark") -> UINode:
    """Markup, shown as source: the page runs nobody's markup."""


def Badge(
    label: str = "", color: str = "gray", *, value: object = None, size: str = "", dot: bool = False
) -> UINode:
    """A small label."""


def Avatar(fallback: str = "?", src: str = "", *, size: str = "md") -> UINode:
    """A person's picture or initials."""


def Icon(name: str, size: int = 16, *, color: str = "") -> UINode:
    """An icon by name."""


def Image(
    src: str,
    alt: str = "",
    *,
    width: str = "",
    height: str = "",
    on_click: UIAction | None = None,
    object_fit: str = "",
    caption: str = "",
) -> UINode:
    """A picture; `alt` is what it shows."""


def Video(
    src: str,
    poster: str = "",
    *,
    title: str = "",
    autoplay: bool = False,
    controls: bool = True,
    loop: bool = False,
    muted: bool = False,
    width: str = "",
    height: str = "",
) -> UINode:
    """A film."""


def Audio(
    src: str, title: str = "", *, controls: bool = True, autoplay: bool = False, loop: bool = False
) -> UINode:
    """A sound."""


def Link(label: str = "", href: str = "", *, on_click: UIAction | None = None) -> UINode:
    """Goes to `href`, or does `on_click`."""


def List(
    items: Nodes,
    searchable: bool = False,
    *,
    grouped_by: str = "",
    page_size: int = 0,
    on_end_reached: UIAction | None = None,
    selectable: bool = False,
    bulk_actions: Rows | None = None,
    total_items: int = 0,
    extra_info: str = "",
    title: str = "",
    empty_text: str = "",
    search_placeholder: str = "",
    max_height: int = 0,
) -> UINode:
    """A list of `ListItem`; `bulk_actions` are `{"label", "action"}` on what is selected."""


def ListItem(
    id: str,
    title: str,
    subtitle: str = "",
    meta: str = "",
    badge: UINode | None = None,
    on_click: UIAction | None = None,
    actions: Rows | None = None,
    *,
    avatar: UINode | None = None,
    selected: bool = False,
    draggable: bool = False,
    droppable: bool = False,
    on_drop: UIAction | None = None,
    icon: str = "",
    expandable: bool = False,
    expanded_content: Nodes | None = None,
) -> UINode:
    """One row; `actions` are `{"label", "on_click", "icon"?}`, `icon` is before the title."""


def DataTable(
    columns: Rows,
    rows: Rows,
    *,
    on_row_click: UIAction | None = None,
    on_cell_edit: UIAction | None = None,
    empty_text: str = "",
    max_height: int = 0,
    sticky_header: bool = False,
) -> UINode:
    """`columns` are made by `DataColumn`, `rows` are dicts by column key. `on_cell_edit` gets
    `id`, `column` and `value`."""


def KeyValue(items: Rows, columns: int = 1) -> UINode:
    """`items` are `{"key", "value"}`; a value may be a node."""


def Stat(
    label: str,
    value: object,
    *,
    trend: str = "",
    icon: str = "",
    color: str = "blue",
    description: str = "",
    trend_direction: str = "",
) -> UINode:
    """One figure with its label."""


def Stats(children: Nodes, columns: int = 0) -> UINode:
    """A row of `Stat`."""


def Chart(
    data: Rows,
    type: str = "line",
    *,
    x_key: str = "name",
    height: int = 200,
    colors: Mapping[str, str] | None = None,
    y2_keys: Sequence[str] | None = None,
    title: str = "",
    description: str = "",
    show_legend: bool = False,
    show_data_table: bool = False,
) -> UINode:
    """`data` are dicts with `x_key` and numbers: `type` line, bar, area or pie."""


def Timeline(items: Rows) -> UINode:
    """`items` are `{"title", "description", "time", "icon"?, "color"?}`."""


def Tree(nodes: Rows, label: str = "") -> UINode:
    """`nodes` are `{"id", "label", "children"?, "expanded"?, "badge"?, "on_click"?}`."""


def Graph(
    nodes: Rows,
    edges: Rows,
    *,
    layout: str = "cose-bilkent",
    height: int = 600,
    min_node_size: float = 10.0,
    max_node_size: float = 50.0,
    edge_label_visible: bool = False,
    color_by: str = "type",
    on_node_click: UIAction | None = None,
) -> UINode:
    """`nodes` are `{"id", "label", "type"?}`, `edges` `{"source", "target", "label"?}`."""


def Canvas(
    nodes: Rows,
    edges: Rows | None = None,
    *,
    height: int = 700,
    interactive: bool = True,
    show_minimap: bool = True,
    show_controls: bool = True,
    on_node_click: UIAction | None = None,
) -> UINode:
    """Boxes with places and arrows: `nodes` are `{"id", "label", "x", "y"}`, `edges` `{"from",
    "to"}`."""


def DataColumn(
    key: str,
    label: str,
    *,
    sortable: bool = True,
    width: str = "",
    editable: bool = False,
    edit_type: str = "text",
) -> Props:
    """A column of a `DataTable`: `key` of its rows; `edit_type` text, number, toggle or select."""
    column = {"key": key, "label": label, "sortable": sortable, "editable": editable}
    return {**column, "edit_type": edit_type} | ({"width": width} if width else {})


def Alert(message: str, title: str = "", variant: str = "", *, dismissible: bool = False) -> UINode:
    """A message in a frame: `variant` info, success, warn or error."""


def Toast(
    message: str,
    variant: str = "info",
    *,
    duration: int = 5000,
    title: str = "",
    action: UIAction | None = None,
    action_label: str = "",
) -> UINode:
    """A message that goes by itself; a function's result may be one."""


def Empty(message: str = "No data", icon: str = "", action: UIAction | None = None) -> UINode:
    """What to show where there is nothing."""


def Error(message: str, title: str = "Error", *, retry: UIAction | None = None) -> UINode:
    """What went wrong, with a button to try again."""


def Loading(message: str = "Loading...", variant: str = "spinner") -> UINode:
    """Something is on its way."""


def Progress(
    value: int,
    label: str = "",
    *,
    variant: str = "bar",
    color: str = "",
    max: int = 0,
    show_value: bool = False,
    size: str = "",
) -> UINode:
    """`value` of 100, or of `max`."""


def AgentPresence(
    status: str = "active", action: str = "", *, progress: int | None = None, avatar: str = "🐝"
) -> UINode:
    """What the agent is doing."""


def Stack(
    children: Nodes,
    direction: str = "v",
    gap: int = 3,
    *,
    wrap: bool | None = None,
    align: str = "",
    justify: str = "",
    sticky: bool = False,
) -> UINode:
    """Children one after another: `direction` v or h; `align` and `justify` as in CSS."""


def Row(children: Nodes, gap: int = 3) -> UINode:
    """Children side by side."""


def Column(children: Nodes, gap: int = 3) -> UINode:
    """Children below each other."""


def Grid(children: Nodes, columns: int = 2, *, gap: int = 3) -> UINode:
    """Children in so many columns."""


def Section(title: str = "", children: Nodes = (), *, collapsible: bool = False) -> UINode:
    """A titled group."""


def Card(
    title: str = "",
    subtitle: str = "",
    *,
    content: UINode | None = None,
    footer: UINode | None = None,
    on_click: UIAction | None = None,
    border: bool | None = None,
    padding: str = "",
) -> UINode:
    """A frame with a title, one node and a footer."""


def Page(children: Nodes, title: str = "", *, subtitle: str = "") -> UINode:
    """A page of its own with a title."""


def Tabs(tabs: Rows, default_tab: int = 0) -> UINode:
    """`tabs` are `{"label", "content"}`."""


def Accordion(sections: Rows, allow_multiple: bool = False) -> UINode:
    """`sections` are `{"id", "title", "children"}`; one open at a time unless `allow_multiple`."""


def Divider(label: str = "") -> UINode:
    """A line, with a label in it where given."""


def Modal(
    title: str = "",
    content: UINode | None = None,
    *,
    confirm_label: str = "Confirm",
    cancel_label: str = "Cancel",
    on_confirm: UIAction | None = None,
    subtitle: str = "",
    size: str = "md",
    max_width: str = "",
    dismissible: bool = True,
    destructive: bool = False,
    on_close: UIAction | None = None,
    open: bool = True,
) -> UINode:
    """A window over the page, opened by a click."""


def Dialog(
    title: str,
    content: UINode | None = None,
    *,
    confirm_label: str = "Confirm",
    cancel_label: str = "Cancel",
    on_confirm: UIAction | None = None,
    destructive: bool = False,
) -> UINode:
    """A window that asks; `on_confirm` is done on the yes."""


def SlideOver(
    title: str,
    children: Nodes = (),
    *,
    subtitle: str = "",
    open: bool = True,
    width: str = "md",
    on_close: UIAction | None = None,
) -> UINode:
    """A window from the side."""


def Tooltip(content: str, children: UINode | Nodes = (), *, delay_ms: int = 0) -> UINode:
    """Words that appear over a node."""


def Ghost(
    child: UINode, reason: str = "Webbee executing...", *, pulse: bool = True, opacity: float = 0.6
) -> UINode:
    """A node shown as not there yet: what an action is about to make."""


drawn(globals())

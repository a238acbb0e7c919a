"""What there is: lists, tables, figures, graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .base import Node, Nodes, Props, Rows, UIAction, UINode


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
    return Node(
        "List",
        items=items,
        searchable=searchable or None,
        grouped_by=grouped_by,
        page_size=page_size or None,
        on_end_reached=on_end_reached,
        selectable=selectable or None,
        bulk_actions=bulk_actions,
        total_items=total_items or None,
        extra_info=extra_info,
        title=title,
        empty_text=empty_text,
        search_placeholder=search_placeholder,
        max_height=max_height or None,
    )


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
    return Node(
        "ListItem",
        id=id,
        title=title,
        subtitle=subtitle,
        meta=meta,
        badge=badge,
        on_click=on_click,
        actions=actions,
        avatar=avatar,
        selected=selected or None,
        draggable=draggable or None,
        droppable=droppable or None,
        on_drop=on_drop,
        icon=icon,
        expandable=expandable or None,
        expanded_content=expanded_content,
    )


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
    return Node(
        "DataTable",
        columns=columns,
        rows=rows,
        on_row_click=on_row_click,
        on_cell_edit=on_cell_edit,
        empty_text=empty_text,
        max_height=max_height or None,
        sticky_header=sticky_header or None,
    )


def KeyValue(
    items: Rows,
    columns: int = 1,
) -> UINode:
    """`items` are `{"key", "value"}`; a value may be a node."""
    return Node(
        "KeyValue",
        items=items,
        columns=columns,
    )


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
    return Node(
        "Stat",
        label=label,
        value=value,
        trend=trend,
        icon=icon,
        color=color,
        description=description,
        trend_direction=trend_direction,
    )


def Stats(
    children: Nodes,
    columns: int = 0,
) -> UINode:
    """A row of `Stat`."""
    return Node(
        "Stats",
        children=children,
        columns=columns or None,
    )


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
    return Node(
        "Chart",
        data=data,
        type=type,
        x_key=x_key,
        height=height,
        colors=colors,
        y2_keys=y2_keys,
        title=title,
        description=description,
        show_legend=show_legend or None,
        show_data_table=show_data_table or None,
    )


def Timeline(
    items: Rows,
) -> UINode:
    """`items` are `{"title", "description", "time", "icon"?, "color"?}`."""
    return Node(
        "Timeline",
        items=items,
    )


def Tree(
    nodes: Rows,
    label: str = "",
) -> UINode:
    """`nodes` are `{"id", "label", "children"?, "expanded"?, "badge"?, "on_click"?}`."""
    return Node(
        "Tree",
        nodes=nodes,
        label=label,
    )


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
    return Node(
        "Graph",
        nodes=nodes,
        edges=edges,
        layout=layout,
        height=height,
        min_node_size=min_node_size,
        max_node_size=max_node_size,
        edge_label_visible=edge_label_visible or None,
        color_by=color_by,
        on_node_click=on_node_click,
    )


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
    return Node(
        "Canvas",
        nodes=nodes,
        edges=edges,
        height=height,
        interactive=interactive,
        show_minimap=show_minimap,
        show_controls=show_controls,
        on_node_click=on_node_click,
    )


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

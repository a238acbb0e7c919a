// Tables: sorted by their headings, edited in their cells, where the extension allows it.

import { array, dict, h, left, plain } from "./dom.js";
import { tall } from "./lists.js";
import { t } from "./strings.js";

const ROWS = 500;

export function dataTable(props, ctx) {
  const rows = array(props.rows);
  const columns = (Array.isArray(props.columns) ? props.columns : Object.keys(dict(rows[0])))
    .slice(0, 60)
    .map((c) => (c && typeof c === "object" ? c : { key: c, label: c }));
  const name = (column) => plain(column.label ?? column.key);
  if (!rows.length) return h("p.muted", plain(props.empty_text) || t("noData"));

  const field = (row, column) => {
    const toggle = column.edit_type === "toggle";
    const value = () => (toggle ? input.checked : input.value);
    const input = h("input", {
      type: toggle ? "checkbox" : "text",
      value: plain(row?.[column.key]),
      "aria-label": `${name(column)}: ${plain(row?.[columns[0].key])}`,
      onchange: () =>
        ctx.act(props.on_cell_edit, { row_id: row?.id, column: column.key, value: value() }, name(column), input),
    });
    input.checked = Boolean(row?.[column.key]);
    return input;
  };
  const content = (row, column) =>
    column.editable && props.on_cell_edit
      ? field(row, column)
      : row?.[column.key]?.type
        ? ctx.kids(row[column.key])
        : plain(row?.[column.key]);
  const act = (row) =>
    ctx.act(props.on_row_click, row?.id === undefined ? {} : { id: row.id }, plain(row?.[columns[0]?.key]));
  const cell = (row, column, i) =>
    h(
      "td",
      props.on_row_click && !i
        ? h("button.link", { onclick: () => act(row) }, content(row, column))
        : content(row, column),
    );
  const draw = (all) =>
    body.replaceChildren(
      ...all.slice(0, ROWS).map((row) =>
        h(
          "tr",
          columns.map((column, i) => cell(row, column, i)),
        ),
      ),
    );

  const sort = (column, th) => {
    const down = th.ariaSort === "ascending";
    for (const other of th.parentElement.children) other.ariaSort = null;
    th.ariaSort = down ? "descending" : "ascending";
    const order = (a, b) => plain(a?.[column.key]).localeCompare(plain(b?.[column.key]), undefined, { numeric: true });
    draw(rows.slice().sort((a, b) => (down ? order(b, a) : order(a, b))));
  };
  const heading = (column) => {
    const th = h(
      "th",
      { scope: "col" },
      column.sortable ? h("button.link", { onclick: () => sort(column, th) }, name(column)) : name(column),
    );
    th.style.width = plain(column.width);
    return th;
  };
  const body = h("tbody");
  draw(rows);
  const place = h(
    "div",
    {
      class: props.sticky_header ? "scroll-x sticky" : "scroll-x",
      tabindex: "0",
      role: "group",
      "aria-label": plain(props.title) || t("result"),
    },
    h("table", h("thead", h("tr", columns.map(heading))), body),
    left(rows, ROWS),
  );
  return tall(place, props.max_height);
}

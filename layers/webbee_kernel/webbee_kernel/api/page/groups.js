// Fields that hold fields: an object is a group of them, a list grows and shrinks by its rows.

import { array, h, plain } from "./dom.js";
import { t } from "./strings.js";

const MOST = 50;

/** An object: what its own fields hold, by their names. */
export function fieldset(p, ctx) {
  return h(
    "fieldset.n-group",
    { dataset: { param: plain(p.param_name), kind: "object" } },
    h("legend", plain(p.label) || plain(p.param_name)),
    p.description && h("span.muted", plain(p.description)),
    ctx.kids(p.children, { inForm: true }),
  );
}

/** A list: a row for each value, one more by a button; `item` is the field of one, named "value". */
export function listInput(p, ctx) {
  const rows = h("div.n-stack");
  const grow = (value) => {
    const away = h("button.ghost.small", { "aria-label": t("unqueueRow"), onclick: () => drop(row) }, "✕");
    const row = h("div.n-entry", ctx.kids(filled(p.item, value), { inForm: true }), away);
    rows.append(row);
    return row;
  };
  const drop = (row) => {
    row.remove();
    more.focus();
  };
  const add = () => rows.children.length < MOST && grow().querySelector("input, select, textarea")?.focus();
  const more = h("button.secondary.small", { onclick: add }, "+ ", t("addRow"));
  array(p.values)
    .slice(0, MOST)
    .forEach((value) => grow(value));
  return h(
    "fieldset.n-group",
    { dataset: { param: plain(p.param_name), kind: "list" } },
    h("legend", plain(p.label) || plain(p.param_name)),
    p.description && h("span.muted", plain(p.description)),
    rows,
    more,
  );
}

/** A field's node with a value in it. */
function filled(node, value) {
  const props = node?.props ?? {};
  if (value === undefined || value === null) return node;
  if (node.type !== "Fieldset") return { ...node, props: { ...props, value, values: value, checked: value } };
  const children = array(props.children).map((child) => filled(child, value[child?.props?.param_name]));
  return { ...node, props: { ...props, children } };
}

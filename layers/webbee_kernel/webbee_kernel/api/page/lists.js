// Lists, timelines and trees.

import { clickable, colourOf, runs } from "./buttons.js";
import { array, h, left, many, plain } from "./dom.js";
import { glyph } from "./icons.js";
import { dated, t } from "./strings.js";

const ITEMS = 500;

// What long content scrolls in.
export function tall(element, height) {
  if (!(height > 0)) return element;
  element.style.maxHeight = `${height}px`;
  element.classList.add("tall");
  element.tabIndex = 0;
  return element;
}

// Items by drag and drop, or by two buttons: pick one up, then put it where it may go.
let held = "";
function hold(id) {
  held = held === id ? "" : id;
  for (const place of document.querySelectorAll(".n-drop")) place.toggleAttribute("hidden", !held);
}

function entry(item, ctx) {
  const [drawn] = [ctx.kids(item)].flat(9);
  return drawn?.localName === "li" ? drawn : h("li.n-item", drawn);
}

export function listItem(props, ctx) {
  const label = plain(props.title);
  const body = [
    h("span.n-item-title", glyph(props.icon), label, ctx.kids(props.badge)),
    props.subtitle && h("span.muted", dated(plain(props.subtitle)) ?? plain(props.subtitle)),
    props.meta && h("span.n-meta", dated(plain(props.meta)) ?? plain(props.meta)),
  ];
  const action = (a) => {
    const name = plain(a.label ?? a.icon);
    return h(
      "button",
      {
        class: `small ${colourOf(a.on_click ?? a.action, ctx, "")}`.trim(),
        "aria-label": `${name}: ${label}`,
        onclick: runs(ctx, a.on_click ?? a.action, `${name}: ${label}`, undefined, plain(a.confirm)),
      },
      glyph(a.icon),
      a.label ? name : !glyph(a.icon) && name,
    );
  };
  const id = plain(props.id);
  const drop = () => {
    ctx.act(props.on_drop, { dragged_id: held, target_id: id }, label);
    hold(held);
  };
  const side = [
    props.draggable && h("button.small", { "aria-label": `${t("move")}: ${label}`, onclick: () => hold(id) }, "⠿"),
    props.on_drop &&
      h(
        "button.small.n-drop",
        { hidden: !held, "aria-label": `${t("moveHere")}: ${label}`, onclick: drop },
        t("moveHere"),
      ),
    ...many(props.actions, 20, action).flat().filter(Boolean),
  ].filter(Boolean);
  const drags = props.draggable && {
    draggable: "true",
    ondragstart: () => held || hold(id),
    ondragend: () => held && hold(held),
  };
  const drops = props.on_drop && {
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => (event.preventDefault(), held && drop()),
  };
  return h(
    "li",
    { class: props.selected ? "n-item selected" : "n-item", ...drags, ...drops },
    ctx.kids(props.avatar),
    clickable(props.on_click, ctx, "n-item-main", label, ...body),
    side.length > 0 && h("div.n-actions", side),
    (props.expandable || props.expanded_content) &&
      h("details", h("summary", t("more")), ctx.kids(props.expanded_content)),
  );
}

export function list(p, ctx) {
  const items = array(p.items).slice(0, ITEMS);
  const rows = items.map((item) => entry(item, ctx));
  const ul = h("ul.n-list", rows);
  const search =
    p.searchable &&
    h("input", {
      type: "search",
      placeholder: plain(p.search_placeholder) || t("find"),
      "aria-label": plain(p.search_placeholder) || t("find"),
      oninput: () => draw(),
    });
  const more = h(
    "button.ghost.small",
    {
      onclick: (event) =>
        shown < rows.length
          ? ((shown += Number(p.page_size)), draw())
          : ctx.act(p.on_end_reached, {}, t("more"), event.currentTarget),
    },
    t("more"),
  );
  let shown = p.page_size > 0 ? Number(p.page_size) : rows.length;
  const draw = () => {
    const wanted = search ? search.value.toLowerCase() : "";
    rows.forEach((li, i) => (li.hidden = wanted ? !li.textContent.toLowerCase().includes(wanted) : i >= shown));
    more.hidden = Boolean(wanted) || (shown >= rows.length && !p.on_end_reached);
  };
  draw();
  const total = p.total_items > items.length && t("firstOf", { n: items.length, all: plain(p.total_items) });
  const notes = [plain(p.extra_info), total].filter(Boolean).join(" · ");
  return h(
    "div.n-stack",
    p.title && h("h3.n-heading", plain(p.title)),
    rows.length > 0 && search,
    p.selectable && bulk(p, ctx, items, rows),
    rows.length ? tall(ul, p.max_height) : h("p.muted", plain(p.empty_text) || t("noData")),
    left(p.items, ITEMS),
    more,
    notes && h("p.n-meta", notes),
  );
}

// A box before every row, and what is done with the ticked ones: their ids go as `message_ids`.
function bulk(p, ctx, items, rows) {
  const boxes = items.map((item, i) => {
    const title = plain(item?.props?.title);
    const box = h("input", {
      type: "checkbox",
      "aria-label": title || String(i + 1),
      value: plain(item?.props?.id),
      onchange: () => draw(),
    });
    rows[i].prepend(box);
    return box;
  });
  const ticked = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const buttons = array(p.bulk_actions)
    .slice(0, 20)
    .map((a) => {
      const name = plain(a?.label ?? a?.icon);
      return h(
        "button",
        {
          class: `small ${colourOf(a.action ?? a.on_click, ctx, "")}`.trim(),
          onclick: runs(ctx, a.action ?? a.on_click, name, () => ({ message_ids: ticked() }), plain(a.confirm)),
        },
        glyph(a.icon),
        name,
      );
    });
  const draw = () => buttons.forEach((b) => (b.disabled = !ticked().length));
  draw();
  return h("div.n-actions", buttons);
}

export function timeline(p) {
  const moment = (i) =>
    h(
      "li",
      { class: `n-moment ${plain(i.color).replace(/\W/g, "")}` },
      h("span.n-item-title", glyph(i.icon), plain(i.title)),
      i.description && h("span.muted", plain(i.description)),
      i.time && h("span.n-meta", plain(i.time)),
    );
  return h("ol.n-timeline", many(p.items, ITEMS, moment, "li"));
}

export function tree(p, ctx) {
  let count = 0;
  const branch = (nodes) => many(nodes, ITEMS, leaf, "li");
  const leaf = (n) => {
    if ((count += 1) > ITEMS) return null;
    const label = plain(n.label);
    const line = clickable(
      n.on_click,
      ctx,
      "n-tree-row",
      label,
      glyph(n.icon),
      label,
      n.badge !== undefined && h("span.badge", plain(n.badge)),
    );
    if (!array(n.children).length) return h("li", line);
    return h(
      "li",
      h("details", { open: n.expanded !== false }, h("summary", line), h("ul.n-tree", branch(n.children))),
    );
  };
  return h(
    "ul.n-tree",
    { "aria-label": plain(p.label) || undefined },
    branch(p.nodes),
    count > ITEMS && h("li.n-meta", t("cutOff")),
  );
}

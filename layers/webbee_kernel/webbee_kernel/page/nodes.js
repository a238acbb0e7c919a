// Extensions' UI trees as elements. A node is `{type, props}`; an unknown type shows its data, a broken one never breaks the page.

import { h, plain, pretty, safeImage, safeLink, unique } from "./dom.js";
import { FIELDS, form } from "./fields.js";
import { t } from "./strings.js";

const DEEPEST = 30;
const MOST = 3000;
const COLOURS = new Set(["gray", "blue", "green", "red", "yellow", "amber", "orange", "purple"]);

// `act(action, values, label, element, ask, done)` runs an action.
export function renderTree(node, act) {
  return render(node, { act, depth: 0, count: { nodes: 0 }, inForm: false });
}

export function render(node, ctx) {
  if (node === undefined || node === null || node === "") return null;
  if (Array.isArray(node)) return node.map((item) => render(item, ctx));
  if (typeof node !== "object") return h("p", { class: "n-text" }, plain(node));
  ctx.count.nodes += 1;
  if (ctx.depth > DEEPEST || ctx.count.nodes > MOST) return null;
  const props = node.props && typeof node.props === "object" ? node.props : {};
  const type = plain(node.type);
  const make = Object.hasOwn(NODES, type) ? NODES[type] : Object.hasOwn(FIELDS, type) ? FIELDS[type] : unknown;
  try {
    return make(props, { ...ctx, depth: ctx.depth + 1, type, node });
  } catch {
    return unknown(props, { ...ctx, type, node });
  }
}

function unknown(props, { type, node }) {
  return h("details", { class: "n-unknown" }, h("summary", {}, t("unknownNode", { type: type || "?" })), h("pre", {}, pretty(node)));
}

const kids = (value, ctx) => render(Array.isArray(value) ? value : value ? [value] : [], ctx);
const colour = (value) => (COLOURS.has(value) ? value : "gray");
const isDown = (direction) => !["h", "horizontal", "row"].includes(plain(direction || "v").toLowerCase());

function box(name, props, ctx, columns) {
  const element = h("div", { class: name }, kids(props.children, ctx));
  if (Number.isFinite(props.gap)) element.style.gap = `${Math.min(Math.max(props.gap, 0), 12) * 4}px`;
  if (columns) element.style.setProperty("--columns", String(Math.min(Math.max(Number(columns) || 2, 1), 6)));
  return element;
}

// A button, or plain content where there is no action.
function clickable(action, ctx, name, label, ...content) {
  if (!action || typeof action !== "object") return h("div", { class: name }, ...content);
  return h("button", { type: "button", class: name, onclick: (event) => ctx.act(action, {}, label, event.currentTarget) }, ...content);
}

function heading(level, text) {
  return h(`h${Math.min(Math.max(Number(level) || 2, 1) + 2, 6)}`, { class: "n-heading" }, plain(text));
}

function titled(props, ctx, name) {
  const id = unique("section");
  const title = props.title && h("h3", { class: "n-heading", id }, plain(props.title));
  if (props.collapsible) return h("details", { class: name, open: true }, h("summary", {}, plain(props.title)), kids(props.children, ctx));
  return h("section", { class: name, "aria-labelledby": title ? id : undefined }, title, props.subtitle && h("p", { class: "muted" }, plain(props.subtitle)), kids(props.children, ctx));
}

function table(props, ctx) {
  const rows = Array.isArray(props.rows) ? props.rows : [];
  const columns = (Array.isArray(props.columns) ? props.columns : Object.keys(rows[0] ?? {})).map((c) => (typeof c === "object" ? c : { key: c, label: c }));
  if (!rows.length) return h("p", { class: "muted" }, plain(props.empty_text) || t("noData"));
  const cell = (row, column) => (row?.[column.key]?.type ? render(row[column.key], ctx) : plain(row?.[column.key]));
  const act = props.on_row_click && ((row) => ctx.act(props.on_row_click, row?.id === undefined ? {} : { id: row.id }, plain(row?.[columns[0]?.key])));
  const line = (row) =>
    h("tr", {}, columns.map((column, i) => h("td", {}, act && i === 0 ? h("button", { type: "button", class: "link", onclick: () => act(row) }, cell(row, column)) : cell(row, column))));
  return h(
    "div",
    { class: "scroll-x", tabindex: "0", role: "region", "aria-label": plain(props.title) || t("result") },
    h("table", {}, h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col" }, plain(c.label ?? c.key))))), h("tbody", {}, rows.slice(0, 500).map(line))),
  );
}

function listItem(props, ctx) {
  const label = plain(props.title);
  const body = [
    h("span", { class: "n-item-title" }, label, props.badge && render(props.badge, ctx)),
    props.subtitle && h("span", { class: "muted" }, plain(props.subtitle)),
    props.meta && h("span", { class: "n-meta" }, plain(props.meta)),
  ];
  const actions = (Array.isArray(props.actions) ? props.actions : []).map((a) =>
    h(
      "button",
      {
        type: "button", class: "small", "aria-label": `${plain(a.label ?? a.icon)}: ${label}`,
        onclick: (event) => ctx.act(a.on_click ?? a.action, {}, `${plain(a.label ?? a.icon)}: ${label}`, event.currentTarget, plain(a.confirm)),
      },
      plain(a.label ?? a.icon),
    ),
  );
  const expanded = props.expandable && h("details", {}, h("summary", {}, t("more")), kids(props.expanded_content, ctx));
  return h(
    "li",
    { class: props.selected ? "n-item selected" : "n-item" },
    props.avatar && render(props.avatar, ctx),
    clickable(props.on_click, ctx, "n-item-main", label, ...body),
    actions.length > 0 && h("div", { class: "n-actions" }, actions),
    expanded,
  );
}

function tabs(props, ctx) {
  const all = Array.isArray(props.tabs) ? props.tabs : [];
  const panel = h("div", { role: "tabpanel", class: "n-stack", tabindex: "0" });
  const choose = (index, focus) => {
    buttons.forEach((b, i) => {
      b.setAttribute("aria-selected", String(i === index));
      b.tabIndex = i === index ? 0 : -1;
    });
    panel.replaceChildren(...[kids(all[index]?.content ?? all[index]?.children, ctx)].flat(9).filter(Boolean));
    panel.setAttribute("aria-label", plain(all[index]?.label));
    if (focus) buttons[index].focus();
  };
  const move = (event, index) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) choose((index + step + all.length) % all.length, true);
  };
  const buttons = all.map((tab, i) => h("button", { type: "button", role: "tab", onclick: () => choose(i), onkeydown: (event) => move(event, i) }, plain(tab?.label ?? tab?.title)));
  if (all.length) choose(Math.min(Math.max(Number(props.default_tab) || 0, 0), all.length - 1));
  return h("div", { class: "n-tabs" }, h("div", { role: "tablist" }, buttons), panel);
}

function progress(props) {
  const max = Number(props.max) || 100;
  const value = Math.min(Math.max(Number(props.value) || 0, 0), max);
  const id = unique("progress");
  const label = plain(props.label);
  return h("div", { class: "n-progress" }, label && h("label", { for: id }, label), h("progress", { id, max, value, "aria-label": label ? undefined : t("event_progress") }), props.show_value && h("span", { class: "muted" }, `${value} / ${max}`));
}

function link(props, ctx) {
  const href = safeLink(props.href);
  const label = plain(props.label ?? props.href);
  if (href) return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, label);
  return props.on_click ? h("button", { type: "button", class: "link", onclick: (event) => ctx.act(props.on_click, {}, label, event.currentTarget) }, label) : h("span", {}, label);
}

function image(props, ctx) {
  const src = safeImage(props.src);
  if (!src) return unknown(props, ctx);
  return h("figure", { class: "n-image" }, h("img", { src, alt: plain(props.alt), loading: "lazy", referrerpolicy: "no-referrer" }), props.caption && h("figcaption", { class: "muted" }, plain(props.caption)));
}

function keyValue(props, ctx) {
  const items = Array.isArray(props.items) ? props.items : Object.entries(props.items ?? {}).map(([key, value]) => ({ key, value }));
  return h("dl", { class: "n-pairs" }, items.map((i) => h("div", {}, h("dt", {}, plain(i.key ?? i.label)), h("dd", {}, i.value?.type ? render(i.value, ctx) : plain(i.value)))));
}

function button(props, ctx) {
  const kind = ["primary", "danger", "ghost", "secondary"].includes(props.variant) ? props.variant : "secondary";
  const submits = props.type === "submit" && ctx.inForm;
  return h(
    "button",
    {
      type: submits ? "submit" : "button", class: kind, disabled: Boolean(props.disabled),
      onclick: submits ? undefined : (event) => ctx.act(props.on_click, {}, plain(props.label), event.currentTarget),
    },
    plain(props.label ?? props.icon),
  );
}

const tree = (nodes, ctx) => h("ul", { class: "n-tree" }, (Array.isArray(nodes) ? nodes : []).map((n) => h("li", {}, clickable(n.on_click, ctx, "n-tree-row", plain(n.label), plain(n.label), n.badge !== undefined && h("span", { class: "badge" }, plain(n.badge))), n.children?.length > 0 && tree(n.children, ctx))));

const NODES = {
  Stack: (p, ctx) => box(isDown(p.direction) ? "n-stack" : "n-row", p, ctx),
  Column: (p, ctx) => box("n-stack", p, ctx),
  Row: (p, ctx) => box("n-row", p, ctx),
  Grid: (p, ctx) => box("n-grid", p, ctx, p.columns || 2),
  Stats: (p, ctx) => box("n-stats", p, ctx),
  Section: (p, ctx) => titled(p, ctx, "n-section"),
  Page: (p, ctx) => titled(p, ctx, "n-section"),
  Card: (p, ctx) =>
    h("div", { class: "n-card" }, p.title && heading(2, p.title), p.subtitle && h("p", { class: "muted" }, plain(p.subtitle)), kids(p.content ?? p.children, ctx), kids(p.footer, ctx), p.on_click && button({ label: p.title || "→", on_click: p.on_click }, ctx)),
  Text: (p) => h(p.variant === "code" ? "code" : "p", { class: `n-text ${["caption", "muted", "heading"].includes(p.variant) ? p.variant : ""} ${p.tone === "warning" ? "warning" : ""}` }, plain(p.content ?? p.text)),
  Header: (p) => h("div", {}, heading(p.level, p.text), p.subtitle && h("p", { class: "muted" }, plain(p.subtitle))),
  Markdown: (p) => h("div", { class: "n-text pre" }, plain(p.content)),
  Code: (p) => h("pre", {}, plain(p.content)),
  Html: (p) => h("details", { class: "n-unknown" }, h("summary", {}, t("htmlNode")), h("pre", {}, plain(p.content))),
  List: (p, ctx) => {
    const rows = Array.isArray(p.items) ? p.items : [];
    if (!rows.length) return h("p", { class: "muted" }, plain(p.empty_text) || t("noData"));
    return h("div", {}, p.title && heading(2, p.title), h("ul", { class: "n-list" }, rows.map((row) => (row?.type === "ListItem" ? render(row, ctx) : h("li", { class: "n-item" }, render(row, ctx))))));
  },
  ListItem: listItem,
  Stat: (p) => h("div", { class: "n-stat" }, h("span", { class: `n-value ${colour(p.color)}` }, plain(p.value)), h("span", { class: "muted" }, plain(p.label)), p.trend && h("span", { class: "n-meta" }, plain(p.trend)), p.description && h("span", { class: "n-meta" }, plain(p.description))),
  Badge: (p) => h("span", { class: `badge ${colour(p.color)}` }, [p.label, p.value].map(plain).filter(Boolean).join(" ")),
  Avatar: (p) => h("span", { class: "n-avatar", "aria-hidden": "true" }, plain(p.fallback).slice(0, 2)),
  Button: button,
  BackButton: (p, ctx) => button({ ...p, variant: "ghost" }, ctx),
  Form: (p, ctx) => form(p, ctx, (inner) => kids(p.children, inner)),
  KeyValue: keyValue,
  DataTable: table,
  Chart: (p, ctx) => table({ rows: p.data, title: p.title }, ctx),
  Timeline: (p, ctx) => h("ul", { class: "n-list" }, (p.items ?? []).map((i) => listItem({ title: i.title, subtitle: i.description, meta: i.time }, ctx))),
  Tree: (p, ctx) => tree(p.nodes, ctx),
  Empty: (p, ctx) => h("div", { class: "n-empty" }, plain(p.message), p.action && button({ label: p.action.label ?? p.message, on_click: p.action }, ctx)),
  Divider: (p) => (p.label ? h("p", { class: "n-divider" }, plain(p.label)) : h("hr")),
  Alert: (p) => h("div", { class: `n-alert ${plain(p.variant ?? p.type) || "info"}`.replace(/[^\w -]/g, ""), role: "note" }, p.title && h("strong", {}, plain(p.title)), p.message && h("span", {}, plain(p.message))),
  Error: (p, ctx) => h("div", { class: "n-alert error", role: "note" }, h("strong", {}, plain(p.title)), h("span", {}, plain(p.message)), p.retry && button({ label: t("retry"), on_click: p.retry }, ctx)),
  Loading: (p) => h("p", { class: "muted" }, plain(p.message)),
  Progress: progress,
  Link: link,
  Image: image,
  Icon: () => null,
  Tooltip: (p, ctx) => h("div", { title: plain(p.content) }, kids(p.children, ctx)),
  Tabs: tabs,
  Accordion: (p, ctx) => h("div", { class: "n-stack" }, (Array.isArray(p.sections) ? p.sections : []).map((s) => h("details", { class: "n-section" }, h("summary", {}, plain(s.title)), kids(s.children ?? s.content, ctx)))),
};

// Extensions' UI trees as elements. A node is `{type, props}`; an unknown type shows its data, a broken one never
// breaks the page.

import { accordion, container, heading, isDown, note, tabs, titled } from "./boxes.js";
import { button, link, menu, runs } from "./buttons.js";
import { chart } from "./charts.js";
import { dict, h, many, plain, pretty, ranked, unique, within } from "./dom.js";
import { FIELDS, form } from "./fields.js";
import { graph } from "./graphs.js";
import { glyph, lone } from "./icons.js";
import { list, listItem, timeline, tree } from "./lists.js";
import { markdown } from "./markdown.js";
import { avatar, image, media } from "./media.js";
import { dated, t } from "./strings.js";
import { dataTable } from "./tables.js";
import { modal } from "./windows.js";

const DEEPEST = 30;
const MOST_NODES = 3000;
const COLOURS = new Set(["gray", "blue", "green", "red", "yellow", "amber", "orange", "purple"]);

// `act(action, values, label, element, ask, done)` runs an action.
export function renderTree(node, act) {
  return ranked(render(node, { act, depth: 0, count: { nodes: 0 }, inForm: false }));
}

function render(node, ctx) {
  if (node === undefined || node === null || node === "" || node === false) return null;
  if (Array.isArray(node))
    return node
      .flat(5)
      .slice(0, MOST_NODES + 1)
      .map((item) => (Array.isArray(item) ? null : render(item, ctx)));
  if (typeof node !== "object") return h("p.n-text", plain(node));
  ctx.count.nodes += 1;
  if (ctx.depth > DEEPEST || ctx.count.nodes > MOST_NODES) {
    if (ctx.count.cut) return null;
    ctx.count.cut = true;
    return h("p.n-meta", t("cutOff"));
  }
  const type = plain(node.type);
  const inner = { ...ctx, depth: ctx.depth + 1, type, node };
  inner.kids = (value, more) => render(Array.isArray(value) ? value : [value], { ...inner, ...more });
  const make = Object.hasOwn(NODES, type) ? NODES[type] : Object.hasOwn(FIELDS, type) ? FIELDS[type] : unknown;
  try {
    return make(settled(node.props), inner);
  } catch {
    return unknown({}, inner);
  }
}

// A signal stands for a value that may change; here it is the value it starts with.
function settled(props) {
  return Object.fromEntries(
    Object.entries(dict(props)).map(([name, value]) => [name, value?.__type__ === "signal" ? value.default : value]),
  );
}

function unknown(_props, { type, node }) {
  return h("details.n-unknown", h("summary", t("unknownNode", { type: type || "?" })), h("pre", pretty(node)));
}

const colour = (value) => (COLOURS.has(value) ? value : "gray");
function progress(props) {
  const max = Number(props.max) || 100;
  const value = within(props.value, 0, max, 0);
  const id = unique("progress");
  const label = plain(props.label);
  return h(
    "div.n-progress",
    label && h("label", { for: id }, label),
    h("progress", { id, max, value, "aria-label": label ? undefined : t("event_progress") }),
    props.show_value && h("span.muted", `${value} / ${max}`),
  );
}

function keyValue(props, ctx) {
  const items = Array.isArray(props.items)
    ? props.items
    : Object.entries(dict(props.items)).map(([key, value]) => ({ key, value }));
  return h(
    "dl.n-pairs",
    many(items, 500, (i) =>
      h(
        "div",
        h("dt", plain(i.key ?? i.label)),
        h("dd", i.value?.type ? ctx.kids(i.value) : (dated(plain(i.value)) ?? plain(i.value))),
      ),
    ),
  );
}

function card(p, ctx) {
  return h(
    "div.n-card",
    p.title && heading(2, p.title),
    note(p.subtitle),
    ctx.kids(p.content ?? p.children),
    ctx.kids(p.footer),
    p.on_click && button({ label: p.title || "→", on_click: p.on_click }, ctx),
  );
}

function text(p) {
  const kind = ["caption", "muted", "heading"].includes(p.variant) ? p.variant : "";
  return h(
    p.variant === "code" ? "code" : "p",
    { class: `n-text ${kind}${p.tone === "warning" ? " warning" : ""}${p.truncate ? " cut" : ""}` },
    plain(p.content ?? p.text),
  );
}

function stat(p) {
  const arrow = { up: "↑ ", down: "↓ " }[p.trend_direction] ?? "";
  return h(
    "div.n-stat",
    h("span", { class: `n-value ${colour(p.color)}` }, plain(p.value)),
    h("span.muted", glyph(p.icon), plain(p.label)),
    p.trend && h("span.n-meta", arrow, plain(p.trend)),
    p.description && h("span.n-meta", plain(p.description)),
  );
}

function badge(p) {
  return h(
    "span",
    { class: `badge ${colour(p.color)}` },
    p.dot && h("span", { "aria-hidden": "true" }, "● "),
    [p.label, p.value].map(plain).filter(Boolean).join(" "),
  );
}

function message(p, role, action) {
  const element = h(
    "div",
    { class: `n-alert ${plain(p.variant ?? p.type) || "info"}`.replace(/[^\w -]/g, ""), role },
    p.title && h("strong", plain(p.title)),
    p.message && h("span", plain(p.message)),
    action,
  );
  if (p.dismissible) element.append(h("button.link", { onclick: () => element.remove() }, t("close")));
  return element;
}

// What an agent is working on, dimmed while it does.
function ghost(p, ctx) {
  return h(
    "div.n-ghost",
    { "aria-busy": "true" },
    note(p.reason, "n-meta"),
    h("div", { class: p.pulse === false ? "" : "pulse" }, ctx.kids(p.child ?? p.children)),
  );
}

const STATUS = { active: "blue", thinking: "purple", executing: "amber", completed: "green", failed: "red" };
const status = (value) => value && badge({ label: value, color: STATUS[value], dot: true });

function presence(p) {
  const bar = Number.isFinite(p.progress) && progress({ value: p.progress, show_value: true });
  return h(
    "div.n-card",
    { role: "status" },
    h("div.n-row", avatar({ fallback: p.avatar }), h("span", plain(p.name ?? p.action)), status(p.status)),
    p.name && note(p.action),
    bar,
  );
}

// A stage's hotkeys are buttons; a key pressed inside the stage presses its button.
function stage(p, ctx) {
  const keys = Object.entries(dict(p.hotkeys))
    .slice(0, 30)
    .map(([key, what]) => {
      const action = typeof what === "string" ? { action: "call", function: what } : dict(what);
      const label = plain(action.label ?? action.function ?? action.message ?? action.url);
      return [
        key,
        h("button.small", { "aria-keyshortcuts": key, onclick: runs(ctx, action, label) }, h("kbd", key), " ", label),
      ];
    });
  const press = (event) =>
    !event.target.closest("input,textarea,select") && keys.find(([key]) => key === event.key)?.[1].click();
  const title = plain(p.title ?? p.id);
  const live = Object.keys(dict(p.telemetry)).length > 0 && keyValue({ items: p.telemetry }, ctx);
  return h(
    "section.n-card",
    { "aria-label": title, onkeydown: press },
    h("div.n-row", h("strong", title), status(p.status), p.command && h("code", plain(p.command))),
    live,
    ctx.kids(p.children ?? p.content ?? ctx.node.children),
    keys.length > 0 &&
      h(
        "div.n-actions",
        keys.map(([, b]) => b),
      ),
  );
}

// The words stay within reach of a finger, the keyboard and a screen reader: a hint to open.
function tooltip(p, ctx) {
  return h(
    "div.n-row",
    ctx.kids(p.children),
    h(
      "details.n-tip",
      h("summary", { title: plain(p.content), "aria-label": plain(p.content) }, "ⓘ"),
      note(p.content, "n-meta"),
    ),
  );
}

const NODES = {
  Stack: (p, ctx) => container(isDown(p.direction) ? "n-stack" : "n-row", p, ctx),
  Column: (p, ctx) => container("n-stack", p, ctx),
  Row: (p, ctx) => container("n-row", p, ctx),
  Grid: (p, ctx) => container("n-grid", p, ctx, p.columns || 2),
  Stats: (p, ctx) => container("n-stats", p, ctx),
  Section: titled,
  Page: titled,
  Card: card,
  Stage: stage,
  Text: text,
  Header: (p) => h("div", heading(p.level ?? 2, p.text), note(p.subtitle)),
  Markdown: (p) => markdown(plain(p.content)),
  Code: (p) => h("pre", plain(p.content)),
  Html: (p) => h("details.n-unknown", h("summary", t("htmlNode")), h("pre", plain(p.content))),
  List: list,
  ListItem: listItem,
  Stat: stat,
  Badge: badge,
  Avatar: avatar,
  Button: button,
  BackButton: (p, ctx) => button({ ...p, variant: "ghost" }, ctx),
  Menu: menu,
  Modal: modal,
  Dialog: modal,
  SlideOver: modal,
  Form: form,
  KeyValue: keyValue,
  DataTable: dataTable,
  Chart: chart,
  Graph: graph,
  Canvas: graph,
  Timeline: timeline,
  Tree: tree,
  Empty: (p, ctx) =>
    h(
      "div.n-empty",
      glyph(p.icon),
      plain(p.message),
      p.action && button({ label: p.action.label ?? p.action.params?.label ?? p.message, on_click: p.action }, ctx),
    ),
  Divider: (p) => (p.label ? h("p.n-divider", plain(p.label)) : h("hr")),
  Alert: (p) => message(p, "note"),
  Toast: (p, ctx) =>
    message(p, "status", p.action && button({ label: p.action_label ?? "→", on_click: p.action }, ctx)),
  Error: (p, ctx) =>
    message({ ...p, variant: "error" }, "note", p.retry && button({ label: t("retry"), on_click: p.retry }, ctx)),
  Loading: (p) => h("p.muted", { role: "status" }, plain(p.message) || t("loading")),
  Progress: progress,
  Ghost: ghost,
  AgentPresence: presence,
  TrayResponse: (p, ctx) => h("div.n-stack", p.badge && h("div.n-row", ctx.kids(p.badge)), ctx.kids(p.panel)),
  Link: link,
  Image: image,
  Video: (p) => media("video", p),
  Audio: (p) => media("audio", p),
  Icon: lone,
  Tooltip: tooltip,
  Tabs: tabs,
  Accordion: accordion,
};

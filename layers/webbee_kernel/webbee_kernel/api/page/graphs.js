// Graphs and canvases as boxes and arrows: where their nodes say they are, else in layers, a circle or a grid. The
// list below says it in words.

import { clickable } from "./buttons.js";
import { PALETTE, legend } from "./charts.js";
import { array, dict, h, left, plain, svg, within } from "./dom.js";
import { glyph } from "./icons.js";
import { t } from "./strings.js";

const BOXES = 200;
const EDGES = 400;
const [WIDE, HIGH] = [140, 46];
const SIGNS = {
  healthy: "var(--good)",
  warning: "var(--warn)",
  error: "var(--bad)",
  failed: "var(--bad)",
  congested: "var(--warn)",
  idle: "var(--muted)",
};

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const joined = (...parts) =>
  parts
    .filter((part) => part || part === 0)
    .map(plain)
    .join(" · ");

export function graph(p, ctx) {
  const canvas = ctx.type === "Canvas";
  const nodes = array(p.nodes)
    .slice(0, BOXES)
    .map(dict)
    .map((n) => ({
      id: plain(n.id),
      label: plain(n.title ?? n.label ?? n.name ?? n.id),
      x: Number(n.x),
      y: Number(n.y),
      sign: glyph(n.icon)?.textContent,
      more: joined(
        n.type,
        n.status,
        ...Object.entries(dict(n.metrics)).map(([name, value]) => `${name} ${plain(value)}`),
      ),
      kind: plain(canvas ? n.status : n[p.color_by || "type"]),
      action: n.on_click ?? p.on_node_click,
    }));
  const kinds = [...new Set(nodes.map((n) => n.kind).filter(Boolean))];
  const colour = (kind) => SIGNS[kind] ?? (kind ? PALETTE[kinds.indexOf(kind) % PALETTE.length] : "var(--muted)");
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const edges = array(p.edges)
    .slice(0, EDGES)
    .map(dict)
    .map((e) => ({
      from: byId.get(plain(e.source ?? e.from)),
      to: byId.get(plain(e.target ?? e.to)),
      colour: SIGNS[e.status] ?? "var(--muted)",
      label: joined(e.label, e.protocol, canvas && e.status, e.latency_ms !== undefined && `${plain(e.latency_ms)} ms`),
    }))
    .flatMap(({ from, to, ...more }) => (from && to ? [{ from, to, ...more }] : []));
  const go = (n) => ctx.act(n.action, { node_id: n.id }, n.label);
  place(nodes, edges, p.layout);
  const name = t("graphOf", { n: nodes.length, m: edges.length });
  const words = [
    nodes.map((n) =>
      h(
        "li.n-item",
        clickable(n.action, { act: () => go(n) }, "n-item-main", n.label, n.label, n.more && h("span.muted", n.more)),
      ),
    ),
    edges.map((e) =>
      h("li.n-item", h("span", `${e.from.label} → ${e.to.label}`, e.label && h("span.muted", ` ${e.label}`))),
    ),
  ];
  return h(
    "figure.n-chart",
    nodes.length
      ? frame(
          picture(nodes, edges, { colour, go, name, labels: canvas || p.edge_label_visible }),
          name,
          within(p.height, 200, 700, 500),
        )
      : h("p.muted", t("noData")),
    kinds.length > 1 && legend(kinds.slice(0, 20).map((kind) => [kind, colour(kind)])),
    left(p.nodes, BOXES),
    left(p.edges, EDGES),
    nodes.length > 0 && h("details", h("summary", t("asList")), h("ul.n-list", words)),
  );
}

function frame(content, name, height) {
  const element = h("div.scroll-x.n-graph", { tabindex: "0", role: "group", "aria-label": name }, content);
  element.style.maxHeight = `${height}px`;
  return element;
}

function picture(nodes, edges, { colour, go, name, labels }) {
  const [xs, ys] = [nodes.map((n) => n.x), nodes.map((n) => n.y)];
  const [x, y] = [Math.min(...xs) - WIDE / 2 - 8, Math.min(...ys) - HIGH / 2 - 8];
  const [width, height] = [Math.max(...xs) + WIDE / 2 + 8 - x, Math.max(...ys) + HIGH / 2 + 8 - y];
  const drawn = svg(
    "svg",
    { viewBox: `${x} ${y} ${width} ${height}`, role: "group", "aria-label": name },
    edges.map((e) => arrow(e, labels)),
    nodes.map((n) => box(n, colour(n.kind), go)),
  );
  drawn.style.maxWidth = `${width}px`;
  drawn.style.minWidth = `${width * 0.8}px`;
  return drawn;
}

// From one box's edge to the other's, with a head.
function arrow({ from, to, colour, label }, labels) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const far = Math.hypot(dx, dy);
  if (!far) return null;
  const out = Math.min(WIDE / 2 / Math.abs(dx), HIGH / 2 / Math.abs(dy), 0.45);
  const [ux, uy] = [dx / far, dy / far];
  const [ax, ay, bx, by] = [from.x + dx * out, from.y + dy * out, to.x - dx * out, to.y - dy * out];
  const head = [1, -1]
    .map((side) => `M${bx} ${by}L${bx - 9 * ux + side * 4 * uy} ${by - 9 * uy - side * 4 * ux}`)
    .join("");
  return [
    svg(
      "path",
      { class: "edge", d: `M${ax} ${ay}L${bx} ${by}${head}`, stroke: colour },
      label && svg("title", {}, label),
    ),
    labels && label && svg("text", { class: "edge-label", x: (ax + bx) / 2, y: (ay + by) / 2 + 3 }, cut(label, 24)),
  ];
}

function box(n, colour, go) {
  const acts = n.action && {
    role: "button",
    tabindex: "0",
    class: "acts",
    "aria-label": joined(n.label, n.more),
    onclick: () => go(n),
    onkeydown: (event) => ["Enter", " "].includes(event.key) && (event.preventDefault(), go(n)),
  };
  const text = (line, dy, name) => svg("text", { x: n.x, y: n.y + dy, class: name }, line);
  return svg(
    "g",
    acts || {},
    svg("title", {}, joined(n.label, n.more)),
    svg("rect", { x: n.x - WIDE / 2, y: n.y - HIGH / 2, width: WIDE, height: HIGH, rx: 9, stroke: colour }),
    text(cut(n.sign ? `${n.sign} ${n.label}` : n.label, 19), n.more ? -3 : 4),
    n.more && text(cut(n.more, 24), 14, "more"),
  );
}

// Gives every node its place.
function place(nodes, edges, layout) {
  const given =
    nodes.length > 1 &&
    nodes.every((n) => Number.isFinite(n.x) && Number.isFinite(n.y)) &&
    nodes.some((n) => n.x !== nodes[0].x || n.y !== nodes[0].y);
  if (given) return spread(nodes);
  const turn = (2 * Math.PI) / nodes.length;
  if (["circle", "concentric"].includes(layout) && nodes.length <= 16) {
    nodes.forEach((n, i) =>
      Object.assign(n, {
        x: Math.sin(i * turn) * Math.max(130, nodes.length * 26),
        y: -Math.cos(i * turn) * Math.max(84, nodes.length * 17),
      }),
    );
    return;
  }
  const rows = layout === "grid" || (layout === "circle" && nodes.length > 16) ? [nodes] : layers(nodes, edges);
  const across = rows.length > 1 ? 5 : Math.ceil(Math.sqrt(nodes.length));
  let y = 0;
  for (const row of rows) {
    for (let at = 0; at < row.length; at += across, y += HIGH + 46) {
      const line = row.slice(at, at + across);
      line.forEach((n, i) => Object.assign(n, { x: (i - (line.length - 1) / 2) * (WIDE + 24), y }));
    }
  }
}

// As given, at the scale where no two boxes cover each other.
function spread(nodes) {
  let near = Infinity;
  nodes.forEach((a, i) =>
    nodes
      .slice(i + 1)
      .forEach(
        (b) =>
          (near = Math.min(
            near,
            Math.max(Math.abs(a.x - b.x) / (WIDE + 30), Math.abs(a.y - b.y) / (HIGH + 34)) || Infinity,
          )),
      ),
  );
  const span = Math.max(
    ...["x", "y"].map((side) => Math.max(...nodes.map((n) => n[side])) - Math.min(...nodes.map((n) => n[side]))),
  );
  const scale = Math.min(1 / near, 4000 / span);
  for (const n of nodes) Object.assign(n, { x: n.x * scale, y: n.y * scale });
}

// By steps from the nodes nothing points to.
function layers(nodes, edges) {
  const rows = [];
  const seen = new Set();
  const pointed = new Set(edges.map((e) => e.to));
  let row = nodes.filter((n) => !pointed.has(n));
  while (seen.size < nodes.length) {
    if (!row.length) row = [nodes.find((n) => !seen.has(n))];
    rows.push(row);
    row.forEach((n) => seen.add(n));
    const now = new Set(row);
    row = [...new Set(edges.filter((e) => now.has(e.from) && !seen.has(e.to)).map((e) => e.to))];
  }
  return rows;
}

// Charts as SVG stretched to their place, their labels beside them as text. The exact figures are the table below.

import { array, dict, h, left, plain, svg, within } from "./dom.js";
import { number as spell, t } from "./strings.js";
import { dataTable } from "./tables.js";

const POINTS = 500;
const SLICES = 24;
export const PALETTE = ["#b98a00", "#3f7fd1", "#3f9a5a", "#c9543f", "#8a63c9", "#1e938f", "#b0608f", "#7d7d86"];

const number = (value) => (["number", "string"].includes(typeof value) && value !== "" ? Number(value) : NaN);
const finite = (values) => values.filter(Number.isFinite);
const short = (value) => spell(value, { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 });

export function paint(colour, i) {
  return CSS.supports("color", plain(colour)) ? colour : PALETTE[i % PALETTE.length];
}

export function legend(entries) {
  const swatch = (colour) => {
    const mark = h("i");
    mark.style.background = colour;
    return mark;
  };
  return h(
    "ul.n-legend",
    entries.map(([label, colour]) => h("li", swatch(colour), label)),
  );
}

export function chart(p, ctx) {
  const rows = array(p.data).slice(0, POINTS).map(dict);
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const holds = (key) => rows.some((row) => Number.isFinite(number(row[key])));
  const x = keys.includes(p.x_key) ? p.x_key : keys.find((key) => !holds(key));
  const wanted = array(p.series).length
    ? p.series.map(dict)
    : keys.filter((key) => key !== x && holds(key)).map((key) => ({ key }));
  const series = wanted
    .slice(0, PALETTE.length)
    .map((one, i) => ({
      label: plain(one.label ?? one.key),
      colour: paint(one.color ?? dict(p.colors)[one.key], i),
      right: array(p.y2_keys).includes(one.key),
      values: rows.map((row) => number(row[one.key])),
    }));
  const names = rows.map((row, i) => plain(row[x] ?? i + 1));
  const kind = plain(p.chart_type ?? p.type) || "line";
  const round = ["pie", "donut", "doughnut"].includes(kind);
  const label = [plain(p.title), series.map((s) => s.label).join(", ")].filter(Boolean).join(": ");
  const drawn =
    series.some((s) => finite(s.values).length) &&
    (round ? pie(series[0], names, label) : plot(kind, series, names, label, within(p.height, 80, 600, 200)));
  return h(
    "figure.n-chart",
    p.title && h("h3.n-heading", plain(p.title)),
    p.description && h("p.muted", plain(p.description)),
    drawn,
    !round && (series.length > 1 || p.show_legend) && legend(series.map((s) => [s.label, s.colour])),
    left(p.data, round ? SLICES : POINTS),
    left(wanted, PALETTE.length),
    rows.length
      ? h(
          "details",
          { open: Boolean(p.show_data_table) },
          h("summary", t("figures")),
          dataTable({ rows: p.data, columns: keys, title: label }, ctx),
        )
      : h("p.muted", t("noData")),
  );
}

// Lowest and highest; bars and areas stand on zero.
function range(all, grounded) {
  const values = finite(all.flatMap((s) => s.values));
  const low = Math.min(...values, ...(grounded ? [0] : []));
  const high = Math.max(...values, ...(grounded ? [0] : []));
  return low === high ? [low - 1, high + 1] : [low, high];
}

function plot(kind, series, names, label, height) {
  const grounded = kind === "bar" || kind === "area";
  const sides = [series.filter((s) => !s.right), series.filter((s) => s.right)].map((all) =>
    all.length ? range(all, grounded) : null,
  );
  const slot = 100 / names.length;
  /** @type {(value: number, side: number[]) => number} a height as per cent from the top */
  const up = (value, [low, high]) => Number((100 - ((value - low) / (high - low)) * 100).toFixed(2));
  const grid = sides
    .flatMap((side) => (side ? [side] : []))
    .map((side) => `M0 0H100M0 50H100M0 100H100${side[0] < 0 && side[1] > 0 ? `M0 ${up(0, side)}H100` : ""}`);
  const marks = series.flatMap((s, nth) => {
    const side = sides[Number(s.right)] ?? [0, 1];
    const points = s.values.map(
      (value, i) => Number.isFinite(value) && [((i + 0.5) * slot).toFixed(2), up(value, side), i],
    );
    if (kind === "bar") {
      const width = (slot * 0.8) / series.length;
      return points
        .filter(Boolean)
        .map(([, y, i]) =>
          svg(
            "rect",
            {
              x: i * slot + slot * 0.1 + nth * width,
              width,
              y: Math.min(y, up(0, side)),
              height: Math.abs(y - up(0, side)),
              fill: s.colour,
            },
            svg("title", {}, `${names[i]}: ${s.label} ${s.values[i]}`),
          ),
        );
    }
    const line = points
      .map((point, i) => point && `${points[i - 1] ? "L" : "M"}${point[0]} ${point[1]}`)
      .filter(Boolean)
      .join("");
    const there = points.filter(Boolean);
    const area =
      kind === "area" &&
      there.length > 0 &&
      `M${there[0][0]} ${up(0, side)}${there.map(([a, b]) => `L${a} ${b}`).join("")}V${up(0, side)}Z`;
    const dots = there.length <= 40 && there.map(([a, b]) => `M${a} ${b}h.01`).join("");
    return [
      area && svg("path", { d: area, class: "fill", color: s.colour }),
      svg("path", { d: line, class: "line", stroke: s.colour }),
      dots && svg("path", { d: dots, class: "line dots", stroke: s.colour }),
    ];
  });
  const picture = svg(
    "svg",
    { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("path", { class: "grid", d: grid[0] }),
    marks,
  );
  picture.style.height = `${height}px`;
  const axis = (side) =>
    h("div.n-axis", side && [side[1], (side[0] + side[1]) / 2, side[0]].map((value) => h("span", short(value))));
  const few = names.length <= 6;
  const shown = few ? names : [names[0], names[(names.length - 1) >> 1], names.at(-1)];
  return h(
    "div.n-plot",
    axis(sides[0]),
    picture,
    axis(sides[1]),
    h(
      "div",
      { class: few ? "n-x few" : "n-x" },
      shown.map((name) => h("span", name)),
    ),
  );
}

function pie(one, names, label) {
  const slices = one.values
    .map((value, i) => [names[i], value])
    .slice(0, SLICES)
    .filter(([, value]) => value > 0);
  const sum = slices.reduce((all, [, value]) => all + value, 0);
  let angle = -Math.PI / 2;
  const at = () => `${(48 * Math.cos(angle)).toFixed(2)} ${(48 * Math.sin(angle)).toFixed(2)}`;
  const slice = ([name, value], i) => {
    const from = at();
    angle += (value / sum) * 2 * Math.PI;
    const title = svg("title", {}, `${name}: ${value}`);
    if (slices.length === 1) return svg("circle", { r: 48, fill: PALETTE[0] }, title);
    return svg(
      "path",
      {
        d: `M0 0L${from}A48 48 0 ${value * 2 > sum ? 1 : 0} 1 ${at()}Z`,
        class: "slice",
        fill: PALETTE[i % PALETTE.length],
      },
      title,
    );
  };
  const share = ([name, value], i) => [
    `${name}: ${short(value)} (${Math.round((value / sum) * 100)} %)`,
    PALETTE[i % PALETTE.length],
  ];
  return h(
    "div.n-pie",
    svg("svg", { viewBox: "-50 -50 100 100", role: "img", "aria-label": label }, slices.map(slice)),
    legend(slices.map(share)),
  );
}

// JSON for reading: pairs, lists, tables of records; dates, numbers and amounts as their reader writes them.

import { h, plain } from "./dom.js";
import { dated, money, number, t } from "./strings.js";

const ROWS = 200;
const COLUMNS = 8;
const DEEPEST = 6;
const NAMES_IT = /(^|_)(id|uid|year|zip|code|phone|number|version|port)$/i;

/** @returns {any} a value as an element; `name` is the key it stands under. */
export function dataView(value, name = "", depth = 0) {
  if (value === null || value === undefined || value === "") return h("span.muted", "–");
  if (typeof value === "number") return h("span", NAMES_IT.test(name) ? String(value) : number(value));
  if (typeof value === "boolean") return h("span", value ? t("yes") : t("no"));
  if (typeof value === "string") return text(value);
  if (depth > DEEPEST) return h("code", JSON.stringify(value));
  if (Array.isArray(value)) return listView(value, depth);
  const amount = amountOf(value);
  if (amount) return h("span", amount);
  return h(
    "dl.n-pairs",
    Object.entries(value).map(([k, v]) => h("div", h("dt", wordsOf(k)), h("dd", dataView(v, k, depth + 1)))),
  );
}

/** `due_at` as a person reads it: "due at". */
export const wordsOf = (key) => plain(key).replace(/_/g, " ");

function text(value) {
  const date = dated(value);
  return date ? h("time", { datetime: value, title: value }, date) : h("span.pre", value);
}

// `{"amount": 12.5, "currency": "EUR"}`, and nothing besides.
function amountOf(value) {
  const { amount, currency, ...more } = value;
  return (
    Number.isFinite(Number(amount)) &&
    /^[A-Z]{3}$/.test(currency) &&
    !Object.keys(more).length &&
    money(amount, currency)
  );
}

function listView(value, depth) {
  if (!value.length) return h("span.muted", "–");
  const rows = value.slice(0, ROWS);
  const rest = value.length > ROWS && h("p.n-meta", t("firstOf", { n: ROWS, all: value.length }));
  const columns = columnsOf(rows);
  if (columns.length > 1 && depth < 3) return [table(rows, columns, depth), rest];
  return [
    h(
      "ul.n-list",
      rows.map((v) => h("li.n-item", dataView(v, "", depth + 1))),
    ),
    rest,
  ];
}

// The keys of records that look alike; none where the items are no records.
function columnsOf(rows) {
  if (!rows.every((row) => row && typeof row === "object" && !Array.isArray(row))) return [];
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, COLUMNS);
}

function table(rows, columns, depth) {
  const head = h(
    "tr",
    columns.map((c) => h("th", { scope: "col" }, wordsOf(c))),
  );
  const row = (r) =>
    h(
      "tr",
      columns.map((c) => h("td", { class: typeof r[c] === "number" ? "figure" : "" }, dataView(r[c], c, depth + 1))),
    );
  return h(
    "div.scroll-x",
    { tabindex: "0", role: "group", "aria-label": columns.map(wordsOf).join(", ") },
    h("table", h("thead", head), h("tbody", rows.map(row))),
  );
}

// For developers: what a turn spent its time on. Model requests with tokens and what was asked and answered, calls,
// database requests, as bars over one time line.

import { h, plain, prompt } from "./dom.js";
import { dollars, number, t } from "./strings.js";

const KINDS = { model: "purple", call: "green", store: "blue" };

/** @param {{kind: string, name: string, at_ms: number, duration_ms: number, [more: string]: any}[]} spans */
export function waterfall(spans) {
  const all = [...spans].sort((a, b) => a.at_ms - b.at_ms);
  const end = Math.max(1, ...all.map((s) => s.at_ms + s.duration_ms));
  const stores = all.filter((s) => s.kind === "store");
  const models = all.filter((s) => s.kind === "model");
  // As a clock beside it would have it: what runs side by side counts once.
  const lasted = (list) => {
    let [sum, until] = [0, 0];
    for (const { at_ms: from, duration_ms: long } of list) {
      sum += Math.max(0, from + long - Math.max(from, until));
      until = Math.max(until, from + long);
    }
    return number(Math.round(sum * 10) / 10);
  };
  const total = (list, key) => list.reduce((sum, s) => sum + (Number(s[key]) || 0), 0);
  const facts = [
    t("fallTotal", { ms: number(end) }),
    models.length &&
      t("fallModel", {
        n: models.length,
        ms: lasted(models),
        tokens: number(total(models, "input_tokens") + total(models, "output_tokens")),
      }),
    models.some((s) => s.cost !== undefined) && dollars(total(models, "cost")),
    stores.length && t("fallStore", { n: stores.length, ms: lasted(stores) }),
  ].filter(Boolean);
  return h(
    "details.fall",
    h("summary", t("waterfall"), " ", h("span.n-meta", facts[0])),
    facts.length > 1 && h("p.n-meta", facts.slice(1).join(" · ")),
    h(
      "ol",
      all.map((s) => row(s, end)),
    ),
  );
}

function row(span, end) {
  const bar = h("i", { class: KINDS[span.kind] ?? "gray" });
  bar.style.marginInlineStart = `${(span.at_ms / end) * 100}%`;
  bar.style.width = `${Math.max(0.5, (span.duration_ms / end) * 100)}%`;
  const head = [
    h("span.fall-name", plain(span.name)),
    h("span.fall-bar", { "aria-hidden": "true" }, bar),
    h("span.n-meta.figure", t("ms", { n: number(span.duration_ms) })),
  ];
  if (span.kind !== "model") return h("li.fall-row", head);
  return h("li", h("details", h("summary.fall-row", head), modelView(span)));
}

function modelView(span) {
  const tokens = t("fallTokens", {
    read: number(span.input_tokens ?? 0),
    cached: number(span.cached_tokens ?? 0),
    written: number(span.output_tokens ?? 0),
  });
  const part = (title, text) => text && h("details", h("summary", title), prompt(plain(text)));
  return h(
    "div.fall-model",
    h(
      "p.n-meta",
      [plain(span.model), tokens, span.cost !== undefined && dollars(span.cost), plain(span.stop_reason)]
        .filter(Boolean)
        .join(" · "),
    ),
    part(t("system"), span.system),
    part(t("prompt"), span.prompt),
    part(t("fallAnswer"), span.answer),
  );
}

// The parts of the inspector's report as elements.

import { h, plain, pretty, prompt } from "./dom.js";
import { number, t } from "./strings.js";

const STATES = {
  shown: "green",
  masked: "blue",
  cut: "amber",
  dropped: "red",
  hidden: "gray",
  failed: "red",
  unknown: "gray",
};

const stateBadge = (state) => h("span", { class: `badge ${STATES[state] ?? "gray"}` }, t(state));

function table(columns, rows) {
  const head = h(
    "tr",
    columns.map((c) => h("th", { scope: "col" }, c)),
  );
  return h(
    "div.scroll-x",
    { tabindex: "0", role: "group", "aria-label": columns.join(", ") },
    h(
      "table",
      h("thead", head),
      h(
        "tbody",
        rows.map((cells) =>
          h(
            "tr",
            cells.map((c) => h("td", c)),
          ),
        ),
      ),
    ),
  );
}

function pairs(entries) {
  return h(
    "dl.n-pairs",
    entries.map(([k, v]) => h("div", h("dt", k), h("dd", v))),
  );
}

/** `open(session, request, text)` shows another conversation, where a place is in one. */
export function searchView(found, open) {
  const titled = (text) =>
    found.found.reduce(
      (told, f) => (f.title ? told.replace(`session ${f.session_id}`, `“${plain(f.title)}”`) : told),
      text,
    );
  const where = (f) => {
    const name = `${f.channel} · ${titled(f.place)}`;
    if (!f.session_id) return h("span", name);
    return h("button.link", { onclick: () => open(f.session_id, f.request_id, found.value) }, name);
  };
  const place = (f) =>
    h(
      "li.n-item.found",
      h("div.n-row", stateBadge(f.state), where(f), h("code", plain(f.path))),
      f.because && h("p", plain(f.because)),
      h("p.n-meta", plain(f.excerpt)),
    );
  return h(
    "section.n-card",
    { "aria-label": t("found") },
    h(
      "p",
      h("strong", plain(found.value)),
      ": ",
      h("span", { class: found.seen ? "good" : "warning" }, titled(found.verdict)),
    ),
    found.found.length > 0 && h("ul.n-list", found.found.map(place)),
    found.more > 0 && h("p.muted", t("moreFound", { n: found.more })),
  );
}

export function failedView(failed) {
  return h(
    "section.n-card",
    { "aria-label": t("failedApps") },
    h("h3", t("failedApps")),
    pairs(failed.map((f) => [h("code", f.app_id), h("span.warning", plain(f.reason ?? f.error))])),
  );
}

export function blocksView(report) {
  const most = Math.max(...report.blocks.map((b) => b.chars), 1);
  const bar = (b) => {
    const share = b.cap ? b.chars / b.cap : b.chars / most;
    const track = h("div", { class: b.cap ? "bar capped" : "bar", "aria-hidden": "true" }, h("i"));
    track.firstChild.style.width = `${share && Math.min(100, Math.max(1, share * 100))}%`;
    if (b.cap && share > 0.85) track.classList.add("near");
    const size = [
      t("chars", { n: number(b.chars) }),
      b.cap && t("ofCap", { cap: number(b.cap) }),
      t("tokens", { n: number(b.tokens) }),
    ]
      .filter(Boolean)
      .join(" · ");
    return h("li", h("div.bar-head", h("strong", b.name), h("span.n-meta", size)), track);
  };
  const gone = Object.entries(report.left_out).filter(([, n]) => n);
  return [
    h("ul.bars", report.blocks.map(bar)),
    gone.length > 0 && h("p.warning", t("leftOut", { what: gone.map(([name, n]) => `${name} ${n}`).join(", ") })),
  ];
}

// The prompt's text with its headers and facts picked out.
export function promptLines(text) {
  return text.split("\n").map((line) => {
    const kind = /^\[(CATALOGUE|SKELETON|HISTORY)\]$/.test(line)
      ? "head"
      : line.startsWith("FACTS:")
        ? "facts"
        : line.startsWith("NOTE:")
          ? "muted"
          : "";
    return [h("span", { class: kind }, line), "\n"];
  });
}

export function sectionView(s) {
  const due = s.next_refresh_in_s;
  const facts = [
    [t("age"), [s.age || t("never"), s.stale && h("span.warning", ` (${t("stale")})`)]],
    [t("ttl"), t("seconds", { n: s.ttl_s })],
    [t("nextRefresh"), due === null ? t("never") : due <= 0 ? t("overdue") : t("inSeconds", { n: due })],
    ...(s.failures
      ? [
          [t("failures"), String(s.failures)],
          [t("lastError"), h("span.warning", plain(s.last_error))],
        ]
      : []),
  ];
  const why = (f) => f.losses.map((l) => h("div", h("code", l.path), " ", l.because));
  const row = (f) => [
    h("code", f.name),
    stateBadge(f.state === "shown" && Object.keys(f.masked).length ? "masked" : f.state),
    f.shown || h("code.muted", plain(s.raw[f.name]).slice(0, 120)),
    [why(f), Object.entries(f.masked).map(([p, v]) => h("div", h("code", p), " = ", plain(v)))],
  ];
  const head = [
    h("code", `${s.app_id}.${s.section}`),
    " ",
    s.in_prompt
      ? h("span.n-meta", t("lineSize", { n: s.line.length, limit: s.line_limit }))
      : h("span.badge.red", t("notInPrompt")),
  ];
  return h(
    "details.n-card",
    { open: s.fields.some((f) => f.state !== "shown") },
    h("summary", head),
    s.why_not && h("p.warning", s.why_not),
    s.line && prompt(s.line),
    pairs(facts),
    s.fields.length > 0 && table([t("fieldName"), t("fieldState"), t("fieldShown"), t("fieldWhy")], s.fields.map(row)),
    h("details", h("summary", t("raw")), h("pre", pretty(s.raw))),
  );
}

export function turnView(turn) {
  const calls = turn.calls.map((c) => [
    h("code", `${c.app_id}.${c.fn_name}`),
    c.status === "ok" ? t("ok") : plain(c.error_code),
  ]);
  return h(
    "details.n-card",
    h(
      "summary",
      `${turn.turn}. `,
      turn.message.slice(0, 80),
      " ",
      h("span.n-meta", t("leaves", { n: turn.leaves_on_turn })),
    ),
    h("p.pre", turn.reply),
    pairs([[t("turns"), t("lineSize", { n: turn.facts_chars, limit: turn.facts_limit })]]),
    calls.length > 0 && table([t("fn"), t("fieldState")], calls),
    turn.facts.length ? turn.facts.map(factView) : h("p.muted", t("noFacts")),
  );
}

function factView(fact) {
  const masked = Object.entries(fact.masked).map(([p, v]) => h("div", h("code", p), " = ", plain(v)));
  return h("div.fact", fact.line && prompt(fact.line), fact.args_line && prompt(fact.args_line), masked);
}

export function functionsView(functions) {
  const state = (f) => (f.in_catalogue ? h("span.badge.green", t("offered")) : h("span.badge.red", t("notInPrompt")));
  return table(
    [t("fn"), t("position"), t("fieldWhy")],
    functions.map((f) => [
      h("code", [f.app_id, f.fn_name].filter(Boolean).join(".")),
      [state(f), " ", plain(f.position)],
      f.why_not,
    ]),
  );
}

export function placeholdersView(report) {
  const all = Object.entries(report.placeholders);
  if (!report.pii_masked) return h("p.muted", t("piiOpen"));
  return all.length ? pairs(all.map(([p, v]) => [h("code", p), plain(v)])) : h("p.muted", t("noMasked"));
}

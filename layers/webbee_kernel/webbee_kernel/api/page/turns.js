// Turns as elements: what a person said, what runs, what came of it.

import { dataView } from "./data.js";
import { h, icon, plain } from "./dom.js";
import { reply } from "./markdown.js";
import { renderTree } from "./nodes.js";
import { withoutRepeats } from "./repeats.js";
import { language, speaking, t, time } from "./strings.js";
import { waterfall } from "./waterfall.js";

const titles = new Map();

/** From here on apps and calls are called as their authors call them in the page's language. */
export function learnTitles(extensions) {
  titles.clear();
  for (const app of extensions) {
    titles.set(app.app_id, app.display_name);
    for (const f of app.functions ?? []) titles.set(`${app.app_id} ${f.fn_name}`, f.titles?.[language()]);
  }
}

const appName = ({ app_id: app, display_name: shown }) => plain(titles.get(app) || shown || app);

/** A call's app and what it does. */
function callName(call) {
  const name = titles.get(`${call.app_id} ${call.fn_name}`) || call.fn_name;
  return `${appName(call)} · ${plain(name).replace(/_/g, " ")}`;
}

/** A bubble; `tools` are small buttons beside the name. */
export function bubble(who, at, content, tools = []) {
  const head = h("div.who", h("span", t(who)), at && h("time", { datetime: at }, time(at)), h("span.tools", tools));
  return h("li", { class: `turn ${who}` }, head, h("div.bubble", content));
}

/** @param {string} label @param {string} sign @param {Function} act @param {string} [told] what it does */
export function tool(label, sign, act, told = label) {
  return h("button.ghost.tiny", { "aria-label": label, title: told, onclick: act }, icon(sign));
}

/** An answer: its calls, its words, its tree, its questions.
 * @param {any} body @param {{act: Function, questions: any, tools?: any[]}} of */
export function answer(body, { act, questions, tools = [] }) {
  const cards = questions.of(body.confirmation ? [body.confirmation] : [], body.turn);
  const onlyAsks = cards.length > 0 && !body.calls?.length;
  const tree = treeOf(body, act);
  const said = cards.length > 0 ? besideCard(body) : plain(body.reply);
  const words = !onlyAsks && said && !onlyFails(body) && reply(said, body);
  if (words && tree) withoutRepeats(words, tree);
  const below = !onlyAsks && receiptsView(body, false, act(""));
  const item = bubble(
    "webbee",
    body.at,
    [
      callsView(body.calls),
      receiptsView(body, true, act("")),
      words,
      ...(body.calls?.length ? [below, tree] : [tree, below]), // what is offered follows its words
      !tree && choicesView(body.choices, act("")),
      cards,
      body.stopped && h("p.n-meta", t("wasStopped")),
      body.trace?.length > 0 && waterfall(body.trace),
    ],
    tools,
  );
  if (body.sourced) item.classList.add("all-sourced");
  if (body.status === "error") item.classList.add("failed");
  return item;
}

/** What a reply says before the question that its card asks. */
function besideCard({ reply: text, confirmation: { summary, ask } }) {
  const said = plain(text).trimEnd();
  const asked = `${plain(summary)}\n${plain(ask)}`;
  return said.endsWith(asked) ? said.slice(0, -asked.length).trimEnd() : said;
}

const AROUND = 60; // letters that a reply may have beside a receipt's reason and still say no more

/** Whether a reply says no more than the one receipt of a failure above it. */
function onlyFails({ receipts = [], reply }) {
  const [failed, ...others] = receipts.filter((one) => ABOVE.has(one.status));
  const why = plain(failed?.why);
  const most = Math.max(why.length + AROUND, plain(failed?.text).length);
  return why.length > 0 && !others.length && reply.includes(why) && reply.length <= most;
}

/** What the last call that succeeded has drawn. */
function treeOf(body, act) {
  const last = body.calls?.findLast?.((call) => call.status === "ok")?.app_id ?? "";
  const drawn = body.ui && renderTree(body.ui, act(last));
  return drawn && h("div.reply-ui", drawn);
}

/** What a question can be answered with; pressing one says it. */
function choicesView(choices, act) {
  const pick = ({ label, message }) =>
    h("button.secondary.small", { onclick: () => act({ action: "send", message: plain(message) }) }, plain(label));
  return (
    choices?.length > 0 && h("div.chips.choices", { role: "group", "aria-label": t("choices") }, choices.map(pick))
  );
}

const ABOVE = new Set(["failed", "unknown", "not_run"]);

/** The kernel's own account of what was done: what failed stands above the reply, the rest and the line on the turn's
 * work below it; what waits is on the card. What created a record can be taken back, by a card. */
function receiptsView(body, above, act) {
  const told = (body.receipts ?? []).filter((one) => one.status !== "waiting" && ABOVE.has(one.status) === above);
  const line = !above && body.work?.text;
  if (!told.length && !line) return null;
  const list = h(
    above ? "ul.receipts.bad" : "ul.receipts",
    { "aria-label": t("receipts"), role: "list" },
    told.map((one) => h("li", { class: `receipt ${one.status}` }, plain(one.text), one.undo && undo(one, act))),
    line && h("li.work", plain(line)),
  );
  return above ? h("div", { role: "alert" }, list) : list; // an alert is no list
}

function undo({ undo: call, at, language: lang }, act) {
  const onclick = (event) => act.propose(call, event.currentTarget);
  const button = h("button.link", { onclick, lang }, speaking(lang)("undo")); // as the receipt speaks
  return Object.assign(h("span.undo", " · ", button), { call, at });
}

const SIGNS = { ok: "✓", running: "…" };
const IN_SIGHT = 3; // calls that stand side by side; more are one line that opens
const ALL = -1; // the place of that line among what is open

/** Each call opens to what it was given and what it gave. */
export function callsView(calls, opened = new Set()) {
  if (!calls?.length) return null;
  const list = h(
    "ul.calls",
    { "aria-label": t("calls") },
    calls.map((call, i) => h("li", callView(call, i, opened))),
  );
  if (calls.length <= IN_SIGHT) return list;
  const bad = calls.filter((call) => call.status !== "ok" && call.status !== "running").length;
  const runs = calls.some((call) => call.status === "running");
  const apps = [...new Set(calls.map(appName))].join(", ");
  const line = [
    h("span", { "aria-hidden": "true" }, runs ? SIGNS.running : bad ? "✗" : SIGNS.ok),
    h("span", t("callsDone", { n: calls.length, apps })),
    bad > 0 && h("span.n-meta", t("callsFailed", { n: bad })),
  ];
  return opening(`details.call.${runs ? "running" : bad ? "bad" : "ok"}`, line, list, ALL, opened);
}

/** What opens, and stays open when it is drawn again. */
function opening(tag, line, content, place, opened) {
  const details = h(
    tag,
    { open: opened.has(place) },
    h("summary", line),
    h("div.call-body", { tabindex: "0" }, content),
  );
  details.addEventListener("toggle", () => (details.open ? opened.add(place) : opened.delete(place)));
  return details;
}

function callView(call, place, opened) {
  const status = call.status === "ok" || call.status === "running" ? call.status : "bad";
  const figure = status === "ok" ? t("ms", { n: plain(call.duration_ms) }) : "";
  const said = { ok: t("ok"), running: t("runs"), bad: t("failed") }[status];
  const line = [
    h("span", { "aria-hidden": "true" }, SIGNS[status] ?? "✗"),
    h("span", { title: `${plain(call.app_id)}.${plain(call.fn_name)}` }, callName(call)),
    h("span.n-meta", figure),
    h("span", { class: status === "bad" ? "n-meta" : "sr" }, said),
  ];
  const parts = [
    section(t("arguments"), call.arguments),
    section(t("result"), call.data ?? call.summary),
    section(t("failed"), call.error ?? call.incident),
    status === "bad" && call.error_code && h("code", plain(call.error_code)),
    call.cut && h("p.n-meta", t("cutOff")),
  ].filter(Boolean);
  if (!parts.length) return h("div", { class: `call ${status}` }, line);
  return opening(`details.call.${status}`, line, parts, place, opened);
}

function section(title, value) {
  const empty =
    value === undefined || value === null || value === "" || (typeof value === "object" && !Object.keys(value).length);
  return !empty && h("section", h("h3.n-heading", title), dataView(value));
}

/** A turn that runs: how long, which calls, what is written so far; it grows by `draw`. */
export class Running {
  constructor(one) {
    this.one = one;
    this.opened = new Set();
    this.clock = h("span.n-meta");
    this.words = h("span", t("working"));
    this.bar = h("progress", { "aria-label": t("event_progress") });
    this.calls = h("div");
    this.text = h("div.streaming");
    const dots = h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i"));
    this.element = bubble("webbee", "", [
      this.calls,
      this.text,
      h("div.working", dots, this.words, this.clock, this.bar),
    ]);
    this.written = "";
    const tick = () => {
      this.clock.textContent = t("seconds", { n: Math.max(0, Math.round((Date.now() - Date.parse(one.at)) / 1000)) });
    };
    this.timer = setInterval(() => (this.element.isConnected ? tick() : clearInterval(this.timer)), 1000);
    this.draw();
  }

  draw() {
    const { calls, text, progress, stopping } = this.one;
    const runs = calls.findLast((call) => call.status === "running");
    const doing = runs && t("doing", { what: callName(runs) });
    this.words.textContent = stopping ? t("stopping") : plain(progress?.text) || doing || t("working");
    if (progress) this.bar.value = Math.min(Math.max(Number(progress.percent) || 0, 0), 100) / 100;
    this.element.classList.toggle("measured", Boolean(progress));
    this.calls.replaceChildren(...[callsView(calls, this.opened)].filter(Boolean));
    if (text !== this.written) this.text.replaceChildren(reply((this.written = text)));
  }
}

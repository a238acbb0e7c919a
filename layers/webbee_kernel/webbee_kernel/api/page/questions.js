// What waits for a yes: a sentence with names, its fields below, nothing cut.

import { h, plain } from "./dom.js";
import { dataView, wordsOf } from "./data.js";
import { speaking } from "./strings.js";

/** The cards of questions by id, so that each stands on the page once. */
export class Questions {
  /** `decide(id, yes, said, how)` answers; `how` are texts that were rewritten, and what is to be remembered. */
  constructor(decide) {
    this.decide = decide;
    this.cards = new Map();
    this.latest = 0;
  }

  clear() {
    for (const card of this.cards.values()) clearInterval(card.timer);
    this.cards.clear();
    this.latest = 0;
  }

  /** Something was said in this turn: what was asked in those before is no longer what one talks about. */
  said(turn) {
    this.latest = Math.max(this.latest, turn);
    for (const [id, card] of [...this.cards]) if (card.turn < turn) this.over(id, "confirmPassed");
  }

  /** Cards for those of a turn that are new; those of the same turn that it no longer names have been answered. */
  of(asked, turn) {
    for (const [id, card] of [...this.cards]) {
      if (card.turn === turn && !asked.some((one) => one.id === id)) this.over(id, card.answer);
    }
    return asked.filter((one) => !this.cards.has(one.id)).map((one) => this.card(one, turn));
  }

  /** It is no longer open; `why` is the key of what is said of that. */
  over(id, why) {
    const card = this.cards.get(id);
    if (!card) return;
    clearInterval(card.timer);
    this.cards.delete(id);
    for (const part of card.element.querySelectorAll("button, input, textarea")) part.disabled = true;
    card.element.classList.add("over");
    card.note.textContent = card.t(why);
  }

  card(asked, turn) {
    const t = speaking(asked.language); // one language for all of the card: that of its text
    const note = h("p.n-meta");
    const calls = asked.calls ?? [];
    const texts = new Map(); // by place of the call and path: the field that a person may rewrite
    const shown = calls.map((call, place) =>
      callOf(call, calls.length > 1, t, (path, box) => texts.set([place, path], box)),
    );
    const again = calls.some((call) => call.remember) && h("input", { type: "checkbox" });
    const what = plain(asked.question).replace(/^¿|\s*\?$/g, ""); // of several cards, which one was answered
    const answer = (accept) => {
      const card = this.cards.get(asked.id);
      if (card) card.answer = accept ? "confirmYes" : "confirmNo";
      const said = accept ? [t("accept"), what].filter(Boolean).join(" – ") : t(what ? "refused" : "refuse", { what });
      this.decide(asked.id, accept, said, accept ? how() : undefined);
    };
    const how = () => ({ edits: edited(texts), remember: Boolean(again && again.checked) });
    const destroys = calls.some((call) => call.effect === "destructive");
    const buttons = h(
      "div.confirm-buttons",
      h(
        destroys ? "button.danger" : "button.primary",
        { onclick: () => answer(true) },
        plain(asked.verb) || t("accept"),
      ),
      h("button.secondary", { onclick: () => answer(false) }, t("refuse")),
    );
    const element = h(
      "div.confirm",
      { role: "group", lang: asked.language, "aria-label": t("confirmTitle") },
      h("strong.pre", plain(asked.question) || plain(asked.summary) || t("confirmTitle")),
      shown,
      again && h("label.confirm-again", again, " ", t("notAgain")),
      buttons,
      note,
    );
    const tick = () => {
      const left = Math.ceil(asked.expires_at - Date.now() / 1000);
      if (left <= 0) this.over(asked.id, "confirmOver");
      else
        note.textContent = t("confirmExpires", { n: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` });
    };
    this.cards.set(asked.id, { t, turn, element, note, answer: "confirmDone", timer: setInterval(tick, 1000) });
    tick();
    if (turn < this.latest) this.over(asked.id, "confirmPassed");
    return element;
  }
}

/** What was rewritten, as the answer carries it. */
function edited(texts) {
  const edits = {};
  for (const [[place, path], box] of texts) {
    if (box.value !== box.defaultValue && box.value) (edits[place] ??= {})[path] = box.value;
  }
  return edits;
}

/** One effect: whose, what, and its fields; `takes(path, box)` gets each text that may be rewritten. */
function callOf(call, named, t, takes) {
  const head = named && `${plain(call.app) || plain(call.app_id)} – ${plain(call.title) || plain(call.fn_name)}`;
  const row = (f) => h("div", h("dt", nameOf(f, t)), h("dd", value(f, takes)));
  return h("div.confirm-call", head && h("strong", head), h("dl.n-pairs", (call.fields ?? []).map(row)));
}

/** What a field is called; a record that is named by its title needs no "id" before it. */
const nameOf = (field, t) => (field.title && ID.test(plain(field.name)) ? t("title") : wordsOf(field.name));

/** An address that has no room on one line goes on behind its "@". */
const parted = (text) => text.split(/(?<=@)/).flatMap((part, i) => (i ? [h("wbr"), part] : part));

const LINE = 30; // letters that a narrow card has room for beside the name
const TALLEST = 12;
const ID = /^u?u?ids?$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

function value(field, takes) {
  if (field.kind === "destination") return h("strong.destination", parted(plain(field.title) || plain(field.value)));
  if (field.title) return h("span", { title: plain(field.value) }, plain(field.title));
  if (field.kind !== "text" || !field.path) return dataView(field.value);
  const text = plain(field.value);
  const date = DATE.test(text) && "date"; // shown as its reader writes dates
  const lines = text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length + 1) / LINE), 0);
  const rows = date ? null : Math.min(lines, TALLEST); // a browser that can fits the field to its text
  const box = h(date ? "input" : "textarea", { "aria-label": plain(field.name), rows, type: date });
  box.value = box.defaultValue = text;
  takes(field.path, box);
  return box;
}

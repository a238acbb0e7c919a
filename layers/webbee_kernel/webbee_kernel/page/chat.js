// The conversation: turns, progress, calls and their outcome, confirmations.

import { api } from "./api.js";
import { fill, h, plain, randomId, time } from "./dom.js";
import { renderTree } from "./nodes.js";
import { toast } from "./overlay.js";
import { sourced } from "./sources.js";
import { t } from "./strings.js";

const LIMIT = 8000;

export class Chat {
  // `after(answer)` runs when a turn was answered; `act(app)` makes the actions of a UI tree.
  constructor({ after, act, examples }) {
    Object.assign(this, { after, act, examples });
    this.session = "";
    this.cards = new Map(); // the questions on the page by id: which turn asked, and how to close the card
    this.busy = false;
    this.atEnd = true;
    this.log = h("ol.log", { role: "log", "aria-live": "polite", "aria-label": t("chat") });
    this.text = h("textarea", { id: "composer-text", rows: 1, maxlength: LIMIT, placeholder: t("placeholder"), "aria-label": t("composer"), "aria-describedby": "composer-note", oninput: () => this.grown(), onkeydown: (e) => this.key(e) });
    this.button = h("button", { type: "submit", class: "primary", id: "send" }, t("send"));
    this.note = h("p", { id: "composer-note", class: "n-meta" }, t("newLines"));
    this.form = h("form.composer", { onsubmit: (e) => (e.preventDefault(), this.say(this.text.value)) }, h("div.composer-row", this.text, this.button), this.note);
    const wrap = h("div.log-wrap", { onscroll: () => (this.atEnd = wrap.scrollTop + wrap.clientHeight > wrap.scrollHeight - 40) }, this.log);
    this.element = h("div.chat", wrap, this.form);
    new ResizeObserver(() => this.atEnd && this.bottom()).observe(this.log);
    new ResizeObserver(() => this.atEnd && this.bottom()).observe(wrap);
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.form.requestSubmit();
    }
  }

  grown() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, 200)}px`;
    const size = this.text.value.length;
    this.note.textContent = size > LIMIT * 0.8 ? t("tooLong", { n: size, limit: LIMIT }) : t("newLines");
  }

  async open(session) {
    this.session = session;
    this.cards.clear();
    this.setBusy(null);
    this.log.setAttribute("aria-busy", "true");
    let found = { turns: [] };
    try {
      found = await api("GET", `/v1/sessions/${session}`);
    } catch (error) {
      if (error.status !== 404) toast(error.message, "error");
    }
    if (this.session !== session) return;
    this.showTurns(found.turns, found.cursor);
  }

  start() {
    this.session = randomId();
    this.cards.clear();
    this.setBusy(null);
    this.showTurns([]);
  }

  // Turns oldest first, with a line where the model's memory begins, and before them the way to earlier ones.
  told(turns, cursor) {
    const item = (turn, i) => {
      const ends = turn.remembered && i > 0 && !turns[i - 1].remembered;
      return [ends && h("li.muted.note", t("memoryEnds")), this.bubble("you", turn.message, turn.at), this.answer(turn)];
    };
    const more = cursor && h("li.note", h("button.link", { onclick: () => this.earlier(cursor, more) }, t("earlier")));
    return [more, ...turns.flatMap(item)].filter(Boolean);
  }

  async earlier(cursor, more) {
    try {
      const found = await api("GET", `/v1/sessions/${this.session}?cursor=${encodeURIComponent(cursor)}`);
      more.replaceWith(...this.told(found.turns, found.cursor));
    } catch (error) {
      toast(error.message, "error");
    }
  }

  showTurns(turns, cursor = null) {
    fill(this.log, ...this.told(turns, cursor));
    if (!turns.length) this.log.append(this.welcome());
    this.log.removeAttribute("aria-busy");
    this.bottom();
  }

  welcome() {
    const examples = this.examples();
    const chip = (text) => h("button.chip", { onclick: () => this.say(text) }, text);
    return h("li.welcome", h("p.welcome-title", t("empty")), examples.length > 0 && h("p.muted", t("tryThis")), h("div.chips", examples.map(chip)));
  }

  bubble(who, text, at, extra, nodes) {
    return h("li", { class: `turn ${who}` }, h("div.who", h("span", t(who)), at && h("time", { datetime: at }, time(at))), h("div.bubble", text && h("p.pre", nodes ?? plain(text)), extra));
  }

  // Its questions get a card each; those of the same turn that it no longer names have been answered.
  answer(body) {
    const tree = body.ui && renderTree(body.ui, this.act(body.calls?.findLast?.((c) => c.status === "ok")?.app_id ?? ""));
    const asked = body.confirmations ?? (body.confirmation ? [body.confirmation] : []);
    const onlyAsks = asked.length > 0 && !body.calls?.length;
    const item = this.bubble("webbee", onlyAsks ? "" : body.reply, body.at, [this.calls(body.calls), tree && h("div.reply-ui", tree)], sourced(plain(body.reply), body.sources, body.calls));
    if (body.sourced) item.classList.add("all-sourced");
    if (body.status === "error") item.classList.add("failed");
    for (const [id, card] of [...this.cards]) if (card.turn === body.turn && !asked.some((a) => a.id === id)) card.over(t("confirmDone"));
    const fresh = asked.filter((a) => !this.cards.has(a.id));
    item.querySelector(".bubble").append(...fresh.map((a) => this.confirmation(a, body.turn)));
    if (onlyAsks && !fresh.length) item.querySelector(".bubble").append(h("p.pre", plain(body.reply)));
    return item;
  }

  calls(calls) {
    if (!calls?.length) return null;
    const chip = (c) => {
      const ok = c.status === "ok";
      const label = `${plain(c.app_id)}.${plain(c.fn_name)}`;
      return h("li", { class: ok ? "call ok" : "call bad", title: [plain(c.error_code), plain(c.incident)].filter(Boolean).join(" ") }, h("span", { "aria-hidden": "true" }, ok ? "✓" : "✗"), h("span", label), h("span.n-meta", ok ? `${plain(c.duration_ms)} ms` : plain(c.error_code)), h("span.sr", ok ? t("ok") : t("failed")));
    };
    return h("ul.calls", { "aria-label": t("calls") }, calls.map(chip));
  }

  confirmation(record, turn) {
    const note = h("p.n-meta");
    const accept = h("button.danger", { onclick: () => this.decide(record.id, true) }, t("accept"));
    const refuse = h("button.secondary", { onclick: () => this.decide(record.id, false) }, t("refuse"));
    const call = (c) => h("li", h("code", `${plain(c.app_id)}.${plain(c.fn_name)}`), " ", h("span.muted", plain(c.arguments)));
    const card = h("div.confirm", { role: "group", "aria-label": t("confirmTitle") }, h("strong", t("confirmTitle")), h("p.pre", plain(record.summary)), h("ul.confirm-calls", (record.calls ?? []).map(call)), h("div.confirm-buttons", accept, refuse), note);
    const over = (text) => {
      accept.disabled = refuse.disabled = true;
      card.classList.add("over");
      note.textContent = text;
      clearInterval(timer);
      this.cards.delete(record.id);
    };
    const tick = () => {
      const left = Math.ceil(record.expires_at - Date.now() / 1000);
      if (left <= 0) over(t("confirmOver"));
      else note.textContent = t("confirmExpires", { n: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` });
    };
    const timer = setInterval(() => (card.isConnected || this.busy ? tick() : clearInterval(timer)), 1000);
    this.cards.set(record.id, { turn, over });
    tick();
    return card;
  }

  decide(id, accept) {
    return this.ask(accept ? t("accept") : t("refuse"), (request) => api("POST", `/v1/confirmations/${id}`, { accept }), randomId());
  }

  say(text) {
    const message = text.trim();
    if (!message || this.busy) return;
    this.text.value = "";
    this.grown();
    this.ask(message, (request) => api("POST", "/v1/chat", { message, session_id: this.session, request_id: request }), randomId());
  }

  // Show the message, send it, show the answer. A failed one can be sent again under the same request id: it runs once.
  async ask(message, send, id) {
    if (this.busy) return;
    const session = this.session;
    this.log.querySelector(".welcome")?.remove();
    const mine = this.bubble("you", message, new Date().toISOString());
    const working = this.working();
    this.log.append(mine, working.element);
    this.bottom();
    this.setBusy(working);
    try {
      const body = await send(id);
      if (this.session !== session) return;
      working.element.replaceWith(this.answer({ ...body, at: new Date().toISOString() }));
      this.after(body);
    } catch (error) {
      if (this.session === session) working.element.replaceWith(this.unsent(error, mine, () => this.ask(message, send, id)));
    } finally {
      if (this.progressing === working) this.setBusy(null);
      working.stop();
      this.bottom();
    }
  }

  // A limit is no failure: the kernel's own sentence, and a button that waits as long as it says.
  unsent(error, mine, again) {
    const limited = error.status === 429;
    const retry = h("button.secondary.small", { disabled: error.wait > 0, onclick: () => (item.remove(), mine.remove(), again()) }, t("retry"));
    const item = this.bubble("webbee", limited ? error.message : t("notSent", { why: error.message }), "", retry);
    if (error.wait > 0) setTimeout(() => (retry.disabled = false), Math.min(error.wait, 3600) * 1000);
    if (!limited) item.classList.add("failed");
    return item;
  }

  working() {
    const clock = h("span.n-meta");
    const words = h("span", t("working"));
    const bar = h("progress", { "aria-label": t("event_progress") });
    const started = Date.now();
    const timer = setInterval(() => (clock.textContent = t("seconds", { n: Math.round((Date.now() - started) / 1000) })), 1000);
    const element = this.bubble("webbee", "", "", h("div.working", { role: "status" }, h("span.dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), words, clock, bar));
    return { element, words, bar, stop: () => clearInterval(timer) };
  }

  // A progress event of a running call.
  progress(event) {
    if (!this.progressing) return;
    this.progressing.words.textContent = plain(event.text) || t("working");
    this.progressing.bar.value = Math.min(Math.max(Number(event.percent) || 0, 0), 100) / 100;
    this.progressing.element.classList.add("measured");
  }

  setBusy(working) {
    this.busy = Boolean(working);
    this.progressing = working;
    this.button.disabled = this.busy;
    this.element.setAttribute("aria-busy", String(this.busy));
  }

  bottom() {
    this.log.parentElement.scrollTop = this.log.parentElement.scrollHeight;
  }
}

// The conversation: what is told of it, what runs, and what is said next.

import { api } from "./api.js";
import { Composer } from "./composer.js";
import { fill, h, plain, randomId } from "./dom.js";
import { mark } from "./marked.js";
import { Near } from "./near.js";
import { copy, toast } from "./overlay.js";
import { Queue } from "./queue.js";
import { Questions } from "./questions.js";
import { t } from "./strings.js";
import { answer, bubble, callsView, Running, tool } from "./turns.js";
import { foldVersions, inPlaceOf, isAnew } from "./versions.js";
import { waterfall } from "./waterfall.js";

const SPOKEN = 4;
const FARTHEST = 40; // pages that are read to come to a turn that was looked for
const OTHERS = "mcp"; // the conversation of calls by other programs: each of its questions waits for itself
const BUILT = 3; // turns that are built at once; those before them when they come near

export class Chat {
  /** `asking` holds the turns without an answer; `after(answer)` runs when one has it; `act(app, reply)` makes the
   * actions of a UI tree; `examples()` are things to say, `failed()` what did not load; `opened(session)` runs when one
   * is shown, `said()` when something is sent; `traces` are what developers keep of where the time went,
   * `inspect(message)` shows them what the model reads for one.
   * @param {{asking: import("./asking.js").Asking, [more: string]: any}} of */
  constructor({ asking, after, act, examples, failed, opened, said, traces, model, inspect }) {
    this.after = after;
    this.act = act;
    this.examples = examples;
    this.failed = failed;
    this.opened = opened;
    this.said = said;
    this.traces = traces;
    this.inspect = inspect;
    this.asking = asking;
    this.session = "";
    this.drawn = new Map(); // the turns on the page by request id: what is told of each, and its answer's element
    this.views = new Map(); // those that run, by request id
    this.did = new Map(); // the calls that succeeded: each one's app, function and values, and when
    this.atEnd = true;
    this.questions = new Questions((id, yes, said, how) => this.decide(id, yes, said, how));
    this.queue = new Queue();
    this.composer = new Composer({ say: (text, old) => this.say(text, old), stop: () => this.stop(), model });
    this.text = this.composer.text;
    this.list = h("ol.log");
    this.voice = h("div.sr", { role: "status", "aria-live": "polite" });
    const log = h("div", { role: "log", "aria-live": "off", "aria-label": t("chat"), tabindex: "0" }, this.list);
    let top = 0;
    const scrolled = () => {
      const over = wrap.scrollTop + wrap.clientHeight > wrap.scrollHeight - 40;
      this.atEnd = over || (this.atEnd && wrap.scrollTop >= top); // what grows below moves nobody away from the end
      top = wrap.scrollTop;
    };
    const wrap = h("div.log-wrap", { onscroll: scrolled }, log);
    this.wrap = wrap;
    this.near = new Near(wrap);
    this.element = h("div.chat", h("h2.sr", t("chat")), wrap, this.voice, this.queue.element, this.composer.form);
    const grown = new ResizeObserver(() => this.atEnd && this.bottom());
    grown.observe(this.list);
    grown.observe(wrap);
  }

  get running() {
    return this.asking.of(this.session);
  }

  /** Say to who listens: whole sentences, each once. */
  speak(text) {
    if (!text.trim()) return;
    this.voice.append(h("p", text.replace(/[*`#|]|(?<!\w)_+|_+(?!\w)/g, "")));
    while (this.voice.children.length > SPOKEN) this.voice.firstElementChild.remove();
  }

  /** A new conversation, or the one begun before a reload. */
  start(id = randomId()) {
    this.show(id, true);
    this.tell([]);
  }

  /** @param {string} session @param {string} [request] the turn to show of it, else its end
   * @param {string} [text] what was found in it */
  async open(session, request, text = "") {
    this.show(session);
    this.list.setAttribute("aria-busy", "true");
    const found = await this.read();
    if (this.session !== session) return;
    this.tell(found.turns, found.cursor);
    if (request) await this.goTo(session, request, text);
  }

  /** Bring one turn into sight, however far back it was said, and in it the text that was looked for. */
  async goTo(session, request, text) {
    for (let page = 0; page < FARTHEST && !this.drawn.has(request); page += 1) {
      const more = this.list.querySelector(".earlier");
      if (!more || this.session !== session) break;
      await more.read();
    }
    if (this.session !== session) return;
    this.drawn.get(request)?.element.closest("details.versions")?.setAttribute("open", "");
    const far = this.drawn.get(request)?.element;
    this.near.build(far?.previousElementSibling);
    this.near.build(far);
    const turn = this.drawn.get(request)?.element;
    if (!turn) return;
    this.atEnd = false;
    const said = turn.previousElementSibling ?? turn;
    turn.classList.add("sought");
    turn.tabIndex = -1;
    turn.focus({ preventScroll: true });
    if (mark([turn, said], text, this.wrap)) return;
    said.scrollIntoView({ block: "start" });
    turn.classList.add("whole");
  }

  show(session, fresh = false) {
    this.session = session;
    this.questions.clear();
    fill(this.voice);
    this.composer.of(session);
    this.queue.show(session);
    this.opened(session, fresh);
  }

  async read(cursor = "") {
    try {
      return await api("GET", `/v1/sessions/${this.session}${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ""}`);
    } catch (error) {
      if (error.status !== 404) toast(error.message, "error");
      return { turns: [] };
    }
  }

  tell(turns, cursor = null) {
    this.drawn.clear();
    this.views.clear();
    this.did.clear();
    this.near.clear();
    fill(this.list, ...this.told(turns, cursor));
    for (const one of this.running) {
      if (this.drawn.has(one.id)) this.asking.end(one, null);
      else this.follow(one);
    }
    if (!this.list.children.length) this.list.append(this.welcome());
    this.list.removeAttribute("aria-busy");
    if (!this.running.length && !this.questions.cards.size) this.giveBack(this.session); // left alone by a reload
    this.settle();
    this.bottom();
    if (this.list.querySelector(".welcome")) this.beginning();
  }

  /** Turns oldest first, with a line where the model's memory begins, and before them the way to earlier ones. */
  told(turns, cursor) {
    const item = (turn, i) => {
      const line = turn.remembered && i > 0 && !turns[i - 1].remembered && h("li.muted.note", t("memoryEnds"));
      const said = (old) => this.mine(turn.message, turn.at, turn.request_id, old);
      const changed = isAnew(turn.request_id, turns[i + 1]?.request_id);
      if (changed || i >= turns.length - BUILT) return [line, said(false), this.theirs(turn)];
      const far = this.near.later("webbee", turn.reply, () => this.theirs(turn));
      this.drawn.set(turn.request_id, { mark: markOf(turn), element: far, trace: null });
      return [line, this.near.later("you", turn.message, () => said(true)), far];
    };
    for (const turn of turns) this.callsOf(turn);
    const read = () => this.earlier(cursor, more);
    const more =
      cursor && Object.assign(h("li.note.earlier", h("button.link", { onclick: read }, t("earlier"))), { read });
    return [more, ...turns.flatMap(item)].filter(Boolean);
  }

  async earlier(cursor, more) {
    const { turns, cursor: before } = await this.read(cursor);
    const items = this.told(turns, before);
    const height = this.wrap.scrollHeight;
    more.replaceWith(...items);
    this.wrap.scrollTop += this.wrap.scrollHeight - height;
    this.settle();
    (items[0]?.querySelector("button:not([hidden])") ?? this.text).focus({ preventScroll: true });
  }

  /** What another tab, or something that ended late, changed: new turns at the end, changed ones in their place; what
   * is `own` is brought into sight. */
  async sync(own = false) {
    const session = this.session;
    const { turns } = await this.read();
    if (session !== this.session) return;
    for (const turn of turns) {
      const known = this.drawn.get(turn.request_id);
      if (!known && !(turn.also ?? []).some((id) => this.drawn.has(id)) && !this.asking.open.has(turn.request_id)) {
        this.list.querySelector(".welcome")?.remove();
        this.list.append(this.mine(turn.message, turn.at, turn.request_id), this.theirs(turn));
        if (own) this.bottom();
        this.speak(plain(turn.reply));
      } else if (known && known.mark !== markOf(turn) && !(turn.also ?? []).some((id) => this.drawn.has(id))) {
        const kept = known.element.querySelector("form.n-form"); // what is typed in it stays, where it does
        const element = this.theirs({ ...turn, trace: known.trace });
        known.element.replaceWith(element);
        if (kept) element.querySelector("form.n-form")?.replaceWith(kept);
        this.speak(plain(turn.reply));
      }
    }
    this.settle();
  }

  welcome() {
    const examples = this.examples();
    const chip = (text) =>
      h("button.chip", { onclick: () => (text.includes("…") ? this.composer.fill(text) : this.say(text)) }, text);
    const offer = examples.length > 0 && [h("p.muted", t("tryThis")), h("div.chips", examples.map(chip))];
    return h("li.welcome", h("p.welcome-title", t("empty")), offer, this.failed());
  }

  mine(message, at, id, old = false) {
    const edit = tool(t("edit"), "edit", () => this.composer.fill(message, id));
    edit.classList.add("edit");
    edit.hidden = old;
    const item = bubble("you", at, h("p.pre", plain(message)), [edit]);
    item.dataset.request = id;
    return item;
  }

  theirs(turn, id = turn.request_id) {
    const copies = tool(t("copy"), "copy", () => copy(plain(turn.reply)));
    const harmless = !turn.receipts?.length && turn.status !== "confirmation"; // no effect happens twice
    const again =
      turn.message && harmless && tool(t("regenerate"), "again", () => this.say(turn.message, id), t("regenerateTold"));
    if (again) again.classList.add("again");
    const look = this.inspect && turn.message && tool(t("fieldShown"), "inspect", () => this.inspect(turn.message));
    if (turn.turn && this.session !== OTHERS) this.questions.said(turn.turn);
    const below = { session_id: this.session, request_id: id };
    const act = (app) => this.act(app, app ? null : { below, redraw: () => this.sync(true) });
    const calls = this.callsOf(turn);
    const receipts = turn.receipts?.map((one) =>
      one.undo && this.isOver(turn, one.undo) ? { ...one, undo: null } : { ...one, at: turn.at },
    );
    const element = answer(
      { ...turn, calls, receipts },
      { act, questions: this.questions, tools: [again, copies, look] },
    );
    this.drawn.set(id, { mark: markOf(turn), element, trace: turn.trace });
    if (!turn.trace?.length) this.retrace(element, [id, ...(turn.also ?? [])]);
    return element;
  }

  /** A turn's calls with all that is known of each. */
  callsOf(turn) {
    const calls = turn.calls?.map((call, i) => ({ ...call, ...turn.details?.[i] }));
    for (const call of calls ?? [])
      if (call.status === "ok")
        this.did.set(JSON.stringify([call.app_id, call.fn_name, call.arguments, call.data]), turn.at);
    return calls;
  }

  /** Whether what takes an effect back was done since, or is of a turn that the kernel no longer remembers. */
  isOver(turn, { app_id: app, function: name, params }) {
    const own = JSON.stringify([app, name]).slice(0, -1);
    const ids = Object.values(params).map((value) => JSON.stringify(value));
    const since = (at) => !at || !turn.at || at >= turn.at; // what runs now has no time yet
    const used = ([did, at]) => since(at) && did.startsWith(own) && ids.every((id) => did.includes(id));
    return turn.remembered === false || [...this.did].some(used);
  }

  async retrace(element, ids) {
    const found = (await this.traces?.of(ids)) ?? [];
    element.querySelector(".bubble").append(...found.map(waterfall));
  }

  /** Send it, in the place of an `old` request where one is named; while a turn runs it waits in sight. It overtakes
   * nothing that waits already. @param {string} message @param {string} [old] */
  say(message, old = "") {
    this.composer.fill("");
    this.said();
    this.queue.add(this.session, message);
    if (!this.running.length) this.next(this.session, old);
  }

  /** Send the first of what waits in a conversation, shown or not. */
  next(session, old = "") {
    const message = this.queue.take(session);
    if (!message) return;
    const one = this.asking.message(inPlaceOf(old) + randomId(), session, message);
    if (session === this.session) this.begin(one);
  }

  decide(id, accept, said, how) {
    if (this.running.length) return void toast(t("confirmBusy"));
    this.begin(this.asking.answer(id, this.session, said, accept, how));
  }

  begin(one) {
    this.follow(one);
    this.settle();
    this.bottom();
    this.text.focus();
  }

  /** A message and what becomes of it. */
  follow(one) {
    this.list.querySelector(".welcome")?.remove();
    const view = new Running(one);
    this.views.set(one.id, view);
    this.list.append(this.mine(one.message, one.at, one.id), view.element);
  }

  /** @param {any} one @param {any} [frame] what was heard of it */
  changed(one, frame) {
    this.views.get(one.id)?.draw();
    if (one.session === this.session && frame?.type === "text") this.speak(frame.text);
  }

  stop() {
    for (const one of this.running) this.asking.stop(one);
  }

  /** A turn has its answer, or never will. */
  ended(one) {
    const view = this.views.get(one.id);
    this.views.delete(one.id);
    const read = view && one.session === this.session ? this.close(one, view) : null;
    this.settle();
    const { model, away } = this.composer;
    const failed = one.error?.code === "model_unavailable";
    if (failed !== away && (failed || one.body)) this.composer.answeredBy(model, failed);
    if (one.body) this.after(one.body);
    if (read) read.then(() => this.goOn(one));
    else this.goOn(one);
  }

  /** What waited behind a turn is sent when that has its answer. Where it failed or was stopped its writer has it back;
   * a question is answered first. */
  goOn({ session, body, error, stopping }) {
    if (this.asking.of(session).length) return;
    if (stopping || (error && error.code !== "fetch")) return this.giveBack(session);
    const asked = session === this.session && this.questions.cards.size > 0;
    if (!asked && body?.status !== "confirmation") this.next(session);
  }

  giveBack(session) {
    const texts = this.queue.of(session);
    if (!texts.length) return;
    this.queue.keep(session, []);
    this.composer.giveBack(session, texts);
    toast(t("givenBack"));
  }

  /** The promise of what is read anew, where the answer has to be.
   * @returns {Promise<void> | null} */
  close(one, view) {
    if (one.error && ["fetch", "not_found", "conflict"].includes(one.error.code)) {
      view.element.remove();
      if (one.accept !== undefined) this.list.querySelector(`[data-request="${CSS.escape(one.id)}"]`)?.remove();
      return this.sync();
    }
    const body = one.body && {
      ...one.body,
      message: one.accept === undefined ? one.message : "",
      at: new Date().toISOString(),
    };
    const heard = one.calls.toSorted((a, b) => a.call - b.call);
    const calls = body?.calls?.map((call, i) => ({ ...(heard.length === body.calls.length && heard[i]), ...call }));
    const next = body ? this.theirs({ ...body, calls, trace: one.trace }, one.id) : this.unsent(one);
    next.classList.add("settled");
    if (body && one.trace.length) this.traces?.keep(one.id, one.trace);
    view.element.replaceWith(next);
    const told = body ? plain(body.reply) : next.querySelector(".bubble > p")?.textContent;
    this.speak(told?.startsWith(one.text) ? told.slice(one.text.length) : (told ?? ""));
    if (this.atEnd) this.reveal(next);
    return null;
  }

  // A limit is no failure: the kernel's own sentence, and a button that waits as long as it says. Of a failure the page
  // says in its own language what it means; what the server said of it, in whatever language, stands below.
  unsent(one) {
    const { status, code, message, wait } = one.error;
    if (one.accept === undefined) this.composer.keepUnsent(one.session, one.message);
    const retry = () => {
      item.remove();
      this.composer.clearUnsent(one.session, one.message);
      this.list.querySelector(`[data-request="${CSS.escape(one.id)}"]`)?.remove();
      this.begin(this.asking.add({ ...one, at: new Date().toISOString() }));
    };
    const isGone = code === "gone"; // asked again it is as gone
    if (isGone) this.questions.over(one.id, "confirmOver");
    const button = !isGone && h("button.secondary.small", { disabled: wait > 0, onclick: retry }, t("retry"));
    if (wait > 0) setTimeout(() => (button.disabled = false), Math.min(wait, 3600) * 1000);
    const left = beganBefore(one) ? t("notFinished") : t("notSent");
    const why = { model_unavailable: t("noModel"), gone: t("confirmGone") }[code] ?? left;
    const words = status === 429 ? h("p.pre", message) : [h("p", why), !isGone && h("p.n-meta.pre", message)];
    const acted = one.calls.length > 0 && h("p.n-meta", t("notRepeated"));
    const item = bubble("webbee", "", [callsView(one.calls), words, acted, button]);
    if (status !== 429) item.classList.add("failed");
    return item;
  }

  /** A progress event of a running call. */
  progress(event) {
    const one = this.running.find((x) => !event.request_id || x.id === event.request_id);
    if (one) this.changed(Object.assign(one, { progress: event }));
  }

  // Only the last message can be changed and sent again.
  settle() {
    const busy = this.running.length > 0;
    this.composer.run(busy);
    this.element.setAttribute("aria-busy", String(busy));
    for (const undo of this.list.querySelectorAll(".undo")) undo.hidden = busy || this.isOver(undo, undo.call);
    foldVersions(this.list);
    for (const kind of [".edit", ".again"]) {
      const last = [...this.list.querySelectorAll(kind)];
      const end = this.list.lastElementChild;
      const own = (button) => [end, end?.previousElementSibling].includes(button.closest(".turn"));
      for (const button of last) button.hidden = busy || !own(button);
    }
  }

  // The end of the conversation; of an answer that is taller than the window, its beginning.
  reveal(answer) {
    this.bottom();
    const asks = answer.querySelector(".confirm:not(.over)");
    const over = !asks && answer.offsetHeight > this.wrap.clientHeight - 80;
    if (over) this.wrap.scrollTop = answer.previousElementSibling?.offsetTop ?? answer.offsetTop;
    this.atEnd = !over;
  }

  // A greeting is read from there.
  beginning() {
    this.atEnd = false;
    this.wrap.scrollTop = 0;
  }

  bottom() {
    this.atEnd = true; // what fits the window is scrolled by nobody
    this.wrap.scrollTop = this.wrap.scrollHeight;
  }
}

// Only what the kernel refused before it began was not sent; the rest has arrived, and what ran is known.
const beganBefore = (one) => one.started || one.calls.length > 0 || one.error.status >= 500;

const markOf = (turn) =>
  JSON.stringify([
    turn.reply,
    (turn.calls ?? []).map((c) => c.status),
    turn.confirmation?.id,
    turn.remembered === false && (turn.receipts ?? []).some((one) => one.undo),
  ]);

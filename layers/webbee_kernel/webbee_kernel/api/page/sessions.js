// The list of conversations: found by title and by what was said, renamed, kept as a file, deleted.

import { api } from "./api.js";
import { fill, h, plain } from "./dom.js";
import { exportSession } from "./exporting.js";
import { Found } from "./found.js";
import { ask, prompt, toast } from "./overlay.js";
import { t, time } from "./strings.js";

const TYPING_MS = 250;

export class Sessions {
  /** `open(id, request, text)` shows a session, at a text of a turn where one is named, `start()` begins a new one;
   * `current()` is the one shown. */
  constructor({ open, start, current }) {
    this.open = open;
    this.start = start;
    this.current = current;
    this.rows = [];
    this.cursor = null;
    this.asked = 0;
    this.timer = 0;
    this.typed = false;
    this.list = h("ul.sessions");
    this.more = h("button.ghost.small", { hidden: true, onclick: () => this.load(this.cursor) }, t("more"));
    this.query = h("input", {
      type: "search",
      maxlength: 80,
      placeholder: t("searchSessions"),
      "aria-label": t("searchSessions"),
      oninput: () => ((this.found.but = ""), this.soon(TYPING_MS, true)),
      onkeydown: (event) => event.key === "Escape" && this.clear(),
    });
    this.found = new Found((...where) => this.open(...where));
    const fresh = h("button.secondary.new-session", { onclick: () => this.start() }, "+ ", t("newSession"));
    this.element = h(
      "nav.panel",
      { "aria-label": t("sessions") },
      h("header", h("h2", t("sessions"))),
      fresh,
      this.query,
      this.list,
      this.more,
      this.found.element,
    );
  }

  soon(ms = 0, typed = false) {
    clearTimeout(this.timer);
    this.typed ||= typed; // news that come while somebody types put the search off no further
    this.timer = setTimeout(() => {
      this.load();
      if (this.typed) this.found.look(this.query.value.trim());
      this.typed = false;
    }, ms);
  }

  /** Look for what was said, but in the turn in which that was asked for.
   * @param {string} words @param {string} [but] */
  seek(words, but = "") {
    this.found.but = but;
    this.query.value = words;
    this.query.focus();
    this.soon(0, true);
  }

  /** Show them all again, with the present one as it is marked now. */
  clear() {
    if (!this.query.value) return this.draw();
    this.query.value = "";
    this.soon(0, true);
  }

  async load(cursor = "") {
    const asked = (this.asked += 1);
    const query = new URLSearchParams({
      ...(cursor && { cursor }),
      ...(this.query.value.trim() && { q: this.query.value.trim() }),
    });
    try {
      const found = await api("GET", `/v1/sessions?${query}`);
      if (asked !== this.asked) return;
      this.rows = cursor ? [...this.rows, ...found.sessions] : found.sessions;
      this.cursor = found.cursor;
    } catch (error) {
      toast(error.message, "error");
    }
    this.draw();
  }

  draw() {
    const focused = document.activeElement ?? document.body;
    const held = focused.closest("[data-session]");
    const place = held ? [...held.querySelectorAll("button, summary")].indexOf(focused) : -1;
    const opened = this.list.querySelector("[data-session]:has(.session-menu[open])");
    this.more.hidden = !this.cursor;
    const none = !this.query.value.trim() && h("li.muted", t("noSessions")); // what was said is looked for beside
    fill(this.list, this.rows.length ? this.rows.map((row) => this.row(row)) : none);
    const again = (row) => row && this.list.querySelector(`[data-session="${CSS.escape(row.dataset.session)}"]`);
    again(opened)?.querySelector(".session-menu").setAttribute("open", "");
    again(held)?.querySelectorAll("button, summary")[place]?.focus();
  }

  row(row) {
    const title = plain(row.title) || t("untitled");
    const mine = row.session_id === this.current();
    const open = h(
      "button.session-open",
      { "aria-current": mine ? "true" : undefined, onclick: () => this.open(row.session_id) },
      h("span.session-title", { title }, title),
      h("span.n-meta", time(row.touched_at)),
    );
    const entry = (label, act) => h("li", h("button.ghost.small", { onclick: act }, label));
    const menu = h(
      "details.n-menu.session-menu",
      h("summary", { "aria-label": t("sessionMenu", { title }), title: t("sessionMenu", { title }) }, "⋯"),
      h(
        "ul",
        entry(t("rename"), () => this.rename(row)),
        entry(t("export"), () => exportSession(row.session_id, title)),
        entry(t("delete"), () => this.remove(row)),
      ),
    );
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape") ((menu.open = false), menu.firstElementChild.focus());
    });
    menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
    });
    return h("li", { class: mine ? "session current" : "session", dataset: { session: row.session_id } }, open, menu);
  }

  async rename(row) {
    const title = await prompt(t("rename"), t("title"), plain(row.title), 80);
    if (!title) return;
    try {
      Object.assign(row, await api("PATCH", `/v1/sessions/${row.session_id}`, { title }));
    } catch (error) {
      toast(error.message, "error");
    }
    this.draw();
  }

  async remove(row) {
    if (
      !(await ask(t("deleteSessionAsk"), t("delete"), t("deleteSession", { title: plain(row.title) || t("untitled") })))
    )
      return;
    try {
      await api("DELETE", `/v1/sessions/${row.session_id}`);
      this.rows = this.rows.filter((r) => r !== row);
      if (row.session_id === this.current()) this.start();
    } catch (error) {
      toast(error.message, "error");
    }
    this.draw();
  }
}

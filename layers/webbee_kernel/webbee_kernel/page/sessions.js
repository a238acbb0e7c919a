// The list of conversations.

import { api } from "./api.js";
import { fill, h, icon, plain, time } from "./dom.js";
import { ask, toast } from "./overlay.js";
import { t } from "./strings.js";

export class Sessions {
  // `open(id)` shows a session, `start()` begins a new one; `current()` is the one shown.
  constructor({ open, start, current }) {
    Object.assign(this, { open, start, current });
    this.list = h("ul.sessions");
    this.more = h("button.ghost.small", { hidden: true, onclick: () => this.load(this.cursor) }, t("more"));
    const fresh = h("button.secondary.new-session", { onclick: () => this.start() }, "+ ", t("newSession"));
    this.element = h("nav.panel", { "aria-label": t("sessions") }, h("header", h("h2", t("sessions"))), fresh, this.list, this.more);
    this.rows = [];
  }

  async load(cursor = "") {
    try {
      const found = await api("GET", `/v1/sessions${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ""}`);
      this.rows = cursor ? [...this.rows, ...found.sessions] : found.sessions;
      this.cursor = found.cursor;
    } catch (error) {
      toast(error.message, "error");
    }
    this.draw();
  }

  draw() {
    this.more.hidden = !this.cursor;
    fill(this.list, this.rows.length ? this.rows.map((row) => this.row(row)) : h("li.muted", t("noSessions")));
  }

  row(row) {
    const title = plain(row.title) || t("untitled");
    const mine = row.session_id === this.current();
    const open = h("button.session-open", { "aria-current": mine ? "true" : undefined, onclick: () => this.open(row.session_id) }, h("span.session-title", title), h("span.n-meta", time(row.touched_at)));
    const remove = h("button.ghost.small", { "aria-label": t("deleteSession", { title }), onclick: () => this.remove(row) }, icon("close"));
    return h("li", { class: mine ? "session current" : "session" }, open, remove);
  }

  async remove(row) {
    if (!(await ask(t("deleteSessionAsk"), t("yes")))) return;
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

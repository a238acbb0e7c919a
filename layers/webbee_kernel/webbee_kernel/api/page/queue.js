// What was said while a turn ran: it waits in sight, in order, with its conversation, until the turn has ended; over a
// reload too.

import { fill, h, icon } from "./dom.js";
import { t } from "./strings.js";

const keyOf = (session) => `webbee.queue.${session}`;

export class Queue {
  constructor() {
    this.session = "";
    this.element = h("ol.queue", { "aria-label": t("queued"), hidden: true });
  }

  /** Show what waits in this conversation. */
  show(session) {
    this.session = session;
    this.draw();
  }

  /** What waits in a conversation, the first first.
   * @returns {string[]} */
  of(session) {
    return JSON.parse(sessionStorage.getItem(keyOf(session)) ?? "[]");
  }

  add(session, text) {
    this.keep(session, [...this.of(session), text]);
  }

  /** The first one, no longer waiting; undefined where none does. */
  take(session) {
    const [next, ...others] = this.of(session);
    this.keep(session, others);
    return next;
  }

  drop(at) {
    this.keep(
      this.session,
      this.of(this.session).filter((_, i) => i !== at),
    );
  }

  keep(session, texts) {
    if (texts.length) sessionStorage.setItem(keyOf(session), JSON.stringify(texts));
    else sessionStorage.removeItem(keyOf(session));
    this.draw();
  }

  draw() {
    const texts = this.of(this.session);
    const row = (text, at) =>
      h(
        "li",
        h("span.pre", text),
        h("span.n-meta", t("queued")),
        h("button.ghost.small", { "aria-label": t("unqueue"), onclick: () => this.drop(at) }, icon("close")),
      );
    this.element.hidden = !texts.length;
    fill(this.element, texts.map(row));
  }
}

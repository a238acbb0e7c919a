// What was said while a turn ran: it waits in sight, in order, with its conversation, until the turn has ended.

import { fill, h, icon } from "./dom.js";
import { t } from "./strings.js";

export class Queue {
  constructor() {
    /** @type {Map<string, string[]>} */
    this.waiting = new Map();
    this.session = "";
    this.element = h("ol.queue", { "aria-label": t("queued"), hidden: true });
  }

  /** Show what waits in this conversation. */
  of(session) {
    this.session = session;
    this.draw();
  }

  get texts() {
    return this.waiting.get(this.session) ?? [];
  }

  add(text) {
    this.waiting.set(this.session, [...this.texts, text]);
    this.draw();
  }

  /** The next one, no longer waiting; undefined where none does. */
  take() {
    const [next, ...others] = this.texts;
    this.waiting.set(this.session, others);
    this.draw();
    return next;
  }

  drop(at) {
    this.waiting.set(
      this.session,
      this.texts.filter((_, i) => i !== at),
    );
    this.draw();
  }

  draw() {
    const row = (text, at) =>
      h(
        "li",
        h("span.pre", text),
        h("span.n-meta", t("queued")),
        h("button.ghost.small", { "aria-label": t("unqueue"), onclick: () => this.drop(at) }, icon("close")),
      );
    this.element.hidden = !this.texts.length;
    fill(this.element, this.texts.map(row));
  }
}

// What happened between turns: toasts while they are fresh, and a list behind the bell.

import { fill, h, icon, plain } from "./dom.js";
import { toast } from "./overlay.js";
import { t, time } from "./strings.js";

const FRESH_MS = 120_000;

export class Notices {
  /** @param {(app: string) => string} nameOf what an app is called */
  constructor(nameOf) {
    this.nameOf = nameOf;
    this.all = [];
    this.bell = h(
      "button.ghost.tool",
      {
        "aria-label": t("notifications"),
        title: t("notifications"),
        onclick: () => this.toggle(),
        "aria-expanded": "false",
        "aria-controls": "notes",
      },
      icon("bell"),
    );
    this.element = h("section", {
      id: "notes",
      class: "notes",
      tabindex: "0",
      "aria-label": t("notifications"),
      hidden: true,
    });
    document.addEventListener("keydown", (event) => {
      const isOpen = this.element.isConnected && !this.element.hidden;
      if (event.key === "Escape" && isOpen && !document.querySelector("dialog[open]")) this.close(true);
    });
  }

  add(event) {
    const text = plain(telling(event));
    const app = event.app_id && !text.startsWith(event.app_id) ? this.nameOf(event.app_id) : "";
    const fresh = Date.now() - new Date(event.at).getTime() < FRESH_MS;
    const close = fresh && toast(app ? `${app}: ${text}` : text, event.kind === "fault" ? "error" : event.kind);
    this.all.unshift({ ...event, text, close });
    this.count();
  }

  /** What an app did wrong before its present version is no news. */
  mended(app) {
    for (const note of this.all.filter((one) => one.kind === "fault" && one.app_id === app)) {
      note.mended = note.read = true;
      if (note.close) note.close();
    }
    this.count();
  }

  count() {
    const n = this.all.filter((x) => !x.read).length;
    fill(this.bell, icon("bell"), n > 0 && h("span.count", { "aria-hidden": "true" }, n));
    this.bell.setAttribute("aria-label", n ? `${t("notifications")}: ${t("unread", { n })}` : t("notifications"));
    if (!this.element.hidden) this.draw();
  }

  toggle() {
    this.element.hidden = !this.element.hidden;
    this.bell.setAttribute("aria-expanded", String(!this.element.hidden));
    this.all.forEach((note) => (note.read = true));
    this.count();
  }

  /** @param {boolean} [back] whether to lead the keyboard back to the bell, where it was in the list */
  close(back = false) {
    if (this.element.hidden) return;
    const within = this.element.contains(document.activeElement) || document.activeElement === document.body;
    this.toggle();
    if (back && within) this.bell.focus();
  }

  draw() {
    const where = (n) => [this.nameOf(n.app_id), t(`event_${n.kind}`), time(n.at)].filter(Boolean).join(" · ");
    const traceOf = (n) => [...(n.log ?? []), ...(n.frames ?? [])];
    const frames = (n) => traceOf(n).length > 0 && h("pre.frames", traceOf(n).map(plain).join("\n"));
    const mended = () => h("span.badge.green", t("mended"));
    const row = (n) =>
      h("li.n-item", h("span.n-item-title", n.text), h("span.n-meta", where(n)), n.mended && mended(), frames(n));
    fill(
      this.element,
      h(
        "header",
        h("h2", t("notifications")),
        h("button.ghost.small", { "aria-label": t("close"), onclick: () => this.close(true) }, icon("close")),
      ),
      this.all.length ? h("ul.n-list", this.all.map(row)) : h("p.muted", t("noNotifications")),
    );
  }
}

function telling(event) {
  if (event.kind !== "result") return plain(event.text ?? event.message);
  const what = plain(event.data?.summary ?? event.error ?? "");
  return [t("lateResult", { name: plain(event.name) }), what].filter(Boolean).join(": ");
}

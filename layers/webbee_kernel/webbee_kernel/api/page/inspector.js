// The inspector: what the model reads for a message, and why something is not there. For developers, on their own data.

import { api } from "./api.js";
import { fill, h, icon, prompt } from "./dom.js";
import {
  searchView,
  failedView,
  blocksView,
  promptLines,
  sectionView,
  turnView,
  functionsView,
  placeholdersView,
} from "./explained.js";
import { t } from "./strings.js";

export class Inspector {
  /** `open(session, request, text)` shows a turn of another conversation. */
  constructor({ session, close, open }) {
    this.session = session;
    this.open = open;
    this.opened = new Set(["blocks", "sections"]);
    this.message = h("textarea", { rows: 1, maxlength: 8000, id: "inspect-message" });
    this.query = h("input", { type: "search", maxlength: 500, id: "inspect-search", placeholder: t("searchHint") });
    this.found = h("div", { "aria-live": "polite", class: "i-found" });
    this.body = h("div.i-body");
    const form = h(
      "form",
      { onsubmit: (e) => (e.preventDefault(), this.load()) },
      h("label", { for: "inspect-message" }, t("inspectMessage")),
      h("div.composer-row", this.message, h("button", { type: "submit", class: "secondary" }, t("refresh"))),
      h("label", { for: "inspect-search" }, t("search")),
      h(
        "div.composer-row",
        this.query,
        h("button", { type: "submit", class: "primary", id: "inspect-find" }, t("find")),
      ),
    );
    this.element = h(
      "aside.inspector",
      { "aria-label": t("inspector"), hidden: true },
      h(
        "header",
        h("h2", t("inspector")),
        h("button.ghost", { "aria-label": t("close"), onclick: close }, icon("close")),
      ),
      h("p.muted", t("inspectLead"), " ", t("dryRun")),
      form,
      this.found,
      this.body,
    );
  }

  toggle(open, message = "") {
    this.element.hidden = !open;
    if (!open) return;
    if (message) this.message.value = message;
    this.load();
    this.query.focus();
  }

  async load() {
    if (this.element.hidden) return;
    const asked = (this.asked = (this.asked ?? 0) + 1);
    this.element.setAttribute("aria-busy", "true");
    const query = new URLSearchParams({
      session_id: this.session(),
      message: this.message.value,
      search: this.query.value,
    });
    try {
      const report = await api("GET", `/v1/inspect?${query}`);
      if (asked === this.asked) this.draw(report);
    } catch (error) {
      fill(this.body, h("p.warning", error.message));
    }
    this.element.removeAttribute("aria-busy");
  }

  draw(report) {
    fill(this.found, report.search && searchView(report.search, this.open));
    if (report.search) this.query.labels[0].scrollIntoView({ block: "nearest" });
    fill(
      this.body,
      report.failed.length > 0 && failedView(report.failed),
      this.part("blocks", t("blocks"), blocksView(report)),
      this.part("prompt", t("prompt"), [
        prompt(promptLines(report.prompt)),
        h("details", h("summary", t("system")), prompt(report.system)),
      ]),
      this.part("sections", `${t("sections")} (${report.sections.length})`, report.sections.map(sectionView)),
      this.part("turns", `${t("turns")} (${report.turns.length})`, [
        h("p.muted", t("nextTurn", { n: report.next_turn })),
        report.turns.map(turnView),
      ]),
      this.part(
        "functions",
        `${t("functions")} (${report.functions.filter((f) => f.in_catalogue).length})`,
        functionsView(report.functions),
      ),
      this.part("placeholders", t("placeholders"), placeholdersView(report)),
    );
  }

  part(id, title, content) {
    const element = h("details.i-part", { open: this.opened.has(id) }, h("summary", title), h("div", content));
    element.addEventListener("toggle", () => (element.open ? this.opened.add(id) : this.opened.delete(id)));
    return element;
  }
}

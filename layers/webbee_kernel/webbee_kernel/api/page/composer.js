// Where a person writes. What is half written stays with its conversation, over a reload too.

import { attached } from "./attachments.js";
import { fill, h, icon } from "./dom.js";
import { shown, showModels } from "./models.js";
import { t } from "./strings.js";

const LIMIT = 8000;
const TALLEST = 200;
const draftOf = (session) => `webbee.draft.${session}`;

export class Composer {
  /** `say(text)` sends, or puts behind the turn that runs; `stop()` stops what runs; `model` answers, until it is
   * another. */
  constructor({ say, stop, model }) {
    this.running = false;
    this.draft = "";
    this.text = h("textarea", {
      id: "composer-text",
      rows: 1,
      maxlength: LIMIT,
      placeholder: t("placeholder"),
      "aria-label": t("composer"),
      "aria-describedby": "composer-note",
      oninput: () => this.grown(),
      onkeydown: (event) => this.key(event),
      onpaste: (event) => this.attach(event, event.clipboardData?.files),
    });
    this.problem = h("p.warning", { role: "alert" });
    const leave = h("button.link", { onclick: () => this.fill("") }, t("cancel"));
    this.editing = h("div.composer-foot", { hidden: true }, h("span.n-meta", { role: "status" }, t("editing")), leave);
    const chosen = h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": t("attach"),
      onchange: async (event) => {
        await this.attach(event, chosen.files);
        chosen.value = "";
      },
    });
    const attach = h("button.link", { id: "attach", onclick: () => chosen.click() }, t("attach"));
    this.send = h("button", { type: "submit", class: "primary", id: "send" }, t("send"));
    this.halt = h("button.secondary", { id: "stop", hidden: true, onclick: stop }, icon("stop"), t("stop"));
    this.note = h("p", { id: "composer-note", class: "n-meta" }, t("newLines"));
    this.answers = h("button.link.n-meta", { onclick: () => showModels(this.model, this.away) });
    this.answeredBy(model);
    const submit = (event) => {
      event.preventDefault();
      if (this.text.value.trim()) say(this.text.value.trim());
    };
    this.form = h(
      "form.composer",
      {
        onsubmit: submit,
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => this.attach(event, event.dataTransfer?.files),
      },
      this.problem,
      this.editing,
      h("div.composer-row", this.text, this.halt, this.send),
      h("div.composer-foot", this.note, h("span", chosen, attach), this.answers),
    );
  }

  key(event) {
    if (event.key === "Escape" && !this.editing.hidden) this.fill("");
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.form.requestSubmit();
  }

  /** Put files behind what is written; an event without any is somebody else's. */
  async attach(event, files) {
    if (!files?.length) return;
    event.preventDefault();
    const own = this.text.value.trimEnd();
    const { text, problem } = await attached([...files], LIMIT - own.length);
    if (text) this.fill(own + text, !this.editing.hidden);
    fill(this.problem, problem);
    if (text) this.text.setSelectionRange(own.length, own.length);
  }

  /** Name the model that answers, or that did not. */
  answeredBy(model, away = false) {
    this.model = model;
    this.away = away;
    fill(this.answers, shown(model, away));
    this.answers.classList.toggle("away", away);
  }

  /** Work on this session's draft. */
  of(session) {
    this.draft = draftOf(session);
    this.text.value = sessionStorage.getItem(this.draft) ?? "";
    this.editing.hidden = true;
    this.grown();
  }

  /** @param {string} text @param {boolean} editing whether it was said before and is changed now */
  fill(text, editing = false) {
    this.text.value = text;
    this.editing.hidden = !editing;
    this.grown();
    this.text.focus();
    const slot = text.indexOf("…"); // what is to be said there takes its place
    if (slot >= 0 && !editing) this.text.setSelectionRange(slot, slot + 1);
  }

  /** Texts that were not sent stand before what is written, in their own conversation. */
  giveBack(session, texts) {
    const shown = draftOf(session) === this.draft;
    const own = shown ? this.text.value : sessionStorage.getItem(draftOf(session));
    const text = [...texts, own].filter(Boolean).join("\n\n");
    if (shown) this.fill(text, !this.editing.hidden);
    else sessionStorage.setItem(draftOf(session), text);
  }

  /** A message that got no answer is there again after a reload, unless something else is written by then. */
  keepUnsent(session, message) {
    const key = draftOf(session);
    if (!sessionStorage.getItem(key)) sessionStorage.setItem(key, message);
  }

  /** It is on its way again. */
  clearUnsent(session, message) {
    const key = draftOf(session);
    if (sessionStorage.getItem(key) !== message) return;
    sessionStorage.removeItem(key);
    if (key === this.draft) this.fill("");
  }

  /** While a turn runs there is a button that stops it; what comes next may be written meanwhile. */
  run(running) {
    if (running === this.running) return;
    this.running = running;
    if (!running && document.activeElement === this.halt) this.text.focus();
    this.halt.hidden = !running;
    this.send.hidden = running;
  }

  grown() {
    fill(this.problem);
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, TALLEST)}px`;
    const size = this.text.value.length;
    this.note.textContent = size > LIMIT * 0.8 ? t("tooLong", { n: size, limit: LIMIT }) : t("newLines");
    if (this.text.value) sessionStorage.setItem(this.draft, this.text.value);
    else sessionStorage.removeItem(this.draft);
  }
}

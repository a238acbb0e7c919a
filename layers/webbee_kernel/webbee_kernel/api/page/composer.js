// Where a person writes. What is half written stays with its conversation, over a reload too.

import { attached, sizeOf } from "./attachments.js";
import { fill, h, icon } from "./dom.js";
import { shown, showModels } from "./models.js";
import { t } from "./strings.js";
import { tool } from "./turns.js";

const LIMIT = 8000;
const TALLEST = 200;
const draftOf = (session) => `webbee.draft.${session}`;

export class Composer {
  /** `say(text, old)` sends, in the place of an old message where one was changed, or puts behind the turn that runs;
   * `stop()` stops what runs; `model` answers, until it is another. */
  constructor({ say, stop, model }) {
    this.running = false;
    this.draft = "";
    this.old = ""; // the request of the message that is changed
    this.files = [];
    this.attached = h("div.chips", { role: "group", "aria-label": t("attached") });
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
      const whole = [this.text.value, ...this.files.map((file) => file.text)].join("").trim();
      if (whole) say(whole, this.old);
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
      this.attached,
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

  /** Files go behind what is written; an event without any is somebody else's. */
  async attach(event, files) {
    if (!files?.length) return;
    event.preventDefault();
    const { taken, problem } = await attached([...files], LIMIT - this.size());
    this.files.push(...taken);
    this.grown();
    fill(this.problem, problem);
    this.text.focus();
  }

  /** Characters of the message with what is attached. */
  size() {
    return this.text.value.length + sizeOf(this.files);
  }

  chip(file) {
    const drop = () => {
      this.files = this.files.filter((one) => one !== file);
      this.grown();
      this.text.focus();
    };
    return h("span.chip", file.name, tool(`${t("uninstall")}: ${file.name}`, "close", drop));
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
    this.files = JSON.parse(sessionStorage.getItem(`${this.draft}.files`) ?? "[]");
    this.write(sessionStorage.getItem(this.draft) ?? "", "");
  }

  write(text, old) {
    this.text.value = text;
    this.old = old;
    this.editing.hidden = !old;
    this.grown();
  }

  /** @param {string} text @param {string} [old] the request in which it was said before, where it is changed now
   * @param {any[]} [files] */
  fill(text, old = "", files = []) {
    this.files = files;
    this.write(text, old);
    this.text.focus();
    const slot = text.indexOf("…"); // what is to be said there takes its place
    if (slot >= 0 && !old) this.text.setSelectionRange(slot, slot + 1);
  }

  /** Texts that were not sent stand before what is written, in their own conversation. */
  giveBack(session, texts) {
    const shown = draftOf(session) === this.draft;
    const own = shown ? this.text.value : sessionStorage.getItem(draftOf(session));
    const text = [...texts, own].filter(Boolean).join("\n\n");
    if (shown) this.fill(text, this.old, this.files);
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
    const size = this.size();
    this.text.maxLength = LIMIT - sizeOf(this.files);
    fill(
      this.attached,
      this.files.map((file) => this.chip(file)),
    );
    this.note.textContent = size > LIMIT * 0.8 ? t("tooLong", { n: size, limit: LIMIT }) : t("newLines");
    if (this.text.value) sessionStorage.setItem(this.draft, this.text.value);
    else sessionStorage.removeItem(this.draft);
    if (this.files.length) sessionStorage.setItem(`${this.draft}.files`, JSON.stringify(this.files));
    else sessionStorage.removeItem(`${this.draft}.files`);
  }
}

// What waits for a yes: a sentence with names, its fields below, nothing cut.

import { h, plain } from "./dom.js";
import { dataView } from "./data.js";
import { t } from "./strings.js";

/** The cards of questions by id, so that each stands on the page once. */
export class Questions {
  /** `decide(id, yes)` answers. */
  constructor(decide) {
    this.decide = decide;
    this.cards = new Map();
  }

  clear() {
    for (const card of this.cards.values()) clearInterval(card.timer);
    this.cards.clear();
  }

  /** Cards for those of a turn that are new; those of the same turn that it no longer names have been answered. */
  of(asked, turn) {
    for (const [id, card] of [...this.cards]) {
      if (card.turn === turn && !asked.some((one) => one.id === id)) this.over(id, t("confirmDone"));
    }
    return asked.filter((one) => !this.cards.has(one.id)).map((one) => this.card(one, turn));
  }

  over(id, text) {
    const card = this.cards.get(id);
    if (!card) return;
    clearInterval(card.timer);
    this.cards.delete(id);
    for (const button of card.element.querySelectorAll("button")) button.disabled = true;
    card.element.classList.add("over");
    card.note.textContent = text;
  }

  card(asked, turn) {
    const note = h("p.n-meta");
    const press = (yes) => () => this.decide(asked.id, yes);
    const buttons = h(
      "div.confirm-buttons",
      h("button.danger", { onclick: press(true) }, t("accept")),
      h("button.secondary", { onclick: press(false) }, t("refuse")),
    );
    const one = asked.calls?.length === 1 ? asked.calls[0] : null;
    const title = plain(asked.question) || (one ? plain(asked.summary) : t("confirmTitle"));
    const element = h(
      "div.confirm",
      { role: "group", "aria-label": t("confirmTitle") },
      h("strong.pre", title),
      plain(asked.why) && h("p.pre", plain(asked.why)),
      (asked.calls ?? []).map((call) => fields(call, !one)),
      buttons,
      note,
    );
    const tick = () => {
      const left = Math.ceil(asked.expires_at - Date.now() / 1000);
      if (left <= 0) this.over(asked.id, t("confirmOver"));
      else
        note.textContent = t("confirmExpires", { n: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` });
    };
    this.cards.set(asked.id, { turn, element, note, timer: setInterval(tick, 1000) });
    tick();
    return element;
  }
}

function fields(call, named) {
  const shown = Array.isArray(call.fields)
    ? h(
        "dl.n-pairs",
        call.fields.map((f) => h("div", h("dt", plain(f.name)), h("dd", value(f)))),
      )
    : dataView(call.arguments);
  return h("div.confirm-call", named && h("code", `${plain(call.app_id)}.${plain(call.fn_name)}`), shown);
}

function value(field) {
  return field.title ? [plain(field.title), " ", h("span.n-meta", plain(field.value))] : dataView(field.value);
}

// Toasts and dialogs.

import { h, icon, unique } from "./dom.js";
import { t } from "./strings.js";

const TOAST_MS = 6000;

export function toast(text, kind = "") {
  const place = document.getElementById("toasts");
  const close = () => item.remove();
  const item = h("div", { class: `toast ${kind}` }, h("span", text), h("button.ghost.small", { "aria-label": t("close"), onclick: close }, icon("close")));
  place.append(item);
  while (place.children.length > 4) place.firstElementChild.remove();
  setTimeout(close, kind === "error" ? 2 * TOAST_MS : TOAST_MS);
}

// A modal with a title and content; the browser keeps focus inside and gives it back. A strict one is left by its buttons only.
export function dialog(title, content, buttons = [], strict = false) {
  const id = unique("dialog");
  const element = h(
    "dialog",
    { "aria-labelledby": id },
    h("header", h("h2", { id }, title), !strict && h("button.ghost", { "aria-label": t("close"), onclick: () => element.close() }, icon("close"))),
    h("div.dialog-body", content),
    buttons.length > 0 && h("footer", buttons),
  );
  element.addEventListener("close", () => element.remove());
  element.addEventListener(strict ? "cancel" : "click", (event) => (strict ? event.preventDefault() : event.target === element && element.close()));
  document.body.append(element);
  element.showModal();
  return element;
}

export function ask(text, label) {
  return new Promise((resolve) => {
    let answer = false;
    const say = (value) => () => {
      answer = value;
      box.close();
    };
    const box = dialog(t("sure"), h("p", text), [
      h("button.secondary", { onclick: say(false) }, t("cancel")),
      h("button.danger", { onclick: say(true) }, label ?? t("yes")),
    ]);
    box.addEventListener("close", () => resolve(answer));
  });
}

// JSON for reading: pairs, lists, text.
export function dataView(value, depth = 0) {
  if (value === null || value === undefined || value === "") return h("span.muted", "–");
  if (typeof value !== "object") return h("span.pre", String(value));
  if (depth > 6) return h("code", JSON.stringify(value));
  if (Array.isArray(value)) return value.length ? h("ul.n-list", value.slice(0, 200).map((v) => h("li.n-item", dataView(v, depth + 1)))) : h("span.muted", "–");
  return h("dl.n-pairs", Object.entries(value).map(([k, v]) => h("div", h("dt", k), h("dd", dataView(v, depth + 1)))));
}


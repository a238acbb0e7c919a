// Toasts and dialogs.

import { h, icon, standing, unique } from "./dom.js";
import { t } from "./strings.js";

const TOAST_MS = 6000;

/** One that is shown already is not shown twice: it begins anew. @returns what takes it away */
export function toast(text, kind = "") {
  const place = standing("toasts");
  const close = () => item.remove();
  [...place.children].find((shown) => shown.firstElementChild?.textContent === text)?.remove();
  const item = h(
    "div",
    { class: `toast ${kind}` },
    h("span", { tabindex: "0" }, text), // long ones scroll, by keys too
    h("button.ghost.small", { "aria-label": t("close"), onclick: close }, icon("close")),
  );
  place.append(item);
  while (place.children.length > 4) place.firstElementChild?.remove();
  setTimeout(close, kind === "error" ? 2 * TOAST_MS : TOAST_MS);
  return close;
}

/** Text to the clipboard. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  } catch {
    toast(t("notCopied"), "error");
  }
}

// A modal with a title and content; the browser keeps focus inside and gives it back. A strict one is left by its
// buttons only.
export function dialog(title, content, buttons = [], strict = false) {
  const id = unique("dialog");
  const element = h(
    "dialog",
    { "aria-labelledby": id },
    h(
      "header",
      h("h2", { id }, title),
      !strict && h("button.ghost", { "aria-label": t("close"), onclick: () => element.close() }, icon("close")),
    ),
    h("div.dialog-body", content),
    buttons.length > 0 && h("footer", buttons),
  );
  element.addEventListener("close", () => element.remove());
  element.addEventListener(strict ? "cancel" : "click", (event) =>
    strict ? event.preventDefault() : event.target === element && element.close(),
  );
  document.body.append(element);
  element.showModal();
  return element;
}

/** A question with a yes that does what its `label` says, in the colour of what `destroys`; whether it was given. */
export function ask(text, label, title = t("sure"), destroys = true) {
  return asking((answer) => {
    const box = dialog(title, h("p", text), [
      h("button.secondary", { onclick: () => box.close() }, t("cancel")),
      h(destroys ? "button.danger" : "button.primary", { onclick: () => answer(box, true) }, label ?? t("yes")),
    ]);
    return box;
  }, false);
}

/** One line of text; empty where it was left without one. */
export function prompt(title, label, value, most) {
  return asking((answer) => {
    const field = h("input", { value, maxlength: most, required: true, "aria-label": label });
    const submit = (event) => (event.preventDefault(), answer(box, field.value.trim()));
    const send = h("button.primary", { onclick: () => form.requestSubmit() }, t("save"));
    const form = h("form", { onsubmit: submit }, field);
    const box = dialog(title, form, [h("button.secondary", { onclick: () => box.close() }, t("cancel")), send]);
    field.select();
    return box;
  }, "");
}

function asking(show, otherwise) {
  return new Promise((resolve) => {
    let given = otherwise;
    const box = show((closing, value) => {
      given = value;
      closing.close();
    });
    box.addEventListener("close", () => resolve(given));
  });
}

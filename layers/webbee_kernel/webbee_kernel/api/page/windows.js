// Modals, dialogs and slide-overs of UI trees. A panel is drawn anew at every refresh, so none opens by itself: a
// button with its title does.

import { h, plain } from "./dom.js";
import { valuesOf } from "./fields.js";
import { dialog } from "./overlay.js";
import { t } from "./strings.js";

const REM = { xs: 20, sm: 24, md: 32, lg: 42, xl: 56, "2xl": 72, full: 200 };

export function modal(p, ctx) {
  if (p.open === false) return null;
  return h(
    "button.secondary",
    { "aria-haspopup": "dialog", onclick: () => show(p, ctx) },
    plain(p.title) || t("open"),
    " ⧉",
  );
}

// A yes sends what its fields hold; `on_close` runs when it was left without one.
function show(p, ctx) {
  const title = plain(p.title) || t("open");
  const body = h(
    "div.n-stack",
    p.subtitle && h("p.muted", plain(p.subtitle)),
    ctx.kids(p.content ?? p.children, { count: { nodes: 0 }, inForm: false }),
  );
  const [yes, no] = ctx.type === "SlideOver" ? [] : [plain(p.confirm_label), plain(p.cancel_label)];
  let confirmed = false;
  const done = () => {
    confirmed = true;
    box.close();
  };
  const confirm = (event) =>
    p.on_confirm ? ctx.act(p.on_confirm, valuesOf(body), yes, event.currentTarget, "", done) : done();
  const box = dialog(
    title,
    body,
    [
      no && h("button.secondary", { onclick: () => box.close() }, no),
      yes && h("button", { class: p.destructive ? "danger" : "primary", onclick: confirm }, yes),
    ].filter(Boolean),
    Boolean(no && (p.destructive || p.dismissible === false)),
  );
  if (ctx.type === "SlideOver") box.classList.add("slide-over");
  box.style.width = `min(${REM[p.size ?? p.width] ?? 32}rem, 100% - 24px)`;
  if (p.max_width) box.style.width = `min(${plain(p.max_width)}, 100% - 24px)`;
  box.addEventListener("close", () => !confirmed && p.on_close && ctx.act(p.on_close, {}, title));
}

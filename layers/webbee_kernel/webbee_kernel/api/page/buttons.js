// What runs an action of a UI tree: buttons, rows, links, menus.

import { h, many, plain, safeLink } from "./dom.js";
import { glyph } from "./icons.js";
import { t } from "./strings.js";

// What a click does: the action, with values known by then, and what is asked before.
export function runs(ctx, action, label, values = () => ({}), question) {
  return (event) => ctx.act(action, values(), label, event.currentTarget, question);
}

const KINDS = new Set(["primary", "danger", "ghost", "secondary"]);

/** The colour of what destroys, whatever its author chose; a quiet button stays quiet. */
export const colourOf = (action, ctx, otherwise) =>
  otherwise !== "ghost" && ctx.act.destroys?.(action) ? "danger" : otherwise;

export function button(props, ctx) {
  const submits = props.type === "submit" && ctx.inForm;
  const label = plain(props.loading ? props.loading_label || props.label : props.label);
  const sign = glyph(props.icon_left ?? props.icon);
  const variant = colourOf(props.on_click, ctx, KINDS.has(props.variant) ? props.variant : "secondary");
  const kind = [variant, props.size === "sm" && "small", props.full_width && "wide"].filter(Boolean).join(" ");
  return h(
    "button",
    {
      type: submits ? "submit" : "button",
      class: kind,
      disabled: Boolean(props.disabled || props.loading),
      "aria-busy": props.loading && "true",
      "aria-label": label ? undefined : plain(props.icon),
      onclick: submits ? undefined : runs(ctx, props.on_click, label),
    },
    sign,
    label || (!sign && plain(props.icon)),
    props.icon_right && [" ", glyph(props.icon_right)],
  );
}

// A button, or plain content where there is no action.
export function clickable(action, ctx, name, label, ...content) {
  if (!action || typeof action !== "object") return h("div", { class: name }, ...content);
  return h("button", { class: name, onclick: runs(ctx, action, label) }, ...content);
}

export function link(props, ctx) {
  const href = safeLink(props.href);
  const label = plain(props.label ?? props.href);
  if (href) return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, label);
  return props.on_click ? clickable(props.on_click, ctx, "link", label, label) : h("span", label);
}

// A disclosure: it opens in place, so nothing covers or clips it. Escape closes it.
export function menu(props, ctx) {
  const from = props.trigger?.props ?? {};
  const label = plain(from.label ?? from.title ?? from.content ?? from.text) || t("menu");
  const summary = h("summary", glyph(from.icon ?? from.name), label, " ▾");
  const close = () => {
    box.open = false;
    summary.focus();
  };
  const run = (item, name) => (event) => (
    ctx.act(item.on_click ?? item.action, {}, name, event.currentTarget, plain(item.confirm)),
    close()
  );
  const row = (item) => {
    const name = plain(item.label ?? item.icon);
    return h(
      "li",
      item.separator && h("hr"),
      name && h("button.ghost", { disabled: Boolean(item.disabled), onclick: run(item, name) }, glyph(item.icon), name),
    );
  };
  const box = h(
    "details.n-menu",
    { onkeydown: (event) => event.key === "Escape" && close() },
    summary,
    h("ul", many(props.items, 100, row, "li")),
  );
  return box;
}

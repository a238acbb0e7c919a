// Nodes that hold others: stacks, grids, sections, tabs, folds.

import { array, dict, h, many, plain, unique, within } from "./dom.js";
import { glyph } from "./icons.js";
import { t } from "./strings.js";

export const isDown = (direction) => !["h", "horizontal", "row"].includes(plain(direction || "v").toLowerCase());
export const note = (text, name = "muted") => text && h("p", { class: name }, plain(text));

export function container(name, props, ctx, columns) {
  const element = h("div", { class: name }, ctx.kids(props.children));
  if (Number.isFinite(props.gap)) element.style.gap = `${within(props.gap, 0, 12, 0) * 4}px`;
  if (columns) element.style.setProperty("--columns", String(within(columns, 1, 6, 2)));
  return element;
}

export function heading(level, text) {
  return h(`h${within(Number(level) + 2, 3, 6, 4)}`, { class: "n-heading" }, plain(text));
}

export function titled(props, ctx) {
  const id = unique("section");
  const title = props.title && h("h3.n-heading", { id }, plain(props.title));
  if (props.collapsible)
    return h(
      "details.n-section",
      { open: true },
      h("summary", plain(props.title) || t("more")),
      note(props.subtitle),
      ctx.kids(props.children),
    );
  return h(
    "section.n-section",
    { "aria-labelledby": title ? id : undefined },
    title,
    note(props.subtitle),
    ctx.kids(props.children),
  );
}

export function tabs(props, ctx) {
  const all = array(props.tabs).slice(0, 50).map(dict);
  const panel = h("div", { role: "tabpanel", class: "n-stack", tabindex: "0" });
  const choose = (index, focus) => {
    buttons.forEach((b, i) => {
      b.setAttribute("aria-selected", String(i === index));
      b.tabIndex = i === index ? 0 : -1;
    });
    panel.replaceChildren(
      ...ctx
        .kids(all[index].content ?? all[index].children)
        .flat(9)
        .filter(Boolean),
    );
    panel.setAttribute("aria-label", plain(all[index].label));
    if (focus) buttons[index].focus();
  };
  const move = (event, index) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) choose((index + step + all.length) % all.length, true);
  };
  const buttons = all.map((tab, i) =>
    h(
      "button",
      { role: "tab", onclick: () => choose(i), onkeydown: (event) => move(event, i) },
      glyph(tab.icon),
      plain(tab.label ?? tab.title),
    ),
  );
  if (all.length) choose(within(props.default_tab, 0, all.length - 1, 0));
  return h("div.n-tabs", h("div", { role: "tablist" }, buttons), panel);
}

export function accordion(props, ctx) {
  const name = props.allow_multiple ? undefined : unique("accordion");
  return h(
    "div.n-stack",
    many(props.sections, 100, (s) =>
      h("details.n-section", { name }, h("summary", plain(s.title)), ctx.kids(s.children ?? s.content)),
    ),
  );
}

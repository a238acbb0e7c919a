// Elements from plain values: `h("p.muted", { id }, …)` is a `p` of that class, attributes may be left out.
// Text goes in as text: nothing anywhere on this page parses HTML.

import { t } from "./strings.js";

const SAFE_LINK = /^(https?:|mailto:)/i;
const SAFE_IMAGE = /^(https:|data:image\/(png|jpe?g|gif|webp|svg\+xml)[;,])/i;
const SAFE_MEDIA = /^(https:|data:(audio|video)\/[\w.+-]+[;,])/i;
const SVG = "http://www.w3.org/2000/svg";

/** An element that index.html has. @param {string} id @returns {HTMLElement} */
export function standing(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`there is no #${id}`);
  return found;
}

/** @param {string} tag @param {any} [props] @param {any[]} children
 * @returns {any} an element; any, because each tag has properties of its own */
export function h(tag, props, ...children) {
  if (props?.constructor !== Object) return h(tag, {}, props, ...children);
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  return build(element, props, children);
}

/** @param {string} tag @param {any} [props] @param {any[]} children @returns {any} */
export function svg(tag, props, ...children) {
  return build(document.createElementNS(SVG, tag), props, children);
}

function build(element, props, children) {
  if (element.localName === "button") element.type = "button";
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(9)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Headings inside an element without a gap in their ranks, the highest right below the page's own: whoever reads by
 * headings meets each. @param {any} root */
export function ranked(root) {
  const heads = root?.querySelectorAll ? [...root.querySelectorAll("h3, h4, h5, h6")] : [];
  const ranks = [...new Set(heads.map((one) => one.localName))].sort();
  for (const one of heads) {
    const tag = `h${3 + ranks.indexOf(one.localName)}`;
    if (tag !== one.localName) one.replaceWith(h(tag, { class: one.className, id: one.id || null }, ...one.childNodes));
  }
  return root;
}

// Any JSON value as one piece of text.
export function plain(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function pretty(value) {
  return JSON.stringify(value, null, 2);
}

const safely = (rule) => (url) => (rule.test(plain(url).trim()) ? plain(url).trim() : "");
export const safeLink = safely(SAFE_LINK);
export const safeImage = safely(SAFE_IMAGE);
export const safeMedia = safely(SAFE_MEDIA);

// Whatever a stranger's prop holds, as a list or as an object.
export const array = (value) => (Array.isArray(value) ? value : []);
export const dict = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});
export const within = (value, low, high, otherwise) => Math.min(Math.max(Number(value) || otherwise, low), high);

// What a long list leaves out is said.
export function left(value, most, tag = "p") {
  return array(value).length > most && h(tag, { class: "n-meta" }, t("firstOf", { n: most, all: value.length }));
}

export function many(value, most, draw, tag) {
  return [
    array(value)
      .slice(0, most)
      .map((item, i) => draw(item ?? {}, i)),
    left(value, most, tag),
  ];
}

/** Text as it is, in a box that scrolls, by keys, too. @param {any} text */
export const prompt = (text) => h("pre.prompt", { tabindex: "0" }, text);

// A random id; crypto.randomUUID is missing on plain http.
export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

const ICONS = {
  apps: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM17 14v6M14 17h6",
  inspect: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20 20",
  bell: "M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7zM10 20h4",
  list: "M4 6h16M4 12h16M4 18h10",
  chat: "M4 5h16v11H9l-5 4z",
  panels: "M4 5h16v14H4zM14 5v14",
  refresh: "M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  edit: "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4",
  stop: "M7 7h10v10H7z",
  save: "M12 4v11M7 10l5 5 5-5M5 20h14",
  again: "M5 12a7 7 0 1 1 2 5l-2-2M5 20v-5h5",
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

let uniques = 0;
export function unique(prefix) {
  uniques += 1;
  return `${prefix}-${uniques}`;
}

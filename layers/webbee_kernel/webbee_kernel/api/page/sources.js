// Where the values of a reply come from, and which are not from the data: each is underlined quietly, what has no
// source with dots; hovering, a tap or the keyboard shows the field, or what the data holds.
//
// A reply is Markdown, so its values are marked before it is read: a private-use character where one begins, another
// where it ends. Reading moves characters about and loses none, so afterwards the marks stand where the values stand.

import { h, plain } from "./dom.js";
import { t } from "./strings.js";

const MOST = 200;
const FIRST = 0xe000; // where value n begins, FIRST + n
const END = "\ue800";
const MARKS = /[\ue000-\ue800]/g;

/** The text without marks: for what is no text to read, such as an address. */
export const unmarked = (text) => text.replace(MARKS, "");

/** The text with its values marked, and what each mark tells. Offsets count characters, not UTF-16 units.
 * @param {string} text @param {any} body */
export function marked(text, body) {
  const { sources = [], marks = [], calls } = body ?? {};
  const spans = [...sources, ...marks].sort((a, b) => a.start - b.start);
  const points = [...text.replace(MARKS, "\ufffd")];
  const told = [];
  let out = "";
  let at = 0;
  for (const one of spans.slice(0, MOST)) {
    if (!(one.start >= at && one.end > one.start && one.end <= points.length)) continue;
    const value = points.slice(one.start, one.end).join("");
    out += points.slice(at, one.start).join("") + String.fromCharCode(FIRST + told.length) + value + END;
    told.push({ kind: one.reason ? "unsourced" : "sourced", text: one.reason ? missing(one) : telling(one, calls) });
    at = one.end;
  }
  return { text: out + points.slice(at).join(""), told };
}

/** Marks inside an element become spans that tell their source. */
export function underline(root, told) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  /** @type {any} */
  let open = null;
  for (const node of texts) {
    if (!open && node.data.search(MARKS) < 0) continue;
    const names = node.parentElement?.closest("th"); // a column's name is no value, whatever word it is
    const nodes = [];
    for (const part of node.data.split(/([\ue000-\ue800])/)) {
      if (part.length === 1 && unmarked(part) === "")
        open = part === END ? null : (told[part.charCodeAt(0) - FIRST] ?? null);
      else if (part) nodes.push(open && !(names && open.kind === "sourced") ? spanOf(part, open) : part);
    }
    node.replaceWith(...nodes);
  }
  return root;
}

function spanOf(text, { kind, text: told }) {
  return h(
    `span.${kind}`,
    { tabindex: "0", title: told, "data-source": told, role: "note", "aria-label": `${text}, ${told}` },
    text,
  );
}

function missing(mark) {
  return mark.holds ? t("markHolds", { what: plain(mark.holds) }) : t("markUnfound");
}

function telling(one, calls) {
  if (one.formula) return t("sourceDerived", { formula: plain(one.formula) });
  if (one.how === "derived") return t("sourceCounted");
  if (one.how === "message") return t("sourceYou");
  const call = calls?.[one.call];
  return call ? `${plain(call.app_id)} · ${plain(one.path)}` : plain(one.path) || t("sourceCounted");
}

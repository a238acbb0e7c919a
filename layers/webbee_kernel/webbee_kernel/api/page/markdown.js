// Markdown as elements: headings, lists, quotes, fences, tables, emphasis, links, dates as their reader writes them.
// What is not understood stays text; HTML always does.

import { h, icon, ranked, safeImage, safeLink } from "./dom.js";
import { copy } from "./overlay.js";
import { marked, underline, unmarked } from "./sources.js";
import { dated, standard, t } from "./strings.js";

const LONGEST = 100_000;
const LONGEST_LINE = 4000;
const DEEPEST_BLOCK = 6;
const INLINE = new RegExp(
  [
    /`([^`]+)`/, // code
    /(!?)\[([^\]]*)\]\(\s*([^\s()]+)[^()]*\)/, // an image or a link
    /<?\b(https?:\/\/[^\s<>)]+)>?/, // an address by itself
    // or a moment
    /(\b\d{4}-\d\d-\d\d(?:T[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)| \d\d:\d\d UTC(?:[+-]\d\d:\d\d)?)?(?![\w-]))/,
    /\*\*(.+?)\*\*|__(.+?)__|\*(?!\s)([^*]+)\*|(?<!\w)_([^_]+)_(?!\w)|~~([^~]+)~~/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

const STOP = /^([\ue000-\ue800]?)(\.?)/; // behind a date: the end of its mark, the sentence's full stop

export function markdown(text) {
  const lines = text.slice(0, LONGEST).split(/\r?\n/);
  return ranked(h("div.n-markdown", blocks(lines, 0), text.length > LONGEST && h("p.n-meta", t("cutOff"))));
}

/** A reply: Markdown whose values tell their sources, or that they have none. */
export function reply(text, body) {
  const { text: ready, told } = marked(text, body);
  return underline(markdown(ready), told);
}

function inline(text, depth = 0) {
  if (depth > 4 || text.length > LONGEST_LINE) return [text];
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    const made = mark(found, depth + 1);
    parts.push(text.slice(last, found.index), made);
    last = found.index + found[0].length;
    const [, behind = "", stop = ""] = made.tagName === "TIME" ? text.slice(last).match(STOP) : [];
    if (stop && made.textContent.endsWith(".")) {
      parts.push(behind); // "2026 г." ends its sentence
      last += behind.length + stop.length;
    }
  }
  return [...parts, text.slice(last)];
}

function mark([whole, code, image, label, url, bare, date, strong, strong2, em, em2, gone], depth) {
  if (code) return h("code", code);
  if (date) return h("time", { datetime: standard(date), title: date }, dated(date) ?? date);
  if (image) return picture(unmarked(url), label);
  if (url ?? bare) {
    const href = safeLink(unmarked(url ?? bare));
    return href ? h("a", { href, target: "_blank", rel: "noopener noreferrer" }, bare ?? inline(label, depth)) : whole;
  }
  const tag = (strong ?? strong2) ? "strong" : gone ? "s" : "em";
  return h(tag, {}, inline(strong ?? strong2 ?? em ?? em2 ?? gone, depth));
}

// An image is fetched when its reader wants it: its address alone could tell a stranger who read it, and when.
function picture(url, label) {
  const src = safeImage(url);
  if (!src) return label;
  const load = () => button.replaceWith(h("img", { src, alt: label, referrerpolicy: "no-referrer" }));
  const button = h(
    "button.secondary.small",
    { title: src.slice(0, 200), onclick: load },
    t("showImage", { name: label || hostOf(src) }),
  );
  return button;
}

const hostOf = (src) => (src.startsWith("data:") ? "" : new URL(src).hostname);

const cells = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
const isRule = (line) => /^\s*([-*_])(\s*\1){2,}\s*$/.test(line);
const starts = (line) => /^\s*(#{1,6}\s|>|```|~~~)/.test(line) || ITEM.test(line) || isRule(line);

/** A block of code, with a button that copies it. */
export function code(text) {
  const copies = h("button.ghost.small.copy-code", { "aria-label": t("copyCode"), title: t("copyCode") }, icon("copy"));
  copies.onclick = () => copy(text);
  return h("div.code-block", h("pre", { tabindex: "0" }, text), copies);
}

function blocks(lines, depth) {
  if (depth > DEEPEST_BLOCK) return [lines.join("\n")];
  const made = [];
  let at = 0;
  const take = (test) => {
    const from = at;
    while (at < lines.length && test(lines[at], at - from)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const head = /^\s*(#{1,6})\s+(.*?)#*$/.exec(line);
    const fence = /^\s*(```|~~~)/.exec(line);
    if (!line.trim()) at += 1;
    else if (head) made.push((at += 1) && h(`h${Math.min(head[1].length + 2, 6)}`, {}, inline(head[2])));
    else if (fence) {
      at += 1;
      made.push(code(take((l) => !l.trim().startsWith(fence[1])).join("\n")));
      at += 1;
    } else if (isRule(line)) made.push((at += 1) && h("hr"));
    else if (/^\s*>/.test(line))
      made.push(
        h(
          "blockquote",
          blocks(
            take((l) => /^\s*>/.test(l)).map((l) => l.replace(/^\s*> ?/, "")),
            depth + 1,
          ),
        ),
      );
    else if (ITEM.test(line))
      made.push(
        items(
          take((l, i) => !i || ITEM.test(l) || /^\s+\S/.test(l)),
          depth,
        ),
      );
    else if (line.includes("|") && /^[\s|:-]*-[\s|:-]*$/.test(lines[at + 1] ?? "")) {
      const [top, , ...rows] = take((l) => l.includes("|"));
      made.push(
        h(
          "div.scroll-x",
          { tabindex: "0", role: "group", "aria-label": unmarked(top) },
          h(
            "table",
            h(
              "tr",
              cells(top).map((c) => h("th", inline(c))),
            ),
            rows.map((row) =>
              h(
                "tr",
                cells(row).map((c) => h("td", inline(c))),
              ),
            ),
          ),
        ),
      );
    } else
      made.push(
        h(
          "p",
          take((l, i) => l.trim() && (!i || !starts(l))).map((l, i) => [i > 0 && h("br"), inline(l.trim())]),
        ),
      );
  }
  return made;
}

// Lines of one list: what is indented deeper than the first item belongs to the item before it.
function items(lines, depth) {
  const [, indent, sign] = ITEM.exec(lines[0]) ?? ["", "", ""];
  const own = [];
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (found && found[1].length <= indent.length + 1) own.push([found[3]]);
    else own.at(-1).push(line.replace(/^\s{1,4}/, ""));
  }
  const row = ([first, ...rest]) => {
    const task = /^\[([ xX])\]\s+(.*)$/.exec(first);
    return h(
      "li",
      task ? [task[1] === " " ? "☐ " : "☑ ", inline(task[2])] : inline(first),
      rest.length > 0 && blocks(rest, depth + 1),
    );
  };
  return /\d/.test(sign) ? h("ol", { start: parseInt(sign, 10) }, own.map(row)) : h("ul", own.map(row));
}

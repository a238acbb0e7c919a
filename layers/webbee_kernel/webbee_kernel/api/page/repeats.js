// A list or a text that an app draws below a reply is not told by the reply as well.

const LEAST = 30; // letters of a text that counts as the same
const CUT = /^[\s…. ]*$/;
const END = /[\s….]+$/; // how a sentence, or what is cut, ends

/** Take out of a reply what `tree` shows whole: lists and tables whose every row it has, texts that it repeats.
 * What is marked as not from the data stays. @param {Element} reply @param {Element} tree */
export function withoutRepeats(reply, tree) {
  const rows = new Set([...tree.querySelectorAll(".n-item-title, td, dd, .n-card :is(h3, h4)")].map(textOf));
  for (const block of [...reply.children]) {
    if (isMarked(block)) continue;
    if (block.matches("ul, ol") ? listed([...block.children], rows) : tabled(block, rows)) {
      const rest = block.nextElementSibling;
      if (rest?.textContent.startsWith("…")) rest.remove(); // how many more there are than the reply had told
      block.remove();
    }
  }
  withoutQuote(reply, letters(tree.textContent));
  return reply;
}

const isMarked = (block) => block.matches(".unsourced") || block.querySelector(".unsourced");
const textOf = (element) => folded(element.textContent);
const letters = (text) =>
  text
    .replace(END, "")
    .replace(/[\s;,]+/g, "")
    .toLowerCase(); // as items or as a sentence
const folded = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

/** Whether every item begins with the title of a row; "…" says only that there are more. */
function listed(items, rows) {
  const named = items.map((item) => folded(item.textContent)).filter((text) => !CUT.test(text));
  const begins = (text) => rows.has(text.split(/ [—–|·-] |: /)[0]) || rows.has(text);
  return named.length > 0 && named.every(begins);
}

function tabled(block, rows) {
  const lines = [...(block.querySelector("table")?.rows ?? [])].filter((row) => row.querySelector("td"));
  return lines.length > 0 && lines.every((row) => [...row.cells].some((cell) => rows.has(textOf(cell))));
}

/** Take out blocks that stand in `whole` one behind the other, with what the block before them
 * ends in behind a colon. */
function withoutQuote(reply, whole) {
  const blocks = [...reply.children];
  for (let first = 0; first < blocks.length; first++) {
    for (const from of beginnings(blocks[first].textContent)) {
      const last = lastQuoted(blocks, first, from, whole);
      if (last < first) continue;
      blocks.slice(first + (from ? 1 : 0), last + 1).forEach((block) => block.remove());
      if (from) cutFrom(blocks[first], from);
      first = last;
      break;
    }
  }
}

/** Where a quotation may begin in a text: at its start, and behind each colon. */
const beginnings = (text) => [0, ...[...text.matchAll(/:\s/g)].map((colon) => colon.index + 1)];

/** The last block of the longest quotation that begins there; -1 where none is long enough. */
function lastQuoted(blocks, first, from, whole) {
  let [last, told] = [-1, ""];
  for (let n = first; n < blocks.length && !isMarked(blocks[n]); n++) {
    const next = told + blocks[n].textContent.slice(n === first ? from : 0);
    if (!whole.includes(letters(next))) break;
    [told, last] = [next, letters(next).length >= LEAST ? n : last];
  }
  return last;
}

/** Take the text from a place on out of an element. */
function cutFrom(element, from) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let seen = 0; texts.nextNode();) {
    const data = texts.currentNode.nodeValue ?? "";
    if (seen + data.length >= from) {
      const range = document.createRange();
      range.setStart(texts.currentNode, from - seen);
      range.setEnd(element, element.childNodes.length);
      range.deleteContents();
      return;
    }
    seen += data.length;
  }
}

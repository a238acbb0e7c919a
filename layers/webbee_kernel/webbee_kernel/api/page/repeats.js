// A list or a text that an app draws below a reply is not told by the reply as well.

const LEAST = 30; // letters of a paragraph that counts as the same text
const CUT = /^[\s…. ]*$/;

/** Take out of a reply what `tree` shows whole: lists and tables whose every row it has, paragraphs that it repeats.
 * What is marked as not from the data stays. @param {Element} reply @param {Element} tree */
export function withoutRepeats(reply, tree) {
  const rows = new Set([...tree.querySelectorAll(".n-item-title, td, dd, .n-card :is(h3, h4)")].map(textOf));
  const whole = letters(tree);
  for (const block of [...reply.children]) {
    if (block.querySelector(".unsourced")) continue;
    if (block.matches("ul, ol") ? listed([...block.children], rows) : repeated(block, rows, whole)) block.remove();
  }
  return reply;
}

const textOf = (element) => folded(element.textContent);
const letters = (element) => element.textContent.replace(/\s+/g, "").toLowerCase();
const folded = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

/** Whether every item begins with the title of a row; "…" says only that there are more. */
function listed(items, rows) {
  const named = items.map((item) => folded(item.textContent)).filter((text) => !CUT.test(text));
  const begins = (text) => rows.has(text.split(/ [—–|·-] |: /)[0]) || rows.has(text);
  return named.length > 0 && named.every(begins);
}

function repeated(block, rows, whole) {
  const table = block.querySelector("table");
  if (table) {
    const lines = [...table.rows].filter((row) => row.querySelector("td"));
    return lines.length > 0 && lines.every((row) => [...row.cells].some((cell) => rows.has(textOf(cell))));
  }
  const text = letters(block);
  return text.length >= LEAST && whole.includes(text);
}

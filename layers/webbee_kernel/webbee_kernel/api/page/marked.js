// A text that was looked for, marked where it stands on the page: whatever drew it, over the borders of elements.

const NAME = "sought";

/** The first place of a text in these elements, first among what is seen; null where it stands in none.
 * @param {Element[]} elements @param {string} text @returns {Range | null} */
function placeOf(elements, text) {
  const places = elements.flatMap((one) => placesIn(one, text));
  return places.find(({ startContainer }) => startContainer.parentElement?.checkVisibility()) ?? places[0] ?? null;
}

/** @param {Element} element @param {string} text @returns {Range[]} */
function placesIn(element, text) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {[Text, number][]} */
  const nodes = []; // each with where it begins in the whole
  let whole = "";
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    nodes.push([node, whole.length]);
    whole += node.data;
  }
  const at = (offset) => {
    const [node, begin] = nodes.findLast(([, start]) => start <= offset) ?? nodes[0];
    return /** @type {const} */ ([node, offset - begin]);
  };
  const words = text.trim().split(/\s+/).map(escaped);
  return Array.from(whole.matchAll(new RegExp(words.join("\\s+"), "giu")), (match) => {
    const range = document.createRange();
    const [last, end] = at(match.index + match[0].length - 1);
    range.setStart(...at(match.index));
    range.setEnd(last, end + 1);
    return range;
  });
}

const escaped = (word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Bring the text into the middle of what scrolls and mark it until something is done; false where it is not there.
 * @param {Element[]} elements @param {string} text @param {Element} scrolls */
export function mark(elements, text, scrolls) {
  const range = text.trim() ? placeOf(elements, text) : null;
  if (!range) return false;
  for (let one = range.startContainer.parentElement; one && one !== scrolls; one = one.parentElement)
    if (one.localName === "details") one.setAttribute("open", "");
  CSS.highlights.set(NAME, new Highlight(range));
  const unmark = () => {
    CSS.highlights.delete(NAME);
    for (const kind of ["click", "input"]) document.removeEventListener(kind, unmark, true);
  };
  for (const kind of ["click", "input"]) document.addEventListener(kind, unmark, true);
  const centre = () => {
    range.startContainer.parentElement?.scrollIntoView({ block: "nearest" }); // in a box that scrolls by itself
    const { top, bottom } = range.getBoundingClientRect();
    const box = scrolls.getBoundingClientRect();
    scrolls.scrollTop += (top + bottom) / 2 - (box.top + box.bottom) / 2;
  };
  centre();
  requestAnimationFrame(centre); // what was far had no true height before
  return true;
}

// Text files that go behind a message: name, type and size, then what they hold.

import { t } from "./strings.js";

const MOST_BYTES = 64 * 1024; // more is no message, in any encoding

/** The files, each with the text that follows a message, in the room that it leaves; or why one cannot be attached.
 * @param {File[]} files @param {number} room */
export async function attached(files, room) {
  const taken = [];
  for (const file of files) {
    const held = await textOf(file);
    if (held === null) return { taken: [], problem: t("attachNoText", { name: file.name }) };
    const kind = [file.name, file.type || "text/plain", `${file.size} B`].join(", ");
    taken.push({ name: file.name, text: `\n\n${kind}:\n${held.trim()}` });
    if (file.size > MOST_BYTES || sizeOf(taken) > room) {
      const n = file.size > MOST_BYTES ? file.size : held.length;
      return { taken: [], problem: t("attachTooLong", { name: file.name, n, limit: room }) };
    }
  }
  return { taken, problem: "" };
}

/** Characters of what is attached. @param {{text: string}[]} files */
export const sizeOf = (files) => files.reduce((sum, { text }) => sum + text.length, 0);

/** What a file holds, of a long one its beginning; null where that is no text in UTF-8. */
async function textOf(file) {
  try {
    const bytes = await file.slice(0, MOST_BYTES).arrayBuffer();
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return text.includes("\0") ? null : text.replace(/\r\n?/g, "\n");
  } catch {
    return null;
  }
}

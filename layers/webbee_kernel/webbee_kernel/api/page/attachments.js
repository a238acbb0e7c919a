// Text files put into a message, as if they had been pasted: name, type and size, then what they hold.

import { t } from "./strings.js";

const MOST_BYTES = 64 * 1024; // more is no message, in any encoding: it is not read

/** The files as text that follows a message, in the room that it leaves; or why one cannot be attached.
 * @param {File[]} files @param {number} room @returns {Promise<{text: string, problem: string}>} */
export async function attached(files, room) {
  let text = "";
  for (const file of files) {
    const held = file.size > MOST_BYTES ? undefined : await textOf(file);
    if (held === null) return { text: "", problem: t("attachNoText", { name: file.name }) };
    const kind = [file.name, file.type || "text/plain", `${file.size} B`].join(", ");
    if (held !== undefined) text += `\n\n${kind}:\n${held.trim()}`;
    if (held === undefined || text.length > room) {
      return { text: "", problem: t("attachTooLong", { name: file.name, n: held?.length ?? file.size, limit: room }) };
    }
  }
  return { text, problem: "" };
}

/** What a file holds; null where that is no text in UTF-8. */
async function textOf(file) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? null : text.replace(/\r\n?/g, "\n");
  } catch {
    return null;
  }
}

// What was asked anew, the same or changed, stands in the place of what was asked before. Its request id begins with
// that of the first version: so every page that shows the conversation knows.

import { h } from "./dom.js";
import { t } from "./strings.js";

const ANEW = "::";
const rootOf = (id) => id.split(ANEW)[0];

/** How the id of what takes the place of a request begins. @param {string} old its id, or nothing */
export const inPlaceOf = (old) => old && rootOf(old) + ANEW;

/** Whether a request takes the place of the one before it. @param {string} old @param {string} [id] */
export const isAnew = (old, id) => id?.startsWith(inPlaceOf(old));

/** Put each message that was asked anew behind a line that opens, with its answer; what had an effect stays in sight.
 * @param {any} list */
export function foldVersions(list) {
  const all = [...list.querySelectorAll(".turn.you[data-request]")];
  all.forEach((said, i) => {
    const answer = said.nextElementSibling;
    if (!isAnew(said.dataset.request, all[i + 1]?.dataset.request) || said.closest("details")) return;
    if (!answer || answer.querySelector(".receipt")) return;
    const line = h("li.note");
    said.before(line);
    line.append(h("details.versions", h("summary.muted", t("versions")), h("ol", said, answer)));
  });
}

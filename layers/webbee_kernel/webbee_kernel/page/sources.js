// Where the values of a reply come from: each is underlined quietly; hovering, a tap or the keyboard shows the field.

import { h, plain } from "./dom.js";
import { t } from "./strings.js";

const MOST = 200;

/** The text as nodes, its values as spans that tell their source. Offsets count characters, not UTF-16 units. */
export function sourced(text, sources, calls) {
  const points = [...text];
  const nodes = [];
  let at = 0;
  for (const one of (sources ?? []).slice(0, MOST)) {
    if (!(one.start >= at && one.end > one.start && one.end <= points.length)) continue;
    const told = telling(one, calls);
    nodes.push(points.slice(at, one.start).join(""), h("span.sourced", { tabindex: "0", title: told, "data-source": told }, points.slice(one.start, one.end).join("")));
    at = one.end;
  }
  return [...nodes, points.slice(at).join("")];
}

function telling(one, calls) {
  if (one.formula) return t("sourceDerived", { formula: plain(one.formula) });
  if (one.how === "derived") return t("sourceCounted");
  if (one.how === "message") return t("sourceYou");
  const call = calls?.[one.call];
  return call ? `${plain(call.app_id)} · ${plain(one.path)}` : plain(one.path) || t("sourceCounted");
}

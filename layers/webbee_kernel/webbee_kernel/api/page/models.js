// Which model answers, and how to have another one.

import { h, plain } from "./dom.js";
import { code } from "./markdown.js";
import { dialog } from "./overlay.js";
import { t } from "./strings.js";

const EMBEDDED = "offline";
const WAYS = [
  ["Ollama", local(11434)],
  ["LM Studio", local(1234)],
  ["llama.cpp", local(8080)],
  ["Amazon Bedrock", "bedrock:<model id>"],
];

function local(port) {
  return ["openai:http:", `127.0.0.1:${port}/v1#<model>`].join("//");
}

/** What starts this very server, at its port. @param {string} [model] */
function started(model) {
  const { port } = location;
  return ["make run", port && `PORT=${port}`, model && `MODEL='${model}'`].filter(Boolean).join(" ");
}

/** @param {string} model */
/** @param {string} model @param {boolean} away whether it gave no answer */
export function shown(model, away = false) {
  if (away) return t("modelAway", { model: plain(model) });
  return model === EMBEDDED ? t("modelEmbedded") : t("modelAnswers", { model: plain(model) });
}

/** Which model answers, how to have another one, and how to go back to none.
 * @param {string} model @param {boolean} away whether it gave no answer: then what to look at first */
export function showModels(model, away = false) {
  /** @param {string[]} of */
  const way = ([name, named]) => h("li", h("strong", name), code(started(named)));
  const dev = `./webbee dev --port ${location.port || 8000} --model '${WAYS[0][1]}'`;
  const ways = [h("ul.ways", WAYS.map(way)), h("p", t("modelDev")), code(dev), h("p.muted", t("modelDeployed"))];
  if (model === EMBEDDED) return void dialog(t("modelTitle"), [h("p", t("modelWhy")), ways]);
  const first = away && h("p.warning", t("modelAwayWhy"));
  dialog(away ? t("modelAwayTitle") : shown(model), [
    first,
    h("p", t("modelBack")),
    code(started()),
    h("p", t("modelOthers")),
    ways,
  ]);
}

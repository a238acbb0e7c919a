// Which model answers, and how to have another one.

import { h, plain } from "./dom.js";
import { dialog } from "./overlay.js";
import { t } from "./strings.js";

const EMBEDDED = "offline";
const WAYS = [
  ["Ollama", local(11434)],
  ["LM Studio", local(1234)],
  ["llama.cpp", local(8080)],
  ["Amazon Bedrock", "make run MODEL=bedrock:<model id>"],
];

function local(port) {
  return ["make run MODEL=openai:http:", `127.0.0.1:${port}/v1#<model>`].join("//");
}

/** @param {string} model */
export const shown = (model) => (model === EMBEDDED ? t("modelEmbedded") : t("modelAnswers", { model: plain(model) }));

/** Which model answers, how to have another one, and how to go back to none.
 * @param {string} model */
export function showModels(model) {
  /** @param {string} command */
  const typed = (command) => h("pre", h("code", command));
  /** @param {string[]} of */
  const way = ([name, command]) => h("li", h("strong", name), typed(command));
  const ways = [h("ul", WAYS.map(way)), h("p.muted", t("modelDeployed"))];
  if (model === EMBEDDED) return void dialog(t("modelTitle"), [h("p", t("modelWhy")), ways]);
  dialog(shown(model), [h("p", t("modelBack")), typed("make run"), h("p", t("modelOthers")), ways]);
}

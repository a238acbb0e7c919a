// Before anybody is known.

import { isLocal, request, setToken } from "./api.js";
import { fill, h, standing } from "./dom.js";
import * as oidc from "./oidc.js";
import { speak, t } from "./strings.js";

/** @type {[string, string][]} */
const LOCAL_USERS = [
  ["alice", "русский"],
  ["bob", "English"],
  ["dev", "developer"],
  ["ops", "operator"],
];

export const logo = () => h("span.logo", { "aria-hidden": "true" });

/** The form in `root`; `enter(found)` gets what `GET /v1/extensions` says of who signed in. */
export function signIn(root, enter, problem = "") {
  speak();
  standing("skip").hidden = true; // there is no message field yet
  const field = h("input", {
    type: "password",
    id: "token",
    autocomplete: "off",
    required: true,
    "aria-describedby": "token-hint",
  });
  const take = async (value, kept = false) => {
    try {
      const found = await (await request("GET", "/v1/extensions", { using: value })).json();
      setToken(value, kept);
      enter(found);
    } catch (error) {
      signIn(root, enter, error.status === 401 ? t("badToken") : error.message);
      document.getElementById("token")?.focus();
    }
  };
  const pick = ([name, who]) =>
    h("button.chip", { onclick: () => take(name, true) }, h("strong", name), " ", h("span.muted", who));
  const picks = isLocal && h("div.picks", h("p.muted", t("localUsers")), h("div.chips", LOCAL_USERS.map(pick)));
  const go = h("button.primary", { id: "sign-in", onclick: () => oidc.begin().catch(failed) }, t("signIn"));
  const failed = () => signIn(root, enter, t("signInFailed"));
  const submit = (event) => (event.preventDefault(), take(field.value.trim()));
  const form = h(
    "form",
    { onsubmit: submit },
    h("label", { for: "token" }, t("token")),
    field,
    h("p.muted", { id: "token-hint" }, t("tokenHint")),
    problem && h("p.warning", { role: "alert" }, problem),
    h("button", { type: "submit", class: "primary" }, t("signIn")),
  );
  const open = Boolean(problem);
  const pasted = picks ? h("details.pasted", { open }, h("summary", t("token")), form) : form;
  const way = oidc.configured() ? h("div.picks", problem && h("p.warning", { role: "alert" }, problem), go) : pasted;
  fill(root, h("main.sign-in", logo(), h("h1", t("signInTitle")), h("p.muted", t("signInLead")), picks, way));
}

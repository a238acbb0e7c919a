// The dialog of apps: install, remove, give them their secrets.

import { api } from "./api.js";
import { fill, h, plain } from "./dom.js";
import { dialog, toast } from "./overlay.js";
import { language, t } from "./strings.js";

/** `changed()` runs when an app was installed or removed, `fill(text)` puts a sentence into the composer. */
export function showApps(extensions, changed, fill) {
  const attempt = (text) => {
    box.close();
    fill(text);
  };
  const rows = extensions.map((app) => row(app, changed, attempt));
  const box = dialog(t("apps"), h("ul.apps", rows));
}

function row(app, changed, attempt) {
  const name = plain(app.display_name) || app.app_id;
  const secrets = h("div");
  const item = h("li.n-card");
  const draw = () => {
    const toggle = h(
      "button.secondary.small",
      { "aria-label": `${app.installed ? t("uninstall") : t("install")}: ${name}`, onclick: () => flip() },
      app.installed ? t("uninstall") : t("install"),
    );
    const state = app.error ? h("p.warning", app.error) : h("p.muted", plain(app.description));
    fill(
      item,
      h(
        "div.app-head",
        h("strong", name),
        app.installed && h("span.badge.green", t("installed")),
        !app.error && toggle,
      ),
      state,
      functionsOf(app, attempt),
      secrets,
    );
    if (app.installed && app.secrets?.length) showSecrets(app, secrets, changed);
    else fill(secrets);
  };
  const flip = async () => {
    try {
      await api(app.installed ? "DELETE" : "PUT", `/v1/extensions/${app.app_id}/installation`);
      app.installed = !app.installed;
      draw();
      changed();
    } catch (error) {
      toast(error.message, "error");
    }
  };
  draw();
  return item;
}

const SLOT = /\{\w+(?::\w+)?(=[^{}]*)?\}/g; // of an example: `{city}`, or an argument that nobody says, `{state=done}`
const spoken = (example) =>
  example
    .replace(SLOT, (_, fixed) => (fixed ? "" : "…"))
    .replace(/…(\s*…)+/g, "…")
    .trim();

/** A function as a person may begin to ask for it: its first example, in the reader's language where one is known;
 * without examples its name behind its app's, or what is added might reach another app. */
export function sentenceOf(app, { examples, fn_name: name }) {
  const said = (examples ?? []).map(spoken);
  const known = new Set(app.offers?.[language()]);
  return (
    said.find((text) => known.has(text)) ??
    said[0] ??
    `${plain(app.display_name) || app.app_id}: ${plain(name).replace(/_/g, " ")}`
  );
}

// What it can do; of an installed app each can be tried.
function functionsOf(app, attempt) {
  if (!app.functions?.length) return null;
  const name = (f) => plain(f.fn_name).replace(/_/g, " ");
  const pick = (f) => h("button.link", { onclick: () => attempt(sentenceOf(app, f)), title: t("tryIt") }, name(f));
  return h(
    "details",
    h("summary.n-meta", `${t("functions")} (${app.functions.length})`),
    h(
      "ul.n-list",
      app.functions.map((f) =>
        h(
          "li.n-item",
          h("strong", app.installed ? pick(f) : name(f)),
          h("span.muted", " ", plain(f.description).slice(0, 200)),
        ),
      ),
    ),
  );
}

async function showSecrets(app, place, changed) {
  try {
    const { secrets } = await api("GET", `/v1/extensions/${app.app_id}/secrets`);
    fill(
      place,
      h("h3.n-heading", t("secrets")),
      secrets.map((s) => secretForm(app, s, () => (showSecrets(app, place, changed), changed()))),
    );
  } catch (error) {
    fill(place, h("p.warning", error.message));
  }
}

function secretForm(app, secret, done) {
  const state = h(
    "span",
    { class: secret.is_set ? "badge green" : "badge" },
    secret.is_set ? t("secretSet") : t("secretMissing"),
  );
  const head = h(
    "p",
    h("code", secret.name),
    " ",
    state,
    h("span.muted", " ", plain(secret.description), !secret.writable && ` (${t("secretOfAll")})`),
  );
  if (!secret.writable) return head;
  const field = h("input", {
    type: "password",
    autocomplete: "off",
    required: true,
    "aria-label": t("secretValue", { name: secret.name }),
  });
  const save = async (event) => {
    event.preventDefault();
    try {
      await api("PUT", `/v1/extensions/${app.app_id}/secrets/${secret.name}`, { value: field.value });
      toast(t("saved"));
      done();
    } catch (error) {
      toast(error.message, "error");
    }
  };
  return h(
    "form.secret",
    { onsubmit: save },
    head,
    h("div.composer-row", field, h("button", { type: "submit", class: "secondary small" }, t("save"))),
  );
}

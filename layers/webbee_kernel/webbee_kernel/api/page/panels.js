// Panels of the installed apps, and what their buttons do.

import { api } from "./api.js";
import { dataView } from "./data.js";
import { dict, fill, h, icon, plain, randomId, safeLink } from "./dom.js";
import { blame } from "./fields.js";
import { glyph } from "./icons.js";
import { renderTree } from "./nodes.js";
import { ask, dialog, toast } from "./overlay.js";
import { t } from "./strings.js";

const PREFIX = "__panel__";
const GATHER_MS = 120;

// What needs no function: said in the chat, put into the composer, told about models, looked for in what was said, the
// dialog of who is signed in.
const OWN = {
  send: (panels, action) => panels.say(plain(action.message ?? action.params?.message)),
  fill: (panels, action) => panels.fill(plain(action.message ?? action.params?.message)),
  model: (panels) => panels.model(),
  find: (panels, action, reply) => panels.find(plain(action.q), reply?.below.request_id),
  me: (panels) => panels.me(),
};

const AN_ID = /(^|_)u?u?ids?$/i;

/** Where a function that names no field says that something is missing, the empty field that a person can fill. */
function missing(form, { error_code: code }) {
  if (!form || code !== "VALIDATION_MISSING_FIELD") return [];
  const empty = [...form.querySelectorAll("[data-param]")].filter((one) => one.value === "");
  const field = empty.find((one) => !AN_ID.test(one.dataset.param)) ?? empty[0];
  return field ? [{ field: field.dataset.param, problem: t("fieldMissing") }] : [];
}

export class Panels {
  // `places`: elements for left, right, center; `say` sends a chat message; `after` runs when something may have
  // changed; `model` tells of the model that answers; `explains`: the reader is told how an app failed.
  constructor({ places, say, fill, after, centre, model, find, me, explains }) {
    this.places = places;
    this.say = say;
    this.fill = fill;
    this.after = after;
    this.model = model;
    this.find = find;
    this.me = me;
    this.explains = explains;
    this.centre = centre;
    this.panels = new Map();
    this.types = new Map();
    this.failures = new Map(); // what takes away the last one said, by the function that was called
  }

  show(extensions) {
    this.panels.clear();
    this.types.clear();
    Object.values(this.places).forEach((place) => place.replaceChildren());
    for (const app of extensions) {
      for (const f of app.functions ?? []) this.types.set(`${app.app_id} ${f.fn_name}`, f.action_type);
      if (app.installed) for (const panel of app.panels ?? []) this.add(app, panel);
    }
    this.centre([...this.panels.values()].filter((p) => p.slot === "center"));
  }

  add(app, { panel_id: id, slot, title, icon: sign }) {
    const name = plain(title) || plain(app.display_name) || app.app_id;
    const body = h("div.panel-body", h("p.muted", t("loading")));
    const again = h(
      "button.ghost.small",
      { "aria-label": t("refreshPanel", { title: name }), onclick: () => this.refresh(app.app_id, [id]) },
      icon("refresh"),
    );
    const element = h(
      "section.panel",
      { "aria-label": name, dataset: { panel: `${app.app_id}.${id}` } },
      h("header", h("h2", glyph(sign), name), again),
      body,
    );
    const panel = {
      app: app.app_id,
      id,
      slot: this.places[slot] ? slot : "center",
      name,
      body,
      element,
      params: {},
      shown: "",
      timer: 0,
      asked: 0,
    };
    this.panels.set(`${app.app_id} ${id}`, panel);
    this.places[panel.slot].append(element);
    this.load(panel);
  }

  /** Fetch again what is shown of an app, or of all. */
  again(app) {
    for (const panel of this.panels.values()) if (!app || panel.app === app) this.refresh(panel.app, [panel.id]);
  }

  // Named panels of an app, once however often they are named within a moment.
  refresh(app, ids) {
    for (const id of ids) {
      const panel = this.panels.get(`${app} ${id}`);
      if (!panel) continue;
      clearTimeout(panel.timer);
      panel.timer = setTimeout(() => this.load(panel), GATHER_MS);
    }
  }

  async load(panel) {
    const asked = (panel.asked += 1);
    panel.element.setAttribute("aria-busy", "true");
    const call = { function: PREFIX + panel.id, params: panel.params };
    const found = await api("POST", `/v1/extensions/${panel.app}/call`, call).catch((error) => ({
      status: "error",
      error: error.message,
    }));
    if (asked === panel.asked) {
      if (found?.status === "error") this.fail(panel, found);
      else this.draw(panel, found?.ui);
    }
    panel.element.removeAttribute("aria-busy");
  }

  /** What went wrong: for developers as the app said it, for others in a kind sentence where its code broke. */
  fail(panel, { error, error_code: code, incident }) {
    panel.shown = "";
    const why = code === "INTERNAL" && !this.explains ? t("panelBroken") : t("panelFailed", { why: plain(error) });
    fill(
      panel.body,
      h("p.warning", why, incident && h("span.n-meta", ` (${plain(incident)})`)),
      h("button.secondary.small", { onclick: () => this.load(panel) }, t("retry")),
    );
  }

  // The same tree is left alone; of a new one, what the user has typed and where the focus was is kept.
  draw(panel, tree) {
    const text = JSON.stringify(tree ?? null);
    if (text === panel.shown) return;
    panel.shown = text;
    const typed = Array.from(panel.body.querySelectorAll("input[data-param],textarea[data-param]"), (f) => [
      f.dataset.param,
      f.value,
      f.defaultValue,
      f === document.activeElement,
    ]);
    const files = Array.from(panel.body.querySelectorAll("[data-kind=files]")).filter((box) => box.chosen.length);
    fill(panel.body, renderTree(tree, this.actor(panel.app)) ?? h("p.muted", t("noData")));
    for (const [name, value, before, focused] of typed) {
      const field = panel.body.querySelector(`[data-param="${CSS.escape(name)}"]`);
      if (field && value !== before && field.type !== "checkbox") field.value = value;
      if (field && focused) field.focus();
    }
    for (const box of files)
      panel.body.querySelector(`[data-kind=files][data-param="${CSS.escape(box.dataset.param)}"]`)?.replaceWith(box);
  }

  /** What runs the actions of a tree; `reply` is the one below which it stands, where that has done nothing yet:
   * `below` names it, and it is drawn anew once something came of it.
   * @param {string} app @param {{below: {request_id: string}, redraw: Function} | null} [reply] */
  actor(app, reply = null) {
    const act = (action, values, label, element, question, done) =>
      this.act(app, action, values, label, element, question, reply).then((ok) => ok && done?.());
    return Object.assign(act, {
      destroys: (action) => this.destroys(app, action),
      propose: ({ app_id: of, function: name, params }, element) => this.call(of, name, params, "", element, "", reply),
    });
  }

  /** Whether an action calls what destroys something. */
  destroys(app, action) {
    const { action: kind, type, function: name, app_id: own } = dict(action);
    return (kind ?? type) === "call" && this.types.get(`${app || plain(own)} ${plain(name)}`) === "destructive";
  }

  async act(app, action, values, label, element, question, reply) {
    if (!action || typeof action !== "object") return false;
    const kind = action.action ?? action.type;
    if (OWN[kind]) return (OWN[kind](this, action, reply), true);
    if (kind === "open") return this.open(plain(action.url ?? action.params?.url));
    if (kind === "navigate") return (toast(t("cannotOpen", { url: plain(action.path) })), false);
    if (kind !== "call") return false;
    app ||= plain(action.app_id); // only a tree of the kernel's own, which is of no app, names one
    const name = plain(action.function);
    const params = { ...(action.params ?? {}), ...values };
    if (name.startsWith(PREFIX)) return this.openPanel(app, name.slice(PREFIX.length), params);
    const type = this.types.get(`${app} ${name}`) ?? "read";
    const filled = element?.matches("form [type=submit]"); // who fills in a form and sends it has been asked
    if (question || (type === "destructive" && !filled))
      if (!(await ask(question || t("sureDelete", { label }), label.split(":")[0], t("sure"), type === "destructive")))
        return false;
    return this.call(app, name, params, type, element, label, reply);
  }

  async call(app, name, params, type, element, label, reply) {
    if (element) element.disabled = true;
    const form = `${app} ${name}`;
    this.failures.get(form)?.();
    try {
      const result = await api("POST", `/v1/extensions/${app}/call`, {
        function: name,
        params,
        ...(reply ? { below: reply.below } : { request_id: randomId() }),
      });
      await reply?.redraw();
      if (this.refused(result, element, form)) return false;
      for (const p of result.refresh_panels ?? []) this.refresh(p.app_id, [p.panel_id]);
      if (!reply && (result.ui || type === "read")) this.result(app, result, label);
      else if (!reply) toast(plain(result.summary) || t("ok"));
      this.after();
      return true;
    } catch (error) {
      toast(notDone(error, element, reply), "error");
      return false;
    } finally {
      if (element) element.disabled = false;
    }
  }

  /** Whether a call did not do what was asked: what is wrong with a field stands there, and what a reply tells in it;
   * all else is a toast, until the form is sent again. */
  refused(result, element, called) {
    const form = element?.closest("form");
    const problems = result.problems?.length ? result.problems : missing(form, result);
    const left = form ? blame(form, problems) : problems;
    if (["ok", "confirmation"].includes(result.status)) return false;
    const why = plain(result.error) || plain(result.error_code);
    const isTold = element?.closest(".turn")?.textContent.includes(why.replace(/\.$/, ""));
    if (!isTold && (left.length || !problems.length)) this.failures.set(called, toast(why, "error"));
    return true;
  }

  result(app, result, label = "") {
    const tree = result.ui && renderTree(result.ui, this.actor(app));
    if (result.ui?.type === "Toast") return toast(tree);
    dialog(label || t("result"), tree ?? [result.summary && h("p.pre", plain(result.summary)), dataView(result.data)]);
  }

  open(url) {
    const safe = safeLink(url);
    if (!safe) return (toast(t("cannotOpen", { url }), "error"), false);
    window.open(safe, "_blank", "noopener,noreferrer");
    return true;
  }

  openPanel(app, id, params) {
    const panel = this.panels.get(`${app} ${id}`);
    if (!panel) return false;
    panel.params = params;
    this.load(panel);
    this.centre(null, panel);
    return true;
  }
}

/** What is said of a call that was refused: the link of an effect that is too long ago to be undone goes, a form of
 * which something else came is drawn anew. */
function notDone(error, element, reply) {
  const link = error.status === 410 && element?.closest(".undo");
  if (link) return (link.remove(), t("undoGone"));
  if ([409, 410].includes(error.status)) reply?.redraw();
  return error.message;
}

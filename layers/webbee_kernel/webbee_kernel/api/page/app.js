// The page: sign in, then chat in the middle, conversations and panels at the sides, the inspector for developers.

import { api, setToken, token } from "./api.js";
import { sentenceOf, showApps } from "./apps.js";
import { Asking } from "./asking.js";
import { Chat } from "./chat.js";
import { fill, h, icon, plain, standing, within } from "./dom.js";
import { failedView } from "./explained.js";
import { showMe } from "./exporting.js";
import { keepFocus } from "./focus.js";
import { Inspector } from "./inspector.js";
import { Live } from "./live.js";
import { Notices } from "./notices.js";
import { showModels } from "./models.js";
import * as oidc from "./oidc.js";
import { toast } from "./overlay.js";
import { Panels } from "./panels.js";
import { applyTheme } from "./preferences.js";
import { Sessions } from "./sessions.js";
import { logo, signIn } from "./signin.js";
import { language, speak, t } from "./strings.js";
import { Traces } from "./traces.js";
import { learnTitles } from "./turns.js";

const root = standing("app");
const noNews = () => undefined; // then the next connection asks again
const NEW = "new:"; // stands before the id of a conversation of which the server knows nothing yet

function offersOf(app) {
  if (Object.keys(app.offers ?? {}).length) return app.offers[language()] ?? [];
  const untold = (app.functions ?? []).filter((f) => !f.examples?.length);
  const first = untold.find((f) => f.action_type === "read") ?? untold[0];
  return first ? [sentenceOf(app, first)] : [];
}

class Page {
  constructor(found) {
    this.caller = found.caller;
    this.extensions = found.extensions;
    speak(this.caller.language);
    learnTitles(this.extensions);
    Object.assign(standing("skip"), { textContent: t("skip"), hidden: false });
    const who = `${this.caller.tenant_id}.${this.caller.imperal_id}`;
    this.sessionKey = `webbee.session.${this.caller.imperal_id}`;
    this.places = { left: h("div.panels"), right: h("div.panels"), center: h("div.panels.centre", { hidden: true }) };
    this.centres = [];
    this.notices = new Notices((app) => this.nameOf(app));
    const explains = ["developer", "operator"].includes(this.caller.role);
    this.panels = new Panels({
      explains,
      places: this.places,
      say: (text) => (this.view("chat"), this.chat.say(text)),
      fill: (text) => this.compose(text),
      after: () => this.settle(),
      centre: (all, one) => this.centre(all, one),
      model: () => showModels(this.chat.composer.model),
      find: (words, but) => (this.view("left"), this.sessions.seek(words, but)),
      me: () => this.me(),
    });
    this.asking = new Asking({
      who,
      ended: (one) => this.chat.ended(one),
      changed: (one, frame) => this.chat.changed(one, frame),
    });
    this.traces = explains ? new Traces(who) : null;
    this.chat = new Chat({
      asking: this.asking,
      after: (body) => this.answered(body),
      act: (app, reply) => this.panels.actor(app, reply),
      examples: () => this.examples(),
      failed: () => {
        const failed = explains ? this.extensions.filter((app) => app.error) : [];
        return failed.length > 0 && failedView(failed);
      },
      traces: this.traces,
      model: found.model,
      inspect: explains && ((message) => this.inspect(true, message)),
      said: () => this.notices.close(),
      opened: (id, fresh) => sessionStorage.setItem(this.sessionKey, fresh ? NEW + id : id),
    });
    this.sessions = new Sessions({
      open: (id, request, text) => this.open(id, request, text),
      start: () => this.start(),
      current: () => this.chat.session,
    });
    this.inspector = explains
      ? new Inspector({
          session: () => this.chat.session || "inspect",
          close: () => this.inspect(false),
          open: (id, request, text) => this.open(id, request, text),
        })
      : null;
    this.layout();
    this.panels.show(this.extensions);
    this.sides();
    const kept = sessionStorage.getItem(this.sessionKey);
    if (kept && !kept.startsWith(NEW)) this.open(kept);
    else this.start(kept?.slice(NEW.length));
    this.sessions.load();
    this.live = new Live(who, found.last_event_id, {
      onEvent: (event) => this.event(event),
      onFrame: (frame) => this.asking.frame(frame),
      onReady: () => this.connected(),
      onState: (up) => this.connection(up),
    });
    this.asking.live = this.live;
    this.elsewhere = new BroadcastChannel(`webbee.erased.${who}`); // this person's other tabs
    this.elsewhere.onmessage = () => this.again(true);
    this.chat.text.focus();
  }

  layout() {
    const tool = (label, sign, act, extra = {}) =>
      h("button.ghost.tool", { "aria-label": label, title: label, onclick: act, ...extra }, icon(sign));
    const inspect = () => this.inspect(this.inspector?.element.hidden);
    this.lens =
      this.inspector && tool(t("inspector"), "inspect", inspect, { "aria-expanded": "false", id: "open-inspector" });
    this.lost = h("p.lost", { role: "alert", hidden: true }, t("offline"));
    this.tabs = h("div.centre-tabs", { role: "tablist", hidden: true });
    const view = (name, label, sign) =>
      h(
        "button",
        { "data-view": name, "aria-pressed": "false", onclick: () => this.view(name) },
        icon(sign),
        h("span", label),
      );
    const views = [
      view("left", t("sessions"), "list"),
      view("chat", t("chat"), "chat"),
      view("right", t("panels"), "panels"),
    ];
    this.views = h("nav.views", { "aria-label": t("navigation") }, views);
    const me = plain(this.caller.imperal_id);
    fill(
      root,
      h(
        "header.top",
        logo(),
        h("h1", "Webbee"),
        h("span.grow"),
        tool(t("apps"), "apps", () =>
          showApps(
            this.extensions,
            () => this.changed(),
            (text) => this.compose(text),
          ),
        ),
        this.lens,
        this.notices.bell,
        h(
          "button.ghost.who-am-i",
          { "aria-label": `${me}: ${t("aboutMe")}`, title: t("aboutMe"), onclick: () => this.me() },
          me,
        ),
        h("button.ghost", { onclick: () => this.leave() }, t("signOut")),
      ),
      this.lost,
      this.notices.element,
      h(
        "div.columns",
        h(
          "div.side.left",
          { role: "complementary", "aria-label": t("panelsLeft") },
          this.sessions.element,
          this.places.left,
        ),
        h("main", this.tabs, this.chat.element, this.places.center),
        h("div.side.right", { role: "complementary", "aria-label": t("panelsRight") }, this.places.right),
        this.inspector?.element,
      ),
      this.views,
    );
    this.view("chat");
  }

  view(name) {
    document.body.dataset.view = name;
    for (const button of this.views.children) button.setAttribute("aria-pressed", String(button.dataset.view === name));
  }

  /** What people call an app. @param {string} id */
  nameOf(id) {
    return plain(this.extensions.find((app) => app.app_id === id)?.display_name || id);
  }

  compose(text) {
    this.view("chat");
    this.centre(null, null);
    this.chat.composer.fill(text);
  }

  sides() {
    document.body.dataset.right = this.places.right.children.length ? "some" : "none";
  }

  // Tabs over the middle: the chat and each centre panel.
  centre(all, one) {
    if (all) this.centres = all;
    this.tabs.hidden = !this.centres.length;
    const show = (panel) => {
      this.chat.element.hidden = Boolean(panel);
      this.places.center.hidden = !panel;
      for (const p of this.centres) p.element.hidden = p !== panel;
      const shown = panel ? panel.element.dataset.panel : "";
      for (const b of this.tabs.children) b.setAttribute("aria-selected", String(b.dataset.panel === shown));
    };
    const tab = (label, panel) =>
      h(
        "button",
        { role: "tab", dataset: { panel: panel ? panel.element.dataset.panel : "" }, onclick: () => show(panel) },
        label,
      );
    if (all)
      fill(
        this.tabs,
        tab(t("chat"), null),
        this.centres.map((p) => tab(p.name, p)),
      );
    show(one && this.centres.includes(one) ? one : null);
  }

  // What the installed apps' authors say can be asked, in the reader's language, each app's first before any second;
  // of an app without examples a function by its name; and what can be asked of the kernel itself.
  examples() {
    const said = this.extensions.filter((app) => app.installed).map(offersOf);
    const first = said.map((one) => one[0]).filter(Boolean);
    const offered = [...first, ...said.flatMap((one) => one.slice(1))];
    return [...offered.slice(0, within(first.length, 4, 6, 4)), t("firstOffer")];
  }

  /** @param {string} id @param {string} [request] the turn to show of it @param {string} [text] in it */
  open(id, request, text) {
    this.view("chat");
    this.chat.open(id, request, text).then(() => this.inspector?.load());
    this.sessions.draw();
  }

  start(id) {
    this.view("chat");
    this.chat.start(id);
    this.sessions.clear();
    this.chat.text.focus();
  }

  answered(body) {
    if (body.session_id === this.chat.session) this.chat.opened(this.chat.session, false);
    for (const p of body.refresh_panels ?? []) this.panels.refresh(p.app_id, [p.panel_id]);
    this.sessions.soon();
    this.settle();
  }

  settle() {
    this.live?.soon();
    this.inspector?.load();
  }

  async changed() {
    this.show((await api("GET", "/v1/extensions")).extensions);
  }

  /** The apps, as a button, a panel or a dialog finds them from here on. */
  show(extensions) {
    this.extensions = extensions;
    learnTitles(extensions);
    this.panels.show(extensions);
    this.sides();
  }

  /** The server may be another one now, with another model and other apps, or an app of it. Where the apps are the
   * same, what is written in a panel stays. */
  async reread(app = "") {
    const { extensions, model } = await api("GET", "/v1/extensions");
    if (JSON.stringify(extensions) !== JSON.stringify(this.extensions)) this.show(extensions);
    else this.panels.again(app);
    const isMine = extensions.some((one) => one.app_id === app && one.installed);
    if (isMine) await api("PUT", `/v1/extensions/${app}/installation`, { refresh: true }); // its sections, too
    this.chat.composer.answeredBy(model);
  }

  inspect(open, message = this.chat.text.value) {
    this.lens.setAttribute("aria-expanded", String(open));
    document.body.classList.toggle("inspecting", open);
    this.inspector?.toggle(open, message);
    if (!open) this.lens.focus();
  }

  event(event) {
    if (event.loaded) this.mended(event.app_id);
    else if (event.kind === "panel_refresh") this.panels.refresh(event.app_id, event.panels ?? []);
    else if (event.kind === "progress") this.chat.progress(event);
    else if (event.kind === "turn") this.turn(event);
    else {
      this.notices.add(event);
      if (event.kind === "result") this.chat.sync();
    }
  }

  // A mended file, or a new one, of an app.
  mended(app) {
    this.notices.mended(app);
    this.reread(app).catch(noNews);
  }

  // The end of a turn that nobody here waits for: another tab asked.
  turn(event) {
    if (this.asking.event(event)) return;
    for (const p of event.refresh_panels ?? []) this.panels.refresh(p.app_id, [p.panel_id]);
    if (event.session_id === this.chat.session) this.chat.sync();
    this.sessions.soon();
  }

  connected() {
    this.asking.resume();
  }

  connection(up) {
    this.lost.hidden = up;
    if (!up) return;
    toast(t("online"));
    this.reread().catch(noNews);
  }

  me(chosen = false) {
    const again = (erased) => {
      if (erased) this.elsewhere.postMessage(null);
      return this.again(erased);
    };
    showMe(this.caller, again, () => this.leave(), chosen);
  }

  /** Begin anew with who is signed in: once everything was `erased`, with nothing of before; in another language where
   * it was chosen. */
  async again(erased) {
    this.live.stop();
    this.elsewhere.close();
    if (erased) {
      this.asking.leave();
      this.traces?.forget();
      for (const key of Object.keys(sessionStorage))
        if (/^webbee\.(draft|session|asked|queue)\./.test(key)) sessionStorage.removeItem(key);
    }
    document.body.classList.remove("inspecting");
    const page = enter(await api("GET", "/v1/extensions"));
    if (!erased) page.me(true);
  }

  leave() {
    this.live.stop();
    this.elsewhere.close();
    this.asking.leave();
    this.traces?.forget();
    setToken("");
    delete document.body.dataset.view;
    document.body.classList.remove("inspecting");
    oidc.end().then(
      (leaving) => leaving || signIn(root, enter),
      () => signIn(root, enter),
    );
  }
}

/** The page of who has just been asked about; the apps' names came in the language that it had before. */
function enter(found) {
  const asked = language();
  const page = new Page(found);
  if (language() !== asked) page.changed();
  return page;
}

async function main() {
  applyTheme();
  speak();
  // A file that is let fall beside a field does not take the place of the page.
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (event) => event.target instanceof HTMLInputElement || event.preventDefault());
  }
  keepFocus(() => document.querySelector("#composer-text, #token"));
  try {
    const back = await oidc.returned();
    if (back === null && !token() && oidc.remembered()) return await oidc.begin(true);
  } catch {
    return signIn(root, enter, t("signInFailed"));
  }
  if (!token()) return signIn(root, enter);
  try {
    enter(await api("GET", "/v1/extensions"));
  } catch (error) {
    if (error.status === 401) setToken("");
    signIn(root, enter, error.status === 401 ? t("badToken") : error.message);
  }
}

main();

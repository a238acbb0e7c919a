// The page: sign in, then chat in the middle, conversations and panels at the sides, the inspector for developers.

import { api, request, setToken, token } from "./api.js";
import { showApps } from "./apps.js";
import { Chat } from "./chat.js";
import { fill, h, icon, plain, time } from "./dom.js";
import { EventReader } from "./events.js";
import { Inspector } from "./inspector.js";
import { toast } from "./overlay.js";
import { Panels } from "./panels.js";
import { Sessions } from "./sessions.js";
import { russian, t } from "./strings.js";

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];
const LOCAL_USERS = [["alice", "русский"], ["bob", "English"], ["dev", "developer"], ["ops", "operator"]];
const FRESH_MS = 120_000;
const root = document.getElementById("app");

document.documentElement.lang = russian ? "ru" : "en";
document.getElementById("skip").textContent = t("skip");

function logo() {
  return h("span.logo", { "aria-hidden": "true" });
}

function signIn(problem = "") {
  const field = h("input", { type: "password", id: "token", autocomplete: "off", required: true, "aria-describedby": "token-hint" });
  const enter = async (value) => {
    try {
      const found = await (await request("GET", "/v1/extensions", { using: value })).json();
      setToken(value);
      new Page(found);
    } catch (error) {
      signIn(error.status === 401 ? t("badToken") : error.message);
    }
  };
  const picks = LOCAL.includes(location.hostname) && h("div.picks", h("p.muted", t("localUsers")), h("div.chips", LOCAL_USERS.map(([name, who]) => h("button.chip", { onclick: () => enter(name) }, h("strong", name), " ", h("span.muted", who)))));
  fill(
    root,
    h(
      "main.sign-in",
      logo(),
      h("h1", t("signInTitle")),
      h("p.muted", t("signInLead")),
      picks,
      h("form", { onsubmit: (e) => (e.preventDefault(), enter(field.value.trim())) }, h("label", { for: "token" }, t("token")), field, h("p.muted", { id: "token-hint" }, t("tokenHint")), problem && h("p.warning", { role: "alert" }, problem), h("button", { type: "submit", class: "primary" }, t("signIn"))),
    ),
  );
}

class Page {
  constructor(found) {
    this.caller = found.caller;
    this.extensions = found.extensions;
    this.notes = [];
    this.sessionKey = `webbee.session.${this.caller.imperal_id}`;
    this.places = { left: h("div.panels"), right: h("div.panels"), center: h("div.panels.centre", { hidden: true }) };
    this.panels = new Panels({ places: this.places, say: (text) => (this.view("chat"), this.chat.say(text)), after: () => this.settle(), centre: (all, one) => this.centre(all, one) });
    this.chat = new Chat({ after: (body) => this.answered(body), act: (app) => this.panels.actor(app), examples: () => this.examples() });
    this.sessions = new Sessions({ open: (id) => this.open(id), start: () => this.start(), current: () => this.chat.session });
    this.inspector = ["developer", "operator"].includes(this.caller.role) && new Inspector({ session: () => this.chat.session || "inspect", close: () => this.inspect(false) });
    this.layout();
    this.panels.show(this.extensions);
    this.sides();
    const kept = sessionStorage.getItem(this.sessionKey);
    if (kept) this.open(kept);
    else this.start();
    this.sessions.load();
    this.events = new EventReader(`${this.caller.tenant_id}.${this.caller.imperal_id}`, (e) => this.event(e), (up) => this.connection(up));
    this.chat.text.focus();
  }

  layout() {
    const tool = (label, sign, act, extra = {}) => h("button.ghost.tool", { "aria-label": label, title: label, onclick: act, ...extra }, sign);
    this.bell = tool(t("notifications"), icon("bell"), () => this.showNotes(), { "aria-expanded": "false", "aria-controls": "notes" });
    this.lens = this.inspector && tool(t("inspector"), icon("inspect"), () => this.inspect(this.inspector.element.hidden), { "aria-expanded": "false", id: "open-inspector" });
    this.noteList = h("section", { id: "notes", class: "notes", "aria-label": t("notifications"), hidden: true });
    this.lost = h("p.lost", { role: "alert", hidden: true }, t("offline"));
    this.tabs = h("div.centre-tabs", { role: "tablist", hidden: true });
    const view = (name, label, sign) => h("button", { "data-view": name, "aria-pressed": "false", onclick: () => this.view(name) }, icon(sign), h("span", label));
    this.views = h("nav.views", { "aria-label": t("navigation") }, view("left", t("sessions"), "list"), view("chat", t("chat"), "chat"), view("right", t("panels"), "panels"));
    fill(
      root,
      h("header.top", logo(), h("h1", "Webbee"), h("span.grow"), tool(t("apps"), icon("apps"), () => showApps(this.extensions, () => this.changed())), this.lens, this.bell, h("span.who-am-i", plain(this.caller.imperal_id)), h("button.ghost", { onclick: () => this.leave() }, t("signOut"))),
      this.lost, this.noteList,
      h("div.columns", h("div.side.left", { role: "complementary", "aria-label": t("panelsLeft") }, this.sessions.element, this.places.left), h("main", this.tabs, this.chat.element, this.places.center), h("div.side.right", { role: "complementary", "aria-label": t("panelsRight") }, this.places.right), this.inspector && this.inspector.element),
      this.views,
    );
    this.view("chat");
  }

  view(name) {
    document.body.dataset.view = name;
    for (const button of this.views.children) button.setAttribute("aria-pressed", String(button.dataset.view === name));
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
      for (const b of this.tabs.children) b.setAttribute("aria-selected", String(b.dataset.panel === (panel ? panel.element.dataset.panel : "")));
    };
    const tab = (label, panel) => h("button", { role: "tab", dataset: { panel: panel ? panel.element.dataset.panel : "" }, onclick: () => show(panel) }, label);
    if (all) fill(this.tabs, tab(t("chat"), null), this.centres.map((p) => tab(p.name, p)));
    show(one && this.centres.includes(one) ? one : null);
  }

  examples() {
    const mine = this.extensions.filter((a) => a.installed).flatMap((a) => (a.functions ?? []).filter((f) => f.action_type === "read").slice(0, 2));
    const russianCaller = plain(this.caller.language).startsWith("ru");
    return mine.map((f) => (f.examples ?? []).find((e) => /[а-яё]/i.test(e) === russianCaller)).filter(Boolean).slice(0, 4);
  }

  open(id) {
    sessionStorage.setItem(this.sessionKey, id);
    this.view("chat");
    this.chat.open(id).then(() => this.inspector && this.inspector.load());
    this.sessions.draw();
  }

  start() {
    sessionStorage.removeItem(this.sessionKey);
    this.view("chat");
    this.chat.start();
    this.sessions.draw();
    this.chat.text.focus();
  }

  answered(body) {
    sessionStorage.setItem(this.sessionKey, body.session_id);
    for (const p of body.refresh_panels ?? []) this.panels.refresh(p.app_id, [p.panel_id]);
    this.sessions.load();
    this.settle();
  }

  settle() {
    this.events?.soon();
    if (this.inspector) this.inspector.load();
  }

  async changed() {
    this.extensions = (await api("GET", "/v1/extensions")).extensions;
    this.panels.show(this.extensions);
    this.sides();
  }

  inspect(open) {
    this.inspector.toggle(open, this.chat.text.value);
    this.lens.setAttribute("aria-expanded", String(open));
    document.body.classList.toggle("inspecting", open);
    if (!open) this.lens.focus();
  }

  event(event) {
    if (event.kind === "panel_refresh") return this.panels.refresh(event.app_id, event.panels ?? []);
    if (event.kind === "progress") return this.chat.progress(event);
    const text = event.kind === "result" ? [t("lateResult", { name: plain(event.name) }), plain(event.data?.summary ?? event.error ?? "")].filter(Boolean).join(": ") : plain(event.text ?? event.message);
    this.notes.unshift({ ...event, text });
    if (Date.now() - new Date(event.at).getTime() < FRESH_MS) toast(text, event.kind === "fault" ? "error" : event.kind);
    this.count();
  }

  count() {
    const n = this.notes.filter((x) => !x.read).length;
    fill(this.bell, icon("bell"), n > 0 && h("span.count", { "aria-hidden": "true" }, n));
    this.bell.setAttribute("aria-label", n ? `${t("notifications")}: ${t("unread", { n })}` : t("notifications"));
    if (!this.noteList.hidden) this.drawNotes();
  }

  showNotes() {
    this.noteList.hidden = !this.noteList.hidden;
    this.bell.setAttribute("aria-expanded", String(!this.noteList.hidden));
    this.notes.forEach((note) => (note.read = true));
    this.count();
  }

  drawNotes() {
    const row = (n) => h("li.n-item", h("span.n-item-title", n.text), h("span.n-meta", [t(`event_${n.kind}`), plain(n.app_id), time(n.at)].filter(Boolean).join(" · ")), n.frames?.length > 0 && h("pre.frames", n.frames.map(plain).join("\n")));
    fill(this.noteList, h("h2", t("notifications")), this.notes.length ? h("ul.n-list", this.notes.map(row)) : h("p.muted", t("noNotifications")));
  }

  connection(up) {
    this.lost.hidden = up;
    if (up) toast(t("online"));
  }

  leave() {
    this.events.stop();
    setToken("");
    delete document.body.dataset.view;
    document.body.classList.remove("inspecting");
    signIn();
  }
}

async function main() {
  if (!token()) return signIn();
  try {
    new Page(await api("GET", "/v1/extensions"));
  } catch (error) {
    if (error.status === 401) setToken("");
    signIn(error.status === 401 ? t("badToken") : error.message);
  }
}

main();

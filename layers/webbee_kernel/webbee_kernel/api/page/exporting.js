// One's own name: what is kept of a person as a file, its end, and how the page looks.

import { api, isLocal, request } from "./api.js";
import { fill, h, icon, plain } from "./dom.js";
import { ask, dialog, toast } from "./overlay.js";
import { chosenLanguage, setLanguage, setTheme, theme } from "./preferences.js";
import { languages, t, time } from "./strings.js";

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const fileName = (title) =>
  title
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .slice(0, 60) || "webbee";

// Who opens the file fetches no picture of it: its address could tell a stranger what was said.
const unpictured = (text) => plain(text).replace(/!(?=\[)|<(?=[a-z])/gi, "$& ");

/** A conversation as Markdown, all of its pages. */
export async function exportSession(id, title) {
  try {
    const turns = [];
    let cursor = "";
    do {
      const found = await api("GET", `/v1/sessions/${id}${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ""}`);
      turns.unshift(...found.turns);
      cursor = found.cursor;
    } while (cursor);
    const told = turns.flatMap(({ at, message, reply }) => [
      `**${t("you")}** (${time(at)})\n\n${unpictured(message)}\n`,
      `**${t("webbee")}**\n\n${unpictured(reply)}\n`,
    ]);
    save(`${fileName(title)}.md`, "text/markdown", `# ${unpictured(title)}\n\n${told.join("\n")}`);
  } catch (error) {
    toast(error.message, "error");
  }
}

/** Everything, part by part. */
async function exportMe(says) {
  const lines = [];
  let cursor = "";
  do {
    const response = await request("GET", `/v1/me/export${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ""}`);
    const part = (await response.text()).trim().split("\n");
    const last = JSON.parse(part.at(-1) ?? "{}");
    cursor = last.kind === "more" ? last.cursor : "";
    lines.push(...(cursor ? part.slice(0, -1) : part)); // the end's own line tells that the file is whole
    says(lines.length - (cursor ? 0 : 1));
  } while (cursor);
  save("webbee-export.ndjson", "application/x-ndjson", `${lines.join("\n")}\n`);
}

/** Addresses that are not asked about again, each with a button that takes it back. */
async function accepted(list) {
  const found = (await api("GET", "/v1/me/accepted")).accepted;
  const row = (one) => {
    const revoke = async () => {
      await api("DELETE", `/v1/me/accepted?key=${encodeURIComponent(one.key)}`);
      await accepted(list);
    };
    const what = `${plain(one.app_id)} – ${plain(one.fn_name).replace(/_/g, " ")}: `;
    const to = h("strong", plain(one.destination) || t("ownService"));
    return h("li", what, to, " ", h("button.secondary.small", { onclick: revoke }, t("askAgain")));
  };
  fill(list, found.length ? found.map(row) : h("li.muted", t("acceptedNone")));
}

/** Erase everything, which `says` how far it is, asked again until nothing is left; false if it was not confirmed. */
async function eraseMe(says) {
  const { confirm } = await api("DELETE", "/v1/me");
  const goes = [t("eraseAsk"), t("eraseElsewhere"), isLocal && t("eraseLocal")].filter(Boolean).join(" ");
  if (!(await ask(goes, t("eraseAll"), t("eraseTitle")))) return false;
  says(t("erasing"));
  let found;
  do found = await api("DELETE", `/v1/me?confirm=${encodeURIComponent(confirm)}`);
  while (found.status === "erasing");
  return true;
}

const select = (label, value, options, onchange, autofocus = false) =>
  h(
    "label.choice",
    h("span", label),
    h(
      "select",
      { autofocus, onchange: (event) => onchange(event.target.value) },
      options.map(([key, name]) => h("option", { value: key, selected: key === value }, name)),
    ),
  );

/** The dialog behind one's own name. `again()` begins the page anew: in another language, or with nothing kept.
 * `leave()` signs out; `chosen`: the language was chosen a moment ago. */
export function showMe(caller, again, leave, chosen = false) {
  const said = h("p.muted", { role: "status" }, t("exportLead"));
  const busy = (button, work) => async () => {
    if (button().ariaBusy === "true") return;
    button().setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (error) {
      said.textContent = error.message;
    }
    button().removeAttribute("aria-busy");
  };
  const save = h(
    "button.secondary",
    {
      onclick: busy(
        () => save,
        () => exportMe((n) => (said.textContent = t("exported", { n }))),
      ),
    },
    icon("save"),
    t("exportAll"),
  );
  const erase = h(
    "button.danger",
    {
      onclick: busy(
        () => erase,
        async () => {
          if (!(await eraseMe((text) => (said.textContent = text)))) return;
          await again(true); // what it says is so, also in the panels
          box.close();
          toast(t("erased"));
        },
      ),
    },
    t("eraseAll"),
  );
  const looks = [
    select(
      t("theme"),
      theme(),
      [
        ["", t("asSystem")],
        ["light", t("light")],
        ["dark", t("dark")],
      ],
      setTheme,
    ),
    select(
      t("language"),
      chosenLanguage(),
      [["", t("asSystem")], ...languages()],
      (tag) => {
        setLanguage(tag);
        box.close();
        again(false);
      },
      chosen,
    ),
  ];
  const who = [plain(caller.email), plain(caller.role)].filter(Boolean).join(" · ");
  const out = h("button.secondary", { onclick: () => (box.close(), leave()) }, t("signOut"));
  const list = h("ul.accepted");
  const kept = h("div", h("h3.n-heading", t("acceptedTitle")), list);
  accepted(list).catch((error) => (list.textContent = error.message));
  const box = dialog(plain(caller.imperal_id), [
    who && h("p", who),
    h("div.choices", looks),
    said,
    save,
    kept,
    erase,
    out,
  ]);
}

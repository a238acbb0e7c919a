// Files to keep: one conversation as text, or everything that is kept of a person as lines of JSON.

import { api, request } from "./api.js";
import { h, icon, plain } from "./dom.js";
import { dialog, toast } from "./overlay.js";
import { t, time } from "./strings.js";

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
    const told = turns.map(
      (turn) =>
        `**${t("you")}** (${time(turn.at)})\n\n${plain(turn.message)}\n\n**${t("webbee")}**\n\n${plain(turn.reply)}\n`,
    );
    save(`${fileName(title)}.md`, "text/markdown", `# ${title}\n\n${told.join("\n")}`);
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
    const last = JSON.parse(part.pop() ?? "{}");
    lines.push(...part);
    cursor = last.kind === "more" ? last.cursor : "";
    says(lines.length);
  } while (cursor);
  save("webbee-export.ndjson", "application/x-ndjson", `${lines.join("\n")}\n`);
}

/** The dialog behind one's own name: what is kept, as a file. */
export function showMe(caller) {
  const said = h("p.muted", { role: "status" }, t("exportLead"));
  const run = async () => {
    button.setAttribute("aria-busy", "true");
    try {
      await exportMe((n) => (said.textContent = t("exported", { n })));
    } catch (error) {
      said.textContent = error.message;
    }
    button.removeAttribute("aria-busy");
  };
  const button = h("button.secondary", { onclick: run }, icon("save"), t("exportAll"));
  const who = [plain(caller.email), plain(caller.role)].filter(Boolean).join(" · ");
  dialog(plain(caller.imperal_id), [who && h("p", who), said, button]);
}

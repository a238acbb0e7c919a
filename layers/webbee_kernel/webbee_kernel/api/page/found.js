// What was said in any conversation: found by its words, opened where it was said.

import { api } from "./api.js";
import { fill, h, plain } from "./dom.js";
import { t, time } from "./strings.js";

const SHORTEST = 2;
const ENOUGH = 10; // matches after which no earlier conversations are read by themselves
const MOST_PAGES = 5;

const unmarked = (text) => text.replace(/[*`#]+/g, "");

/** What holds every word stands first, however far back it was said; of as many words answers before questions. */
const rank = ({ lacks, where }) => 2 * lacks.length + Number(where !== "reply");

export class Found {
  /** `open(session, request, text)` shows a conversation at one of its turns, where a text stands. */
  constructor(open) {
    this.open = open;
    this.asked = 0;
    this.matches = [];
    this.but = "";
    this.list = h("ul.sessions.found");
    this.more = h(
      "button.ghost.small",
      { hidden: true, onclick: () => this.go(this.words, this.cursor) },
      t("earlierOnes"),
    );
    this.note = h("p.n-meta", { role: "status" });
    this.element = h("div.found-box", { hidden: true }, this.note, this.list, this.more);
  }

  /** Search for these words; none end the search. */
  look(words) {
    this.words = words;
    this.asked += 1;
    this.matches = [];
    fill(this.list);
    this.element.hidden = words.length < SHORTEST;
    if (!this.element.hidden) return this.go(words);
  }

  /** @param {string} words @param {string | null} cursor */
  async go(words, cursor = "") {
    const asked = this.asked;
    this.note.textContent = t("loading");
    const enough = this.matches.length + ENOUGH;
    for (let page = 0; page < MOST_PAGES && cursor !== null && this.matches.length < enough; page += 1) {
      const query = new URLSearchParams({ q: words, ...(cursor && { cursor }) });
      const found = await api("GET", `/v1/search?${query}`).catch((error) => ({ error }));
      if (asked !== this.asked) return;
      if (found.error) return void (this.note.textContent = found.error.message);
      this.matches.push(...found.matches.filter((match) => match.request_id !== this.but));
      this.matches.sort((one, other) => rank(one) - rank(other));
      fill(
        this.list,
        this.matches.map((match) => this.row(match)),
      );
      cursor = found.cursor;
    }
    this.cursor = cursor;
    this.more.hidden = !cursor;
    const count = this.matches.length;
    this.note.textContent = count ? t("saidThere", { n: count }) : t("noneFound");
  }

  row({ session_id, request_id, title, at, excerpt, start, end, where, lacks }) {
    const points = [...plain(excerpt)];
    const part = (from, to) => points.slice(from, to).join("");
    const said = [unmarked(part(0, start)), h("mark", part(start, end)), unmarked(part(end))];
    return h(
      "li.session",
      h(
        "button.found-open",
        { onclick: () => this.open(session_id, request_id, part(start, end)) },
        h("span.session-title", plain(title) || t("untitled")),
        h("span.n-meta", time(at)),
        h("span.found-text", h("span.sr", `${t(where === "reply" ? "webbee" : "you")}: `), "… ", said, " …"),
        lacks.length > 0 && h("span.n-meta", `${t("lacks")} `, h("s", lacks.join(" "))),
      ),
    );
  }
}

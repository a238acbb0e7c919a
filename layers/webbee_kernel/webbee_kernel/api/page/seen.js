// Which events this browser has seen: the last id, and the newest ids by themselves, because one that was stored
// late may sort earlier and one that is sent twice is shown once. Ids begin with their time in ms, 12 hex digits.

const OVERLAP_MS = 120_000;
const REMEMBERED = 400;

export class Seen {
  /** `start`: the id to begin at where this browser has seen none. */
  constructor(who, start = "") {
    this.key = `webbee.events.${who}`;
    const kept = JSON.parse(localStorage.getItem(this.key) ?? "{}");
    this.last = kept.last || start;
    this.ids = new Set(kept.seen ?? []);
  }

  /** Those of the events that are new, each once. Where `all` before them have come, reading goes on behind them. */
  fresh(events, all = true) {
    const found = events.filter((event) => event.id && !this.ids.has(event.id) && this.ids.add(event.id));
    for (const event of events) if (all && event.id > this.last) this.last = event.id;
    if (found.length) this.keep();
    return found;
  }

  /** All up to this id has been sent. */
  reached(id) {
    if (!id || id <= this.last) return;
    this.last = id;
    this.keep();
  }

  keep() {
    while (this.ids.size > REMEMBERED) this.ids.delete(this.ids.values().next().value);
    localStorage.setItem(this.key, JSON.stringify({ last: this.last, seen: [...this.ids] }));
  }

  /** Where to read from: a little before the last id. */
  since() {
    const at = parseInt(this.last.slice(0, 12), 16);
    return Number.isNaN(at)
      ? this.last
      : Math.max(0, at - OVERLAP_MS)
          .toString(16)
          .padStart(12, "0");
  }
}

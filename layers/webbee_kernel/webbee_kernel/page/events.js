// Stored events since the last one seen, over and over: a Server-Sent Events reader that can send a token.
//
// Nothing is lost: an event may be stored a moment after a later one, so each question starts a little before the last id seen.
// Nothing is shown twice: ids that were seen are remembered. Ids begin with their time in milliseconds, 12 hex digits.

import { request } from "./api.js";

const OVERLAP_MS = 120_000;
const FULL = 100;
const REMEMBERED = 400;
const SLOWEST_MS = 60_000;
const QUIET_MS = 15_000;
const QUIET_AFTER_MS = 120_000;

export class EventReader {
  constructor(who, onEvent, onState) {
    this.key = `webbee.events.${who}`;
    this.onEvent = onEvent;
    this.onState = onState;
    this.retry = 3000;
    this.failures = 0;
    this.timer = 0;
    this.stopped = false;
    this.again = false;
    const kept = JSON.parse(localStorage.getItem(this.key) ?? "{}");
    this.last = kept.last ?? "";
    this.seen = new Set(kept.seen ?? []);
    this.wake = () => document.visibilityState === "visible" && this.soon();
    document.addEventListener("visibilitychange", this.wake);
    this.soon();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.wake);
  }

  soon() {
    this.lively = Date.now();
    if (this.busy) this.again = true;
    else this.schedule(0);
  }

  schedule(ms) {
    clearTimeout(this.timer);
    if (!this.stopped) this.timer = setTimeout(() => this.read(), ms);
  }

  async read() {
    this.busy = true;
    this.again = false;
    try {
      const since = this.since();
      const response = await request("GET", "/v1/events", { headers: since ? { "last-event-id": since } : {} });
      const found = parse(await response.text());
      this.retry = found.retry ?? this.retry;
      this.take(found.events);
      if (found.events.length >= FULL) this.again = true;
      if (this.failures) this.onState(true);
      this.failures = 0;
    } catch (error) {
      if (error.status === 401) this.stop();
      this.failures += 1;
      if (this.failures === 2) this.onState(false);
    }
    this.busy = false;
    const quiet = document.visibilityState !== "visible" || Date.now() - this.lively > QUIET_AFTER_MS;
    const slow = quiet ? Math.max(QUIET_MS, this.retry) : this.retry;
    this.schedule(this.again && !this.failures ? 0 : Math.min(SLOWEST_MS, slow * 2 ** Math.min(this.failures, 5)));
  }

  // Where to read from: a little before the last id, unless the last answer was full, then right after it.
  since() {
    if (!this.last || this.full) return this.last;
    const at = parseInt(this.last.slice(0, 12), 16);
    return Number.isNaN(at) ? this.last : Math.max(0, at - OVERLAP_MS).toString(16).padStart(12, "0");
  }

  take(events) {
    this.full = events.length >= FULL;
    const fresh = events.filter((event) => event.id && !this.seen.has(event.id));
    for (const event of events) {
      this.seen.add(event.id);
      if (event.id > this.last) this.last = event.id;
    }
    while (this.seen.size > REMEMBERED) this.seen.delete(this.seen.values().next().value);
    if (fresh.length) this.lively = Date.now();
    if (fresh.length) localStorage.setItem(this.key, JSON.stringify({ last: this.last, seen: [...this.seen] }));
    for (const event of fresh) this.onEvent(event);
  }
}

// text/event-stream: blocks of `field: value` lines.
export function parse(text) {
  const events = [];
  let retry;
  for (const block of text.split(/\n\n+/)) {
    const event = { id: "", kind: "message", data: "" };
    for (const line of block.split("\n")) {
      const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (name === "id") event.id = value;
      else if (name === "event") event.kind = value;
      else if (name === "data") event.data += (event.data && "\n") + value;
      else if (name === "retry" && /^\d+$/.test(value)) retry = Number(value);
    }
    if (event.data) events.push({ ...JSON.parse(event.data), id: event.id, kind: event.kind });
  }
  return { events, retry };
}

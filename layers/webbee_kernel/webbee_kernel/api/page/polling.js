// Events where no socket can be had: GET /v1/events over and over, less often while nobody looks.

import { request } from "./api.js";

const FULL = 100;
const SLOWEST_MS = 60_000;
const QUIET_MS = 15_000;
const QUIET_AFTER_MS = 120_000;

export class Polling {
  /** @param {import("./seen.js").Seen} seen */
  constructor(seen, onEvents, onState) {
    this.seen = seen;
    this.onEvents = onEvents;
    this.onState = onState;
    this.retry = 3000;
    this.failures = 0;
    this.timer = 0;
    this.on = false;
    this.again = false;
    this.full = false;
    this.busy = false;
    this.lively = 0;
  }

  start() {
    if (this.on) return;
    this.on = true;
    this.soon();
  }

  stop() {
    this.on = false;
    clearTimeout(this.timer);
  }

  soon() {
    this.lively = Date.now();
    if (this.busy) this.again = true;
    else if (this.on) this.schedule(0);
  }

  schedule(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      await this.read();
      if (this.on) this.schedule(this.pause());
    }, ms);
  }

  pause() {
    if (this.again && !this.failures) return 0;
    const quiet = document.visibilityState !== "visible" || Date.now() - this.lively > QUIET_AFTER_MS;
    return Math.min(
      SLOWEST_MS,
      (quiet ? Math.max(QUIET_MS, this.retry) : this.retry) * 2 ** Math.min(this.failures, 5),
    );
  }

  /** One question for what was stored since. */
  async read() {
    this.busy = true;
    this.again = false;
    try {
      const since = this.full ? this.seen.last : this.seen.since();
      const response = await request("GET", "/v1/events", { headers: since ? { "last-event-id": since } : {} });
      const found = parse(await response.text());
      this.retry = found.retry || this.retry;
      this.full = this.again = found.events.length >= FULL || found.retry === 0;
      const fresh = this.seen.fresh(found.events);
      if (fresh.length) this.lively = Date.now();
      this.onEvents(fresh);
      if (this.on) this.onState(true);
      this.failures = 0;
    } catch (error) {
      if (error.status === 401) this.stop();
      this.failures += 1;
      if (this.failures === 2) this.onState(false);
    }
    this.busy = false;
  }
}

/** text/event-stream: blocks of `field: value` lines. */
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

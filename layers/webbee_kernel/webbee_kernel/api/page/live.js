// The socket: opened with a ticket, opened again where it ends, and what was missed meanwhile is sent again. Where a
// deployment or a proxy has no sockets, events are polled and `ready` stays false.

import { api } from "./api.js";
import { Polling } from "./polling.js";
import { Seen } from "./seen.js";

const FIRST_RETRY_MS = 400;
const SLOWEST_MS = 4_000; // somebody looks at the page, and waits
const UNSEEN_MS = 30_000;
const PING_MS = 240_000; // API Gateway ends what was silent for ten minutes
const PONG_MS = 5_000;
const STALE_MS = 30_000;
const TOLD_AFTER_MS = 2_000; // a shorter break is nobody's business
const REFUSED = 2; // sockets that failed to open before events are polled

export class Live {
  /** What came after `start`, an event's id, is asked for where this browser has seen none. `onEvent` gets each event
   * once, `onFrame` the frames of turns, `onReady` runs when what was missed has come, `onState(up)` when the
   * connection is lost for longer than a moment, and when it is back. */
  constructor(who, start, { onEvent, onFrame, onReady, onState }) {
    this.onEvent = onEvent;
    this.onFrame = onFrame;
    this.onReady = onReady;
    this.onState = onState;
    this.seen = new Seen(who, start);
    this.polling = new Polling(
      this.seen,
      (events) => events.forEach(onEvent),
      (up) => this.state(up),
    );
    this.socket = null;
    this.ready = false;
    this.stopped = false;
    this.failures = 0;
    this.refused = 0;
    this.up = true;
    this.heard = 0;
    this.timers = { retry: 0, ping: 0, pong: 0, told: 0 };
    this.wake = () => document.visibilityState === "visible" && this.look();
    this.online = () => this.soon();
    this.offline = () => this.lose();
    document.addEventListener("visibilitychange", this.wake);
    addEventListener("online", this.online);
    addEventListener("offline", this.offline);
    this.connect();
  }

  stop() {
    this.stopped = true;
    document.removeEventListener("visibilitychange", this.wake);
    removeEventListener("online", this.online);
    removeEventListener("offline", this.offline);
    Object.values(this.timers).forEach(clearTimeout);
    this.polling.stop();
    this.drop();
  }

  /** Say something; false where no socket is open. */
  send(frame) {
    if (!this.ready || this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  /** Something may have changed: a page without a socket asks, one with a socket hears of it. */
  soon() {
    if (this.socket) return;
    if (this.polling.on) return this.polling.soon();
    clearTimeout(this.timers.retry);
    this.connect();
  }

  /** Is the other end still there? Asked where nothing was heard for a while. */
  look(after = STALE_MS) {
    if (!this.socket) return this.soon();
    if (Date.now() - this.heard < after) return;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send('{"type":"ping"}');
    clearTimeout(this.timers.pong);
    this.timers.pong = setTimeout(() => this.lose(), PONG_MS);
  }

  async connect() {
    if (this.stopped || this.socket || this.connecting) return;
    this.connecting = true;
    try {
      const { url } = await api("POST", "/v1/live");
      if (!this.stopped) this.open(url);
    } catch (error) {
      if (error.status === 401) this.state(false);
      else if (error.status === 404) this.poll();
      else this.later();
    }
    this.connecting = false;
  }

  open(url) {
    const socket = new WebSocket(url);
    let opened = false;
    this.socket = socket;
    socket.addEventListener("open", () => {
      opened = true;
      this.refused = 0;
      this.heard = Date.now();
      socket.send(JSON.stringify({ type: "hello", last_event_id: this.seen.last }));
      clearInterval(this.timers.ping);
      this.timers.ping = setInterval(() => this.look(0), PING_MS);
    });
    socket.addEventListener("message", (message) => socket === this.socket && this.take(JSON.parse(message.data)));
    socket.addEventListener("close", () => {
      if (!opened && (this.refused += 1) >= REFUSED) this.polling.start();
      if (socket === this.socket) this.lose();
    });
  }

  take(frame) {
    this.heard = Date.now();
    clearTimeout(this.timers.pong);
    if (frame.type === "ready") {
      this.seen.reached(frame.last_event_id);
      this.ready = true;
      this.failures = 0;
      this.polling.stop();
      this.state(true);
      this.onReady();
    } else if (frame.type === "event" && frame.fetch) this.polling.read();
    else if (frame.type === "event") {
      // Before `ready` an event may come ahead of what was missed: it says nothing about those before it.
      const event = { ...frame.data, id: frame.id, at: frame.at, kind: frame.kind };
      this.seen.fresh([event], this.ready).forEach(this.onEvent);
    } else if (frame.type !== "pong") {
      if (frame.id) this.seen.fresh([{ id: frame.id }], this.ready); // the event of the same is no news
      this.onFrame(frame);
    }
  }

  lose() {
    this.drop();
    this.later();
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    this.ready = false;
    clearInterval(this.timers.ping);
    clearTimeout(this.timers.pong);
    socket?.close();
  }

  later() {
    if (this.stopped) return;
    if (this.up && !this.polling.on) this.timers.told ||= setTimeout(() => this.state(false), TOLD_AFTER_MS);
    const slowest = document.visibilityState === "visible" ? SLOWEST_MS : UNSEEN_MS;
    const wait = Math.min(slowest, FIRST_RETRY_MS * 2 ** this.failures) * (0.7 + Math.random() * 0.6);
    this.failures += 1;
    clearTimeout(this.timers.retry);
    this.timers.retry = setTimeout(() => this.connect(), this.polling.on ? UNSEEN_MS * 2 : wait);
  }

  poll() {
    this.polling.start();
    this.onReady();
  }

  state(up) {
    clearTimeout(this.timers.told);
    this.timers.told = 0;
    if (up !== this.up) this.onState((this.up = up));
  }
}

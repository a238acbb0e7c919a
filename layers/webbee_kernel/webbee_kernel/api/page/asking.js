// Turns that were asked and have no answer yet. Each is kept until it has one: over a break of the connection, a
// reload, a server that starts anew. The same request id asked again runs nothing twice.

import { ApiError, api, refusal } from "./api.js";

const AGAIN_MS = 12_000; // a turn whose process died is begun anew ten seconds later
const SILENT_MS = 8_000;
const LOST_MS = 3_000;

export class Asking {
  /** `ended(one)` runs when a turn has its `body`, or its `error`; `changed(one)` when it went on.
   * @param {{who: string, ended: Function, changed: Function}} on */
  constructor({ who, ended, changed }) {
    this.ended = ended;
    this.changed = changed;
    this.key = `webbee.asked.${who}`;
    /** @type {Map<string, any>} */
    this.open = new Map();
    /** @type {import("./live.js").Live | null} */
    this.live = null;
    for (const kept of JSON.parse(sessionStorage.getItem(this.key) ?? "[]")) this.open.set(kept.id, running(kept));
  }

  /** Those of a session, oldest first. */
  of(session) {
    return [...this.open.values()].filter((one) => one.session === session);
  }

  message(id, session, message) {
    return this.add({ id, session, message, at: new Date().toISOString() });
  }

  /** `how` are texts that were rewritten on the card, and whether to remember its destinations. */
  answer(id, session, message, accept, how = {}) {
    return this.add({ id, session, message, accept, how, at: new Date().toISOString() });
  }

  add(asked) {
    const one = running(asked);
    this.open.set(one.id, one);
    this.keep();
    this.send(one);
    return one;
  }

  /** Ask again for all that is open: the connection is there, or there again. */
  resume() {
    for (const one of this.open.values()) this.send(one);
  }

  send(one) {
    clearTimeout(one.timer);
    if (!this.live) return; // `resume` comes with it
    if (this.live.send(frameOf(one))) {
      Object.assign(one, { sent: true, trace: [] });
      one.timer = setTimeout(() => this.silent(one), SILENT_MS);
    } else if (this.live.polling.on) this.post(one);
    // else the socket is being opened, and `resume` follows
  }

  /** Nothing was heard of it: look whether anybody is there. */
  silent(one) {
    this.live?.look(SILENT_MS / 2);
    one.timer = setTimeout(() => this.open.has(one.id) && this.send(one), AGAIN_MS);
  }

  async post(one) {
    const confirms = one.accept !== undefined;
    const body = confirms
      ? { accept: one.accept, ...one.how }
      : { message: one.message, session_id: one.session, request_id: one.id };
    try {
      const found = await api("POST", confirms ? `/v1/confirmations/${one.id}` : "/v1/chat", body);
      if (found.status === "working") one.timer = setTimeout(() => this.send(one), AGAIN_MS);
      else this.end(one, found);
    } catch (error) {
      if (error.status) return this.end(one, null, error);
      one.timer = setTimeout(() => this.send(one), LOST_MS); // it may have arrived: asked again it runs once
    }
  }

  /** Stop it: within a second no further call starts. */
  async stop(one) {
    one.stopping = true;
    this.changed(one);
    if (this.live?.send({ type: "stop", request_id: one.id })) return;
    try {
      await api("POST", `/v1/turns/${encodeURIComponent(one.id)}/stop`);
    } catch {
      one.stopping = false; // it goes on, and its answer comes
      this.changed(one);
    }
  }

  /** A frame of the socket. */
  frame(frame) {
    const one = this.open.get(frame.request_id) ?? (frame.type === "error" && this.refusedYes());
    if (!one) return;
    clearTimeout(one.timer);
    if (frame.type === "error") return this.end(one, null, refusal(400, frame));
    if (frame.type === "turn.ended") return this.ending(one, frame);
    if (frame.type === "turn.started") Object.assign(one, { calls: [], text: "", started: true });
    else if (frame.type === "text") one.text += frame.text;
    else if (frame.type === "call.started") one.calls.push({ ...frame, status: "running" });
    else if (frame.type === "call.ended") this.callEnded(one, frame);
    else if (frame.type === "trace") one.trace.push(frame);
    this.changed(one, frame);
  }

  callEnded(one, frame) {
    const at = one.calls.findLastIndex((call) => call.call === frame.call);
    if (at < 0) one.calls.push(frame);
    else one.calls[at] = { ...one.calls[at], ...frame };
  }

  // A yes has no request id of its own to be refused by.
  refusedYes() {
    return [...this.open.values()].find((one) => one.accept !== undefined && one.sent);
  }

  /** An event of kind `turn`, or the last frame: whichever comes first. */
  ending(one, told) {
    if (told.status === "working") one.timer = setTimeout(() => this.send(one), AGAIN_MS);
    else if (told.fetch) this.end(one, null, new ApiError(0, "fetch", ""));
    else if (told.status === "error" && told.error)
      this.end(one, null, refusal(told.error.retry_after ? 429 : 500, told));
    else this.end(one, told);
  }

  event(event) {
    const one = this.open.get(event.request_id);
    if (one) this.ending(one, event);
    return Boolean(one);
  }

  /** @param {any} one @param {any} body @param {Error | null} error */
  end(one, body, error = null) {
    if (!this.open.delete(one.id)) return;
    clearTimeout(one.timer);
    this.keep();
    Object.assign(one, { body, error });
    this.ended(one);
  }

  keep() {
    const kept = [...this.open.values()].map(({ id, session, message, accept, how, at }) => ({
      id,
      session,
      message,
      accept,
      how,
      at,
    }));
    sessionStorage.setItem(this.key, JSON.stringify(kept));
  }

  leave() {
    for (const one of this.open.values()) clearTimeout(one.timer);
    sessionStorage.removeItem(this.key);
    this.open.clear();
  }
}

const running = (asked) => ({ ...asked, calls: [], text: "", trace: [], progress: null, timer: 0, sent: false });

function frameOf(one) {
  if (one.accept !== undefined) return { type: "confirm", confirmation_id: one.id, accept: one.accept, ...one.how };
  return { type: "turn", message: one.message, session_id: one.session, request_id: one.id };
}

// Where the time of a developer's turns went. It comes over the socket once and holds whole prompts: it is kept in this
// browser, until its user signs out, and nowhere else.

const TURNS = "turns";
const MOST = 100;

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Traces {
  constructor(who) {
    this.name = `webbee.traces.${who}`;
    this.database = null;
  }

  async turns(mode) {
    this.database ??= this.open();
    return (await this.database).transaction(TURNS, mode).objectStore(TURNS);
  }

  open() {
    const asked = indexedDB.open(this.name, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(TURNS, { keyPath: "id" }).createIndex("at", "at");
    return done(asked);
  }

  /** Keep a turn's; the oldest go. A browser that keeps nothing (a private window) is no reason to fail. */
  async keep(id, spans) {
    try {
      const turns = await this.turns("readwrite");
      await done(turns.put({ id, at: Date.now(), spans }));
      const ids = await done(turns.index("at").getAllKeys());
      for (const old of ids.slice(0, -MOST)) turns.delete(old);
    } catch (error) {
      console.info("traces are not kept:", error.name);
    }
  }

  /** Those of the requests that a turn answered, in their order. */
  async of(ids) {
    try {
      const turns = await this.turns("readonly");
      const found = await Promise.all(ids.map((id) => done(turns.get(id))));
      return found.filter(Boolean).map((one) => one.spans);
    } catch {
      return [];
    }
  }

  forget() {
    this.database?.then((database) => database.close());
    indexedDB.deleteDatabase(this.name);
  }
}

// The events of a thread: server-sent events read by fetch, resumed by number after a lost connection.

import { pauseAfter, Sleep } from "./pause.js";

const FIRST_RECONNECT_MS = 500;
const LONGEST_RECONNECT_MS = 30_000;
/** Longer than the desk's heartbeat: a silent connection is a lost one. */
const SILENCE_MS = 45_000;
const FIELD = /^(\w+): ?(.*)$/gm;
const GONE = 410;
/** Statuses of a thread that is closed, deleted, or another caller's. */
const OVER = /40[134]/;

/** Parse the events of a stream from the pieces of its text; `onpiece` is called for each piece. */
async function* readEvents(body, onpiece) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onpiece();
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries([...block.matchAll(FIELD)].map(([, ...field]) => field));
      if (fields.event) yield fields;
    }
  }
}

/** Follows a thread from an event on, while the page is visible. */
export class Stream {
  /**
   * @param {Client} client
   * @param {string} thread
   * @param {number} last the number of the event before the first one wanted.
   * @param {{onevent: (kind: string, data: object, n: number) => void,
   *   onstate: (isLinked: boolean) => void, onover: (response: Response) => void,
   *   ongap: () => void}} listener
   *   `onover` is called once where the thread cannot be followed any more, `ongap` where events
   *   are too old to be read again and the stream goes on from now.
   */
  constructor(client, thread, last, listener) {
    this.client = client;
    this.address = client.threads(thread, "events");
    Object.assign(this, listener);
    this.last = String(last);
    this.attempts = 0;
    this.sleep = new Sleep();
    this.isStopped = false;
    this.life = new AbortController();
    const { signal } = this.life;
    document.addEventListener("visibilitychange", () => this.changed(), { signal });
    this.follow();
  }

  stop() {
    this.isStopped = true;
    this.release();
    this.life.abort();
    this.request?.abort();
    this.sleep.wake();
  }

  /** Browsers have few connections for all pages of a site: of the hidden ones `hold` has one. */
  get isIdle() {
    return (document.hidden && !this.letGo) || !navigator.onLine;
  }

  /** Keep the connection of a hidden page in which a person is awaited, unless another page does. */
  hold() {
    const keep = (lock) =>
      lock &&
      new Promise((letGo) => {
        this.letGo = letGo;
        this.sleep.wake();
      });
    navigator.locks?.request(this.address.href, { ifAvailable: true }, keep);
  }

  release() {
    this.letGo?.();
    this.letGo = null;
  }

  /** The page was shown or hidden, or the browser's connection has come or gone. */
  changed() {
    if (document.hidden && this.isAwaited) this.hold();
    else this.release();
    if (this.isIdle) this.request?.abort();
    this.attempts = 0;
    this.sleep.wake();
  }

  async follow() {
    while (!this.isStopped) {
      const pause = this.isIdle ? Infinity : await this.connect();
      if (this.isStopped) return;
      if (!document.hidden && pause) this.onstate(false);
      await this.sleep.for(this.isIdle ? Infinity : pause);
    }
  }

  /** Read until the connection ends; return the milliseconds to wait before the next. */
  async connect() {
    this.attempts += 1;
    this.request = new AbortController();
    const { signal } = this.request;
    const headers = this.client.headers("text/event-stream");
    if (this.last !== null) headers["Last-Event-ID"] = this.last;
    try {
      const response = await fetch(this.address, { headers, credentials: "omit", signal });
      if (OVER.test(response.status)) {
        this.stop();
        this.onover(response);
      } else if (response.status === GONE && this.last !== null) {
        this.last = null;
        this.ongap();
        return 0;
      } else if (response.ok) {
        await this.read(response.body);
      }
      const wait = Number(response.headers.get("Retry-After")) * 1000;
      if (wait) return wait;
    } catch {
      // the connection is lost
    } finally {
      clearTimeout(this.timer);
    }
    return pauseAfter(this.attempts, FIRST_RECONNECT_MS, LONGEST_RECONNECT_MS);
  }

  async read(body) {
    this.onstate(true);
    for await (const { id, event, data } of readEvents(body, () => this.listen())) {
      if (this.isStopped) return;
      this.attempts = 1;
      if (id !== undefined) this.last = id;
      this.onevent(event, JSON.parse(data), Number(id));
    }
  }

  /** Take silence for a lost connection. */
  listen() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.request.abort(), SILENCE_MS);
  }
}

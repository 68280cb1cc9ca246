// The events of a thread: server-sent events read by fetch, so that a key is a header.

const FIRST_PAUSE_MS = 500;
const LONGEST_STREAM_PAUSE_MS = 30_000;
/** Statuses of a thread that is closed, deleted, or another caller's. */
const OVER = new Set([401, 403, 404]);

/** Parses the events of a stream from the pieces of its text. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = {};
      for (const line of block.split("\n")) {
        const [, name, given] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name) fields[name] = given;
      }
      if (fields.event) yield fields;
    }
  }
}

/** Follows a thread while the page is visible, and resumes after the last known event. */
export class Stream {
  /**
   * @param {string} thread id of the thread, or of a session of it.
   * @param {string} key the visitor's credential; empty for an anonymous one.
   * @param {{onevent: (kind: string, data: object) => void, onover: () => void}} listener `onover` is
   *   called once where the thread cannot be followed any more.
   */
  constructor(thread, key, { onevent, onover }) {
    this.thread = thread;
    this.key = key;
    this.onevent = onevent;
    this.onover = onover;
    this.last = null;
    this.pause = FIRST_PAUSE_MS;
    this.isStopped = false;
    this.seen = () => this.look();
    document.addEventListener("visibilitychange", this.seen);
    this.follow();
  }

  stop() {
    this.isStopped = true;
    document.removeEventListener("visibilitychange", this.seen);
    this.request?.abort();
    this.wake?.();
  }

  /** Reconnect from the start, such as after the visitor has joined. */
  reopen() {
    this.request?.abort();
    this.wake?.();
  }

  /** A hidden page holds no connection: browsers have few for all pages of a site. */
  look() {
    if (document.hidden) this.request?.abort();
    else this.wake?.();
  }

  async follow() {
    while (!this.isStopped) {
      const wait = document.hidden ? Infinity : await this.connect();
      if (!this.isStopped && wait) await this.sleep(wait);
    }
  }

  /** Read until the connection ends; return the milliseconds to wait before the next. */
  async connect() {
    this.request = new AbortController();
    const headers = { Accept: "text/event-stream" };
    if (this.last !== null) headers["Last-Event-ID"] = this.last;
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    const address = `/v1/threads/${encodeURIComponent(this.thread)}/events`;
    const { signal } = this.request;
    try {
      const response = await fetch(address, { headers, credentials: "omit", signal });
      if (response.status === 410 || response.status === 400) this.last = null;
      if (OVER.has(response.status)) {
        this.stop();
        this.onover();
      } else if (response.ok) {
        await this.read(response.body);
        return FIRST_PAUSE_MS;
      }
      return Number(response.headers.get("Retry-After")) * 1000 || this.longer();
    } catch {
      return signal.aborted ? 0 : this.longer();
    }
  }

  async read(body) {
    for await (const { id, event, data } of eventsOf(body)) {
      this.pause = FIRST_PAUSE_MS;
      if (id !== undefined) this.last = id;
      if (!this.isStopped) this.onevent(event, JSON.parse(data), Number(id));
    }
  }

  /**
   * Return the next pause: doubled each time, and jittered, so that pages do not reconnect at
   * once.
   */
  longer() {
    const pause = this.pause * (0.5 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, LONGEST_STREAM_PAUSE_MS);
    return pause;
  }

  sleep(pause) {
    return new Promise((go) => {
      const timer = Number.isFinite(pause) ? setTimeout(go, pause) : null;
      this.wake = () => {
        clearTimeout(timer);
        go();
      };
    });
  }
}

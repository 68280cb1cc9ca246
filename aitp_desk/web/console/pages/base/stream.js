// A stream of server-sent events that reconnects and resumes where it was cut.
//
// It is read by fetch: the browser's EventSource neither distinguishes an expired session from an
// unreachable desk, nor notices a silent connection.

import { API, refused } from "./api.js";

const SHORTEST_MS = 500;
const LONGEST_MS = 15_000;
const SILENCE_MS = 60_000;
const HOPELESS = new Set([401, 403, 404, 410]);

/** Parses a stream's bytes into events (HTML, section 9.2.6). */
class Reading {
  #rest = "";
  #fresh = () => ({ id: null, event: "message", data: [] });
  #now = this.#fresh();

  /** @returns {{id: string | null, event: string, data: string}[]} the complete events. */
  take(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    return lines.map((line) => this.#line(line)).filter(Boolean);
  }

  #line(line) {
    if (line === "") {
      const { id, event, data } = this.#now;
      this.#now = this.#fresh();
      return data.length ? { id, event, data: data.join("\n") } : null;
    }
    const [, name, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (name === "id") this.#now.id = value ?? "";
    else if (name === "event") this.#now.event = value ?? "";
    else if (name === "data") this.#now.data.push(value ?? "");
    return null;
  }
}

/**
 * Follow a stream until it is closed.
 *
 * `heard(event, data)` receives each event; `up()` is called when the stream runs,
 * `down(failures)` when it was cut and is retried, with the number of consecutive failures, and
 * `lost(error)` when the desk refuses it for good.
 */
export class Stream {
  #path;
  #listener;
  #last;
  #stop = null;
  #timer = 0;
  #failures = 0;
  #closed = false;
  #paused = false;

  /**
   * @param {string} path below the API.
   * @param {{heard: Function, up?: Function, down?: Function, lost?: Function}} listener
   * @param {number | string | null} after the id of the last known event.
   */
  constructor(path, listener, after = null) {
    this.#path = path;
    this.#listener = listener;
    this.#last = after;
    addEventListener("online", this.#again);
    addEventListener("offline", this.#cut);
    this.#follow();
  }

  close() {
    this.#closed = true;
    removeEventListener("online", this.#again);
    removeEventListener("offline", this.#cut);
    clearTimeout(this.#timer);
    this.#stop?.abort();
  }

  /** Close the connection until `resume`. */
  pause() {
    this.#paused = true;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#stop?.abort();
  }

  /** Continue after the last event. */
  resume() {
    if (!this.#paused || this.#closed) return;
    this.#paused = false;
    if (!this.#stop) this.#follow();
  }

  #cut = () => this.#stop?.abort();

  #again = () => {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#follow();
  };

  async #follow() {
    const stop = new AbortController();
    this.#stop = stop;
    let error = null;
    try {
      error = await this.#read(stop);
    } catch {
      // cut, silent, or the desk is unreachable: retried
    }
    this.#stop = null;
    if (this.#closed || this.#paused) return;
    if (error && HOPELESS.has(error.status)) {
      this.close();
      this.#listener.lost?.(error);
      return;
    }
    this.#listener.down?.(this.#failures);
    const growing = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.#failures);
    const wait = Math.max(growing * (0.5 + Math.random() / 2), error?.waitMs ?? 0);
    this.#failures += 1;
    this.#timer = setTimeout(this.#again, wait);
  }

  /** @returns {Promise<Error | null>} why the desk refused; null at the end of the stream. */
  async #read(stop) {
    const headers = { Accept: "text/event-stream" };
    if (this.#last !== null) headers["Last-Event-ID"] = String(this.#last);
    let silence = setTimeout(() => stop.abort(), SILENCE_MS);
    try {
      const response = await fetch(API + this.#path, {
        headers,
        signal: stop.signal,
        cache: "no-store",
      });
      if (!response.ok) return await refused(response);
      this.#listener.up?.();
      const decoder = new TextDecoder();
      const reading = new Reading();
      const reader = response.body.getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(silence);
        silence = setTimeout(() => stop.abort(), SILENCE_MS);
        this.#failures = 0;
        for (const event of reading.take(decoder.decode(part.value, { stream: true }))) {
          if (this.#closed) return null;
          this.#listener.heard(event.event, JSON.parse(event.data));
          if (event.id) this.#last = event.id;
        }
      }
      return null;
    } finally {
      clearTimeout(silence);
    }
  }
}

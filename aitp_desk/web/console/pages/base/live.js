// How many wait, and that something changed: what the whole page is kept fresh by.

import { Stream } from "./stream.js";

const EVERY_MS = 2_000;

/** Tells `changed` of tickets and of who has which thread; `up` and `down` of the connection. */
export class Live extends EventTarget {
  counts = null;
  #stream = null;
  #told = null;
  #timer = 0;

  begin() {
    const tell = (name) => () => this.dispatchEvent(new Event(name));
    this.#stream = new Stream("live", {
      heard: (event, counts) => {
        if (event !== "changed") return;
        this.counts = counts;
        if (!this.#timer) this.#tell();
      },
      up: tell("up"),
      down: tell("down"),
    });
  }

  // At once, and then not too often: the desk bounds how much one operator reads.
  #tell = () => {
    this.#timer = 0;
    if (this.counts === this.#told) return;
    const detail = { before: this.#told, counts: this.counts };
    this.#told = this.counts;
    this.#timer = setTimeout(this.#tell, EVERY_MS);
    this.dispatchEvent(new CustomEvent("changed", { detail }));
  };

  /** Have something done at each change, until the function that is returned is called. */
  each(listener) {
    this.addEventListener("changed", listener);
    return () => this.removeEventListener("changed", listener);
  }

  close() {
    clearTimeout(this.#timer);
    this.#stream?.close();
  }
}

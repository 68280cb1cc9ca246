// The live stream of the page: how many tickets wait, and that something has changed.

import { Stream } from "./stream.js";

const EVERY_MS = 2_000;

/** Emits `changed` for tickets and take-overs; `up` and `down` for the connection. */
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

  // The first at once, later ones spaced: the desk limits how much one operator reads.
  #tell = () => {
    this.#timer = 0;
    if (this.counts === this.#told) return;
    const detail = { before: this.#told, counts: this.counts };
    this.#told = this.counts;
    this.#timer = setTimeout(this.#tell, EVERY_MS);
    this.dispatchEvent(new CustomEvent("changed", { detail }));
  };

  /** Call a function at each change, until the returned function is called. */
  each(listener) {
    this.addEventListener("changed", listener);
    return () => this.removeEventListener("changed", listener);
  }

  close() {
    clearTimeout(this.#timer);
    this.#stream?.close();
  }
}

// How many wait, and that something changed: what the whole page is kept fresh by.

import { Stream } from "./stream.js";

/** Tells `changed` of tickets and of who has which thread; `up` and `down` of the connection. */
export class Live extends EventTarget {
  counts = null;
  #stream = null;

  begin() {
    const tell = (name) => () => this.dispatchEvent(new Event(name));
    this.#stream = new Stream("live", {
      heard: (event, counts) => {
        if (event !== "changed") return;
        const before = this.counts;
        this.counts = counts;
        this.dispatchEvent(new CustomEvent("changed", { detail: { before, counts } }));
      },
      up: tell("up"),
      down: tell("down"),
    });
  }

  /** Have something done at each change, until the function that is returned is called. */
  each(listener) {
    this.addEventListener("changed", listener);
    return () => this.removeEventListener("changed", listener);
  }

  close() {
    this.#stream?.close();
  }
}

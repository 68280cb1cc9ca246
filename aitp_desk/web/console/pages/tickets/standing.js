// When to look again how the requests of a conversation stand: with each message that may have
// answered one, and once the time of one is over.

import { stateOf } from "../threads/card.js";
import { now } from "../base/when.js";

const SOON_MS = 150;
const LONGEST_MS = 2_000_000_000; // what a browser's timers can hold

/** Calls `look` when it is time to. */
export class Standing {
  #look;
  #until = new Map();
  #due = 0;
  #soon = 0;
  #closed = false;

  /** @param {() => Promise<void>} look reads the requests again, and notes them here. */
  constructor(look) {
    this.#look = look;
  }

  /** A message as it is now: until when what it asks can be answered. */
  note(message) {
    const open = message.parts
      .map((part) => part.standing)
      .filter((standing) => standing?.until && stateOf(standing) === "open")
      .map((standing) => Date.parse(standing.until));
    if (open.length) this.#until.set(message.id, Math.min(...open));
    else this.#until.delete(message.id);
    this.#wait();
  }

  /** Look soon, once for all that happens meanwhile. */
  look() {
    if (this.#soon || this.#closed) return;
    this.#soon = setTimeout(async () => {
      this.#soon = 0;
      try {
        await this.#look();
      } catch {
        // what was told stays; the stream tells where the desk is away
      }
    }, SOON_MS);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#due);
    clearTimeout(this.#soon);
  }

  #wait() {
    clearTimeout(this.#due);
    if (!this.#until.size || this.#closed) return;
    const wait = Math.max(Math.min(...this.#until.values()) - now(), 0) + SOON_MS;
    this.#due = setTimeout(() => this.look(), Math.min(wait, LONGEST_MS));
  }
}

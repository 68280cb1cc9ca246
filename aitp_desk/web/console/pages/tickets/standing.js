// Schedules refetches of the state of requests: after each message that may answer one, and when
// one expires.

import { stateOf } from "../threads/card.js";
import { now } from "../base/when.js";

const SOON_MS = 150;
const LONGEST_MS = 2_000_000_000; // the maximum of a browser's timers

/** Calls `look` when a refetch is due. */
export class Standing {
  #look;
  #until = new Map();
  #due = 0;
  #soon = 0;
  #closed = false;

  /** @param {() => Promise<void>} look refetches the requests, and notes them here. */
  constructor(look) {
    this.#look = look;
  }

  /** Note a message: the time until which its request can be answered. */
  note(message) {
    const open = message.parts
      .map((part) => part.standing)
      .filter((standing) => standing?.until && stateOf(standing) === "open")
      .map((standing) => Date.parse(standing.until));
    if (open.length) this.#until.set(message.id, Math.min(...open));
    else this.#until.delete(message.id);
    this.#wait();
  }

  /** Refetch soon, once for all events until then. */
  look() {
    if (this.#soon || this.#closed) return;
    this.#soon = setTimeout(async () => {
      this.#soon = 0;
      try {
        await this.#look();
      } catch {
        // the shown state stays; the stream reports an unreachable desk
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

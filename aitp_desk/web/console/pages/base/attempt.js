// Sending something once, however often it is tried.

/** The key of what is being sent: the same for as long as the same is sent. */
export class Attempt {
  #what = "";
  #key = "";

  /** @param {object} what is sent. */
  keyOf(what) {
    const said = JSON.stringify(what);
    if (said !== this.#what) {
      this.#what = said;
      this.#key = newId("try");
    }
    return this.#key;
  }

  /** What is sent from now on is another thing, were it the same words. */
  over() {
    this.#what = "";
  }
}

/** An id that nobody else hits upon. */
export function newId(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `${prefix}-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

// Idempotency keys: a change happens once, however often it is sent.

/** The key of a request body: the same for as long as the body is the same. */
export class Attempt {
  #what = "";
  #key = "";

  /** @param {object} what the body. */
  keyOf(what) {
    const said = JSON.stringify(what);
    if (said !== this.#what) {
      this.#what = said;
      this.#key = newId("try");
    }
    return this.#key;
  }

  /** Treat the next body as a new request, even with the same content. */
  over() {
    this.#what = "";
  }
}

/** Return a random id. */
export function newId(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `${prefix}-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

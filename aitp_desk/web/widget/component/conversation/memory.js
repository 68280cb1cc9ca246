// What the browser stores of the conversation: its thread, and up to which event it was seen.

/** One conversation for each desk, shared by the tabs and pages of a site. */
export class Memory {
  /** @param {string} name under which the thread's id is stored. */
  constructor(name) {
    this.name = name;
    this.seenName = `${name} seen`;
  }

  /** The thread's id; null where there is none, or no storage. */
  get thread() {
    return this.read(this.name);
  }

  /** The number of the last event that the visitor has seen. */
  get seen() {
    return Number(this.read(this.seenName)) || 0;
  }

  keep(thread) {
    this.write(this.name, thread);
    this.write(this.seenName, thread && "0");
  }

  see(number) {
    if (number > this.seen) this.write(this.seenName, String(number));
  }

  /** Call when another tab has begun or left a conversation, or has seen more of this one. */
  onchange({ onthread, onseen }) {
    addEventListener("storage", ({ key, newValue }) => {
      if (key === this.name || key === null) onthread(newValue);
      if (key === this.seenName) onseen();
    });
  }

  read(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  }

  write(name, value) {
    try {
      if (value) localStorage.setItem(name, value);
      else localStorage.removeItem(name);
    } catch {
      // without storage the conversation lasts as long as the page
    }
  }
}

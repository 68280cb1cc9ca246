// What the browser stores of the conversation: its thread, and up to which event it was seen.

/** Before the thread of a signed-in person: it waits until the page says again who that is. */
const OWNED = "~";

/** One conversation for each desk, shared by the tabs and pages of a site. */
export class Memory {
  /** @param {string} name under which the thread's id is stored. */
  constructor(name) {
    this.name = name;
    this.seenName = `${name} seen`;
    this.isOwned = false;
  }

  /** The thread's id; null where there is none for this visitor, or no storage. */
  get thread() {
    return this.parse(this.read(this.name)) ?? null;
  }

  /** Return the thread of a stored value; undefined for another visitor's. */
  parse(value) {
    if (!value) return null;
    if (value.startsWith(OWNED) !== this.isOwned) return undefined;
    return this.isOwned ? value.slice(1) : value;
  }

  /** The number of the last event that the visitor has seen. */
  get seen() {
    return Number(this.read(this.seenName)) || 0;
  }

  keep(thread, seen = 0) {
    this.write(this.name, thread && (this.isOwned ? OWNED : "") + thread);
    this.write(this.seenName, thread && seen);
    if (thread) return;
    this.settle(null);
    this.keepDrafts([]);
  }

  /** The request for a person for which the visitor has left an address, or wants to leave none. */
  get settled() {
    return this.read(`settled ${this.name}`);
  }

  settle(request) {
    this.write(`settled ${this.name}`, request);
  }

  /** The messages that are not sent yet, for the next page; a signed-in person's go with theirs. */
  get drafts() {
    const [thread, drafts] = JSON.parse(this.read(`drafts ${this.name}`) ?? "[0]");
    return thread === this.thread ? drafts : [];
  }

  keepDrafts(drafts) {
    const kept = drafts.length && !this.isOwned && JSON.stringify([this.thread, drafts]);
    this.write(`drafts ${this.name}`, kept);
  }

  see(number) {
    if (number > this.seen) this.write(this.seenName, number);
  }

  /** Call when another tab has begun or left a conversation, or has seen more of this one. */
  onchange({ onthread, onseen }) {
    addEventListener("storage", ({ key, newValue }) => {
      const thread = this.parse(newValue);
      if ((key === this.name || key === null) && thread !== undefined) onthread(thread);
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

// The thread of the conversation, stored in the browser for this desk: for reloads and other tabs.

const THREAD = "aitp-desk.thread";

/** One conversation for each language of answers; empty for the site's own. */
export class Memory {
  constructor(locale) {
    this.name = locale ? `${THREAD}.${locale}` : THREAD;
  }

  /** Return the stored thread's id; null where there is none, or no storage. */
  get thread() {
    try {
      return localStorage.getItem(this.name);
    } catch {
      return null;
    }
  }

  /** Store a thread's id; null removes it. */
  keep(id) {
    try {
      if (id) localStorage.setItem(this.name, id);
      else localStorage.removeItem(this.name);
    } catch {
      // without storage the conversation lasts as long as the page
    }
  }

  /** Call with the thread's id, or null, when another tab starts or ends a conversation. */
  onchange(changed) {
    addEventListener("storage", ({ key, newValue }) => {
      if (key === this.name || key === null) changed(newValue);
    });
  }
}

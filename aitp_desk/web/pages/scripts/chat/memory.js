// The conversation's thread, kept in the browser for this desk: for a reload, and for other tabs.

const THREAD = "aitp-desk.thread";

/** One conversation in each language that pages ask to be answered in; empty for the site's own. */
export class Memory {
  constructor(locale) {
    this.name = locale ? `${THREAD}.${locale}` : THREAD;
  }

  /** The kept thread's id; null where there is none, or the browser keeps nothing. */
  get thread() {
    try {
      return localStorage.getItem(this.name);
    } catch {
      return null;
    }
  }

  /** Keep a thread's id; null forgets it. */
  keep(id) {
    try {
      if (id) localStorage.setItem(this.name, id);
      else localStorage.removeItem(this.name);
    } catch {
      // a browser that keeps nothing has the conversation for as long as the page is open
    }
  }

  /** Call with the thread's id, or null, whenever another tab begins or ends a conversation. */
  onchange(changed) {
    addEventListener("storage", ({ key, newValue }) => {
      if (key === this.name || key === null) changed(newValue);
    });
  }
}

// Drafts of text fields, kept while the tab is open: through a reload and the end of a session.

const PREFIX = "aitp-desk.draft.";

export function draft(key) {
  return sessionStorage.getItem(PREFIX + key) ?? "";
}

export function keepDraft(key, words) {
  if (words) sessionStorage.setItem(PREFIX + key, words);
  else sessionStorage.removeItem(PREFIX + key);
}

/** Drop all drafts at sign-out: the next operator sees none. */
export function dropDrafts() {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  }
}

/** Keep the draft of a text box. */
export function drafting(box, key) {
  box.value = draft(key);
  box.addEventListener("input", () => keepDraft(key, box.value));
}

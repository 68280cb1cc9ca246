// What is being typed, kept for as long as the tab lives: through a reload and a session's end.

const PREFIX = "aitp-desk.draft.";

export function draft(key) {
  return sessionStorage.getItem(PREFIX + key) ?? "";
}

export function keepDraft(key, words) {
  if (words) sessionStorage.setItem(PREFIX + key, words);
  else sessionStorage.removeItem(PREFIX + key);
}

/** Drop them all: whoever signs out leaves nothing to the next. */
export function dropDrafts() {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  }
}

/** Have a text box keep its draft. */
export function drafting(box, key) {
  box.value = draft(key);
  box.addEventListener("input", () => keepDraft(key, box.value));
}

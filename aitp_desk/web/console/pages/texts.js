// The texts of the chat's Markdown modules; the console is in English.

const TEXTS = { copy: "Copy this code", copied: "Copied" };

export function text(name) {
  return TEXTS[name];
}

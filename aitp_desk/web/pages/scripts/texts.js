// The page's own words. `TEXTS` stands before the modules in the file that is served: one language.

/** A text with its values. */
export function text(name, values = {}) {
  return TEXTS[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

/** The text for one or for several, with how many. */
export function counted(name, count) {
  return text(`${name}.${count === 1 ? "one" : "other"}`, { count });
}

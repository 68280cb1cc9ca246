// The page's texts. `TEXTS` is defined before the modules in the served file, in one language.

/** Return a text with its values. */
export function text(name, values = {}) {
  return TEXTS[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

/** Return the singular or the plural text, with the count. */
export function counted(name, count) {
  return text(`${name}.${count === 1 ? "one" : "other"}`, { count });
}

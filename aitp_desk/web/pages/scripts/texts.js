// The page's texts. `TEXTS` is defined before the modules in the served file, in one language.

/** Return a text with its values. */
export function text(name, values = {}) {
  return TEXTS[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

/** Return the text in the form that the language has for a count. */
export function counted(name, count) {
  const form = `${name}.${new Intl.PluralRules(document.documentElement.lang).select(count)}`;
  return text(form in TEXTS ? form : `${name}.other`, { count });
}

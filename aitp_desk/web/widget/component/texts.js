// The chat's texts in one language, and how values are put into them.

let texts = {};
let plurals;
let spoken = "";

/** Load the catalogue of a language. */
export async function loadTexts(url, tag) {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  texts = await response.json();
  plurals = new Intl.PluralRules(tag);
  spoken = tag;
}

/** The language of the texts, for numbers and dates. */
export function language() {
  return spoken;
}

/** Return a text with its values. */
export function text(name, values = {}) {
  return texts[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

/** Return the text in the form that the language has for a count. */
export function counted(name, count) {
  const form = `${name}.${plurals.select(count)}`;
  return text(form in texts ? form : `${name}.other`, { count });
}

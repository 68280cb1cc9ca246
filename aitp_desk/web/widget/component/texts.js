// The chat's texts in one language, and how values are put into them.

let texts = {};

/** Load the catalogue of a language. */
export async function loadTexts(url) {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  texts = await response.json();
}

/** Return a text with its values. */
export function text(name, values = {}) {
  return texts[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

/** Return the singular or the plural text, with the count. */
export function counted(name, count) {
  return text(`${name}.${count === 1 ? "one" : "other"}`, { count });
}

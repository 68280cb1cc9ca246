// The chat's texts in one language, and how values are put into them.
//
// The server replaces the name in each call of `text` and `counted` by the text's number in the
// catalogue; a name has to be written in the call.

let catalogue;
let plurals;
let spoken;

/** Take the catalogue of a language. */
export function setTexts(texts, tag) {
  catalogue = texts;
  plurals = new Intl.PluralRules(tag);
  spoken = tag;
}

/** The language of the texts, for numbers and dates. */
export function language() {
  return spoken;
}

function fill(words, values) {
  return words.replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

/** Return a text with its values. */
export function text(number, values = {}) {
  return fill(catalogue[number], values);
}

/** Return the text in the form that the language has for a count: of one, of few, of any other. */
export function counted(number, count) {
  const form = ["one", "few"].indexOf(plurals.select(count));
  return fill(catalogue[number].split("|").at(form), { count });
}

// Elements. Text from outside becomes text nodes, and a link only where it leads to http(s).

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes functions are listeners (`onclick`); null, undefined
 *   and false are left out; true is an attribute without a value.
 * @param {...(Node | string | null | false | undefined)} children empty ones are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child || child === ""));
  return element;
}

let made = 0;

/** Return an id that no other element of the page has. */
export function newId() {
  made += 1;
  return `desk.${made}`;
}

/** Return the address if visitors may follow it, else null. */
export function safeAddress(address) {
  let url;
  try {
    url = new URL(address, location.origin);
  } catch {
    return null;
  }
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}

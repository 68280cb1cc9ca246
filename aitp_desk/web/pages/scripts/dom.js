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

export function link(address, text) {
  const href = safeAddress(address);
  return href ? el("a", { href, rel: "noreferrer" }, text) : document.createTextNode(text);
}

/** A picture of this site; others are not loaded. A text next to it describes it. */
export function picture(address) {
  const src = address && safeAddress(address);
  if (!src || new URL(src).origin !== location.origin) return null;
  return el("img", { src, alt: "", loading: "lazy", width: "96", height: "96" });
}

// Elements. Text from outside becomes text nodes, and a link only where it leads to http(s) or mail.

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "path"]);

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes functions are listeners (`onclick`); null, undefined
 *   and false are left out; true is an attribute without a value.
 * @param {...(Node | string | null | false | undefined)} children empty ones are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElementNS(DRAWN.has(tag) ? SVG : HTML, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child || child === 0));
  return element;
}

const SAFE = new Set(["https:", "http:", "mailto:"]);
/** The desk: its pictures are shown, and what is no whole address is one of its own. */
const { origin: DESK_ORIGIN } = new URL(import.meta.url);

let made = 0;

/** Return an id that no other element of the chat has. */
export function newId() {
  return `chat.${(made += 1)}`;
}

/** A picture of the desk; others are not loaded. A text next to it describes it. */
export function picture(address) {
  const src = address && safeAddress(address);
  if (src?.origin !== DESK_ORIGIN) return null;
  return el("img", { src, alt: "", loading: "lazy", width: "96", height: "96" });
}

/** Return the address if visitors may follow it, else null. */
export function safeAddress(address) {
  let url;
  try {
    url = new URL(address, DESK_ORIGIN);
  } catch {
    return null;
  }
  return SAFE.has(url.protocol) ? url : null;
}

/** Make a link; an address that is not safe leaves its text. Other sites open in a new tab. */
export function link(address, label, attributes = {}) {
  const url = safeAddress(address);
  if (!url) return label;
  const isHere = url.origin === location.origin && window === top;
  const target = isHere || url.protocol === "mailto:" ? null : "_blank";
  return el("a", { href: url.href, target, rel: "noopener noreferrer", ...attributes }, label);
}

const PATHS = {
  attach: "M20 11l-8 8a5 5 0 0 1-7-7l8-8a3.4 3.4 0 0 1 5 5l-8 8a1.8 1.8 0 0 1-3-3l7-7",
  close: "M6 6l12 12M18 6L6 18",
  collapse: "M5 9l7 7 7-7",
  copy: "M9 9h10v11H9zM5 15V4h10",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  thumb: "M7 20V11l4-8q3 0 2 6h7l-2 11H4v-9h3",
  send: "M12 19V5M5.5 11.5L12 5l6.5 6.5",
};

/** Make an icon; a text or label next to it says what it means. */
export function icon(name) {
  const frame = { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" };
  return el("svg", frame, el("path", { d: PATHS[name] }));
}

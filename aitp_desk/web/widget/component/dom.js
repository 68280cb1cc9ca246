// Elements. Text from outside becomes text nodes, and a link only where it leads to http(s) or mail.

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes functions are listeners (`onclick`); null, undefined
 *   and false are left out; true is an attribute without a value.
 * @param {...(Node | string | number | null | false | undefined)} children empty ones are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

const SAFE = /^https?:|^mailto:/;
/** The desk: its pictures are shown, and what is no whole address is one of its own. */
const { origin: DESK_ORIGIN } = new URL(import.meta.url);

let made = 0;

/** Return an id that no other element of the chat has. */
export function newId() {
  return `chat.${(made += 1)}`;
}

/** A picture of the desk; others are not loaded. Without `alt` a text next to it describes it. */
export function picture(address, alt = "") {
  const src = address && safeAddress(address);
  if (src?.origin !== DESK_ORIGIN) return null;
  return el("img", { src, alt, loading: "lazy" });
}

/** Return the address if visitors may follow it, else null. */
export function safeAddress(address) {
  let url;
  try {
    url = new URL(address, DESK_ORIGIN);
  } catch {
    return null;
  }
  return SAFE.test(url.protocol) ? url : null;
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
  attach: "M20 11l-8 8a5 5 0 0 1-7-7l9-9a3 3 0 0 1 5 5l-9 9",
  close: "M6 6l12 12M18 6L6 18",
  collapse: "M5 9l7 7 7-7",
  copy: "M9 9h10v11H9zM5 15V4h10",
  more: "M5 11a1 1 0 1 0 .1 0M12 11a1 1 0 1 0 .1 0M19 11a1 1 0 1 0 .1 0",
  thumb: "M7 20V11l4-8q3 0 2 6h7l-2 11H4v-9h3",
  send: "M12 19V5M5.5 11.5L12 5l6.5 6.5",
};

let makeIcon;

/** Take the function that makes an icon of a drawing. */
export function setIcons(make) {
  makeIcon = make;
}

/** Make a button with an icon; its label says what it means. */
export function tool(drawing, label, attributes) {
  const named = { type: "button", class: "tool", "aria-label": label };
  return el("button", { ...named, ...attributes }, makeIcon(PATHS[drawing]));
}

/** Make a button with words. */
export function button(words, onclick, attributes) {
  return el("button", { type: "button", onclick, ...attributes }, words);
}

/** Make a form that calls a function when it is sent. */
export function form(onsend, attributes, ...children) {
  const onsubmit = (event) => {
    event.preventDefault();
    onsend();
  };
  return el("form", { ...attributes, onsubmit }, ...children);
}

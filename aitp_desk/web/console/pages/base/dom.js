// Elements. Text from outside becomes text nodes, never markup.

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes functions are listeners (`onclick`); null, undefined
 *   and false are left out; true is an attribute without a value.
 * @param {...(Node | string | null | false | undefined)} children empty ones are left out.
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

/** Replace the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/**
 * Replace the children of an element that may contain the focus. The focus moves to the
 * counterpart of the focused element, else to the heading of the open view.
 */
export function refill(element, ...children) {
  const { activeElement } = document;
  const inside = element.contains(activeElement);
  fill(element, ...children);
  if (!inside) return;
  const alike = [...element.querySelectorAll(activeElement.localName)];
  const same = alike.find((each) => each.textContent === activeElement.textContent);
  const only = activeElement.localName === "summary" ? alike[0] : null;
  (same ?? only ?? document.querySelector(".detail h2"))?.focus();
}

/** A button that submits nothing. */
export function button(words, className, onclick, attributes = {}) {
  return el("button", { type: "button", class: className, onclick, ...attributes }, words);
}

/**
 * Make these nodes an element's children in this order, moving only those elsewhere. The focus and
 * the selection within a node that stays or moves are kept.
 */
export function arrange(element, nodes) {
  const { activeElement } = document;
  const wanted = new Set(nodes);
  for (const child of [...element.childNodes]) if (!wanted.has(child)) child.remove();
  let at = element.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else element.insertBefore(node, at);
  }
  const isLost = activeElement !== document.activeElement && element.contains(activeElement);
  if (isLost) activeElement.focus({ preventScroll: true });
}

function present(children) {
  return children.filter((child) => child !== null && child !== undefined && child !== false);
}

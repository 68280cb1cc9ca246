// Pictures of offers. The browser requests them only from the site and its desk, and none that a
// visitor has named: the receiver of such a request learns where an operator is.

import { el } from "../base/dom.js";
import { outside } from "../base/words.js";

/**
 * A picture, or its address.
 *
 * @param {string} address
 * @param {object} message that names it.
 * @param {object} session
 */
export function picture(address, message, session) {
  if (message.speaker === "visitor" || !isOwn(address, session))
    return el("p", { class: "picture-at small" }, "Picture: ", outside(address));
  const attributes = { alt: "", loading: "lazy", referrerpolicy: "no-referrer" };
  return el("img", { class: "picture", src: address, ...attributes });
}

function isOwn(address, { site }) {
  if (!URL.canParse(address)) return false;
  return [location.origin, new URL(site.url).origin].includes(new URL(address).origin);
}

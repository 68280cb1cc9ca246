// Elements, as the chat's Markdown modules make them: of the console's own kind.

import { el } from "./base/dom.js";

export { el };

/** A link to another site with its host; what leads elsewhere than to a site is text. */
export function link(address, label) {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isSite = url?.protocol === "https:" || url?.protocol === "http:";
  if (!isSite && url?.protocol !== "mailto:") return document.createTextNode(label);
  const rel = "noopener noreferrer nofollow";
  const anchor = el("a", { href: url.href, rel, target: "_blank", title: url.href }, label);
  if (!isSite || label.includes(url.host)) return anchor;
  return el("span", {}, anchor, el("span", { class: "soft" }, ` (${url.host})`));
}

/** Pictures in words stay links: a request for one would tell where an operator is. */
export function picture() {
  return null;
}

/** Make a button; the console has words where the chat has pictures. */
export function tool(_drawing, label, attributes) {
  return el("button", { type: "button", "aria-label": label, ...attributes }, "Copy");
}

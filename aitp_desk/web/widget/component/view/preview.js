// The number of a source within an answer, with a preview: the source's name, and the sentence quoted.
// The style sheet shows it while the number or the preview has the pointer or the focus.

import { el, link, newId } from "../dom.js";
import { text } from "../texts.js";

const HUSHED = "hushed";

/** Make the number of a source. */
export function citation({ url, title, quote }, number) {
  const id = newId();
  const named = { class: "cite", "aria-label": text("source", { number, title }) };
  const described = quote && { "aria-describedby": id };
  const show = () => cited.classList.remove(HUSHED);
  const cited = el(
    "span",
    { class: "cited", onmouseleave: show, onfocusout: show },
    link(url, number, { ...named, ...described }),
    el("span", { class: "preview", dir: "auto" }, el("b", {}, title), quote && el("q", { id }, quote)),
  );
  return cited;
}

/** Close the preview that is shown with Escape, which then does nothing else. */
export function closePreviews(log) {
  document.addEventListener(
    "keydown",
    (event) => {
      const shown = log.querySelector(`.cited:is(:hover, :focus-within):not(.${HUSHED})`);
      if (event.key !== "Escape" || !shown) return;
      shown.classList.add(HUSHED);
      event.preventDefault();
    },
    true,
  );
}

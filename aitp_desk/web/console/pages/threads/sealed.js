// Sealed values: a mask, and a button that reveals the value for a moment, which is audited.

import { path, post } from "../base/api.js";
import { announce } from "../base/announce.js";
import { button, el } from "../base/dom.js";
import { plain } from "../base/words.js";

const SHOWN_MS = 20_000;
const MASK = "••••••";

/**
 * A sealed value as a chip.
 *
 * @param {string} reference
 * @param {string} label for readers who cannot see the mask.
 * @param {object} session decides whether the value may be revealed.
 */
export function sealed(reference, label, session) {
  if (!session.reveals)
    return el(
      "span",
      { class: "sealed", title: "Only a key with the scope 'sensitive' can reveal it." },
      el("span", { class: "mask" }, "sealed"),
    );
  const words = el("span", { class: "mask", dir: "auto" }, MASK);
  const error = el("span", { class: "sealed-error", role: "alert" });
  const reveal = button("Reveal", "sealed-act", () => (timer ? hide() : show()));
  reveal.setAttribute("aria-label", `Reveal ${label}`);
  let timer = 0;
  let busy = false;
  const hide = () => {
    clearTimeout(timer);
    timer = 0;
    words.textContent = MASK;
    words.classList.add("mask");
    reveal.textContent = "Reveal";
    reveal.setAttribute("aria-label", `Reveal ${label}`);
    document.removeEventListener("visibilitychange", hide);
  };
  const show = async () => {
    if (busy) return;
    busy = true;
    error.textContent = "";
    try {
      const { value } = await post(path("sealed", reference));
      words.textContent = plain(String(value));
      words.classList.remove("mask");
      reveal.textContent = "Hide";
      reveal.setAttribute("aria-label", `Hide ${label}`);
      announce(`${label} is shown for a moment.`);
      timer = setTimeout(hide, SHOWN_MS);
      document.addEventListener("visibilitychange", hide);
    } catch (reason) {
      error.textContent = reason.message;
    } finally {
      busy = false;
    }
  };
  return el("span", { class: "sealed" }, words, reveal, error);
}

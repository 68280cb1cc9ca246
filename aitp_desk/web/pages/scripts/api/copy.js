// A button that copies an example.

import { el } from "../dom.js";

const COPIED_MILLISECONDS = 2000;

/** Add the button to the corner of an example, where the browser lets a page write to the clipboard. */
export function addCopy(example) {
  if (!navigator.clipboard) return;
  const button = el("button", { type: "button", class: "copy", "aria-live": "polite" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(example.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, COPIED_MILLISECONDS);
  });
  const corner = el("div", { class: "example" });
  example.before(corner);
  corner.append(example, button);
}

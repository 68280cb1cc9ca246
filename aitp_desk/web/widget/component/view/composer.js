// The text box: Enter sends, Shift+Enter begins a line.

import { el, icon } from "../dom.js";
import { text } from "../texts.js";

const LONGEST_QUESTION = 8000;

export class Composer {
  /**
   * @param {string} placeholder
   * @param {(text: string) => void} onask
   */
  constructor(placeholder, onask) {
    this.box = el("textarea", {
      rows: "1",
      maxlength: LONGEST_QUESTION,
      placeholder,
      "aria-label": text("question"),
      enterkeyhint: "send",
    });
    const send = el("button", { type: "submit", class: "send", "aria-label": text("send") }, icon("send"));
    this.element = el("form", { class: "composer" }, this.box, send);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = this.box.value.trim();
      if (!said) return;
      this.box.value = "";
      onask(said);
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.element.requestSubmit();
    });
  }

  focus() {
    this.box.focus({ preventScroll: true });
  }
}

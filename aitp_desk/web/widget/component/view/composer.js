// The text box: Enter sends, Shift+Enter begins a line.

import { el, icon } from "../dom.js";
import { text } from "../texts.js";

const LONGEST_QUESTION = 8000;

export class Composer {
  /**
   * @param {string} placeholder
   * @param {Attachments} attachments
   * @param {(text: string, files: object[]) => void} onask
   */
  constructor(placeholder, attachments, onask) {
    this.attachments = attachments;
    this.box = el("textarea", {
      rows: "1",
      maxlength: LONGEST_QUESTION,
      placeholder,
      "aria-label": text("placeholder"),
      enterkeyhint: "send",
    });
    const send = el("button", { type: "submit", class: "send", "aria-label": text("send") }, icon("send"));
    this.element = el("form", { class: "composer" }, attachments.button, this.box, send);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = this.box.value.trim();
      const files = attachments.take();
      if (!files || !(said || files.length)) return;
      this.box.value = "";
      onask(said, files);
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.element.requestSubmit();
    });
  }

  clear() {
    this.box.value = "";
    this.attachments.clear();
  }

  focus() {
    this.box.focus({ preventScroll: true });
  }
}

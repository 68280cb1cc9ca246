// The text box: Enter sends, Shift+Enter begins a line.

import { el, form, tool } from "../dom.js";
import { text } from "../texts.js";

const LONGEST_QUESTION = 8000;

export class Composer {
  /** @param {Panel} panel */
  constructor(panel) {
    const { attached, settings } = panel;
    this.attached = attached;
    const onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.element.requestSubmit();
    };
    this.box = el("textarea", {
      rows: "1",
      maxlength: LONGEST_QUESTION,
      placeholder: settings.placeholder || text("placeholder"),
      "aria-label": text("placeholder"),
      enterkeyhint: "send",
      onkeydown,
    });
    const ask = () => {
      const said = this.box.value.trim();
      const files = attached.take();
      if (!files || !(said || files.length)) return;
      this.box.value = "";
      panel.ask(said, files);
    };
    const send = tool("send", text("send"), { type: "submit", class: "send" });
    this.element = form(ask, { class: "composer" }, attached.button, this.box, send);
  }

  clear() {
    this.box.value = "";
    this.attached.clear();
  }

  focus() {
    this.box.focus({ preventScroll: true });
  }
}

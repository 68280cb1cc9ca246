// Asks for an email address, above the text box, when nobody answers in time.

import { formatTime } from "../cards/card.js";
import { text } from "../texts.js";
import { button, el, form } from "../dom.js";

const LONGEST_ADDRESS = 254;

/** Say why: nobody is there before a time, or nobody has answered. */
function explainAbsence(opens) {
  if (!opens) return text("noAnswer");
  const moment = formatTime(opens * 1000, "full");
  return moment ? text("awayUntil", { moment }) : text("away");
}

export class AddressForm {
  /** @param {Panel} panel */
  constructor(panel) {
    this.panel = panel;
    const send = () => this.send(this.box.value);
    this.element = form(send, { class: "confirm", "aria-label": text("address"), hidden: true });
  }

  /** Ask, and call `onsettle` with the address or null; it returns why that failed, if it did. */
  ask(opens, onsettle) {
    this.onsettle = onsettle;
    this.words = el("p", {}, `${explainAbsence(opens)} ${text("addressWhy")}`);
    const limits = { maxlength: LONGEST_ADDRESS, required: true };
    this.box = el("input", { type: "email", name: "email", autocomplete: "email", dir: "ltr", ...limits });
    const no = button(text("addressNo"), () => this.send(null));
    const buttons = el("div", {}, no, button(text("send"), null, { type: "submit" }));
    const use = el("p", { class: "small" }, text("addressUse"));
    const label = el("label", {}, text("address"), this.box);
    this.element.replaceChildren(this.words, label, use, buttons);
    this.element.hidden = false;
    this.panel.transcript.scrollToEnd();
    this.panel.say(this.words.textContent);
  }

  async send(address) {
    const failure = await this.onsettle(address);
    if (failure) {
      this.words.textContent = failure.text;
      this.panel.say(failure.text);
      return;
    }
    this.close();
    if (address) this.panel.tell(text("addressKept"));
  }

  close() {
    if (this.element.matches(":focus-within")) this.panel.composer.focus();
    this.element.hidden = true;
  }
}

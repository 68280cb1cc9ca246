// Cards: requests of the desk, answered in place; open once, and then closed.

import { button, el, form, newId } from "../dom.js";
import { language, text } from "../texts.js";
import { blocks } from "../blocks.js";

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Return a text on one line, so that its author cannot fake a second one. */
export function oneLine(text) {
  return typeof text === "string" ? text.trim().replace(/\s+/g, " ") : "";
}

/** Return a moment for a reader; empty for none. */
export function formatTime(moment, dateStyle = "medium") {
  const at = new Date(moment);
  if (Number.isNaN(+at)) return "";
  return at.toLocaleString(language(), { dateStyle, timeStyle: "short" });
}

/**
 * The frame of every card: a form with a title, a place for errors, and a footer.
 *
 * Subclasses add their inputs to `body`, and answer by `reply`.
 */
export class Card {
  /**
   * @param {{id: string, title?: string, description?: string, valid_until?: string}} request
   * @param {(card: Card, message: object, words: string) => void} onanswer
   */
  constructor(request, onanswer) {
    this.id = request.id;
    this.title = oneLine(request.title) || text("request");
    this.onanswer = onanswer;
    this.isOpen = true;
    const heading = newId();
    this.body = el("div");
    this.foot = el("div", { class: "card-foot" });
    this.wrong = el("p", { class: "failure", role: "alert", hidden: true });
    this.element = form(
      () => this.isOpen && !this.isBusy && this.submit(),
      { class: "card", novalidate: true, "aria-labelledby": heading },
      el("h3", { id: heading, tabindex: "-1" }, this.title),
      ...(request.description ? blocks(request.description) : []),
      this.body,
      this.wrong,
      this.foot,
    );
    this.closeAt(request.valid_until);
  }

  /** Handle the submission; cards that send something override it. */
  submit() {}

  /** A submit button in the footer. */
  sender(words) {
    this.foot.prepend(button(words, null, { type: "submit", class: "button" }));
  }

  /** A button in the footer that answers at once, as `reply` does. */
  answerer(words, kind, ...answer) {
    const reply = () => this.isBusy || this.reply(...answer);
    this.foot.prepend(button(words, reply, { class: `button ${kind}` }));
  }

  /**
   * Answer the request.
   *
   * @param {object} message without `$schema`.
   * @param {string} words shown as what the visitor says.
   */
  reply(message, words) {
    this.say("");
    this.onanswer(this, message, words);
  }

  /** The same request again, after an answer that has failed. */
  again(why) {
    const card = new this.constructor(this.request, this.onanswer);
    card.say(why);
    return card;
  }

  /** Show an error that belongs to no single input. */
  say(text) {
    this.wrong.textContent = text;
    this.wrong.hidden = !text;
  }

  /** Show a refusal of the answer; `param` names the part at fault, where that is known. */
  refuse(text) {
    this.say(text);
  }

  wait(busy) {
    this.isBusy = busy;
    for (const one of this.element.querySelectorAll("button")) one.ariaDisabled = busy;
  }

  /** Close the card with a reason. */
  close(why) {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearTimeout(this.timer);
    const had = this.element.matches(":focus-within");
    this.body.remove();
    this.wrong.remove();
    this.foot.replaceChildren(el("p", { class: "state" }, why));
    this.element.classList.add("closed");
    this.element.removeAttribute("aria-labelledby"); // a closed form is no landmark
    if (had) this.element.querySelector("h3").focus({ preventScroll: true });
  }

  closeAt(moment) {
    const left = Date.parse(moment) - Date.now();
    if (Number.isNaN(left)) return;
    this.foot.append(el("p", {}, text("openUntil", { time: formatTime(moment) })));
    if (left > LONGEST_TIMER_MS) return;
    this.timer = setTimeout(() => this.close(text("tooLate")), left);
  }
}

// What the desk asks by a message, as something to answer in place: open once, and then closed.

import { el, newId } from "../dom.js";
import { blocks } from "../words.js";
import { text } from "../texts.js";

const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LONG_TITLE = 80;

/** One line of text, as others cannot make two of it. */
export function oneLine(text) {
  return typeof text === "string" ? text.trim().replace(/\s+/g, " ") : "";
}

/**
 * The frame of every card: a form with a title, a place for what went wrong, and a foot.
 *
 * What is in it adds its own inputs to `body`, and says what was answered by `reply`.
 */
export class Card {
  /**
   * @param {{id: string, title?: string, description?: string, valid_until?: string}} request
   * @param {(card: Card, answer: object) => void} onanswer given what `reply` was given.
   */
  constructor(request, onanswer) {
    this.id = request.id;
    this.title = oneLine(request.title) || text("question");
    this.onanswer = onanswer;
    this.isOpen = true;
    const heading = newId();
    const isLong = this.title.length > LONG_TITLE ? " long" : "";
    this.body = el("div", { class: "card-body" });
    this.foot = el("div", { class: "card-foot" });
    this.wrong = el("p", { class: "failure", role: "alert", hidden: true });
    this.element = el(
      "form",
      { class: "card", novalidate: true, "aria-labelledby": heading, autocomplete: "on" },
      el("h3", { class: `card-title${isLong}`, id: heading, tabindex: "-1" }, this.title),
      ...(request.description ? blocks(request.description) : []),
      this.body,
      this.wrong,
      this.foot,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.isOpen && !this.isBusy) this.submit();
    });
    this.closeAt(request.valid_until);
  }

  /** What happens when it is sent; whoever has something to send has its own. */
  submit() {}

  /** A button in the foot that sends it. */
  sender(words) {
    this.foot.prepend(el("button", { type: "submit", class: "button" }, words));
  }

  /**
   * Answer it.
   *
   * @param {object} message without `$schema`.
   * @param {{text: string, rows?: [string, string][]}} summary what is shown as the visitor's turn.
   */
  reply(message, summary) {
    this.say("");
    this.onanswer(this, { message, summary });
  }

  /** Say what is wrong, where no single input is. */
  say(text) {
    this.wrong.textContent = text;
    this.wrong.hidden = !text;
  }

  /** An answer was refused; `param` names what was wrong with it, where that is known. */
  refuse(text) {
    this.say(text);
  }

  wait(busy) {
    this.isBusy = busy;
    for (const button of this.element.querySelectorAll("button")) {
      button.setAttribute("aria-disabled", String(busy));
    }
  }

  /** It takes no answer any more, for a reason that is told in its place. */
  close(why) {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearTimeout(this.timer);
    const had = this.element.contains(document.activeElement);
    this.body.remove();
    this.wrong.remove();
    this.foot.replaceChildren(el("p", { class: "state" }, why));
    this.element.classList.add("closed");
    this.element.removeAttribute("aria-labelledby"); // a form that takes nothing is no landmark
    if (had) this.element.querySelector(".card-title").focus({ preventScroll: true });
  }

  closeAt(moment) {
    const left = moment ? Date.parse(moment) - Date.now() : Number.NaN;
    if (Number.isNaN(left)) return;
    const words = new Date(moment).toLocaleString(document.documentElement.lang, {
      dateStyle: "medium",
      timeStyle: "short",
    });
    const [before, after] = text("openUntil", { time: "\n" }).split("\n");
    const time = el("time", { datetime: moment }, words);
    this.foot.append(el("p", { class: "until" }, before, time, after));
    if (left > LONGEST_TIMER_MS) return;
    this.timer = setTimeout(() => this.close(text("tooLate")), Math.max(left, 0));
  }
}

// The turns above the box: questions, answers, cards, sources, operators.

import { answerIn, cardOf, replacedBy } from "../cards/cards.js";
import { el, link } from "../dom.js";
import { blocks } from "../blocks.js";
import { text } from "../texts.js";

export class Transcript {
  /**
   * @param {HTMLElement} log
   * @param {{onask: (asked: object) => void, onreply: (card: object, answer: object) => void}} on
   */
  constructor(log, { onask, onreply }) {
    this.log = log;
    this.onask = onask;
    this.onreply = onreply;
    this.cards = new Map();
  }

  clear() {
    this.cards.clear();
    this.log.replaceChildren();
  }

  /** Return the turn for the desk's next text: the newest, unless another speaker came after it. */
  get open() {
    const last = this.log.lastElementChild;
    if (last?.classList.contains("turn")) return last;
    const turn = el("section", { class: "turn", tabindex: "-1" });
    this.log.append(turn);
    return turn;
  }

  /** Start a turn with the visitor's message. */
  turn({ text: said, rows = [] }, id) {
    const turn = el("section", { class: "turn", tabindex: "-1", "data-message": id });
    turn.append(el("h2", { class: "question" }, said));
    const told = rows.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]);
    if (told.length) turn.append(el("dl", { class: "filled" }, ...told));
    this.log.append(turn);
    return turn;
  }

  /** Start a message by another, named speaker. */
  party(name, id) {
    const heading = el("h2", { class: "speaker" }, name);
    const section = el("section", { class: "party", "data-message": id }, heading);
    this.log.append(section);
    return section;
  }

  /** Add a line about the conversation itself. */
  note(words) {
    const note = el("p", { class: "note" }, words);
    this.log.append(note);
    return note;
  }

  /** Remove a deleted message. */
  remove(id) {
    this.log.querySelector(`[data-message="${CSS.escape(id)}"]`)?.remove();
  }

  /** Show a message, as cards where possible; return whether there is one. Answers come first. */
  tell(turn, { messages = [], besides = "" }, words, capability) {
    const shown = messages.map((message) => ({
      message,
      card: cardOf(message, this.onreply),
      answer: answerIn(message),
    }));
    const isAll = shown.length > 0 && shown.every(({ card, answer }) => card || answer);
    for (const one of shown.filter(({ answer }) => answer)) {
      const { id, text: why, failed, element } = one.answer;
      const card = this.cards.get(id);
      card?.close(why);
      if (failed && card?.again) one.card = card.again(why);
      else if (element) turn.append(element);
      else if (isAll) turn.append(el("p", { class: "note" }, why));
    }
    const told = isAll ? besides : words;
    if (told || !shown.length) turn.append(el("div", { class: "answer" }, ...blocks(told)));
    for (const { message, card } of shown.filter((one) => one.card)) {
      card.schema ??= message.$schema;
      card.capability = capability;
      this.cards.get(replacedBy(message))?.close(text("replaced"));
      this.cards.get(card.id)?.close(text("askedAgain"));
      this.cards.set(card.id, card);
      turn.append(card.element);
    }
    return shown.some(({ card }) => card);
  }

  /** Close cards that the visitor answered elsewhere: on another page, or before this load. */
  answered(messages) {
    for (const message of messages) this.cards.get(answerIn(message)?.id)?.close(text("answered"));
  }

  /** Close the requests of a call that was carried out or cancelled. */
  settle(capability) {
    for (const card of this.cards.values()) {
      if (capability && card.capability === capability) card.close(text("settled"));
    }
  }

  /** The elements below an answer. */
  follows(turn, { sources = [], follow_up: next }) {
    if (sources.length) turn.append(this.sources(sources));
    this.choices(turn, text("askNext"), next?.suggested_queries ?? [], (query) => ({ query }));
  }

  sources(sources) {
    const items = sources.map((source) => {
      const item = el("li", {}, link(source.url, source.title));
      if (source.relevance !== "direct") item.append(" ", el("span", { class: "tag" }, text("related")));
      return item;
    });
    return el("div", { class: "sources" }, el("h3", {}, text("sources")), el("ol", {}, ...items));
  }

  choices(turn, title, words, asked) {
    if (!words.length) return;
    const buttons = words.map((word) => {
      const button = el("button", { type: "button", class: "chip" }, word);
      button.addEventListener("click", () => this.onask(asked(word)));
      return el("li", {}, button);
    });
    const list = el("ul", {}, ...buttons);
    turn.append(el("div", { class: "choices" }, ...(title ? [el("h3", {}, title)] : []), list));
  }

  /** Disable the choices of earlier turns. */
  dropChoices() {
    for (const offered of this.log.querySelectorAll(".choices")) offered.remove();
  }

  show(turn, block = "start") {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    turn.scrollIntoView({ block, behavior: still ? "instant" : "smooth" });
  }
}

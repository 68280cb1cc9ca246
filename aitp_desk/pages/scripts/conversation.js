// A conversation at the box to ask: what is typed or chosen, and the turns above it.

import { DECLARED, answerIn, cardOf, replacedBy } from "./cards.js";
import { el, link } from "./dom.js";
import { KeyCard } from "./key.js";
import { converse, follow } from "./wire.js";
import { blocks } from "./words.js";

const FRESH = "The conversation before had ended; this begins a new one.";
const SEARCH = "content_search";
const LONGEST_QUERY = 4096;

/**
 * What is asked: `query` of `capability`, or the `clarification` of that; shown as `shown`.
 *
 * @typedef {{query: string, capability?: string, clarification?: string, shown?: object}} Asked
 */

export class Conversation {
  constructor(root) {
    this.log = root.querySelector("[data-log]");
    this.form = root.querySelector("[data-form]");
    this.box = this.form.querySelector("textarea");
    this.send = this.form.querySelector("button[type=submit]");
    this.label = root.querySelector("[data-label]");
    this.hint = root.querySelector("[data-hint]");
    this.restart = root.querySelector("[data-restart]");
    this.examples = root.querySelector("[data-examples]");
    this.status = root.querySelector("[data-status]");
    this.placeholder = this.box.placeholder;
    this.promise = this.hint.textContent;
    this.locale = root.dataset.locale;
    this.key = "";
    this.session = null;
    this.unclear = null;
    this.cards = new Map();
    this.busy = false;
    this.round = 0;

    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.say(this.box.value);
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.examples.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (chosen) this.start({ ...chosen.dataset });
    });
    this.restart.addEventListener("click", () => this.begin());
  }

  /** Begin a new conversation; what is still on its way belongs to the old one. */
  begin() {
    this.session = null;
    this.round += 1;
    this.cards.clear();
    this.expect(null);
    this.wait(false);
    this.hint.textContent = this.promise;
    this.log.replaceChildren();
    this.examples.hidden = false;
    this.restart.hidden = true;
    this.box.focus();
  }

  /** Wait for the answer to what the desk asked back about a question; null for none. */
  expect(asked, how = "Choose one above, or answer in your own words.") {
    this.unclear = asked;
    this.label.textContent = asked ? "Your answer" : "Your question";
    this.hint.textContent = asked ? how : "";
    this.box.placeholder = asked ? "Your answer" : this.placeholder;
  }

  /** Begin with what a button stands for; what shall be done is told by the words in the box. */
  start({ query, capability }) {
    const words = capability ? this.box.value.trim() : "";
    if (words) this.box.value = "";
    this.ask({ query: words || query, capability }, { focus: true });
  }

  say(text) {
    const words = text.trim();
    if (!words || this.busy) return;
    this.box.value = "";
    this.ask(this.unclear ? { ...this.unclear, clarification: words } : { query: words });
  }

  /** @param {Asked} asked */
  async ask(asked, { focus = false } = {}) {
    if (this.busy) return;
    this.wait(true);
    for (const offered of this.log.querySelectorAll(".choices")) offered.remove();
    const turn = this.turn({ text: asked.clarification ?? asked.query });
    const waiting = el("p", { class: "waiting", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
    turn.append(waiting);
    if (focus) turn.focus({ preventScroll: true });
    this.show(turn);

    const round = this.round;
    const { said, failure, fresh } = await this.post(asked);
    if (round !== this.round) return;
    waiting.remove();
    if (fresh) turn.append(el("p", { class: "note" }, FRESH));
    if (failure) this.fail(turn, failure, asked, fresh);
    else this.receive(turn, said, asked);
    this.wait(false);
    this.show(turn);
  }

  /** Answer a card: it stays as it is until the desk has taken the answer. */
  async reply(card, { message, summary }) {
    if (this.busy) return;
    const query = JSON.stringify({ $schema: card.schema, ...message });
    if (query.length > LONGEST_QUERY) {
      card.refuse("That is too long to be sent at once. Please shorten it.");
      return;
    }
    this.wait(true);
    card.wait(true);
    const round = this.round;
    const { said, failure } = await this.post({ query }, { anew: false });
    if (round !== this.round) return;
    card.wait(false);
    this.wait(false);
    if (failure?.ended) card.close(failure.text);
    else if (failure) card.refuse(failure.text, failure.param);
    if (failure) return;
    card.close("Answered.");
    for (const offered of this.log.querySelectorAll(".choices")) offered.remove();
    const turn = this.turn(summary);
    turn.focus({ preventScroll: true });
    // what was filled in is not sent again with what is asked next
    this.receive(turn, said, { ...this.unclear, query: summary.text });
    this.show(turn);
  }

  /** Begin a turn by what the visitor says. */
  turn({ text, rows = [] }) {
    const turn = el("section", { class: "turn", tabindex: "-1" });
    turn.append(el("h2", { class: "question" }, text));
    const told = rows.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]);
    if (told.length) turn.append(el("dl", { class: "filled" }, ...told));
    this.log.append(turn);
    this.examples.hidden = true;
    this.restart.hidden = false;
    return turn;
  }

  /** Post a question in the present session, or, where that has ended, in a new one. */
  async post({ capability = SEARCH, query, clarification }, { anew = true } = {}) {
    const body = { ahp: "0.1", capability, query, clarification };
    body.context = { accept_types: DECLARED };
    if (this.locale) body.context.locale = this.locale;
    if (!this.session) return converse(body, this.key);
    const outcome = await converse({ ...body, session_id: this.session }, this.key);
    if (!outcome.failure?.ended || !anew) return outcome;
    delete body.clarification;
    return { ...(await converse(body, this.key)), fresh: true };
  }

  /** Show what the desk says, and wait for the answer where it asks. */
  receive(turn, said, asked) {
    const { query, capability } = asked;
    this.session = said.session_id ?? null;
    this.expect(null);
    if (!said.clarification) this.settle(capability);
    if (said.status === "accepted") {
      this.waitFor(turn, said.poll);
      return;
    }
    const told = said.clarification ?? said.response;
    const isAsked = this.tell(turn, told, told.question ?? told.answer ?? "", capability);
    if (said.clarification) {
      const how = isAsked ? "Answer above, or in your own words." : undefined;
      this.expect({ query, capability }, how);
      const options = isAsked ? [] : (told.options ?? []);
      this.choices(turn, "Choose one", options, (clarification) => ({
        ...{ query, capability, clarification },
      }));
      return;
    }
    this.follows(turn, told);
  }

  /** What stands below an answer. */
  follows(turn, { sources = [], follow_up: next }) {
    if (sources.length) turn.append(this.sources(sources));
    this.choices(turn, "Ask next", next?.suggested_queries ?? [], (query) => ({ query }));
  }

  /** What is said, in cards as far as it can be; whether there is one. What was answered is told first. */
  tell(turn, { messages = [], besides = "" }, words, capability) {
    const shown = messages.map((message) => ({
      message,
      card: cardOf(message, (card, answer) => this.reply(card, answer)),
      answer: answerIn(message),
    }));
    const isAll = shown.length > 0 && shown.every(({ card, answer }) => card || answer);
    for (const one of shown.filter(({ answer }) => answer)) {
      const { id, text, failed, element } = one.answer;
      const card = this.cards.get(id);
      card?.close(text);
      if (failed && card?.again) one.card = card.again(text);
      else if (element) turn.append(element);
      else if (isAll) turn.append(el("p", { class: "note" }, text));
    }
    turn.append(el("div", { class: "answer" }, ...blocks(isAll ? besides : words)));
    for (const { message, card } of shown.filter((one) => one.card)) {
      card.schema ??= message.$schema;
      card.capability = capability;
      this.cards.get(replacedBy(message))?.close("Replaced by a newer question.");
      this.cards.get(card.id)?.close("Asked again below.");
      this.cards.set(card.id, card);
      turn.append(card.element);
    }
    return shown.some(({ card }) => card);
  }

  /** What shall be done was done, or is not wanted: nothing that was asked for it is open. */
  settle(capability) {
    for (const card of this.cards.values()) {
      if (capability && card.capability === capability) card.close("Needs no answer any more.");
    }
  }

  sources(sources) {
    const items = sources.map((source) => {
      const item = el("li", {}, link(source.url, source.title));
      if (source.relevance !== "direct") item.append(" ", el("span", { class: "tag" }, "related"));
      return item;
    });
    return el("div", { class: "sources" }, el("h3", {}, "Sources"), el("ol", {}, ...items));
  }

  /** What was taken on goes on by itself: say how it goes, and in the end what came of it. */
  async waitFor(turn, poll) {
    const note = el("p", { class: "note" }, "It was taken on. What comes of it is told here.");
    turn.append(note);
    const { round } = this;
    const { said, failure } = await follow(poll, this.key, (progress) => {
      note.textContent = progress;
    });
    if (round !== this.round) return;
    note.remove();
    if (failure) {
      turn.append(el("p", { class: "failure" }, failure.text));
      return;
    }
    this.tell(turn, said.response, said.response.answer ?? "");
    this.follows(turn, said.response);
  }

  fail(turn, failure, asked, fresh = false) {
    if (fresh) this.expect(null);
    if (failure.needsKey) {
      const card = new KeyCard(failure.text, (key) => {
        this.key = key;
        turn.remove();
        this.ask(asked, { focus: true });
      });
      turn.append(card.element);
      return;
    }
    turn.append(el("p", { class: "failure" }, failure.text));
    if (failure.again) this.choices(turn, null, ["Try again"], () => asked);
    else if (!this.box.value) this.box.value = asked.clarification ?? asked.query ?? "";
  }

  choices(turn, title, words, asked) {
    if (!words.length) return;
    const buttons = words.map((word) => {
      const button = el("button", { type: "button", class: "chip" }, word);
      button.addEventListener("click", () => this.ask(asked(word), { focus: true }));
      return el("li", {}, button);
    });
    const list = el("ul", {}, ...buttons);
    turn.append(el("div", { class: "choices" }, ...(title ? [el("h3", {}, title)] : []), list));
  }

  wait(busy) {
    this.busy = busy;
    this.send.setAttribute("aria-disabled", String(busy));
    this.log.setAttribute("aria-busy", String(busy));
    this.status.textContent = busy ? "Looking for an answer" : "";
  }

  show(turn) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    turn.scrollIntoView({ block: "start", behavior: still ? "instant" : "smooth" });
  }
}

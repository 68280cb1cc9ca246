// The conversation of the box to ask: questions, choices and replies.

import { el } from "../dom.js";
import { KeyCard } from "../key.js";
import { Memory } from "./memory.js";
import { partiesOf, read, shownAs, withoutPeople } from "./messages.js";
import { Thread } from "./thread.js";
import { Transcript } from "./transcript.js";
import { converse, DECLARED, follow } from "./wire.js";
import { text } from "../texts.js";

const SEARCH = "content_search";
const LONGEST_QUERY = 4096;

/**
 * A question: `query` to `capability`, or its `clarification`; shown as `shown`.
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
    this.question = this.label.textContent;
    this.promise = this.hint.textContent;
    this.locale = root.dataset.locale;
    this.key = "";
    this.session = null;
    this.unclear = null;
    this.busy = false;
    this.round = 0;
    this.transcript = new Transcript(this.log, {
      onask: (asked) => this.ask(asked, { focus: true }),
      onreply: (card, answer) => this.reply(card, answer),
    });
    this.memory = new Memory(this.locale);
    const listener = {
      onsaid: (message) => this.hear(message),
      onhanded: (name, isOver) => this.handed(name, isOver),
      ondeleted: (id) => this.transcript.remove(id),
      onlive: (isLive) => root.toggleAttribute("data-live", isLive),
    };
    this.thread = new Thread(root.dataset.desk, listener, this.memory);
    this.listen();
    this.thread.restore(this.memory.thread);
  }

  listen() {
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
    this.restart.addEventListener("click", () => {
      this.memory.keep(null);
      this.begin();
      this.box.focus();
    });
    this.memory.onchange((id) => {
      if (this.busy || id === this.thread.id) return;
      this.begin();
      this.thread.restore(id);
    });
  }

  /** Start a new conversation; pending replies belong to the old one. */
  begin() {
    this.thread.end();
    this.session = null;
    this.round += 1;
    this.expect(null);
    this.wait(false);
    this.hint.textContent = this.promise;
    this.transcript.clear();
    this.examples.hidden = false;
    this.restart.hidden = true;
  }

  /** Wait for the answer to the desk's clarification of a question; null for none. */
  expect(asked, how = text("chooseOrSay")) {
    this.unclear = asked;
    this.label.textContent = asked ? text("yourAnswer") : this.question;
    this.hint.textContent = asked ? how : "";
    this.box.placeholder = asked ? text("yourAnswer") : this.placeholder;
  }

  /** Start with a button's question; an action takes its request from the text box. */
  start({ query, capability }) {
    const words = capability ? this.box.value.trim() : "";
    if (words) this.box.value = "";
    this.ask({ query: words || query, capability }, { focus: true });
  }

  say(typed) {
    const words = typed.trim();
    if (!words || this.busy) return;
    this.box.value = "";
    this.ask(this.unclear ? { ...this.unclear, clarification: words } : { query: words });
  }

  /** @param {Asked} asked */
  async ask(asked, { focus = false } = {}) {
    if (this.busy) return;
    this.wait(true);
    const { round } = this;
    await this.thread.ready;
    if (round !== this.round) return;
    this.transcript.dropChoices();
    const turn = this.turn({ text: asked.clarification ?? asked.query });
    const waiting = el("p", { class: "waiting", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
    turn.append(waiting);
    if (focus) turn.focus({ preventScroll: true });
    this.transcript.show(turn);

    const { said, failure, fresh } = await this.post(asked);
    if (round !== this.round) return;
    waiting.remove();
    if (fresh) turn.append(el("p", { class: "note" }, text("fresh")));
    if (failure) this.fail(turn, failure, asked, fresh);
    else this.receive(turn, said, asked);
    this.settled(said);
    this.transcript.show(turn);
  }

  /** Send the answer of a card, which stays unchanged until the desk has accepted it. */
  async reply(card, { message, summary }) {
    if (this.busy) return;
    const query = JSON.stringify({ $schema: card.schema, ...message });
    if (query.length > LONGEST_QUERY) {
      card.refuse(text("tooLong"));
      return;
    }
    this.wait(true);
    card.wait(true);
    const { round } = this;
    await this.thread.ready;
    const { said, failure } = await this.post({ query }, { anew: false });
    if (round !== this.round) return;
    card.wait(false);
    if (failure?.ended) card.close(failure.text);
    else if (failure) card.refuse(failure.text, failure.param);
    if (failure) {
      this.settled();
      return;
    }
    card.close(text("answered"));
    this.transcript.dropChoices();
    const turn = this.turn(summary);
    turn.focus({ preventScroll: true });
    // filled-in values are not sent again with the next question
    this.receive(turn, said, { ...this.unclear, query: summary.text });
    this.settled(said);
    this.transcript.show(turn);
  }

  /** Start a turn of this page. */
  turn(said) {
    this.examples.hidden = true;
    this.restart.hidden = false;
    return this.transcript.turn(said);
  }

  /** End a turn of this page; show what others have said meanwhile. */
  settled(said) {
    this.wait(false);
    this.thread.release(said?.meta?.last_event);
    if (this.session) this.thread.follow(this.session, this.key);
  }

  /** Post a question in the current session, or in a new one where that has ended. */
  async post({ capability = SEARCH, query, clarification }, { anew = true } = {}) {
    const body = { ahp: "0.1", capability, query, clarification };
    body.context = { accept_types: DECLARED };
    if (this.locale) body.context.locale = this.locale;
    const session = this.thread.id ?? this.session;
    if (!session) return converse(body, this.key);
    this.thread.hold();
    const outcome = await converse({ ...body, session_id: session }, this.key);
    if (!outcome.failure?.ended || !anew) return outcome;
    this.thread.end();
    delete body.clarification;
    return { ...(await converse(body, this.key)), fresh: true };
  }

  /** Show the desk's reply, and wait for the answer to its question. */
  receive(turn, said, asked) {
    const { query, capability } = asked;
    this.session = said.session_id ?? null;
    this.expect(null);
    if (!said.clarification) this.transcript.settle(capability);
    if (said.status === "accepted") {
      this.waitFor(turn, said.poll);
      return;
    }
    const told = said.clarification ?? said.response;
    const all = told.question ?? told.answer ?? "";
    const words = this.thread.isLive ? withoutPeople(all, said.meta?.people) : all;
    const isAsked = this.transcript.tell(turn, told, words, capability);
    if (told.messages?.length) this.thread.declare();
    if (said.clarification) {
      const how = isAsked ? text("answerOrSay") : undefined;
      this.expect({ query, capability }, how);
      const options = isAsked ? [] : (told.options ?? []);
      this.transcript.choices(turn, text("chooseOne"), options, (clarification) => ({
        ...{ query, capability, clarification },
      }));
      return;
    }
    this.transcript.follows(turn, told);
  }

  /** Show messages of the thread: by people, in other tabs, or before the page was loaded. */
  hear(message) {
    const said = read(message);
    const { visitor, person, other } = partiesOf(message, this.thread);
    this.restart.hidden = false;
    if (visitor) {
      this.transcript.answered(said.messages);
      this.transcript.dropChoices();
      this.transcript.turn({ text: shownAs(said) }, message.id);
      return;
    }
    const by = person || other;
    if (!by && this.polled?.delete(said.words)) return;
    this.streamed?.add(said.words);
    const section = by ? this.transcript.party(by, message.id) : this.transcript.open;
    this.transcript.tell(section, { messages: said.messages, besides: said.words }, said.words);
    this.transcript.follows(section, said);
    if (by && this.thread.isLive) this.transcript.show(section, "nearest");
  }

  /** An operator takes the conversation over, or gives it back to the desk. */
  handed(name, isOver) {
    this.transcript.note(isOver ? text("handedBack") : text("handedOver", { name }));
  }

  /** Follow an accepted call: show its progress, and in the end its outcome. */
  async waitFor(turn, poll) {
    const note = el("p", { class: "note" }, text("takenOn"));
    turn.append(note);
    const { round } = this;
    this.streamed = new Set();
    this.polled = new Set();
    const { said, failure } = await follow(poll, this.key, (progress) => {
      note.textContent = progress;
    });
    if (round !== this.round) return;
    note.remove();
    if (failure) {
      turn.append(el("p", { class: "failure" }, failure.text));
      return;
    }
    const answer = said.response.answer ?? "";
    if (this.streamed.has(answer)) return;
    this.polled.add(answer);
    this.transcript.tell(turn, said.response, answer);
    this.transcript.follows(turn, said.response);
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
    if (failure.again) this.transcript.choices(turn, null, [text("tryAgain")], () => asked);
    else if (!this.box.value) this.box.value = asked.clarification ?? asked.query ?? "";
  }

  wait(busy) {
    this.busy = busy;
    this.send.setAttribute("aria-disabled", String(busy));
    this.log.setAttribute("aria-busy", String(busy));
    this.status.textContent = busy ? text("looking") : "";
  }
}

// The conversation: what was said, what is being said, and what waits to be sent.
//
// The events of the thread are the one source of what is shown: after a reload, in another tab and
// after a lost connection they are read again by their numbers.

import { Waiting } from "./waiting.js";
import { operatorOf, readMessage } from "./messages.js";
import { Outbox } from "./outbox.js";
import { Visitor } from "./visitor.js";
import { tokenFault } from "./client.js";
import { Stream } from "./stream.js";
import { text } from "../texts.js";

/** How long a person counts as typing: longer than the console pauses before it says so again. */
const TYPING_MS = 5000;
const LONGEST_CONTEXT = 500;
const SIGNED_OUT = "signed out";
const STARTED = /queued|in_progress|cancelling/;

/**
 * What is said, or noted.
 *
 * @typedef {{id: string, key?: string, party: "visitor" | "desk" | "person" | "other" | "note",
 *   name?: string, text: string, spoken?: string, page?: string,
 *   messages?: object[], metadata?: object, content?: string, card?: Card,
 *   sources?: {title: string, url: string}[], followUps?: string[],
 *   state: "sending" | "failed" | "writing" | "said", failure?: Failure}} Entry
 */

export class Conversation {
  /**
   * @param {Client} client
   * @param {Memory} memory
   * @param {string} desk id of the desk's actor.
   * @param {{show: (entry: Entry, isNew: boolean) => void, remove: (id: string) => void,
   *   clear: () => void, forget: () => void, update: (state: object) => void}} view
   * @param {(name: string, detail: object) => void} tell tells the page of an event.
   * @param {number} minutes how long to wait for a person before an address is asked for.
   */
  constructor(client, memory, desk, view, tell, minutes) {
    this.client = client;
    this.memory = memory;
    this.desk = desk;
    this.view = view;
    this.tell = tell;
    this.outbox = new Outbox(this);
    this.visitor = new Visitor(this);
    this.waiting = new Waiting(this, minutes);
    this.forget();
    for (const kind of ["online", "offline"]) {
      addEventListener(kind, () => {
        this.stream?.changed();
        this.update();
      });
    }
    memory.onchange({
      onthread: (id) => id !== this.thread && (this.thread ? this.restart(id) : this.follow(id)),
      onseen: () => this.count(),
    });
  }

  /** Continue the conversation that the browser has stored, if there is one. */
  restore() {
    this.restart(this.memory.thread);
    this.outbox.restore();
  }

  /** Begin another conversation; the desk keeps the old one for its time. */
  leave() {
    if (this.visitor.id && this.thread) this.client.leave(this.thread);
    this.renew();
  }

  /** Forget the conversation here. */
  renew() {
    if (this.thread === this.memory.thread) this.memory.keep(null);
    this.restart(null);
  }

  /** Delete the conversation on the desk, then here; return why that failed, if it did. */
  async erase() {
    const { failure } = await this.client.delete(this.thread);
    if (failure && !failure.gone) return failure;
    this.renew();
  }

  /** Send what the page says of itself with every question from now on; null for nothing. */
  setContext(context) {
    const page = context ? JSON.stringify(context) : undefined;
    if (page?.length > LONGEST_CONTEXT) {
      const rule = `setContext: ${page.length} characters of JSON, at most ${LONGEST_CONTEXT}`;
      this.tell("error", { text: rule, code: "context_too_long" });
    } else this.page = page;
  }

  /** Send a question of the visitor; `action` is the name of what they chose, if they did. */
  ask(words, files = [], action) {
    const said = words.trim() || files.map((file) => file.filename).join(", ");
    return said ? this.outbox.add({ text: said, page: this.page, files, action }) : Promise.resolve();
  }

  /** Take all that has arrived for seen. */
  markSeen() {
    if (this.thread) this.memory.see(this.last);
    this.count();
  }

  forget() {
    this.stream?.stop();
    this.stream = null;
    this.waiting.end();
    this.waiting.ticket = null;
    this.thread = null;
    this.outbox.clear();
    this.names = new Map();
    this.last = 0;
    this.person = "";
    this.isTyping = false;
    clearTimeout(this.typing);
    this.runs = new Set();
    this.unseen = new Map();
    this.writing = null;
  }

  restart(thread) {
    this.forget();
    this.view.clear();
    this.update({ isLinked: true });
    this.count();
    if (thread) this.follow(thread);
  }

  follow(thread) {
    if (this.thread === thread) return;
    this.thread = thread;
    this.known = this.memory.seen;
    this.watch();
    this.outbox.sleep.wake();
  }

  /** Follow the thread's events after the last one. */
  watch() {
    this.view.remove(SIGNED_OUT);
    this.stream?.stop();
    const stream = new Stream(this.client, this.thread, this.last, {
      onevent: (kind, data, n) => stream === this.stream && this.take(kind, data, n),
      onstate: (isLinked) => stream === this.stream && this.update({ isLinked }),
      onover: (response) => stream === this.stream && this.lose(response),
      ongap: () => stream === this.stream && this.load(),
    });
    this.stream = stream;
  }

  /** Show the newest messages of a thread whose events are too many to be read again. */
  async load() {
    const { stream } = this;
    const { said } = await this.client.read(this.thread);
    if (stream !== this.stream) return;
    for (const message of said?.messages ?? []) this.say(message, 0);
    for (const rating of said?.ratings ?? []) this.view.rate(rating);
  }

  /** The thread cannot be followed: because of the token, or because it is gone. */
  lose(response) {
    if (response.status !== 401 || !this.client.token) return this.end();
    this.update({ isLinked: true });
    this.note(SIGNED_OUT, text("signedOut"));
    this.tell("error", { text: text("signedOut"), code: tokenFault(response) });
  }

  /** The thread is gone: deleted elsewhere, closed, or another caller's. */
  end() {
    this.renew();
    this.note("ended", text("ended"));
  }

  posted(entry, thread) {
    entry.state = "said";
    this.view.show(entry, false);
    if (!this.thread) {
      this.memory.keep(thread);
      this.follow(thread);
    }
    this.outbox.keep();
    this.update();
  }

  /** Take an event of the thread; `n` is its number, NaN for what is only passing. */
  take(kind, data, n) {
    if (n > this.last) this.last = n;
    if (kind === "message.created" && !data.deleted) this.say(data, n);
    else if (kind === "message.created" || kind === "message.deleted") this.remove(data.id);
    else if (kind === "message.feedback") this.view.rate(data);
    else if (kind === "run.restarted") this.write(data.run_id, "");
    else if (kind === "answer.snapshot") this.write(data.run_id, data.text);
    else if (kind === "answer.delta") this.write(data.run_id, data.text, this.writing);
    else if (kind === "actor.typing") this.type(true);
    else if (kind.startsWith("run.")) this.run(kind, data, n);
    else if (kind.startsWith("thread.handed_")) this.hand(kind, operatorOf(data.id, this.desk), n);
    else if (kind === "thread.deleted") this.end();
    else if (kind === "thread.claimed" && !this.visitor.id) this.end();
  }

  say(message, n) {
    const entry = readMessage(message, this.desk, this.visitor.id);
    const { metadata } = entry;
    const draft = this.outbox.take(entry.key);
    if (draft) {
      entry.id = draft.id;
      this.names.set(message.id, draft.id);
      this.tell("message", { text: draft.text });
    }
    if (entry.party === "desk" && this.writing?.run === message.run_id) {
      this.view.remove(this.writing.id);
      this.writing = null;
    }
    // its run is over: dots below it would move it out of view
    this.runs.delete(message.run_id);
    if (entry.party !== "visitor") this.type(false);
    if (entry.party === "person" || metadata.ticket) this.waiting.end();
    else if (metadata.asked_person) this.waiting.begin(entry);
    if (entry.party !== "visitor") {
      this.unseen.set(message.id, n);
      if (n > this.known) {
        if (metadata.tools_used) this.tell("action", { names: metadata.tools_used.split(", ") });
        this.tell("answer", { text: entry.spoken, name: entry.name });
      }
    }
    this.view.show(entry, n > this.known);
    this.count();
  }

  remove(id) {
    this.unseen.delete(id);
    this.view.remove(this.names.get(id) ?? id);
    this.count();
  }

  /** Show the answer that is being written, without its end. */
  write(run, more, writing) {
    const words = writing?.run === run ? writing.text + more : more;
    this.writing = { id: `writing ${run}`, run, party: "desk", text: words, state: "writing" };
    if (words) this.view.show(this.writing, false);
    else this.view.remove(this.writing.id);
  }

  run(kind, { id }, n) {
    if (STARTED.test(kind)) this.runs.add(id);
    else this.runs.delete(id);
    if (kind === "run.failed" || kind === "run.cancelled") {
      if (this.writing?.run === id) this.view.remove(this.writing.id);
      if (kind === "run.failed") {
        const words = text("runFailed");
        this.note(`${id} failed`, words, n);
        if (n > this.known) this.tell("error", { text: words, code: "not_answered" });
      }
    }
    this.update();
  }

  /** A person is writing; unless that is said again, no longer. */
  type(isTyping) {
    clearTimeout(this.typing);
    if (isTyping) this.typing = setTimeout(() => this.type(false), TYPING_MS);
    this.isTyping = isTyping;
    this.update();
  }

  hand(kind, name, n) {
    const isOver = kind === "thread.handed_over";
    this.person = isOver ? name : "";
    this.waiting.end();
    this.note(`handed ${n}`, isOver ? text("joined", { name }) : text("left", { name }), n);
    this.update();
    if (isOver && n > this.known) this.tell("handover", { name });
  }

  note(id, words, n = Infinity) {
    this.view.show({ id, party: "note", text: words, state: "said" }, n > this.known);
  }

  /** Tell the view of what goes on. */
  update(changed = {}) {
    this.isLinked = changed.isLinked ?? this.isLinked;
    if (this.stream) this.stream.isAwaited = this.person || this.waiting.isOn || this.runs.size;
    this.view.update({
      isLinked: this.isLinked && navigator.onLine,
      isAnswering: this.person ? this.isTyping : this.runs.size > 0,
      person: this.person,
      isBegun: this.thread,
      isKnown: Boolean(this.visitor.id),
    });
  }

  /** Count the messages that the visitor has not seen. */
  count() {
    const waiting = [...this.unseen.values()].filter((n) => n > this.memory.seen);
    this.view.countUnseen(waiting.length);
  }
}

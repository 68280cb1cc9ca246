// The conversation: what was said, what is being said, and what waits to be sent.
//
// The events of the thread are the one source of what is shown: after a reload, in another tab and
// after a lost connection they are read again by their numbers.

import { text } from "../texts.js";
import { operatorOf, readMessage } from "./messages.js";
import { Backoff, Sleep } from "./pause.js";
import { Stream } from "./stream.js";

const MOST_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 700;
const LONGEST_PAUSE_MS = 10_000;
/** How long a person counts as typing: longer than the console pauses before it says so again. */
const TYPING_MS = 5000;
const STARTED = new Set(["run.queued", "run.in_progress", "run.cancelling"]);

/** Return a random key; `crypto.randomUUID` is missing on pages without encryption. */
function makeKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * What is said, or noted.
 *
 * @typedef {{id: string, key?: string, party: "visitor" | "desk" | "person" | "other" | "note",
 *   name?: string, text: string, sources?: {title: string, url: string}[], followUps?: string[],
 *   state: "sending" | "failed" | "writing" | "said", failure?: Failure}} Entry
 */

export class Conversation {
  /**
   * @param {Client} client
   * @param {Memory} memory
   * @param {string} desk id of the desk's actor.
   * @param {{show: (entry: Entry, isNew: boolean) => void, remove: (id: string) => void,
   *   clear: () => void, update: (state: object) => void}} view
   * @param {(name: string, detail: object) => void} tell tells the page of an event.
   */
  constructor(client, memory, desk, view, tell) {
    this.client = client;
    this.memory = memory;
    this.desk = desk;
    this.view = view;
    this.tell = tell;
    this.sleep = new Sleep();
    this.forget();
    memory.onchange({
      onthread: (id) => id !== this.thread && this.restart(id),
      onseen: () => this.count(),
    });
    addEventListener("online", () => this.sleep.wake());
  }

  /** Continue the conversation that the browser has stored, if there is one. */
  restore() {
    this.restart(this.memory.thread);
  }

  /** Leave the conversation and begin another; the desk keeps the old one for its time. */
  renew() {
    this.memory.keep(null);
    this.restart(null);
  }

  /** Delete the conversation on the desk, then here; return why that failed, or null. */
  async erase() {
    if (this.thread) {
      const { failure } = await this.client.delete(this.thread);
      if (failure && !failure.gone) return failure;
    }
    this.renew();
    return null;
  }

  /** Send a question of the visitor. */
  ask(words) {
    const said = words.trim();
    if (!said) return Promise.resolve();
    const key = makeKey();
    const entry = { id: key, key, party: "visitor", text: said, state: "sending" };
    this.drafts.set(key, entry);
    this.view.show(entry, true);
    return this.send(entry);
  }

  /** Send a message again that could not be sent. */
  retry(entry) {
    entry.state = "sending";
    this.view.show(entry, false);
    return this.send(entry);
  }

  /** Take all that has arrived for seen. */
  markSeen() {
    if (this.thread) this.memory.see(this.last);
    this.count();
  }

  forget() {
    this.stream?.stop();
    this.stream = null;
    this.thread = null;
    this.sending = Promise.resolve();
    this.names = new Map();
    this.last = 0;
    this.person = "";
    this.isTyping = false;
    clearTimeout(this.typing);
    this.runs = new Set();
    this.drafts = new Map();
    this.unseen = new Map();
    this.writing = null;
  }

  restart(thread) {
    this.forget();
    this.view.clear();
    this.update({ isConnected: true });
    this.count();
    if (thread) this.follow(thread);
  }

  follow(thread) {
    if (this.thread === thread) return;
    this.thread = thread;
    this.known = this.memory.seen;
    const stream = new Stream(this.client.threads(thread, "events"), {
      onevent: (kind, data, n) => stream === this.stream && this.take(kind, data, n),
      onstate: (isConnected) => stream === this.stream && this.update({ isConnected }),
      onover: () => stream === this.stream && this.end(),
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
  }

  /** The thread is gone: deleted elsewhere, closed, or another caller's. */
  end() {
    this.renew();
    this.note("ended", text("ended"));
  }

  /** Send an entry once all earlier ones are sent: the first of them opens the thread. */
  send(entry) {
    this.sending = this.sending.then(() => this.deliver(entry));
    return this.sending;
  }

  /** Post an entry, again until the desk has it; its key makes a repeat harmless. */
  async deliver(entry) {
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    for (let attempt = 1; this.drafts.has(entry.key); attempt += 1) {
      const { thread, failure } = await this.client.post(this.thread, entry);
      if (!this.drafts.has(entry.key)) return;
      if (thread) {
        this.posted(entry, thread);
        return;
      }
      if (failure.gone && this.thread) {
        this.end();
        this.drafts.set(entry.key, entry);
        this.view.show(entry, true);
      } else if (!failure.again || attempt >= MOST_ATTEMPTS || failure.wait > LONGEST_PAUSE_MS) {
        this.fail(entry, failure);
        return;
      } else {
        await this.sleep.for(navigator.onLine ? (failure.wait ?? backoff.next()) : Infinity);
      }
    }
  }

  posted(entry, thread) {
    entry.state = "said";
    this.view.show(entry, false);
    if (!this.thread) {
      this.memory.keep(thread);
      this.follow(thread);
    }
    this.update();
    this.tell("message", { text: entry.text });
  }

  fail(entry, failure) {
    entry.state = "failed";
    entry.failure = failure;
    this.view.show(entry, false);
    this.tell("error", { text: failure.text });
  }

  /** Take an event of the thread; `n` is its number, NaN for what is only passing. */
  take(kind, data, n) {
    if (n > this.last) this.last = n;
    if (kind === "message.created" && !data.deleted) this.say(data, n);
    else if (kind === "message.created" || kind === "message.deleted") this.remove(data.id);
    else if (kind === "run.restarted") this.write(data.run_id, "");
    else if (kind === "answer.snapshot") this.write(data.run_id, data.text);
    else if (kind === "answer.delta") this.write(data.run_id, this.written(data.run_id) + data.text);
    else if (kind === "actor.typing") this.type(true);
    else if (kind.startsWith("run.")) this.run(kind, data, n);
    else if (kind.startsWith("thread.handed_")) this.hand(kind, operatorOf(data.id), n);
    else if (kind === "thread.deleted" || kind === "thread.claimed") this.end();
  }

  say(message, n) {
    const entry = readMessage(message, this.desk);
    const draft = this.drafts.get(entry.key);
    if (draft) {
      this.drafts.delete(entry.key);
      entry.id = draft.id;
      this.names.set(message.id, draft.id);
    }
    if (entry.party === "desk" && this.writing?.run === message.run_id) {
      this.view.remove(this.writing.id);
      this.writing = null;
    }
    if (entry.party === "person") this.type(false);
    if (entry.party !== "visitor") {
      this.unseen.set(message.id, n);
      if (n > this.known) this.tell("answer", { text: entry.text, name: entry.name });
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
  write(run, words) {
    this.writing = { id: `writing ${run}`, run, party: "desk", text: words, state: "writing" };
    if (words) this.view.show(this.writing, false);
    else this.view.remove(this.writing.id);
  }

  written(run) {
    return this.writing?.run === run ? this.writing.text : "";
  }

  run(kind, { id }, n) {
    if (STARTED.has(kind)) this.runs.add(id);
    else this.runs.delete(id);
    if (kind === "run.failed" || kind === "run.cancelled") {
      if (this.writing?.run === id) this.view.remove(this.writing.id);
      if (kind === "run.failed") this.note(`${id} failed`, text("runFailed"), n);
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
    this.note(`handed ${n}`, isOver ? text("joined", { name }) : text("left", { name }), n);
    this.update();
    if (isOver && n > this.known) this.tell("handover", { name });
  }

  note(id, words, n = Infinity) {
    this.view.show({ id, party: "note", text: words, state: "said" }, n > this.known);
  }

  /** Tell the view of what goes on. */
  update(changed = {}) {
    this.isConnected = changed.isConnected ?? this.isConnected;
    this.view.update({
      isConnected: this.isConnected,
      isAnswering: this.person ? this.isTyping : this.runs.size > 0,
      person: this.person,
      isBegun: Boolean(this.thread),
    });
  }

  /** Count the messages that the visitor has not seen. */
  count() {
    const { seen } = this.memory;
    const waiting = [...this.unseen.values()].filter((n) => n > seen);
    this.view.countUnseen(waiting.length);
  }
}

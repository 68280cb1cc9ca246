// The messages of a thread: the newest ones, earlier ones on demand, and the stream.

import { announce } from "../base/announce.js";
import { get, path } from "../base/api.js";
import { arrange, button, el } from "../base/dom.js";
import { eventElement, messageElement, noteElement } from "./message.js";
import { Standing } from "../tickets/standing.js";
import { Stream } from "../base/stream.js";
import { operatorFirst } from "../base/words.js";

const PAGE = 50;
const NEAR_PX = 120;
const WRITING = new Set(["queued", "in_progress"]);

/**
 * A conversation.
 *
 * Callbacks of `listener`: `changed(thread)` for its operator and tickets, `gone()` when it was
 * deleted, `lost(error)` when it cannot be followed any more; `answer(part)` makes the button that
 * answers a request.
 */
export class Conversation {
  #session;
  #id;
  #listener;
  #limit;
  #messages = new Map();
  #extras = [];
  #arrived = 0;
  #before = null;
  #several = false;
  #owner = null;
  #stream = null;
  #looking = null;
  #standing = new Standing(() => this.#lookAtRequests());
  #closed = false;
  #earlier = button("Show earlier messages", "button quiet", () => this.#showEarlier());
  #log = el("ol", { class: "log", "aria-label": "Messages" });
  #draft = el("div", { class: "said", dir: "auto" });
  #writing = el(
    "div",
    { class: "message agent writing", hidden: true },
    el("p", { class: "by" }, el("strong", {}, "Agent"), " is writing…"),
    this.#draft,
  );
  #cut = el(
    "p",
    { class: "cut small", hidden: true },
    "New messages cannot be shown; trying again…",
  );
  #below = button("New messages below", "button below", () => this.toEnd(), { hidden: true });

  /** Set the pending action below the messages. */
  pending = el("div", { class: "pending" });

  constructor(session, id, listener, limit = PAGE) {
    this.#session = session;
    this.#id = id;
    this.#listener = listener;
    this.#limit = limit;
    this.#earlier.hidden = true;
    this.scroller = el("div", {
      class: "scroll talk",
      tabindex: "0",
      role: "region",
      "aria-label": "Messages",
    });
    this.scroller.append(this.#earlier, this.#log, this.#writing, this.pending, this.#cut);
    this.scroller.addEventListener("scroll", () => this.#nearEnd && (this.#below.hidden = true));
    this.element = el("div", { class: "talk-box" }, this.scroller, this.#below);
  }

  /** Show the messages so far, and follow. */
  async begin() {
    const head = await get(path("threads", this.#id));
    if (this.#closed) return;
    this.#listener.changed?.(head);
    this.#owner = head.owner;
    this.#several = head.actors.filter((actor) => actor.origin === "visitor").length > 1;
    const page = await get(path("threads", this.#id, "messages"), { limit: this.#limit });
    if (this.#closed) return;
    this.#took(page);
    head.notes.forEach((note) => this.addNote(note));
    this.toEnd();
    this.#follow(head.events);
    document.addEventListener("visibilitychange", this.#seen);
  }

  /** Fetch operator and tickets again, with any missed notes. */
  async look() {
    this.#looking?.abort();
    const looking = new AbortController();
    this.#looking = looking;
    try {
      const head = await get(path("threads", this.#id), {}, looking.signal);
      if (this.#closed) return;
      this.keeping(() => head.notes.forEach((note) => this.addNote(note)));
      this.#listener.changed?.(head);
    } catch (reason) {
      if (reason.status === 404 && !this.#closed) this.#listener.gone();
    }
  }

  /** Drop the pending read: it is older than the change just made. */
  forgetLook() {
    this.#looking?.abort();
  }

  close() {
    this.#closed = true;
    this.forgetLook();
    this.#stream?.close();
    this.#standing.close();
    document.removeEventListener("visibilitychange", this.#seen);
  }

  /** Show a note, once. */
  addNote(note) {
    if (this.#extras.some((extra) => extra.id === note.id)) return;
    this.#extra(note.id, Date.parse(note.created_at), noteElement(note, this.#session));
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#below.hidden = true;
  }

  /** Change the list, and stay at the end where the reader is at the end. */
  keeping(change) {
    const near = this.#nearEnd;
    change();
    if (near) this.toEnd();
    return near;
  }

  // A hidden page closes its stream: a browser has few connections for each desk.
  #seen = () => {
    if (document.hidden) this.#stream?.pause();
    else this.#stream?.resume();
  };

  #follow(after) {
    const listener = {
      heard: (event, data) => this.keeping(() => this.#heard(event, data)),
      up: () => (this.#cut.hidden = true),
      down: (failures) => failures && this.keeping(() => (this.#cut.hidden = false)),
      lost: (error) => this.#listener.lost(error),
    };
    this.#stream = new Stream(path("threads", this.#id, "events"), listener, after);
  }

  #heard(event, data) {
    if (event === "message") this.#said(data);
    else if (event === "note") this.addNote(data);
    else if (event === "delta") this.#write(this.#draft.textContent + data.text);
    else if (event === "snapshot") this.#write(data.text);
    else if (event === "restarted") this.#write("");
    else if (event === "run") this.#ran(data.state);
    else if (event === "hand_over") this.#handedOver(data.operator);
    else if (event === "actor") this.#actor(data);
    else if (event === "tickets") this.look();
    else if (event === "gone") this.#listener.gone();
  }

  #said(message) {
    const isNew = !this.#messages.has(message.id);
    if (message.speaker === "agent") this.#write("", true);
    this.#keep(message);
    this.#arrange();
    if (message.parts.length) this.#standing.look();
    if (isNew && message.speaker === "visitor") announce(`Visitor: ${message.text}`);
    if (isNew && message.speaker === "agent") announce("The agent answered.");
    if (isNew && !this.#nearEnd) this.#below.hidden = false;
  }

  #ran(state) {
    if (WRITING.has(state)) this.#writing.hidden = false;
    else this.#write("", true);
  }

  #write(text, over = false) {
    this.#draft.textContent = text;
    this.#writing.hidden = over;
  }

  // Operators join and leave by hand-overs, which are shown as such.
  #actor({ id, joined }) {
    if (!/\/operators\/[^/]+$/.test(id)) this.#happened(`${id} ${joined ? "joined" : "left"}.`);
  }

  #handedOver(operator) {
    const words = operator
      ? `${operatorFirst(operator, this.#session)} took over.`
      : "Handed back to the agent.";
    this.#happened(words);
    announce(words);
    this.look();
  }

  #happened(words) {
    const times = [...this.#messages.values()].map(({ at }) => Date.parse(at));
    const last = Math.max(0, ...times, ...this.#extras.map(({ at }) => at));
    this.#extra(null, last, eventElement(words));
  }

  #extra(id, at, element) {
    this.#extras.push({ id, at, order: this.#arrived++, element });
    this.#extras.sort((one, other) => one.at - other.at || one.order - other.order);
    this.#arrange();
  }

  #keep(message) {
    const kept = this.#messages.get(message.id);
    const told = JSON.stringify(message);
    if (kept?.told === told) return;
    const { answer } = this.#listener;
    const context = { session: this.#session, owner: this.#owner, answer };
    this.#messages.set(message.id, {
      seq: message.seq,
      at: message.created_at,
      order: kept?.order ?? this.#arrived++,
      told,
      asks: message.parts.some(({ standing }) => standing?.state === "open"),
      element: messageElement(message, context, this.#several),
    });
    this.#standing.note(message);
  }

  #took(page) {
    for (const message of page.data) this.#keep(message);
    this.#before = page.before;
    this.#earlier.hidden = !page.before;
    this.#arrange();
  }

  /** Fetch messages again from the first open request on: an answer changes its state. */
  async #lookAtRequests() {
    let before = null;
    do {
      const page = await get(path("threads", this.#id, "messages"), { before, limit: this.#limit });
      if (this.#closed) return;
      this.keeping(() => {
        for (const message of page.data) this.#keep(message);
        this.#arrange();
      });
      before = this.#asksBefore(page.data) ? page.before : null;
    } while (before);
  }

  /** Whether an earlier message has an open request. */
  #asksBefore(messages) {
    const first = Math.min(...messages.map(({ seq }) => seq));
    return [...this.#messages.values()].some(({ seq, asks }) => asks && seq < first);
  }

  async #showEarlier() {
    const { scrollHeight } = this.scroller;
    try {
      this.#took(
        await get(path("threads", this.#id, "messages"), { before: this.#before, limit: PAGE }),
      );
      this.scroller.scrollTop += this.scroller.scrollHeight - scrollHeight;
      if (this.#earlier.hidden) this.scroller.focus({ preventScroll: true });
    } catch (reason) {
      this.#listener.lost(reason);
    }
  }

  /** Order messages by number; notes and events between them by time. */
  #arrange() {
    const messages = [...this.#messages.values()].sort((one, other) => one.seq - other.seq);
    this.#messages = new Map(messages.map((message) => [message.element.dataset.id, message]));
    const since = this.#before && messages.length ? Date.parse(messages[0].at) : 0;
    const extras = this.#extras.filter((extra) => extra.at >= since);
    const nodes = [];
    for (const message of messages) {
      const at = Date.parse(message.at);
      while (extras.length && isBefore(extras[0], at, message.order))
        nodes.push(extras.shift().element);
      nodes.push(message.element);
    }
    const within = this.#log.contains(document.activeElement);
    arrange(this.#log, [...nodes, ...extras.map((extra) => extra.element)]);
    // the focused element may be gone, such as the button of an answered request
    if (within && !this.#log.contains(document.activeElement))
      this.scroller.focus({ preventScroll: true });
  }

  get #nearEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }
}

function isBefore(extra, at, order) {
  return extra.at < at || (extra.at === at && extra.order < order);
}

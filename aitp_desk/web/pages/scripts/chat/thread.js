// The thread of the conversation: stored for reloads and other tabs, and followed.

import { VISITOR, operatorOf, partiesOf } from "./messages.js";
import { Stream } from "./stream.js";
import { join, readThread } from "./wire.js";

const LONGEST_OPENING_MS = 3000;

/**
 * Delivers messages of the thread from outside this page's turns, each once.
 *
 * A turn of this page is shown from its response; its events on the stream are skipped. `hold` and
 * `release` enclose it.
 */
export class Thread {
  /**
   * @param {string} desk id of the desk's actor.
   * @param {{onsaid: (message: object) => void, onhanded: (name: string, isOver: boolean) => void,
   *   ondeleted: (id: string) => void, onlive: (isLive: boolean) => void}} listener
   * @param {Memory} memory
   */
  constructor(desk, listener, memory) {
    this.memory = memory;
    this.desk = desk;
    this.listener = listener;
    this.end();
  }

  /** Forget the thread and stop following it. */
  end() {
    this.stream?.stop();
    this.stream = null;
    this.id = null;
    this.key = "";
    this.isLive = false;
    this.listener.onlive(false);
    this.isOwn = false;
    this.isJoined = false;
    this.ownUpTo = 0;
    this.held = null;
    this.seen = new Set();
    this.ready = Promise.resolve();
  }

  /** Start following a conversation. */
  follow(session, key) {
    if (this.stream) return;
    this.key = key;
    this.open(session, () => {
      if (!key) this.memory.keep(this.id);
    });
  }

  /** Deliver the messages of a stored thread, if there is one, and follow it. */
  restore(id) {
    if (!id) return;
    this.id = id;
    this.open(id, async () => {
      const { said, failure } = await readThread(id);
      if (failure && !failure.again) this.over();
      for (const message of said?.messages ?? []) this.say(message, 0);
      const present = said?.metadata?.actors ?? [];
      this.isJoined = present.some((actor) => actor.id === VISITOR);
    });
  }

  open(name, begin) {
    let opened;
    this.ready = new Promise((done) => {
      opened = done;
      setTimeout(done, LONGEST_OPENING_MS);
    });
    this.held = [];
    const stream = new Stream(name, this.key, {
      onevent: async (kind, data, n) => {
        if (stream !== this.stream) return;
        if (kind !== "following") {
          this.take(kind, data, n);
        } else if (!this.isLive) {
          this.isLive = true;
          this.id = data.thread_id;
          await begin();
          if (stream !== this.stream) return;
          this.listener.onlive(true);
          opened();
          this.release(0);
        }
      },
      onover: () => {
        opened();
        if (stream === this.stream) this.over();
      },
    });
    this.stream = stream;
  }

  over() {
    const { key } = this;
    this.end();
    if (!key) this.memory.keep(null);
  }

  /** Hold back messages until a turn of this page ends. */
  hold() {
    this.held ??= [];
  }

  /** End a turn of this page; `last` is the number of its last event, where that is known. */
  release(last) {
    const held = this.held ?? [];
    this.held = null;
    this.ownUpTo = Math.max(this.ownUpTo, last ?? Math.max(0, ...held.map(([, , n]) => n || 0)));
    for (const event of held) this.take(...event);
  }

  /** Request capabilities' messages in structured form instead of text. */
  async declare() {
    if (this.isJoined || !this.id) return;
    this.isJoined = true;
    const { failure } = await join(this.id, this.desk, this.key);
    if (!failure) this.stream?.reopen();
  }

  take(kind, data, n) {
    const isPersons = kind === "message.created" && partiesOf(data, this).person;
    if (this.held && !isPersons) {
      this.held.push([kind, data, n]);
    } else if (kind === "message.created") {
      this.say(data, n);
    } else if (kind === "message.deleted") {
      this.listener.ondeleted(data.id);
    } else if (kind === "thread.handed_over" || kind === "thread.handed_back") {
      this.listener.onhanded(operatorOf(data.id), kind === "thread.handed_back");
      if (kind === "thread.handed_over") this.declare();
    } else if (kind === "thread.deleted" || (kind === "thread.claimed" && !this.key)) {
      this.over();
    }
  }

  say(message, n) {
    if (this.seen.has(message.id)) return;
    this.seen.add(message.id);
    const { visitor, person } = partiesOf(message, this);
    if (!person) {
      if (visitor) this.isOwn = n > 0 && n <= this.ownUpTo;
      if (this.isOwn && n <= this.ownUpTo) return;
    }
    this.listener.onsaid(message);
  }
}

// What the visitor has said and the desk does not have yet: sent in order, again until it has it.

import { pauseAfter, Sleep } from "./pause.js";

const MOST_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 700;
const LONGEST_PAUSE_MS = 10_000;
/** How long what another tab has stored may be on its way. */
const STORED_MS = 1000;

/** Return a random key; `crypto.randomUUID` is missing on pages without encryption. */
function makeKey() {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

export class Outbox {
  /** @param {Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.sleep = new Sleep();
    this.clear();
    addEventListener("online", () => this.sleep.wake());
  }

  clear() {
    this.sending = Promise.resolve();
    this.drafts = new Map();
  }

  /** Do something once all earlier messages are sent, and before later ones. */
  then(work) {
    this.sending = this.sending.then(work);
    return this.sending;
  }

  /** Show and send what the visitor says. */
  add(said) {
    const key = makeKey();
    const entry = { ...said, id: key, key, party: "visitor", state: "sending" };
    this.put(entry);
    this.conversation.view.show(entry, true);
    return this.send(entry);
  }

  put(entry) {
    this.drafts.set(entry.key, entry);
    this.keep();
  }

  /** Keep what is not sent for the next page; files and the answers of cards go with theirs. */
  keep() {
    const isKept = ({ card, files, state }) => !card && !files?.length && state !== "said";
    this.conversation.memory.keepDrafts([...this.drafts.values()].filter(isKept));
  }

  /** Send what the page before has left. */
  restore() {
    for (const entry of this.conversation.memory.drafts) {
      this.drafts.set(entry.key, entry);
      this.retry(entry);
    }
  }

  /** Send the answer of a card, which stays open until the desk has it. */
  answer(card, message, words) {
    card.wait(true);
    const content = JSON.stringify({ $schema: card.schema, ...message });
    return this.add({ text: words, content, card });
  }

  /** Send a message again that could not be sent. */
  retry(entry) {
    entry.state = "sending";
    entry.failure = null;
    this.conversation.view.show(entry, false);
    return this.send(entry);
  }

  /**
   * Keep a message that is not sent yet; what a token has stopped is sent again. The answer of a card
   * belongs to the conversation that asks.
   */
  hold(entry) {
    if (entry.card) return;
    this.put(entry);
    this.conversation.view.show(entry, false);
    if (entry.failure?.code) this.retry(entry);
  }

  /** Return the message of a key that the desk now has; undefined for another's. */
  take(key) {
    const draft = this.drafts.get(key);
    if (this.drafts.delete(key)) this.keep();
    return draft;
  }

  /** Send an entry once all earlier ones are sent: the first of them opens the thread. */
  send(entry) {
    return this.then(() => (this.conversation.thread ? this.deliver(entry) : this.begin(entry)));
  }

  /** Begin a conversation, or go on with the one that another tab has begun meanwhile. */
  begin(entry) {
    const { conversation, sleep } = this;
    const { memory } = conversation;
    const deliver = async (isFirst) => {
      // what the tab before has stored may come after its lock
      if (!isFirst && !memory.thread) await sleep.for(STORED_MS);
      if (memory.thread) conversation.follow(memory.thread);
      return this.deliver(entry);
    };
    const request = (options, isFirst) =>
      navigator.locks.request(memory.name, options, (lock) => (lock ? deliver(isFirst) : request({})));
    // a frame without storage has no locks either
    return navigator.locks ? request({ ifAvailable: true }, true).catch(deliver) : deliver(true);
  }

  /** Post an entry, again until the desk has it; its key makes a repeat harmless. */
  async deliver(entry) {
    const { conversation } = this;
    for (let attempt = 1; this.drafts.has(entry.key); attempt += 1) {
      const { thread, failure } = await conversation.client.post(
        conversation.thread,
        entry,
        conversation.visitor.id,
      );
      if (!this.drafts.has(entry.key)) return;
      if (thread) {
        conversation.posted(entry, thread);
        return;
      }
      if (failure.gone && conversation.thread) {
        conversation.end();
        this.hold(entry);
      } else if (!failure.again || attempt >= MOST_ATTEMPTS || failure.wait > LONGEST_PAUSE_MS) {
        this.fail(entry, failure);
        return;
      } else {
        const pause = failure.wait ?? pauseAfter(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        await this.sleep.for(navigator.onLine ? pause : Infinity);
      }
    }
  }

  /** A card shows by itself why its answer was not taken. */
  fail(entry, failure) {
    if (entry.card) {
      this.take(entry.key);
      this.conversation.view.remove(entry.id);
      entry.card.wait(false);
      entry.card.refuse(failure.text, failure.param);
      return;
    }
    entry.state = "failed";
    entry.failure = failure;
    this.conversation.view.show(entry, false);
    this.conversation.tell("error", { text: failure.text, code: failure.code ?? "not_sent" });
  }
}

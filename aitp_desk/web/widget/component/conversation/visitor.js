// Who the visitor is: anonymous, or the person that a token of the host site names.

import { pauseAfter } from "./pause.js";

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

export class Visitor {
  /** @param {Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.id = "";
    this.wanted = null;
  }

  /**
   * Go on as the bearer of a token, or without one as nobody.
   *
   * @param {string | null} token
   * @returns {Promise<boolean>} whether the desk has accepted it; false too for one that another
   *   call has replaced meanwhile.
   */
  identify(token) {
    this.wanted = token;
    if (!token) return Promise.resolve(this.signOut());
    const { outbox } = this.conversation;
    const isKnown = outbox.then(() => this.signIn(token));
    outbox.sleep.wake();
    return isKnown;
  }

  /** Forget all that is the person's: on the page, and in the browser's storage. */
  signOut() {
    const { conversation } = this;
    const { client, memory, outbox } = conversation;
    const wasKnown = Boolean(this.id);
    client.token = null;
    this.id = "";
    memory.isOwned = true;
    if (memory.thread) memory.keep(null);
    memory.isOwned = false;
    if (wasKnown) {
      conversation.view.forget();
      conversation.restart(null);
    }
    return true;
  }

  async signIn(token) {
    const { conversation } = this;
    const { client } = conversation;
    for (let attempt = 1; this.wanted === token; attempt += 1) {
      const { said, failure } = await client.readVisitor(token);
      if (this.wanted !== token) break;
      if (said) {
        client.token = token;
        await this.become(said);
        return true;
      }
      if (!failure.again) {
        const { code = "token_refused", rule = failure.text } = failure;
        conversation.tell("error", { text: rule, code });
        break;
      }
      const pause = failure.wait ?? pauseAfter(attempt, FIRST_RETRY_MS, LONGEST_RETRY_MS);
      await conversation.outbox.sleep.for(pause);
    }
    return false;
  }

  /** Go on with the conversation of this page if it can be claimed, else with the newest one. */
  async become({ caller, thread_id: newest, last_event: seen }) {
    const { conversation } = this;
    const { client, memory, outbox } = conversation;
    const was = this.id;
    const begun = conversation.thread;
    this.id = caller;
    memory.isOwned = true;
    let goesOn = was === caller;
    if (!goesOn) {
      conversation.stream?.stop();
      if (begun && !was) {
        // before other tabs learn that it is claimed
        memory.keep(begun, memory.seen);
        goesOn = !(await client.claim(begun)).failure;
        if (goesOn) await client.join(begun, caller);
        if (this.id !== caller) return;
      }
      if (!goesOn && memory.thread !== newest) memory.keep(newest, seen);
    }
    const drafts = was && was !== caller ? [] : [...outbox.drafts.values()];
    if (!goesOn) conversation.restart(newest);
    else if (begun) conversation.watch();
    for (const entry of drafts) outbox.hold(entry);
  }
}

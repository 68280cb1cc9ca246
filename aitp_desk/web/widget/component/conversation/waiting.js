// Waiting for a person: if nobody answers in time, the visitor may leave an email address.

/** Time to read the reply first, and for the rest of a conversation that is read again. */
const LEAST_MS = 1500;

export class Waiting {
  /**
   * @param {Conversation} conversation
   * @param {number} minutes how long to wait before the visitor is asked for an address.
   */
  constructor(conversation, minutes) {
    this.conversation = conversation;
    this.minutes = minutes;
    this.ticket = null;
  }

  /** A message says that a person was asked: `opens` is when people are there again, if not now. */
  begin({ at, metadata: { asked_person: asked, people_from: opens } }) {
    if (asked === this.ticket) return;
    this.end();
    this.ticket = asked;
    this.isOn = true;
    if (this.conversation.memory.settled === asked) return;
    const due = opens ? 0 : (at + this.minutes * 60) * 1000;
    const ask = () => this.conversation.view.askAddress(opens, (address) => this.settle(address));
    this.timer = setTimeout(ask, Math.max(LEAST_MS, due - Date.now()));
  }

  /** A person has answered, or the request is over. */
  end() {
    this.isOn = false;
    clearTimeout(this.timer);
    this.conversation.view.askAddress(null);
  }

  /** Leave the address, or null for none; return why that failed, if it did. */
  async settle(email) {
    const { client, memory, thread } = this.conversation;
    const address = client.threads(thread, "contact");
    const { failure } = email ? await client.request(address, { body: { email } }) : {};
    if (!failure) memory.settle(this.ticket);
    return failure;
  }
}

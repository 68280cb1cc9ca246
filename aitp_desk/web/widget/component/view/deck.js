// The cards of the conversation: each is made once, and closed by what answers or replaces it.

import { Ticket } from "../cards/ticket.js";
import { answerIn, cardOf, replacedBy } from "../cards/cards.js";
import { el } from "../dom.js";
import { text } from "../texts.js";

export class Deck {
  /** @param {(card: Card, message: object, words: string) => void} onreply */
  constructor(onreply) {
    this.onreply = onreply;
    this.clear();
  }

  clear() {
    this.cards = new Map();
  }

  /** Return what an entry shows of its structured messages. */
  lay({ messages = [], party, metadata = {} }) {
    const { asked_person: asked, ticket: answered, waits, calls = "" } = metadata;
    // the call goes on, or has ended
    for (const card of this.cards.values()) {
      if (calls.includes(card.call)) card.close(text("ticketOver"));
    }
    this.call = waits;
    // answered by a person, or ended by the desk
    this.cards.get(answered)?.close(party === "person" ? text("answered") : text("ticketOver"));
    const found = messages.map((message) => {
      const answer = answerIn(message);
      if (answer) return this.settle(answer, party === "visitor");
      const card = cardOf(message, this.onreply);
      this.cards.get(replacedBy(message))?.close(text("replaced"));
      return card && this.open(card, message.$schema);
    });
    if (asked) found.push(this.open(new Ticket(asked)));
    this.hold(this.holder);
    return found.filter(Boolean);
  }

  /** Name the person who has the tickets. */
  hold(name) {
    this.holder = name;
    for (const card of this.cards.values()) card.hold?.(name);
  }

  open(card, schema) {
    card.schema = schema;
    card.call = this.call;
    this.cards.get(card.id)?.close(text("askedAgain"));
    this.cards.set(card.id, card);
    return card.element;
  }

  /** Close the card of an answer; a payment that has failed may be tried again, unless it went back. */
  settle({ id, text: told, failed, element }, isVisitors) {
    const card = this.cards.get(id);
    card?.close(isVisitors ? text("answered") : told);
    if (failed && card?.again && !card.receipt) return this.open(card.again(told), card.schema);
    // one payment, also where two tabs have paid
    if (card && element) return (card.receipt ??= element);
    return element ?? (isVisitors ? null : el("p", { class: "note" }, told));
  }
}

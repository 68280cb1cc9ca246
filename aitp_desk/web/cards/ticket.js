// What was handed to people: its number, who has it, and what the visitor can do meanwhile.

import { Card } from "./card.js";
import { text } from "../texts.js";
import { el } from "../dom.js";

export class Ticket extends Card {
  constructor(id) {
    super({ id, title: text("ticket"), description: text("ticketTip") });
    this.holder = el("p", { class: "help", role: "status" });
    const number = el("p", { class: "help" }, text("ticketNumber", { id: "" }), el("code", {}, id));
    this.body.append(this.holder, number);
  }

  /** Say who has it; empty for nobody. */
  hold(name) {
    this.holder.textContent = name ? text("ticketHeld", { name }) : text("ticketWaits");
  }
}

// Requests for decisions without quantities (AITP-02): one of several, several, or a yes.

import { Card } from "./card.js";
import { el } from "../dom.js";
import { about, countedName, groupsOf, optionOf } from "./choices.js";
import { text } from "../texts.js";

/** Return the answer to a request for a decision, and that in words. */
export function decisionOf(request, chosen) {
  const options = chosen.map(({ choice, quantity }) =>
    quantity === undefined ? { id: choice.id } : { id: choice.id, quantity },
  );
  const told = chosen.map(({ choice, quantity }) => countedName(choice.name, quantity));
  const decision = { request_decision_id: request.id, options };
  return [{ decision }, told.join(", ")];
}

/** A list of options, for one or several. */
export class Choosing extends Card {
  constructor(request, onanswer) {
    super(request, onanswer);
    this.request = request;
    this.isSeveral = request.type === "checkbox";
    this.inputs = [];
    const groups = groupsOf(request);
    const list = el("ul", { class: "options" }, ...groups.map((group) => this.group(group)));
    const legend = el("legend", { class: "unseen" }, this.title);
    this.body.append(el("fieldset", {}, legend, list));
    if (this.inputs.length === 1) this.inputs[0].input.checked = true;
    this.sender(text("choose"));
  }

  group({ own, kinds, isHeading }) {
    if (!kinds.length) return this.option(own, own.name);
    const named = kinds.map((kind) => this.option(kind, kind.label));
    if (!isHeading) named.unshift(this.option(own, own.name));
    const heading = el("span", { class: "name" }, own.name);
    const told = isHeading ? [heading, ...about(own)] : [];
    const inner = el("ul", { class: "options", "aria-label": own.name }, ...named);
    return el("li", { class: "group" }, ...told, inner);
  }

  option(choice, label) {
    const type = this.isSeveral ? "checkbox" : "radio";
    const onchange = () => this.say("");
    const input = el("input", { type, name: "choice", value: choice.id, onchange });
    this.inputs.push({ choice, input });
    return optionOf(choice, label, input);
  }

  submit() {
    const chosen = this.inputs.filter(({ input }) => input.checked);
    if (!chosen.length) {
      this.say(this.isSeveral ? text("needsSome") : text("chooseOne"));
      this.inputs.find(({ input }) => !input.disabled)?.input.focus();
      return;
    }
    this.reply(...decisionOf(this.request, chosen));
  }
}

/** A question that each of its buttons answers at once. */
export class Confirming extends Card {
  constructor(request, onanswer) {
    super(request, onanswer);
    const choices = groupsOf(request).flatMap(({ own, kinds, isHeading }) =>
      isHeading ? kinds : [own, ...kinds],
    );
    for (const choice of choices.reverse()) {
      const kind = choice === choices.at(-1) ? "" : "quiet";
      this.answerer(choice.name, kind, ...decisionOf(request, [{ choice }]));
    }
  }
}

// Products with variants and quantities (AITP-02, requests of the type products).

import { about, details, groupsOf, headOf, money } from "./choices.js";
import { decisionOf } from "./decision.js";
import { Card } from "./card.js";
import { wrongOf } from "./fields.js";
import { text } from "../texts.js";
import { button, el, picture } from "../dom.js";

const MOST = 1_000_000;

export class Products extends Card {
  constructor(request, onanswer) {
    super(request, onanswer);
    this.request = request;
    this.counts = [];
    this.total = el("output", { class: "total" });
    const groups = groupsOf(request);
    this.body.append(
      el("ul", { class: "products" }, ...groups.map((group) => this.product(group))),
    );
    if (this.counts.length === 1) this.counts[0].input.value = "1";
    this.sender(text("choose"));
    this.foot.append(this.total);
    this.add();
  }

  product({ own, kinds, isHeading }) {
    const rows = kinds.map((kind) => this.row(kind, kind.label, true));
    if (!isHeading) rows.unshift(this.row(own, kinds.length ? own.name : text("howMany"), false));
    return el(
      "li",
      { class: "product" },
      picture(own.image_url),
      el(
        "div",
        { class: "told" },
        headOf("h4", own.name, own.price),
        ...about(own),
        details(own),
        el("ul", { class: "kinds" }, ...rows),
      ),
    );
  }

  /** One product with its quantity. */
  row(choice, label, isKind) {
    const input = el("input", {
      type: "number",
      inputmode: "numeric",
      min: "0",
      max: MOST,
      value: "0",
      "aria-label": `${text("howMany")}: ${choice.name}`,
      disabled: choice.hasLapsed,
    });
    const { element, refuse } = wrongOf(input);
    const count = { choice, input, refuse };
    this.counts.push(count);
    input.oninput = () => this.changed(count);
    const step = (move, sign, label) => {
      const go = () => {
        input[move]();
        this.changed(count);
      };
      const named = { class: "step", "aria-label": label, disabled: choice.hasLapsed };
      return button(sign, go, named);
    };
    const named = { name: choice.name };
    const less = step("stepDown", "−", text("oneLess", named));
    const more = step("stepUp", "+", text("oneMore", named));
    return el(
      "li",
      { class: "kind" },
      isKind && picture(choice.image_url),
      el("div", { class: "told" }, headOf("span", label, isKind && choice.price)),
      ...(isKind ? [el("div", { class: "more" }, ...about(choice), details(choice))] : []),
      el("div", { class: "stepper" }, less, input, more),
      element,
    );
  }

  changed({ refuse }) {
    this.say("");
    refuse("");
    this.add();
  }

  /** Return the total, where each chosen product has one price, all in the same currency. */
  add() {
    const chosen = this.chosen();
    const plans = chosen.map(({ choice }) => choice.plan);
    const [first] = plans;
    if (!first || plans.some((plan) => plan?.currency !== first.currency)) {
      this.total.textContent = "";
      return;
    }
    const sum = chosen.reduce((all, { choice, quantity }) => all + choice.plan.amount * quantity, 0);
    this.total.textContent = text("together", { sum: money(sum, first.currency) });
  }

  chosen() {
    const read = this.counts.map(({ choice, input }) => ({ choice, quantity: Number(input.value) }));
    return read.filter(({ quantity }) => Number.isInteger(quantity) && quantity > 0);
  }

  submit() {
    const wrong = this.counts.filter(({ input }) => !input.validity.valid);
    for (const { refuse } of wrong) refuse(text("wholeNumber"));
    if (wrong.length) {
      wrong[0].input.focus();
      return;
    }
    const chosen = this.chosen();
    if (!chosen.length) {
      this.say(text("fillSome"));
      this.counts.find(({ input }) => !input.disabled)?.input.focus();
      return;
    }
    this.reply(...decisionOf(this.request, chosen));
  }
}

// A form to fill in (AITP-03): validated here first, then by the receiver.

import { Field } from "./fields.js";
import { el } from "../dom.js";
import { text } from "../texts.js";
import { Card } from "./card.js";

export class Form extends Card {
  constructor(request, onanswer) {
    super(request, onanswer);
    this.fields = request.form.fields.map((field) => new Field(field));
    if (request.form.fields.some((field) => field.required)) {
      const mark = el("span", { class: "needed" }, "*");
      this.body.append(el("p", { class: "help" }, mark, ` ${text("needed")}`));
    }
    this.body.append(...this.fields.map((field) => field.element));
    if (request.remembers) this.body.append(this.remembering());
    this.sender(request.fillButtonLabel || text("send"));
  }

  submit() {
    const faults = this.fields.map((field) => [field, field.fault()]);
    for (const [field, fault] of faults) field.refuse(fault);
    const first = faults.find(([, fault]) => fault);
    if (first) {
      first[0].input.focus();
      return;
    }
    this.sent = this.fields.filter((field) => field.value);
    if (!this.sent.length) {
      this.say(text("fillSome"));
      this.fields[0].input.focus();
      return;
    }
    const fields = this.sent.map(({ id, value }) => ({ id, value }));
    const data = { request_data_id: this.id, fields };
    if (this.kept?.checked) data.remember = true;
    this.reply({ data }, this.title);
  }

  /** Whether the values are offered in the next form: only with the visitor's consent. */
  remembering() {
    this.kept = el("input", { type: "checkbox", name: "remember" });
    return el("label", { class: "tick" }, this.kept, text("remember"));
  }

  refuse(why, param) {
    const field = this.named(param ?? "");
    if (!field) {
      super.refuse(why);
      return;
    }
    field.refuse(why);
    field.input.focus();
  }

  /** Return the field of a refusal, by its position among those that were sent, or by its id. */
  named(param) {
    const place = /fields\[(\d+)\]/.exec(param);
    if (place) return this.sent[Number(place[1])];
    return this.fields.find(({ id }) => param === id || param.endsWith(`.${id}`));
  }
}

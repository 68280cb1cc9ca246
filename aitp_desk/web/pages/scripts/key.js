// Asks the visitor for a key where an action needs a known caller; kept while the page is open.

import { Card } from "./cards/card.js";
import { Field } from "./cards/fields.js";
import { text } from "./texts.js";

export class KeyCard extends Card {
  /** @param {(key: string) => void} onkey */
  constructor(title, onkey) {
    super({ id: "", title }, () => {});
    this.onkey = onkey;
    this.field = new Field({
      ...{ id: "key", label: text("key"), required: true, sensitive: true },
      description: text("keyHelp"),
    });
    this.body.append(this.field.element);
    this.sender(text("goOn"));
  }

  submit() {
    this.field.refuse(this.field.fault());
    if (this.field.value) this.onkey(this.field.value.trim());
    else this.field.input.focus();
  }
}

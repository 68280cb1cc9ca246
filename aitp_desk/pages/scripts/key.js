// What is done for callers who are known is asked of a visitor by a key, kept while the page is open.

import { Card } from "./card.js";
import { Field } from "./fields.js";

export class KeyCard extends Card {
  /** @param {(key: string) => void} onkey */
  constructor(title, onkey) {
    super({ id: "", title }, () => {});
    this.onkey = onkey;
    this.field = new Field({
      ...{ id: "key", label: "Access key", required: true, sensitive: true },
      description: "It is sent with your questions until you leave this page, and kept nowhere.",
    });
    this.body.append(this.field.element);
    this.sender("Go on");
  }

  submit() {
    this.field.refuse(this.field.fault());
    if (this.field.value) this.onkey(this.field.value.trim());
    else this.field.input.focus();
  }
}

// The menu of the chat: begin another conversation, or delete this one after a question.

import { el, icon } from "../dom.js";
import { text } from "../texts.js";

export class Menu {
  /**
   * @param {{onbegin: () => void, onerase: () => Promise<Failure | undefined>,
   *   onperson: (() => void) | null}} on `onperson` is null where nobody can be asked for.
   */
  constructor({ onbegin, onerase, onperson }) {
    this.onbegin = onbegin;
    this.onerase = onerase;
    this.button = el(
      "button",
      {
        ...{ type: "button", class: "tool", "aria-label": text("more"), "aria-expanded": "false" },
        hidden: true,
        onclick: () => this.toggle(this.list.hidden),
      },
      icon("more"),
    );
    this.list = el("div", { class: "menu", hidden: true });
    this.question = el("div", { class: "confirm", role: "group", hidden: true });
    this.list.append(
      this.item(text("newConversation"), () => this.begin()),
      this.item(text("deleteConversation"), () => this.confirm(), "danger"),
    );
    if (onperson) this.list.append(this.item(text("person"), () => this.toggle(false) || onperson()));
    this.element = el("div", { class: "menu-place" }, this.button, this.list);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.list.hidden) return;
      event.preventDefault();
      this.toggle(false);
      this.button.focus();
    });
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.element.contains(relatedTarget)) this.toggle(false);
    });
  }

  item(words, onclick, kind = "") {
    return el("button", { type: "button", class: kind, onclick }, words);
  }

  toggle(isOpen) {
    this.list.hidden = !isOpen;
    this.button.ariaExpanded = isOpen;
    if (isOpen) this.list.firstElementChild.focus();
  }

  begin() {
    this.toggle(false);
    this.question.hidden = true;
    this.onbegin();
  }

  /** Ask before the conversation is deleted; the question stands above the text box. */
  confirm() {
    this.toggle(false);
    const words = el("p", {}, text("deleteQuestion"));
    const keep = this.item(text("deleteNo"), () => this.close());
    const erase = this.item(text("deleteYes"), () => this.erase(words), "danger");
    this.question.ariaLabel = text("deleteConversation");
    this.question.replaceChildren(words, el("div", {}, keep, erase));
    this.question.hidden = false;
    keep.focus();
  }

  close() {
    this.question.hidden = true;
    this.button.focus();
  }

  async erase(words) {
    const failure = await this.onerase();
    if (failure) words.textContent = failure.text;
    else this.question.hidden = true;
  }
}

// The menu of the chat: begin another conversation, or delete this one after a question.

import { el, icon } from "../dom.js";
import { text } from "../texts.js";

export class Menu {
  /**
   * @param {{onbegin: () => void, onerase: () => Promise<Failure | null>,
   *   onperson: (() => void) | null}} on `onperson` is null where nobody can be asked for.
   */
  constructor({ onbegin, onerase, onperson }) {
    this.onbegin = onbegin;
    this.onerase = onerase;
    this.button = el(
      "button",
      { type: "button", class: "tool", "aria-label": text("more"), "aria-expanded": "false", hidden: true },
      icon("more"),
    );
    this.list = el("div", { class: "menu", hidden: true });
    this.question = el("div", { class: "confirm", role: "group", hidden: true });
    this.button.addEventListener("click", () => this.toggle(this.list.hidden));
    this.list.append(
      this.item("newConversation", () => this.begin()),
      this.item("deleteConversation", () => this.confirm(), "danger"),
    );
    if (onperson) this.list.append(this.item("person", () => this.toggle(false) || onperson()));
    this.element = el("div", { class: "menu-place" }, this.button, this.list);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.list.hidden) return;
      event.stopPropagation();
      this.toggle(false);
      this.button.focus();
    });
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.element.contains(relatedTarget)) this.toggle(false);
    });
  }

  item(name, onclick, kind = "") {
    return el("button", { type: "button", class: kind, onclick }, text(name));
  }

  toggle(isOpen) {
    this.list.hidden = !isOpen;
    this.button.setAttribute("aria-expanded", String(isOpen));
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
    const keep = this.item("deleteNo", () => this.close());
    const erase = this.item("deleteYes", () => this.erase(words), "danger");
    this.question.setAttribute("aria-label", text("deleteConversation"));
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

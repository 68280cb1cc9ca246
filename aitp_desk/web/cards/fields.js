// The inputs of a form's fields (AITP-03): typed, labelled, described, and masked if needed.

import { text } from "../texts.js";
import { oneLine } from "./card.js";
import { button, el, newId } from "../dom.js";

const PASSWORD = /^(new|current)-password$/;
const DIGITS = /^cc-(number|csc|exp-.+)|^one-time-code$/;
const BY_TOKEN = { email: "email", tel: "tel", url: "url", bday: "date" };
const WRONG = {
  email: () => text("wrongEmail"),
  number: () => text("wrongNumber"),
  url: () => text("wrongUrl"),
  date: () => text("wrongDate"),
};

/** Return a field's autofill tokens and the last of them, which says what the value is. */
export function tokensOf(field) {
  const all = oneLine(field.autocomplete).toLowerCase();
  return { all, last: all.split(" ").at(-1) };
}

/** Whether the value must not be visible to bystanders. */
export function isSensitive(field) {
  const { last } = tokensOf(field);
  return field.sensitive === true || PASSWORD.test(last) || /^cc-|^one-time-code$/.test(last);
}

function typeOf(field, token) {
  if (PASSWORD.test(token)) return "password";
  if (field.type && field.type !== "text") return field.type;
  return BY_TOKEN[token] ?? "text";
}

/**
 * The place of an input's error, which describes it, next to an element of another id.
 *
 * @returns {{element: HTMLElement, refuse: (why: string) => void}} `refuse` shows an error; empty for none.
 */
export function wrongOf(input, help = "") {
  const id = newId();
  const element = el("p", { class: "wrong", id, hidden: true });
  const refuse = (why) => {
    element.textContent = why;
    element.hidden = !why;
    input.ariaInvalid = why ? "true" : null;
  };
  input.setAttribute("aria-describedby", `${help} ${id}`.trim());
  return { element, refuse };
}

/** One field: its label, its input, its description, and its error. */
export class Field {
  constructor(field) {
    this.id = field.id;
    this.label = oneLine(field.label) || oneLine(field.id);
    this.isSensitive = isSensitive(field);
    const help = field.description && el("p", { class: "help", id: newId() }, field.description);
    this.input = this.make(field);
    this.input.id = newId();
    this.wrong = wrongOf(this.input, help?.id);
    if (field.default_value && !this.isSensitive) this.input.value = field.default_value;
    this.input.oninput = () => this.refuse("");
    const mark = field.required && el("span", { class: "needed", "aria-hidden": "true" }, " *");
    this.element = el(
      "div",
      { class: "entry" },
      el("label", { for: this.input.id }, this.label, mark),
      help,
      this.isSensitive ? this.masked() : this.input,
      this.list,
      this.wrong.element,
    );
  }

  make(field) {
    const { all, last } = tokensOf(field);
    const type = typeOf(field, last);
    const common = {
      name: field.id,
      class: this.isSensitive && "masked",
      required: field.required === true,
      autocomplete: all || (this.isSensitive && "off"),
      maxlength: type === "textarea" ? 2000 : 1000, // which numbers, dates and choices ignore
    };
    const options = field.options ?? [];
    if (type === "textarea") return el("textarea", { ...common, rows: "3" });
    if (type === "select") {
      const made = options.map((option) => el("option", { value: option }, option));
      return el("select", common, el("option", { value: "" }, text("chooseOne")), ...made);
    }
    if (type === "combobox") {
      const made = options.map((option) => el("option", { value: option }));
      this.list = el("datalist", { id: newId() }, ...made);
      return el("input", { ...common, type: "text", list: this.list.id });
    }
    const keyboard = type === "number" ? "decimal" : /email|tel|url/.test(type) && type;
    const inputmode = DIGITS.test(last) ? "numeric" : keyboard;
    return el("input", { ...common, type, inputmode, step: type === "number" && "any" });
  }

  /** The input with a button that shows its value. */
  masked() {
    const { input } = this;
    const { type } = input;
    // browsers fill in cards only in inputs of their own type, so a style masks all but passwords
    const toggle = () => {
      const on = input.classList.toggle("masked");
      if (type === "password") input.type = on ? type : "text";
      show.ariaPressed = !on;
    };
    const named = { "aria-label": `${text("show")}: ${this.label}`, "aria-pressed": "false" };
    const show = button(text("show"), toggle, { class: "plain", ...named });
    return el("div", { class: "with-button" }, input, show);
  }

  get value() {
    const { value } = this.input;
    return this.isSensitive ? value : value.trim();
  }

  /** Return the error of the value; empty for none. */
  fault() {
    const { validity, type, required } = this.input;
    if (required && !this.value && !validity.badInput) {
      return type === "select-one" ? text("chooseOne") : text("needed");
    }
    if (validity.valid) return "";
    return WRONG[type]?.() ?? text("wrong");
  }

  /** Show an error; empty for none. */
  refuse(why) {
    this.wrong.refuse(why);
  }
}

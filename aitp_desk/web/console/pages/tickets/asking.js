// Composes an operator's request to the visitor: a decision or a form.

import { Attempt, newId } from "../base/attempt.js";
import { ask } from "../base/dialogs.js";
import { button, el, fill } from "../base/dom.js";

const KINDS = [
  ["radio", "Choose one", "requests"],
  ["checkbox", "Choose one or several", "requests"],
  ["confirmation", "Yes or no", "requests"],
  ["products", "Choose, with quantities", "requests"],
  ["form", "Fill in a form", "data"],
  ["signature", "Sign a text", "sign"],
];
const FIELD_TYPES = [
  ["text", "Text"],
  ["email", "Email address"],
  ["tel", "Telephone number"],
  ["number", "Number"],
  ["textarea", "Longer text"],
  ["select", "One of a list"],
  ["combobox", "List, or other text"],
];
const PARTS = { form: formPart, signature: signaturePart };
const WITH_LIST = new Set(["select", "combobox"]);
const MOST_ROWS = 20;

/** Whether the desk has a capability for requests. */
export function canAsk(session) {
  return KINDS.some(([, , slug]) => session.capabilities.includes(slug));
}

/**
 * Compose a request and send it.
 *
 * @param {object} session
 * @param {(what: {capability: string, message: object}, attempt: Attempt) => Promise<unknown>} send
 */
export function askVisitor(session, send) {
  const kinds = KINDS.filter(([, , slug]) => session.capabilities.includes(slug));
  const id = newId("ask");
  const attempt = new Attempt();
  const select = el(
    "select",
    { id: "asking-kind" },
    ...kinds.map(([value, words]) => el("option", { value }, words)),
  );
  const title = el("input", { id: "asking-title", required: true, maxlength: "200", dir: "auto" });
  const more = el("textarea", { id: "asking-more", rows: "2", maxlength: "2000", dir: "auto" });
  const rest = el("div", { class: "composing" });
  let part;
  const choose = () => {
    part = (PARTS[select.value] ?? optionsPart)(select.value);
    fill(rest, part.element);
  };
  select.addEventListener("change", choose);
  choose();
  ask({
    title: "Ask the visitor",
    about: [
      row("asking-kind", "Kind of request", select),
      row("asking-title", "Question", title),
      row("asking-more", "Description (optional)", more),
      rest,
    ],
    yes: "Ask",
    act: () => {
      const shared = { id, title: title.value.trim(), description: more.value.trim() };
      const capability = kinds.find(([value]) => value === select.value)[2];
      return send({ capability, message: part.read(shared) }, attempt);
    },
  });
}

function row(id, label, ...inputs) {
  return el("div", { class: "filling-row" }, el("label", { for: id }, label), ...inputs);
}

function optionsPart(type) {
  const begun = type === "confirmation" ? ["Yes", "No"] : ["", ""];
  const list = rows("Options", "option", begun, optionRow, type === "confirmation" ? 2 : MOST_ROWS);
  const read = ({ description, ...shared }) => {
    const options = list.read().filter(({ name }) => name);
    if (new Set(options.map(({ name }) => name)).size < options.length)
      throw new Error("Two options have the same name.");
    if (!options.length) throw new Error("Name at least one option.");
    const about = description ? { description } : {};
    const named = options.map((option, at) => ({ id: ids(type, at), ...option }));
    return { request_decision: { ...shared, ...about, type, options: named } };
  };
  return { element: list.element, read };
}

function ids(type, at) {
  return type === "confirmation" ? ["yes", "no"][at] : `option-${at + 1}`;
}

function optionRow(number, words) {
  const name = el("input", {
    "aria-label": `Option ${number}`,
    value: words,
    maxlength: "200",
    required: number === 1,
    dir: "auto",
  });
  return { nodes: [name], read: () => ({ name: name.value.trim() }) };
}

function formPart() {
  const list = rows("Fields", "field", [""], fieldRow, MOST_ROWS);
  const read = (shared) => {
    const fields = list.read().filter(({ label }) => label);
    if (!fields.length) throw new Error("Name at least one field.");
    const named = fields.map((field, at) => ({ id: `field-${at + 1}`, ...field }));
    // the published schema requires a description
    const description = shared.description || shared.title;
    return { request_data: { ...shared, description, form: { fields: named } } };
  };
  return { element: list.element, read };
}

function signaturePart() {
  const text = el("textarea", {
    id: "asking-text",
    rows: "4",
    maxlength: "4000",
    required: true,
    dir: "auto",
  });
  const read = (shared) => ({ request_signature: { ...shared, text: text.value.trim() } });
  return { element: row("asking-text", "Text to sign, word for word", text), read };
}

function fieldRow(number) {
  const label = el("input", {
    "aria-label": `Field ${number}`,
    maxlength: "200",
    required: number === 1,
    dir: "auto",
  });
  const type = el(
    "select",
    { "aria-label": `Type of field ${number}` },
    ...FIELD_TYPES.map(([value, words]) => el("option", { value }, words)),
  );
  const list = el("textarea", {
    "aria-label": `List of field ${number}, one per line`,
    placeholder: "One per line",
    rows: "2",
    hidden: true,
    dir: "auto",
  });
  type.addEventListener("change", () => {
    list.hidden = !WITH_LIST.has(type.value);
    list.required = type.value === "select";
  });
  const [needed, required] = tick("Required", `field ${number}`, true);
  const [hides, sensitive] = tick("Sealed", `field ${number}`, false);
  const read = () => {
    const options = list.value.split("\n").map((line) => line.trim());
    return {
      label: label.value.trim(),
      type: type.value,
      required: required.checked,
      ...(sensitive.checked ? { sensitive: true } : {}),
      ...(WITH_LIST.has(type.value) ? { options: options.filter(Boolean) } : {}),
    };
  };
  return { nodes: [label, type, list, needed, hides], read };
}

function tick(words, of, checked) {
  const box = el("input", { type: "checkbox", "aria-label": `${words}: ${of}` });
  box.checked = checked;
  return [el("label", { class: "tick" }, box, words), box];
}

/** Rows that can be added, and removed except for the first. */
function rows(legend, noun, begun, make, most) {
  const all = [];
  const box = el("div", { class: "composing-rows" });
  let number = 0;
  const add = (words, focus = false) => {
    number += 1;
    const made = make(number, words);
    const remove = button("×", "button quiet", () => {
      all.splice(all.indexOf(made), 1);
      line.remove();
      more.hidden = all.length >= most;
      (more.hidden ? box.querySelector("input") : more).focus();
    });
    remove.setAttribute("aria-label", `Remove ${noun} ${number}`);
    const line = el("div", { class: "composing-row" }, ...made.nodes, number > 1 && most > 2 && remove);
    all.push(made);
    box.append(line);
    more.hidden = all.length >= most;
    if (focus) made.nodes[0].focus();
  };
  const more = button(`Add ${noun === "option" ? "an option" : "a field"}`, "button quiet", () =>
    add("", true),
  );
  begun.forEach((words) => add(words));
  const element = el("fieldset", { class: "composing" }, el("legend", {}, legend), box, more);
  return { element, read: () => all.map((each) => each.read()) };
}

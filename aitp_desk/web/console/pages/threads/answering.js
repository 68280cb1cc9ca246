// Answers a visitor's request to the site: the same choices and fields, as inputs.

import { Attempt } from "../base/attempt.js";
import { ask } from "../base/dialogs.js";
import { button, el } from "../base/dom.js";
import { plain } from "../base/words.js";
import { now } from "../base/when.js";

const MOST = 1_000_000;
const TYPES = { email: "email", tel: "tel", number: "number" };
const INPUTS = {
  request_decision: choosing,
  request_data: filling,
  request_signature: signing,
  request_message_signing: signing,
  quote: paying,
  wrapped_quote: paying,
  top_up_request: paying,
};

/**
 * The button that answers a request, where an operator may.
 *
 * @param {object} part
 * @param {(what: object, attempt: Attempt) => Promise<unknown>} send sends the message:
 *   `{capability, message}`.
 * @param {() => object} thread returns its current state.
 * @param {object} session
 */
export function answerButton(part, send, thread, session) {
  if (!isOurs(part.standing, thread().actors)) return null;
  const inputs = INPUTS[part.key];
  if (!inputs) return null;
  if (inputs === filling && !part.content.form?.fields?.length) return null;
  return button("Answer…", "button quiet", () => {
    const { element, read, at } = inputs(part.content, part);
    const attempt = new Attempt();
    ask({
      title: plain(part.content.title || "Answer for the site"),
      about: [
        part.content.description && el("p", { dir: "auto" }, plain(part.content.description)),
        thread().operator !== session.operator &&
          el("p", { class: "soft" }, "This also takes over the conversation."),
        element,
      ].filter(Boolean),
      yes: "Answer",
      act: () => send({ capability: part.capability, message: read() }, attempt),
      at,
    });
  });
}

/** Whether a visitor asks the site: it is named, or is the only other participant. */
function isOurs({ by, of }, actors) {
  const isHere = (id) => actors.some((actor) => actor.origin === "desk" && actor.id === id);
  if (isHere(by)) return false;
  if (of) return isHere(of);
  return actors.filter((actor) => actor.origin === "visitor").length < 2;
}

/** The inputs to sign for the site: the signed text is shown exactly, in the desk's rendering. */
function signing({ id, request_id: named = id }, { text }) {
  const what = el("p", { class: "signed", dir: "auto" }, plain(text));
  const words = ["Sign this for the site", "Do not sign it"];
  const { element, isYes } = yesOrNo("Sign", what, words, "Choose whether to sign it.");
  return { element, read: () => ({ approve_signature: { request_id: named, agree: isYes() } }) };
}

/** The inputs to pay for the site: amount, payee and reason are in the desk's rendering. */
function paying(content, { key, standing }) {
  const quote = content.original_quote ?? content;
  const about =
    key === "top_up_request"
      ? { channel_id: content.channel_id, amount: content.amount }
      : { quote_id: quote.quote_id };
  const what = el("p", { dir: "auto" }, plain(standing.note));
  const words = ["Pay", "Do not pay"];
  const { element, isYes } = yesOrNo("Pay", what, words, "Choose whether to pay it.");
  const read = () => ({
    decide_payment: { merchant_id: quote.merchant_id, ...about, pay: isYes() },
  });
  return { element, read };
}

/** Two choices of which one is required; `isYes` returns whether it is the first. */
function yesOrNo(legend, what, words, missing) {
  const inputs = ["yes", "no"].map((value) =>
    el("input", { type: "radio", name: "choice", required: true, id: `choice-${value}`, value }),
  );
  const element = el(
    "fieldset",
    { class: "choosing" },
    el("legend", {}, legend),
    what,
    ...inputs.map((input, at) =>
      el("label", { class: "pick", for: input.id }, input, el("span", {}, words[at])),
    ),
  );
  const isYes = () => {
    if (!inputs.some((input) => input.checked)) throw new Error(missing);
    return inputs[0].checked;
  };
  return { element, isYes };
}

function choosing({ id, type = "radio", options }) {
  const rows = options.flatMap((option) => [
    { ...option, words: option.name || option.short_variant_name || option.id, inner: false },
    ...(option.variants ?? []).map((variant) => ({
      ...variant,
      words: variant.name || variant.short_variant_name || variant.id,
      inner: true,
    })),
  ]);
  const inputs = rows.map((row, at) => {
    const over = row.quote && Date.parse(row.quote.valid_until) <= now();
    return el("input", { ...kindOf(type), id: `choice-${at}`, disabled: over, value: valueOf(type, row) });
  });
  const element = el(
    "fieldset",
    { class: "choosing" },
    el("legend", {}, type === "products" ? "How many of each" : "Choose"),
    ...rows.map((row, at) =>
      el(
        "label",
        { class: row.inner ? "pick inner" : "pick", for: `choice-${at}` },
        inputs[at],
        el("span", { dir: "auto" }, plain(row.words)),
      ),
    ),
  );
  const read = () => {
    const picked = rows.flatMap((row, at) => pick(type, row, inputs[at]));
    if (!picked.length) throw new Error("Choose at least one.");
    return { decision: { request_decision_id: id, options: picked } };
  };
  return { element, read };
}

function kindOf(type) {
  if (type === "products") return { type: "number", min: 0, max: MOST, step: 1, inputmode: "numeric" };
  if (type === "checkbox") return { type: "checkbox" };
  return { type: "radio", name: "choice", required: true };
}

function valueOf(type, { id }) {
  return type === "products" ? "0" : id;
}

function pick(type, { id }, input) {
  if (type !== "products") return input.checked ? [{ id }] : [];
  const quantity = Number(input.value);
  return quantity > 0 ? [{ id, quantity }] : [];
}

function filling({ id, form }) {
  let sent = [];
  const inputs = form.fields.map((field, at) => ({ field, input: fieldInput(field, `field-${at}`) }));
  const element = el(
    "div",
    { class: "filling" },
    ...inputs.map(({ field, input }, at) => fieldRow(field, input, `field-${at}`)),
  );
  const read = () => {
    const filled = inputs.filter(({ input }) => input.value !== "");
    const fields = filled.map(({ field, input }) => ({ id: field.id, value: input.value }));
    sent = filled;
    return { data: { request_data_id: id, fields } };
  };
  // data.fields[2].value for a value that was sent, or data.fields.NAME for a missing one
  const at = ({ param = "" }) => {
    const place = /\bdata\.fields\[(\d+)\]/.exec(param);
    if (place) return sent[Number(place[1])]?.input;
    const named = param.replace(/^.*\bdata\.fields\./, "");
    return inputs.find(({ field }) => field.id === named)?.input;
  };
  return { element, read, at };
}

function fieldRow({ id, label, description, required, type, options = [] }, input, name) {
  return el(
    "div",
    { class: "filling-row" },
    el(
      "label",
      { for: name, dir: "auto" },
      plain(label || id),
      !required && el("span", { class: "soft" }, " (optional)"),
    ),
    input,
    type === "combobox" &&
      el(
        "datalist",
        { id: `${name}-list` },
        ...options.map((option) => el("option", { value: option })),
      ),
    description && el("p", { class: "hint", id: `${name}-hint`, dir: "auto" }, plain(description)),
  );
}

function fieldInput({ type = "text", options = [], required, description, ...field }, id) {
  const isSealed = field.sensitive || field.encryption;
  const shared = {
    id,
    required: Boolean(required),
    autocomplete: "off", // the site's data is requested, not the operator's
    "aria-describedby": description ? `${id}-hint` : null,
  };
  const begun = field.default_value ?? "";
  if (type === "select") {
    const all = ["", ...options].map((option) =>
      el("option", { value: option, selected: option === begun }, plain(option)),
    );
    return el("select", shared, ...all);
  }
  if (type === "textarea") return el("textarea", { ...shared, rows: "3", dir: "auto" }, begun);
  return el("input", {
    ...shared,
    type: isSealed ? "password" : (TYPES[type] ?? "text"),
    step: type === "number" ? "any" : null,
    list: type === "combobox" ? `${id}-list` : null,
    value: begun,
    dir: "auto",
  });
}

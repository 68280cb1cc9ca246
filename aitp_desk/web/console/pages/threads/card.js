// Structured messages as cards: the request, its state, the chosen or filled-in answer.

import { el } from "../base/dom.js";
import { quoted, told } from "./paid.js";
import { picture } from "./picture.js";
import { sealed } from "./sealed.js";
import { money, outside, plain } from "../base/words.js";
import { now, time } from "../base/when.js";

const CARDS = {
  "requests.request_decision": decisionAsked,
  "requests.decision": decided,
  "data.request_data": dataAsked,
  "data.data": filledIn,
  "sign.request_signature": toSign,
  "near-wallet.request_message_signing": toSign,
  "evm-wallet.request_message_signing": toSign,
  "payments.quote": toPay,
  "payments.wrapped_quote": toPay,
  "payments.top_up_request": toPay,
  "payments.payment_confirmation": told,
  "payments.payment_result": told,
};
const KINDS = {
  radio: "Asks to choose one",
  checkbox: "Asks to choose one or several",
  confirmation: "Asks for a yes or no",
  products: "Asks to choose, with quantities",
};
const STATES = {
  open: "Waits for an answer",
  answered: "Answered",
  expired: "Not answered in time",
  superseded: "Replaced by a newer request",
};

/**
 * A structured part of a message as a card; null where there is no card for it.
 *
 * @param {object} part in the format of the desk.
 * @param {object} message that contains it.
 * @param {{session: object, owner: string | null, answer?: Function}} context the thread's owner,
 *   and the function that makes the button that answers a request.
 */
export function cardOf(part, message, context) {
  const draw = CARDS[`${part.capability}.${part.key}`];
  return draw ? draw(part, message, context) : null;
}

/** Return the current state of a request: an open one expires with its time. */
export function stateOf({ state, until }) {
  return state === "open" && until && Date.parse(until) <= now() ? "expired" : state;
}

function decisionAsked(part, message, context) {
  const { title, description, type = "radio", options } = part.content;
  const answer = part.standing?.answer;
  const chosen = new Map((answer?.options ?? []).map((option) => [option.id, option]));
  return asked(
    part,
    message,
    context,
    KINDS[type] ?? "Asks for a decision",
    title && el("h3", { dir: "auto" }, plain(title)),
    description && el("p", { dir: "auto" }, plain(description)),
    el(
      "ul",
      { class: "options" },
      ...options.map((option) => optionElement(option, chosen, message, context)),
    ),
  );
}

function dataAsked(part, message, context) {
  const { title, description, form = {} } = part.content;
  const fields = form.fields ?? [];
  return asked(
    part,
    message,
    context,
    "Asks to fill in a form",
    title && el("h3", { dir: "auto" }, plain(title)),
    description && el("p", { dir: "auto" }, plain(description)),
    fields.length > 0 &&
      el("ul", { class: "fields" }, ...fields.map((field) => el("li", {}, ...asksFor(field)))),
    form.json_url && el("p", { class: "small" }, "The form is at ", outside(form.json_url)),
  );
}

/** The text to sign in the desk's rendering: exact, with invisible characters made visible. */
function toSign(part, message, context) {
  const words = el("p", { class: "signed", dir: "auto" }, plain(part.text));
  return asked(part, message, context, "Asks for a signature", words);
}

/** What the site is asked to pay; another card shows what it asks to be paid. */
function toPay(part, message, context) {
  const { content, standing } = part;
  if (message.speaker !== "visitor") return quoted(part, message);
  if (!standing) return null;
  const { description, reason } = content.original_quote ?? content;
  const what = description || reason;
  return asked(
    part,
    message,
    context,
    "Asks the site to pay",
    el("p", { dir: "auto" }, plain(standing.note)),
    what && el("p", { class: "soft", dir: "auto" }, plain(what)),
  );
}

function asksFor({ id, label, description, required, sensitive, encryption }) {
  return [
    el("span", { dir: "auto" }, plain(label || id)),
    !required && el("span", { class: "soft" }, " (optional)"),
    (sensitive || encryption) && el("span", { class: "soft" }, " (will be sealed)"),
    description && el("span", { class: "soft small", dir: "auto" }, ` ${plain(description)}`),
  ];
}

/** The frame of every request: its kind and its state. */
function asked(part, message, context, kind, ...children) {
  const { standing } = part;
  const state = standing && stateOf(standing);
  const button = state === "open" ? context.answer?.(part) : null;
  return el(
    "div",
    { class: "asked", role: "group", "data-state": state, "aria-label": kind },
    el(
      "p",
      { class: "asked-top" },
      el("span", { class: "kind" }, kind),
      state && el("span", { class: "stands" }, ...stands(state, standing, message)),
    ),
    ...children,
    standing?.of &&
      standing.of !== context.owner &&
      el("p", { class: "soft small", dir: "auto" }, `To be answered by ${plain(standing.of)}.`),
    button && el("div", { class: "buttons" }, button),
  );
}

function stands(state, { since, until }, message) {
  if (state !== "open") {
    const at = state === "expired" ? (since ?? until) : since;
    return [STATES[state], at && " ", at && time(at)].filter(Boolean);
  }
  const words = [`${STATES.open} since `, time(message.created_at, "for")];
  return until ? [...words, ", ", time(until, "due")] : words;
}

function optionElement(option, chosen, message, context) {
  const { id, name, short_variant_name: short, description, url, variants = [] } = option;
  const taken = chosen.get(id);
  return el(
    "li",
    { class: taken ? "option chosen" : "option" },
    option.image_url && picture(option.image_url, message, context.session),
    el(
      "div",
      {},
      el(
        "p",
        { class: "option-top" },
        el("strong", { dir: "auto" }, plain(name || short || id)),
        ...priceOf(option),
        taken && el("span", { class: "tag-chosen" }, `✓ Chosen${times(taken)}`),
      ),
      description && el("p", { class: "soft small", dir: "auto" }, plain(description)),
      rating(option),
      url && el("p", { class: "small" }, outside(url)),
      variants.length > 0 &&
        el(
          "ul",
          { class: "options" },
          ...variants.map((variant) => optionElement(variant, chosen, message, context)),
        ),
    ),
  );
}

function priceOf({ quote }) {
  if (!quote) return [];
  const plans = quote.payment_plans.map((plan) => money(plan)).join(" or ");
  const over = Date.parse(quote.valid_until) <= now();
  return [
    " ",
    el("span", { class: over ? "price soft" : "price" }, over ? `${plans} (expired)` : plans),
  ];
}

function rating({ five_star_rating: stars, reviews_count: reviews }) {
  if (stars === undefined && reviews === undefined) return null;
  const words = [];
  if (stars !== undefined) words.push(`${stars} of 5 stars`);
  if (reviews !== undefined) words.push(reviews === 1 ? "1 review" : `${reviews} reviews`);
  return el("p", { class: "soft small" }, words.join(", "));
}

function times({ quantity }) {
  return quantity && quantity !== 1 ? `: ${quantity}` : "";
}

function decided(part) {
  return el(
    "div",
    { class: "asked replied", role: "group", "aria-label": "Decision" },
    el("p", { class: "asked-top" }, el("span", { class: "kind" }, "Chose")),
    el("ul", { class: "fields" }, ...part.content.options.map((option) => el("li", {}, chose(option)))),
  );
}

function chose({ id, name, quantity }) {
  const words = plain(name || id);
  return el("strong", { dir: "auto" }, quantity && quantity !== 1 ? `${quantity} × ${words}` : words);
}

function filledIn(part, _message, { session }) {
  const rows = part.content.fields.flatMap((field) => [
    el("dt", { dir: "auto" }, plain(field.label || field.id)),
    el("dd", {}, valueOf(field, session)),
  ]);
  return el(
    "div",
    { class: "asked replied", role: "group", "aria-label": "Data" },
    el("p", { class: "asked-top" }, el("span", { class: "kind" }, "Filled in")),
    el("dl", { class: "facts" }, ...rows),
  );
}

function valueOf({ id, label, value, encryption, sealed: reference }, session) {
  if (reference) return sealed(reference, plain(label || id), session);
  if (encryption) return el("span", { class: "soft" }, "encrypted for another receiver");
  if (value === undefined || value === "") return el("span", { class: "soft" }, "nothing");
  return el("span", { class: "value", dir: "auto" }, plain(String(value)));
}

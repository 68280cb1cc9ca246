// Quotes and payment results of the desk as cards: whether they were paid, and their reference in
// the books. Visitors' messages about payments are shown as text: they prove nothing.

import { el } from "../base/dom.js";
import { outside, plain } from "../base/words.js";
import { now, time } from "../base/when.js";

const WAYS = {
  ledger: "an account or store credit here",
  near_payment_channel: "a payment channel",
  stripe: "a card",
  x402: "x402",
};
const PAYMENTS = {
  pending: "Payment in progress",
  settled: "Paid",
  refunding: "Paid, is being refunded",
  refunded: "Paid, and refunded",
  refund_due: "Paid, must be refunded by you",
};
const RESULTS = {
  success: "Receipt",
  failure: "About a payment",
  pending: "A payment is in progress",
};

/** Something to be paid in advance, and its state. */
export function quoted({ content, standing }, { speaker }) {
  const { description, payment_options: options } = content;
  if (speaker === "visitor" || !options) return null;
  const prices = options.map(({ amount, currency }) => `${amount ?? "any amount in"} ${currency}`);
  const methods = options.flatMap((option) => option.payment_methods ?? []);
  const payment = standing?.answer;
  return card(
    "Asks for payment",
    standing && stateOf(standing),
    standing && howItStands(standing),
    el("h3", { dir: "auto" }, plain([...new Set(prices)].join(" or "))),
    description && el("p", { dir: "auto" }, plain(description)),
    payment
      ? facts([["Payment", payment.payment_id], ["By", wayOf(payment.method)]])
      : el("p", { class: "soft small" }, "By ", waysOf(methods), "."),
    ...methods.map(({ url }) => url && el("p", { class: "small" }, outside(url))),
  );
}

/** The outcome of a payment, as the payer sees it. */
export function told({ content }, { speaker }) {
  const { result, message, details = [], payment_id: id } = content;
  if (speaker === "visitor") return null;
  const rows = details.map(({ label, value }) => [label, label === "Method" ? wayOf(value) : value]);
  return card(
    RESULTS[result] ?? RESULTS.failure,
    result === "success" ? "answered" : result === "pending" && "open",
    null,
    message && el("p", { dir: "auto" }, plain(message)),
    facts([...rows, ...(id ? [["Payment", id]] : [])]),
  );
}

function card(kind, state, stands, ...children) {
  return el(
    "div",
    { class: "asked", role: "group", "data-state": state, "aria-label": kind },
    el(
      "p",
      { class: "asked-top" },
      el("span", { class: "kind" }, kind),
      stands && el("span", { class: "stands" }, ...stands),
    ),
    ...children,
  );
}

/** Return the state for the edge of a card: an amount due from people counts as open. */
function stateOf({ state, until, answer }) {
  if (answer?.state === "refund_due") return "open";
  return state === "open" && isOver(until) ? "expired" : state;
}

function howItStands({ state, until, answer }) {
  if (answer) return [PAYMENTS[answer.state] ?? "Not paid"];
  if (state === "answered") return ["Declined"];
  if (state === "expired" || isOver(until)) return ["Not paid in time"];
  return until ? ["Waits for payment, ", time(until, "due")] : ["Waits for payment"];
}

function isOver(until) {
  return Boolean(until) && Date.parse(until) <= now();
}

function waysOf(methods) {
  return [...new Set(methods.map(({ type }) => wayOf(type)))].join(" or ");
}

function wayOf(name) {
  return WAYS[name] ?? plain(String(name));
}

function facts(rows) {
  const told = rows.flatMap(([label, value]) => [
    el("dt", { dir: "auto" }, plain(String(label))),
    el("dd", { dir: "auto" }, el("span", { class: "value" }, plain(String(value)))),
  ]);
  return el("dl", { class: "facts booked" }, ...told);
}

// Messages of capabilities: requests become cards, all others text.

import { oneLine } from "./card.js";
import { Form } from "./form.js";
import { countedName } from "./choices.js";
import { Paying, receiptOf, titleOf } from "./paying.js";
import { text } from "../texts.js";
import { Choosing, Confirming } from "./decision.js";
import { Products } from "./products.js";

/** Content types by which the page declares what it can show (the slugs of AITP-01 to AITP-03). */
export const DECLARED = ["x-aitp/requests", "x-aitp/data", "x-aitp/payments"];

const BY_TYPE = { products: Products, confirmation: Confirming };

/** Return the card of a message; null where it asks nothing, or nothing known. */
export function cardOf(message, onanswer) {
  const { request_decision: choice, request_data: form, quote } = message;
  if (choice?.options?.length) return new (BY_TYPE[choice.type] ?? Choosing)(choice, onanswer);
  if (form?.form?.fields?.length) return new Form(form, onanswer);
  if (quote?.payment_options?.length) return new Paying(quote, onanswer);
  return null;
}

/** Return in words what a message asks or answers; empty for nothing known. */
export function wordsOf(message) {
  const { request_decision: choice, request_data: form, quote } = message;
  if (quote) return titleOf(quote);
  return answerIn(message)?.text ?? oneLine((choice ?? form)?.title);
}

/** Return the id of the request that a message replaces; null for none. */
export function replacedBy(message) {
  return (message.request_decision ?? message.request_data)?.supersedes || null;
}

/**
 * Return the request that a message answers, and the text for that; null for none.
 *
 * A failed payment can be retried; a receipt is an element that stays.
 */
export function answerIn(message) {
  const { decision, data, payment_confirmation: paid, top_up_request: lacking } = message;
  if (decision?.options?.length) {
    const told = decision.options.map(({ id, name, quantity }) =>
      countedName(oneLine(name) || oneLine(id), quantity),
    );
    return { id: decision.request_decision_id, text: text("chosen", { names: told.join(", ") }) };
  }
  if (data?.fields?.length) return { id: data.request_data_id, text: text("filledIn") };
  if (paid) {
    const told = oneLine(paid.message) || text("paymentIs", { result: paid.result });
    const failed = paid.result === "failure";
    return { id: paid.quote_id, text: told, failed, element: receiptOf(paid) };
  }
  const settled = message.approve_quote ?? message.decline_quote;
  if (settled) {
    const told = message.approve_quote ? text("paid") : text("notPaid");
    return { id: settled.quote_id, text: told };
  }
  if (lacking) return { id: "", text: text("lacking") };
  return null;
}

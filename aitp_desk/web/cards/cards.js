// Messages of capabilities: requests become cards, all others text.

import { Paying, receiptOf, titleOf } from "./paying.js";
import { Form } from "./form.js";
import { text } from "../texts.js";
import { oneLine } from "./card.js";
import { Products } from "./products.js";
import { Signing } from "./signing.js";
import { Choosing, Confirming } from "./decision.js";
import { countedName } from "./choices.js";

const BY_TYPE = { products: Products, confirmation: Confirming };
const SITES_OWN = ["quote", "payment_confirmation", "top_up_request", "signature_result"];

/** Return whether others may say a message: what is to be paid, was paid or signed, the site says. */
export function isForAll(message) {
  return !SITES_OWN.some((kind) => message[kind]);
}

/** Return the card of a message; null where it asks nothing, or nothing known. */
export function cardOf(message, onanswer) {
  const { request_decision: choice, request_data: form, request_signature: toSign, quote } = message;
  if (choice?.options?.length) return new (BY_TYPE[choice.type] ?? Choosing)(choice, onanswer);
  if (form?.form?.fields?.length) return new Form(form, onanswer);
  if (toSign) return new Signing(toSign, onanswer);
  if (quote?.payment_options?.length) return new Paying(quote, onanswer);
  return null;
}

function requestOf(message) {
  return message.request_decision ?? message.request_data ?? message.request_signature;
}

/** Return in words what a message asks or answers; empty for nothing known. */
export function wordsOf(message) {
  if (message.quote) return titleOf(message.quote);
  return answerIn(message)?.text ?? oneLine(requestOf(message)?.title);
}

/** Return the id of the request that a message replaces; null for none. */
export function replacedBy(message) {
  return requestOf(message)?.supersedes || null;
}

/**
 * Return the request that a message answers, and the text for that; null for none.
 *
 * A failed payment can be retried; a receipt is an element that stays.
 */
export function answerIn(message) {
  const { decision, data, payment_confirmation: paid, top_up_request: lacking } = message;
  const { approve_quote: approved, decline_quote: declined } = message;
  const { signature, signature_declined: refused, signature_result: signed } = message;
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
  if (approved) return { id: approved.quote_id, text: text("paid") };
  if (declined) return { id: declined.quote_id, text: text("notPaid") };
  if (signature) return { id: signature.request_id, text: text("signed") };
  if (refused) return { id: refused.request_id, text: text("notSigned") };
  if (signed) {
    const told = oneLine(signed.message) || text("signed");
    const failed = signed.result === "failure" && signed.reason !== "declined";
    return { id: signed.request_id, text: told, failed };
  }
  if (lacking) return { id: "", text: text("lacking") };
  return null;
}

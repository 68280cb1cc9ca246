// A quote to pay or to decline, and the receipt of a payment (AITP-01 and the desk's own schema).

import { el, link, newId } from "../dom.js";
import { Card, formatTime, oneLine } from "./card.js";
import { text } from "../texts.js";
import { oneOf } from "./choices.js";

const ACCOUNT = "ledger";

/** Return all amounts of a quote. */
function priceOf({ payment_options: options }) {
  const told = options.map(({ amount, currency }) => `${oneLine(amount)} ${oneLine(currency)}`);
  return oneOf([...new Set(told)]);
}

/** Return what a quote asks, in words. */
export function titleOf(quote) {
  return text("payPrice", { price: priceOf(quote) });
}

/** A quote: paid from an account, by a code of store credit, or on another page. */
export class Paying extends Card {
  constructor(quote, onanswer) {
    const { quote_id: id, description, expiration } = quote;
    const title = titleOf(quote);
    super({ id, title, description: oneLine(description), valid_until: expiration }, onanswer);
    this.request = quote;
    const methods = quote.payment_options.flatMap((option) => option.payment_methods ?? []);
    const pages = methods.filter((method) => method.url).map((method) => this.page(method));
    if (pages.length) this.body.append(el("ul", { class: "options" }, ...pages));
    this.answerer(text("decline"), "quiet", { decline_quote: { quote_id: id } }, text("notPaid"));
    if (methods.some(({ type }) => type === ACCOUNT)) {
      this.body.append(this.credit());
      this.sender(text("pay"));
    } else if (!pages.length) this.body.append(el("p", {}, text("payByWallet")));
  }

  credit() {
    const id = newId();
    const help = newId();
    this.code = el("input", {
      id,
      name: "code",
      maxlength: "100",
      autocomplete: "off",
      autocapitalize: "characters",
      spellcheck: "false",
      "aria-describedby": help,
    });
    return el(
      "div",
      { class: "entry" },
      el("label", { for: id }, text("code")),
      el("p", { class: "help", id: help }, text("codeHelp")),
      this.code,
    );
  }

  page({ title, url }) {
    return el("li", {}, link(url, oneLine(title) || text("payByCard")));
  }

  submit() {
    const code = this.code?.value.trim();
    const approval = { quote_id: this.id, ...(code ? { code } : {}) };
    this.reply({ approve_quote: approval }, text("paid"));
  }
}

/** The receipt of a payment: null for any other message. */
export function receiptOf({ payment_id: number, message, details = [], timestamp, result }) {
  if (result !== "success") return null;
  const rows = details.map(({ label, value }) => [oneLine(label), String(value)]);
  rows.push([text("payment"), oneLine(number)]);
  const heading = newId();
  const told = rows.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]);
  return el(
    "section",
    { class: "card receipt", "aria-labelledby": heading },
    el("h3", { id: heading }, text("receipt")),
    el("dl", { class: "filled" }, ...told),
    el("p", { class: "state" }, oneLine(message), " ", formatTime(timestamp)),
  );
}

// A request to sign (AITP-05 and the desk's own schema): what is signed, exactly, and the signature,
// which the visitor's own tool or wallet makes.

import { el } from "../dom.js";
import { Form } from "./form.js";
import { text } from "../texts.js";

const TERMS = ["recipient", "nonce", "account", "public_key", "valid_until"];
/** What is invisible, looks like a space, or would pass for a visible code point. */
const UNSEEN = /(?![ \n])[\p{C}\p{Z}\p{DI}⟦]/gu;

/** Return a text with all characters visible. */
function visible(words) {
  return words.replace(UNSEEN, (one) => `⟦U+${one.codePointAt().toString(16).toUpperCase()}⟧`);
}

export class Signing extends Form {
  constructor(request, onanswer) {
    const { title = text("toSign"), schemes: options } = request;
    const fields = [
      { id: "signature", label: text("signature"), type: "textarea", required: true },
      { id: "scheme", label: text("scheme"), type: options && "select", options, required: true },
      { id: "public_key", label: text("publicKey") },
      { id: "account", label: text("account") },
    ];
    super({ ...request, title, form: { fields } }, onanswer);
    this.request = request;
    const transaction = request.near_transaction ?? request.evm_transaction;
    const subject = request.text || JSON.stringify(request.typed_data ?? transaction, null, 2);
    const terms = TERMS.filter((name) => request[name]).map((name) => `${name}: ${request[name]}`);
    const shown = [subject, terms.join("\n")].map((words) => el("pre", { class: "plain" }, visible(words)));
    this.body.prepend(...shown);
  }

  sender(words) {
    const declined = { signature_declined: { request_id: this.id } };
    this.answerer(text("decline"), "quiet", declined, text("notSigned"));
    super.sender(words);
  }

  reply({ data, ...answer }, words) {
    const given = data?.fields.map(({ id, value }) => [id, value]);
    const signature = given && { request_id: this.id, ...Object.fromEntries(given) };
    super.reply(given ? { signature } : answer, given ? text("signed") : words);
  }
}

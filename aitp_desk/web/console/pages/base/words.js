// Texts for people: of messages, of tickets, of participants.

import { el } from "./dom.js";

const ADDRESS = /https?:\/\/[^\s<>()"'\p{Cc}\p{Cf}\ufffd]*[^\s<>()"'.,;:!?\p{Cc}\p{Cf}\ufffd]/gu;
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/**
 * Mark invisible and direction-changing characters in a text: operators decide by what they read.
 */
export function plain(text) {
  return text.replace(UNSEEN, "\ufffd");
}

/**
 * Split a text into text nodes, and a link for each http(s) address, which is shown in full.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function linked(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(ADDRESS)) {
    if (!URL.canParse(match[0])) continue;
    nodes.push(text.slice(end, match.index), outside(match[0]));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

/** A link to another site, shown in full. */
export function outside(href) {
  return el("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, href);
}

/** A text on one line with an isolated direction, for lists. */
export function line(text, className) {
  return el("span", { class: className, dir: "auto" }, text);
}

export const KINDS = {
  request: "Asks for a person",
  question: "Question",
  approval: "Approval",
  action: "Task",
  unknown: "Unclear outcome",
};

export const STATES = {
  open: "Waiting",
  taken: "Taken",
  answered: "Answered",
  closed: "Closed",
  expired: "Expired",
};

/** Return the label of a ticket's kind. */
export function kindLabel(kind) {
  return el("span", { class: `kind ${kind}` }, KINDS[kind] ?? kind);
}

export function isOver(ticket) {
  return ticket.state !== "open" && ticket.state !== "taken";
}

/**
 * Return a caller for people: by the name that the site's owner gave, else of keys the beginning of
 * the id, of a person whom a site's token names that name with the issuer's, else the proven name.
 *
 * @param {string | null} owner id of the caller.
 * @param {string | null} [given]
 */
export function visitorName(owner, given) {
  if (!owner) return "Anonymous visitor";
  if (given) return plain(given);
  const at = owner.indexOf(":");
  const [kind, name] = [owner.slice(0, at), owner.slice(at + 1)];
  if (kind === "key") return `Key ${name.slice(0, 8)}`;
  const [issuer, ...person] = name.split(":");
  return kind === "jwt" && person.length ? `${plain(person.join(":"))} (${issuer})` : plain(name);
}

/** Return who asks in a ticket, with the id behind a given name: approvals depend on it. */
export function callerOf({ asked_by: id, asked_by_name: given }) {
  if (!id) return "An anonymous visitor";
  return given ? `${plain(given)} (${id})` : id;
}

/** Return an operator's name; "you" for the signed-in one. */
export function operatorName(name, session) {
  return name === session.operator ? "you" : name;
}

/** Return the same at the beginning of a sentence. */
export function operatorFirst(name, session) {
  return name === session.operator ? "You" : name;
}

export function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

/** Return the name of a further agent; empty for the site's main agent. */
export function agentLabel(agent) {
  return agent ? el("span", { class: "agent-name" }, agent) : null;
}

/** Write an amount of money: "29.99 EUR" in the reader's language. */
export function money(price) {
  const form = { style: "currency", currency: price.currency, currencyDisplay: "code" };
  try {
    return new Intl.NumberFormat(undefined, form).format(price.amount);
  } catch {
    return `${price.amount} ${price.currency}`;
  }
}

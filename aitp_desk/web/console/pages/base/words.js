// Words for people: of what others wrote, of tickets, and of who is who.

import { el } from "./dom.js";

const ADDRESS = /https?:\/\/[^\s<>()"'\p{Cc}\p{Cf}\ufffd]*[^\s<>()"'.,;:!?\p{Cc}\p{Cf}\ufffd]/gu;
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/**
 * Somebody's text with a sign for whatever is not seen, or turns the direction: what people decide
 * upon reads as it is.
 */
export function plain(text) {
  return text.replace(UNSEEN, "\ufffd");
}

/**
 * Somebody's text as nodes: words, and a link for each http(s) address, which is shown in full.
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

/** A link to somewhere else, which is shown in full. */
export function outside(href) {
  return el("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, href);
}

/** Somebody's text in a line of its own direction, for lists. */
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

/** The label of a ticket's kind. */
export function kindLabel(kind) {
  return el("span", { class: `kind ${kind}` }, KINDS[kind] ?? kind);
}

export function isOver(ticket) {
  return ticket.state !== "open" && ticket.state !== "taken";
}

/** Whose thread it is, for people: of keys the beginning of the id, else whom the proof names. */
export function visitorName(owner) {
  if (!owner) return "Anonymous visitor";
  const at = owner.indexOf(":");
  const [kind, name] = [owner.slice(0, at), owner.slice(at + 1)];
  return kind === "key" ? `Key ${name.slice(0, 8)}` : name;
}

/** Who is meant by an operator's name: "you" for whoever reads it. */
export function operatorName(name, session) {
  return name === session.operator ? "you" : name;
}

/** The same where a sentence begins. */
export function operatorFirst(name, session) {
  return name === session.operator ? "You" : name;
}

export function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

/** The name of a further agent; nothing for the site's own. */
export function agentLabel(agent) {
  return agent ? el("span", { class: "agent-name" }, agent) : null;
}

/** An amount of money: "29.99 EUR" as the reader's language writes it. */
export function money(price) {
  const form = { style: "currency", currency: price.currency, currencyDisplay: "code" };
  try {
    return new Intl.NumberFormat(undefined, form).format(price.amount);
  } catch {
    return `${price.amount} ${price.currency}`;
  }
}

// Reads messages of a thread: the speaker, the text, the structured parts.

import { answerIn } from "../cards/cards.js";

/** The actor of an anonymous visitor. */
export const VISITOR = "visitor";
const OPERATORS = "/operators/";
const SOURCES = /^Sources:\n/;
const SOURCE = /^- (.*): (\S+)$/;

/**
 * Return the speaker of a message: the visitor, an operator, the desk, or another actor.
 *
 * @returns {{visitor: boolean, person: string, other: string}} unused names are empty.
 */
export function partiesOf({ role, metadata: { actor } }, { desk, key }) {
  const person = operatorOf(actor);
  const visitor = !person && role === "user" && (actor === VISITOR || Boolean(key));
  return { visitor, person, other: person || visitor || actor === desk ? "" : actor };
}

/** Return the operator's name of an actor; empty for any other. */
export function operatorOf(actor) {
  const at = actor.lastIndexOf(OPERATORS);
  return at < 0 ? "" : actor.slice(at + OPERATORS.length);
}

/** Return an answer's text without operators' messages, which the thread delivers by itself. */
export function withoutPeople(words, people = []) {
  return people.reduce((rest, { actor, text }) => {
    const name = operatorOf(actor);
    const told = name ? `${name}: ${text}` : text;
    return rest.startsWith(told) ? rest.slice(told.length).trimStart() : rest;
  }, words);
}

/** Return a message's text, structured messages and sources. */
export function read({ content }) {
  const words = [];
  const messages = [];
  let sources = [];
  for (const part of content) {
    const message = structured(part);
    if (message) messages.push(message);
    else if (SOURCES.test(part)) sources = sourcesIn(part);
    else words.push(part);
  }
  return { words: words.join("\n\n"), messages, sources };
}

/** Return the text that a visitor's message is shown as. */
export function shownAs({ words, messages }) {
  return words || messages.map((one) => answerIn(one)?.text ?? "").join(" ");
}

function structured(part) {
  if (!part.startsWith("{")) return null;
  try {
    const message = JSON.parse(part);
    return typeof message.$schema === "string" ? message : null;
  } catch {
    return null;
  }
}

function sourcesIn(part) {
  const found = part.split("\n").map((line) => SOURCE.exec(line));
  return found
    .filter(Boolean)
    .map(([, title, url]) => ({ title, url, relevance: "direct" }));
}

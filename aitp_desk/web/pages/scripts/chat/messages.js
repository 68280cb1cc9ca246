// Messages of a thread as they are read: who has said them, their words, what is structured in them.

import { answerIn } from "../cards/cards.js";

/** The visitor's actor, where nobody known asks. */
export const VISITOR = "visitor";
const OPERATORS = "/operators/";
const SOURCES = /^Sources:\n/;
const SOURCE = /^- (.*): (\S+)$/;

/**
 * Who has said a message: the visitor, a person of the site, the desk, or somebody else.
 *
 * @returns {{visitor: boolean, person: string, other: string}} names are empty where it is another.
 */
export function partiesOf({ role, metadata: { actor } }, { desk, key }) {
  const person = operatorOf(actor);
  const visitor = !person && role === "user" && (actor === VISITOR || Boolean(key));
  return { visitor, person, other: person || visitor || actor === desk ? "" : actor };
}

/** The name of the operator whose actor this is; empty for another. */
export function operatorOf(actor) {
  const at = actor.lastIndexOf(OPERATORS);
  return at < 0 ? "" : actor.slice(at + OPERATORS.length);
}

/** The words of an answer without what people have said, which the thread tells by itself. */
export function withoutPeople(words, people = []) {
  return people.reduce((rest, { actor, text }) => {
    const name = operatorOf(actor);
    const told = name ? `${name}: ${text}` : text;
    return rest.startsWith(told) ? rest.slice(told.length).trimStart() : rest;
  }, words);
}

/** The words of a message, its structured messages, and the sources that the desk names. */
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

/** What a visitor's message is shown as. */
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

// Reads messages of a thread: the speaker, the text, the sources, and what is structured.

import { isForAll, wordsOf } from "../cards/cards.js";

/** The actor of an anonymous visitor. */
export const VISITOR = "visitor";
const SOURCES = /^Sources:\n/;
const SOURCE = /^- (.*): (\S+)$/gm;

/** Return the operator's name of an actor of the desk; empty for any other, however it ends. */
export function operatorOf(actor, desk) {
  const people = `${desk}/operators/`;
  return actor.startsWith(people) ? actor.slice(people.length) : "";
}

/**
 * Return who speaks in a message.
 *
 * @param {string} desk id of the desk's actor.
 * @param {string} caller id of the visitor's, if they are signed in.
 * @returns {{party: "visitor" | "person" | "desk" | "other", name: string}}
 */
function findSpeaker({ role, metadata: { actor } }, desk, caller) {
  const name = operatorOf(actor, desk);
  if (name) return { party: "person", name };
  if (role === "user" && (actor === VISITOR || actor === caller)) return { party: "visitor", name: "" };
  return actor === desk ? { party: "desk", name: "" } : { party: "other", name: actor };
}

/**
 * Return a message as an entry of the conversation.
 *
 * Notes, and what is said of payments, count only from the site: others can write them too.
 */
export function readMessage(message, desk, caller) {
  const words = [];
  const messages = [];
  let sources = [];
  for (const part of message.content) {
    const structured = readStructured(part);
    if (structured) messages.push(structured);
    else if (SOURCES.test(part)) sources = readSources(part);
    else words.push(part);
  }
  const { id, created_at: at } = message;
  const speaker = findSpeaker(message, desk, caller);
  const isSites = ["desk", "person"].includes(speaker.party);
  const metadata = isSites ? message.metadata : {};
  const quotes = metadata.quotes?.split("\n");
  sources = sources.map((source, at) => ({ ...source, quote: quotes?.[at] }));
  const told = messages.map(wordsOf);
  const kept = isSites ? messages : messages.filter(isForAll);
  const shown = !words.length && (speaker.party === "visitor" || !kept.length) ? told : words;
  return {
    ...speaker,
    id,
    at,
    metadata,
    key: message.metadata.draft,
    text: shown.join("\n\n"),
    spoken: [...words, ...told].join("\n\n"),
    messages: kept,
    sources,
    files: message.attachments.map((file) => ({ id: file.file_id })),
    followUps: messages.length ? null : metadata.suggested_queries?.split("\n"), // of a card
    state: "said",
  };
}

function readStructured(part) {
  try {
    const message = JSON.parse(part);
    return typeof message.$schema === "string" ? message : null;
  } catch {
    return null;
  }
}

function readSources(part) {
  return [...part.matchAll(SOURCE)].map(([, title, url]) => ({ title, url }));
}

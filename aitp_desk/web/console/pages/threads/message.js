// The entries of a conversation: messages, notes and events.

import { cardOf } from "./card.js";
import { el } from "../base/dom.js";
import { blocks } from "../markdown/blocks.js";
import { time } from "../base/when.js";
import { linked, operatorFirst } from "../base/words.js";

/** From how many characters a note is folded, and how many of them are shown then. */
const FOLDED = 1000;
const FOLDED_BEGIN = 100;

/**
 * A message as an element.
 *
 * @param {object} message
 * @param {object} context as cards take it, with the operator's `session`.
 * @param {boolean} several whether there are several visitors, who need names.
 */
export function messageElement(message, context, several) {
  const { session } = context;
  const { speaker, operator, actor, attachments, deleted } = message;
  const names = {
    visitor: several ? shortActor(actor) : "Visitor",
    agent: "Agent",
    operator: operator ?? "Operator",
  };
  const name = operator ? operatorFirst(operator, session) : names[speaker];
  return el(
    "li",
    { class: `message ${speaker}`, "data-id": message.id },
    el(
      "p",
      { class: "by" },
      el("strong", { title: actor, dir: "auto" }, name),
      " ",
      time(message.created_at),
    ),
    deleted
      ? el("p", { class: "said soft" }, "This message was deleted.")
      : said(message, context),
    attachments.length > 0 &&
      el("ul", { class: "attachments", "aria-label": "Attachments" }, ...attachments.map(attached)),
  );
}

/** The content of a message: text, or its parts, those of capabilities as cards. */
function said(message, context) {
  const show = message.speaker === "agent" ? formatted : words;
  if (!message.parts.length) return show(message.text);
  const shown = message.parts.map((part) => cardOf(part, message, context) ?? show(part.text));
  return el("div", { class: "parts" }, ...shown);
}

function words(text) {
  return el("div", { class: "said", dir: "auto" }, ...linked(text));
}

/** What the agent says: Markdown. */
function formatted(text) {
  return el("div", { class: "said formatted", dir: "auto" }, ...blocks(text));
}

function attached({ id, name }) {
  return el("li", { dir: "auto", title: id }, name || id);
}

function shortActor(actor) {
  return actor.replace(/^https?:\/\//, "");
}

/** An internal note as an element; a long one, such as what was cut off from a mail, is folded. */
export function noteElement(note, session) {
  const words = el("div", { class: "said", dir: "auto" }, ...linked(note.words));
  const begin = note.words.slice(0, FOLDED_BEGIN);
  const isLong = note.words.length > FOLDED;
  return el(
    "li",
    { class: "message note", "data-id": note.id },
    el(
      "p",
      { class: "by" },
      el("strong", {}, operatorFirst(note.operator, session)),
      " ",
      time(note.created_at),
      el("span", { class: "tag" }, "Internal note: visitors never see this"),
    ),
    isLong ? el("details", {}, el("summary", { dir: "auto" }, `${begin}…`), words) : words,
  );
}

/** An event as an element, such as a hand-over. */
export function eventElement(words) {
  return el("li", { class: "happened" }, words);
}

// The list of threads, those with the latest messages first.

import { get } from "../base/api.js";
import { el } from "../base/dom.js";
import { Listing } from "../tickets/listing.js";
import { agentFilter, chosen } from "../tickets/tickets.js";
import { time } from "../base/when.js";
import { agentLabel, counted, kindLabel, line, operatorName, visitorName } from "../base/words.js";

/** The list of a signed-in operator. */
export function threadList(session) {
  return new Listing({
    view: "threads",
    title: "Threads",
    nouns: ["thread", "threads"],
    search: "Search messages",
    filters: [
      {
        name: "owner",
        label: "Answered by",
        options: [
          ["", "Everybody’s"],
          ["mine", "Mine"],
          ["operator", "With a person"],
          ["agent", "With the agent"],
        ],
      },
      ...agentFilter(session),
      { name: "waiting", label: "Waiting" },
    ],
    empty: ["No conversations yet.", "New conversations appear here."],
    page: (params, after, limit, signal) =>
      get("threads", { ...chosen(params), after, limit }, signal),
    row: (thread) => threadRow(thread, session),
  });
}

function threadRow(thread, session) {
  const { last } = thread;
  return [
    el(
      "span",
      { class: "row-top" },
      line(visitorName(thread.owner, thread.owner_name), "strong who"),
      agentLabel(thread.agent),
      el("span", { class: "row-time" }, time(thread.updated_at)),
    ),
    last ? el("span", { class: "row-words" }, speaker(thread), words(last)) : null,
    el("span", { class: "row-foot" }, ...standing(thread, session)),
  ];
}

/** Return the text of the last message; a deleted one has none, nor has a file alone. */
function words({ text }) {
  return text ? line(text, "") : line("No text", "soft");
}

/** Return the author of the last message; empty for the visitor. */
function speaker({ last, operator }) {
  if (last.origin === "visitor") return null;
  const name = /\/operators\/([^/]+)$/.exec(last.actor)?.[1];
  return el("span", { class: "soft" }, `${name ?? (operator ? "Desk" : "Agent")}: `);
}

function standing(thread, session) {
  const whose = thread.operator
    ? el("span", { class: "taken" }, `With ${operatorName(thread.operator, session)}`)
    : null;
  const kinds = new Set(thread.tickets.map((ticket) => ticket.kind));
  const count = counted(thread.messages, "message", "messages");
  return [...[...kinds].map(kindLabel), whose, whose && " · ", count].filter(Boolean);
}

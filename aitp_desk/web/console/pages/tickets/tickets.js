// The list of tickets that wait for a person.

import { get } from "../base/api.js";
import { el } from "../base/dom.js";
import { Listing } from "./listing.js";
import { time } from "../base/when.js";
import {
  agentLabel,
  isOver,
  kindLabel,
  KINDS,
  line,
  operatorName,
  plain,
  STATES,
  visitorName,
} from "../base/words.js";

/** The list of a signed-in operator. */
export function ticketList(session) {
  return new Listing({
    view: "tickets",
    title: "Tickets",
    nouns: ["ticket", "tickets"],
    search: "Search tickets",
    filters: [
      {
        name: "state",
        label: "State",
        options: [
          ["", "Waiting"],
          ["over", "Done"],
          ["all", "All"],
        ],
      },
      { name: "kind", label: "Kind", options: [["", "All kinds"], ...Object.entries(KINDS)] },
      ...agentFilter(session),
      { name: "mine", label: "Mine" },
    ],
    empty: ["Nobody is waiting.", "New tickets appear here immediately."],
    page: (params, after, limit, signal) =>
      get(
        "tickets",
        { ...chosen(params), state: params.get("state") || "open", after, limit },
        signal,
      ),
    row: (ticket) => ticketRow(ticket, session),
  });
}

/** The filter by agent where the process has several; "own" is the main one. */
export function agentFilter(session) {
  if (session.agents.length < 2) return [];
  const options = session.agents.map((name) => [name || "own", name || session.site.name]);
  return [{ name: "agent", label: "Agent", options: [["", "All agents"], ...options] }];
}

/** Return the query for the API from the filters of the address. */
export function chosen(params) {
  const asked = Object.fromEntries(params);
  if (asked.agent === "own") asked.agent = "";
  return asked;
}

function ticketRow(ticket, session) {
  return [
    el(
      "span",
      { class: "row-top" },
      kindLabel(ticket.kind),
      agentLabel(ticket.agent),
      el(
        "span",
        { class: "row-time" },
        isOver(ticket) ? time(ticket.ended_at) : time(ticket.created_at, "for"),
      ),
    ),
    line(plain(ticket.about), "row-words strong"),
    el("span", { class: "row-foot" }, ...foot(ticket, session)),
  ];
}

function foot(ticket, session) {
  if (isOver(ticket) || ticket.taken_by) return standing(ticket, session);
  const who = line(visitorName(ticket.asked_by, ticket.asked_by_name), "");
  return ticket.due_at ? [who, " · ", time(ticket.due_at, "due")] : [who];
}

/** Describe the state of a ticket in a few words. */
export function standing(ticket, session) {
  if (isOver(ticket)) {
    const by = ticket.ended_by ? ` by ${operatorName(ticket.ended_by, session)}` : "";
    return [`${STATES[ticket.state]}${by}`];
  }
  const whose = ticket.taken_by
    ? el("span", { class: "taken" }, `Taken by ${operatorName(ticket.taken_by, session)}`)
    : "Waiting";
  return ticket.due_at ? [whose, " · ", time(ticket.due_at, "due")] : [whose];
}

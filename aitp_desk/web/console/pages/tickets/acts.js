// What can be done with a ticket: the buttons, and what is asked before.

import { path, post } from "../base/api.js";
import { callCard, isGrave } from "../threads/call.js";
import { ask } from "../base/dialogs.js";
import { button, el } from "../base/dom.js";
import { isOver, plain } from "../base/words.js";

const LOSES = {
  action: "Whoever waits for the call is told that it failed, and why.",
  unknown: "The call counts as failed.",
};

/**
 * The buttons of a ticket, as it stands.
 *
 * @param {object} ticket
 * @param {object} session
 * @param {(ticket: object) => void} done is told the ticket as the desk has it now.
 * @param {(error: Error) => void} failed
 */
export function ticketButtons(ticket, session, done, failed) {
  if (isOver(ticket)) return [];
  const act = async (verb, body = {}) => done(await post(path("tickets", ticket.id, verb), body));
  const directly = (verb) => () => act(verb).catch(failed);
  const buttons = ticket.kind === "approval" ? deciding(ticket, session, act, failed) : [];
  if (!ticket.taken_by) {
    const keys = { "data-key": "t", "aria-keyshortcuts": "t" };
    buttons.push(button("Take", "button quiet", directly("take"), keys));
  } else if (ticket.taken_by === session.operator) {
    buttons.push(
      button("Hand back", "button quiet", directly("release"), {
        "data-key": "b",
        "aria-keyshortcuts": "b",
      }),
    );
  } else {
    buttons.push(
      button("Hand back…", "button quiet", () =>
        handBackFor(ticket.taken_by, () => act("release")),
      ),
    );
  }
  if (ticket.kind !== "approval") {
    buttons.push(button("Close…", "button quiet", () => close(ticket, session, act)));
  }
  return buttons;
}

/** Ask before what another operator has is handed back. */
export function handBackFor(operator, act) {
  ask({
    title: `Hand back what ${operator} has?`,
    about: [
      el("p", {}, "Then everybody can take it. What was typed there and not sent is not lost."),
    ],
    yes: "Hand back",
    act,
  });
}

function close(ticket, session, act) {
  ask({
    title: "Close without an answer?",
    about: [el("p", {}, LOSES[ticket.kind] ?? "The visitor gets no answer from a person.")],
    label: "Why",
    optional: true,
    draftKey: `${session.operator}.close.${ticket.id}`,
    yes: "Close the ticket",
    act: (reason) => act("close", { reason }),
  });
}

function deciding(ticket, session, act, failed) {
  const approve = () =>
    ticket.call && !isGrave(ticket.call) ? act("approve").catch(failed) : confirm(ticket, session, act);
  const decline = () =>
    ask({
      title: "Decline?",
      about: [el("p", {}, "Nothing is done. Whoever asked is told, with your reason.")],
      label: "Why",
      optional: true,
      yes: "Decline",
      act: (reason) => act("decline", { reason }),
    });
  const words = ticket.call && !isGrave(ticket.call) ? "Approve" : "Approve…";
  return [button(words, "button", approve), button("Decline…", "button quiet", decline)];
}

/** A second look at what is grave. */
function confirm(ticket, session, act) {
  ask({
    title: "Approve this?",
    about: [
      el(
        "p",
        { class: "plea grave" },
        "Look again at what this does: it cannot be undone, or it concerns many.",
      ),
      ticket.call
        ? callCard(ticket.call, ticket.asked_by, session)
        : el("p", { dir: "auto" }, plain(ticket.about)),
    ],
    yes: "Yes, do it",
    grave: true,
    act: () => act("approve"),
  });
}

// The actions on a ticket: their buttons and confirmations.

import { path, post } from "../base/api.js";
import { callCard, isGrave } from "../threads/call.js";
import { ask } from "../base/dialogs.js";
import { button, el } from "../base/dom.js";
import { isOver, plain } from "../base/words.js";

const LOSES = {
  action: "The caller receives the failure and your reason.",
  unknown: "The call counts as failed.",
};

/**
 * The buttons of a ticket in its current state.
 *
 * @param {object} ticket
 * @param {object} session
 * @param {(ticket: object) => void} done receives the ticket's new state.
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

/** Confirm before releasing another operator's ticket. */
export function handBackFor(operator, act) {
  ask({
    title: `Hand back the ticket of ${operator}?`,
    about: [
      el("p", {}, "Then every operator can take it. Unsent drafts are kept."),
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
      about: [el("p", {}, "The call is not made. The caller receives your reason.")],
      label: "Why",
      optional: true,
      yes: "Decline",
      act: (reason) => act("decline", { reason }),
    });
  const words = ticket.call && !isGrave(ticket.call) ? "Approve" : "Approve…";
  return [button(words, "button", approve), button("Decline…", "button quiet", decline)];
}

/** A second confirmation of grave actions. */
function confirm(ticket, session, act) {
  ask({
    title: "Approve this?",
    about: [
      el(
        "p",
        { class: "plea grave" },
        "Check again what this does: it cannot be undone, or it concerns many people.",
      ),
      ticket.call
        ? callCard(ticket.call, ticket, session)
        : el("p", { dir: "auto" }, plain(ticket.about)),
    ],
    yes: "Yes, approve",
    grave: true,
    act: () => act("approve"),
  });
}

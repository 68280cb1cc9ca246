// One conversation: its operator, messages, tickets, and the text box.

import { handBackFor, ticketButtons } from "../tickets/acts.js";
import { answerButton } from "./answering.js";
import { path, post } from "../base/api.js";
import { callCard } from "./call.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { ask } from "../base/dialogs.js";
import { button, el, fill, refill } from "../base/dom.js";
import { link } from "../base/route.js";
import { standing } from "../tickets/tickets.js";
import { time } from "../base/when.js";
import { agentLabel, counted, isOver, kindLabel, plain, STATES, visitorName } from "../base/words.js";

const CARRIED = {
  open: "open",
  offered: "not confirmed yet",
  stopped: "wants no messages",
  unreachable: "cannot be reached",
  waiting: "has to write first",
};
const OF_THE_THREAD = new Set(["request", "question"]);

/** The view of a thread. */
export class ThreadView {
  #context;
  #id;
  #thread = null;
  #closed = false;
  #head = el("div", {});
  #error = el("p", { class: "alarm", role: "alert", hidden: true });
  #composer;
  #talk;

  /** @param {{session: object, live: object, back: () => Node}} context */
  constructor(context, id) {
    this.#context = context;
    this.#id = id;
    this.#composer = new Composer(context.session, id, (verb, outcome) => this.#did(verb, outcome));
    this.#talk = this.#newTalk();
    this.element = el("div", { class: "view" }, this.#head, this.#error, this.#talk.element);
    this.unsubscribe = context.live.each(() => this.#thread && this.#talk.look());
  }

  /** Fetch the thread and follow it. */
  async refresh() {
    try {
      await this.#talk.begin();
    } catch (reason) {
      this.#lost(reason);
    }
  }

  close() {
    this.#closed = true;
    this.unsubscribe();
    this.#talk.close();
  }

  #newTalk() {
    return new Conversation(this.#context.session, this.#id, {
      changed: (thread) => this.#show(thread),
      gone: () => this.#gone(),
      lost: (error) => this.#lost(error),
      answer: (part) =>
        answerButton(
          part,
          (what, attempt) => this.#answer(what, attempt),
          () => this.#thread,
          this.#context.session,
        ),
    });
  }

  #lost(reason) {
    if (this.#closed) return;
    if (reason.status === 410) return void this.#reload();
    this.#fail(reason);
    if (!this.#thread) fill(this.#head, el("header", { class: "view-head" }, this.#context.back()));
  }

  /** The missed events are no longer stored: start again. */
  #reload() {
    this.#talk.close();
    this.#thread = null;
    const talk = this.#newTalk();
    this.#talk.element.replaceWith(talk.element);
    this.#talk = talk;
    this.refresh();
  }

  #fail(reason) {
    this.#error.textContent = reason.message;
    this.#error.hidden = false;
  }

  #gone() {
    this.#talk.close();
    this.#thread = null;
    this.#composer.element.remove();
    this.#fail(new Error("This conversation was deleted."));
  }

  #did(verb, outcome) {
    this.#error.hidden = true;
    this.#talk.forgetLook();
    if (verb === "notes") this.#talk.keeping(() => this.#talk.addNote(outcome));
    else this.#show(outcome);
  }

  /** Answer for the site; this takes the conversation over. */
  async #answer(what, attempt) {
    if (this.#thread.operator !== this.#context.session.operator) await this.#act("take", {});
    await this.#act("messages", what, attempt.keyOf(what));
  }

  async #act(verb, body, key) {
    this.#did(verb, await post(path("threads", this.#id, verb), body, key));
  }

  #show(thread) {
    const same = JSON.stringify(thread) === JSON.stringify(this.#thread);
    this.#thread = thread;
    if (same) return;
    this.#showHead(thread);
    const open = thread.tickets.filter((ticket) => !isOver(ticket));
    this.#talk.keeping(() =>
      refill(this.#talk.pending, ...open.map((ticket) => this.#card(ticket))),
    );
    this.#composer.show(thread);
    if (!this.#composer.element.isConnected) this.element.append(this.#composer.element);
  }

  #showHead(thread) {
    const { session } = this.#context;
    const mine = thread.operator === session.operator;
    const whose = thread.operator
      ? mine
        ? "You answer"
        : `${thread.operator} answers`
      : "The agent answers";
    const waits = thread.tickets.some(
      (ticket) => !isOver(ticket) && OF_THE_THREAD.has(ticket.kind),
    );
    const buttons = [];
    if (mine)
      buttons.push(handBack(() => this.#act("release", {}).catch((error) => this.#fail(error))));
    else if (thread.operator) {
      const act = () => this.#act("release", {});
      buttons.push(button("Hand back…", "button quiet", () => handBackFor(thread.operator, act)));
    }
    if (mine || (waits && !thread.operator)) {
      const keys = { "data-key": "e", "aria-keyshortcuts": "e" };
      buttons.push(button("Resolve…", "button quiet", () => this.#resolve(waits), keys));
    }
    refill(
      this.#head,
      el(
        "header",
        { class: "view-head" },
        el(
          "div",
          { class: "heading" },
          this.#context.back(),
          el("h2", { tabindex: "-1", dir: "auto" }, visitorName(thread.owner, thread.owner_name)),
          el("span", { class: mine ? "whose mine" : "whose" }, whose),
          agentLabel(thread.agent),
        ),
        el("div", { class: "buttons" }, ...buttons),
      ),
      ...thread.carried.filter(isHeld).map((one) => heldWords(one)),
      this.#details(thread),
    );
  }

  #details(thread) {
    const open = this.#head.querySelector("details")?.open ?? false;
    const over = thread.tickets.filter(isOver);
    return el(
      "details",
      { class: "details", open },
      el(
        "summary",
        {},
        `${counted(thread.messages, "message", "messages")}, began `,
        time(thread.created_at),
      ),
      el(
        "dl",
        { class: "facts" },
        el("dt", {}, "Thread"),
        el("dd", {}, el("code", {}, thread.id)),
        el("dt", {}, "Visitor"),
        el("dd", { dir: "auto" }, thread.owner ?? "anonymous"),
        el("dt", {}, "Participants"),
        el(
          "dd",
          {},
          el(
            "ul",
            { class: "plain-list" },
            ...thread.actors.map((actor) => el("li", { dir: "auto" }, actor.id)),
          ),
        ),
        ...(thread.carried.length
          ? [
              el("dt", {}, "Platforms"),
              el("dd", {}, el("ul", { class: "plain-list" }, ...thread.carried.map((one) => el("li", {}, platform(one))))),
            ]
          : []),
        ...(over.length
          ? [
              el("dt", {}, "Earlier tickets"),
              el("dd", {}, el("ul", { class: "plain-list" }, ...over.map(earlier))),
            ]
          : []),
      ),
    );
  }

  #card(ticket) {
    const { session } = this.#context;
    const failed = (error) => this.#fail(error);
    const buttons = OF_THE_THREAD.has(ticket.kind)
      ? []
      : ticketButtons(ticket, session, () => this.#talk.look(), failed);
    for (const each of buttons) {
      each.removeAttribute("data-key"); // the shortcuts belong to the conversation here
      each.removeAttribute("aria-keyshortcuts");
    }
    return el(
      "section",
      { class: "card", "aria-label": "Waits for a person" },
      el(
        "p",
        { class: "row-top" },
        kindLabel(ticket.kind),
        el("span", { class: "row-time soft" }, ...standing(ticket, session)),
      ),
      el("p", {}, el("a", { href: link("tickets", ticket.id), dir: "auto" }, plain(ticket.about))),
      ticket.kind === "approval" && ticket.call && callCard(ticket.call, ticket, session),
      buttons.length > 0 && el("div", { class: "buttons" }, ...buttons),
    );
  }

  #resolve(waits) {
    ask({
      title: "Resolve this conversation?",
      about: [
        waits && el("p", {}, "The open tickets of this conversation are closed."),
        el("p", {}, "The agent answers again."),
      ],
      label: "Last message to the visitor (optional)",
      optional: true,
      draftKey: `${this.#context.session.operator}.resolve.${this.#id}`,
      yes: "Resolve",
      act: (words) => this.#act("resolve", { words }),
    });
  }
}

function handBack(act) {
  return button("Hand back", "button quiet", act, { "data-key": "b", "aria-keyshortcuts": "b" });
}

/** Whether messages do not reach the visitor on a platform. */
function isHeld({ state, problem }) {
  return problem || !["open", "offered"].includes(state);
}

function heldWords(carried) {
  return el(
    "p",
    { class: "alarm", role: "status" },
    `Messages do not arrive: ${platform(carried)}`,
  );
}

function platform({ transport, state, problem }) {
  return `${transport}: ${CARRIED[state]}${problem ? `. ${problem}` : ""}`;
}

function earlier(ticket) {
  return el(
    "li",
    {},
    el("a", { href: link("tickets", ticket.id), dir: "auto" }, plain(ticket.about)),
    ` (${STATES[ticket.state].toLowerCase()})`,
  );
}

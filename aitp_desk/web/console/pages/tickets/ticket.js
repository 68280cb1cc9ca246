// One ticket: the request, its author, its call, and the answer.

import { ticketButtons } from "./acts.js";
import { get, path, post } from "../base/api.js";
import { callCard } from "../threads/call.js";
import { Conversation } from "../threads/conversation.js";
import { button, el, fill, refill } from "../base/dom.js";
import { drafting, keepDraft } from "../base/drafts.js";
import { sendOnEnter } from "../base/enter.js";
import { tellTyping } from "../base/presence.js";
import { link } from "../base/route.js";
import { standing } from "./tickets.js";
import { time } from "../base/when.js";
import { agentLabel, isOver, kindLabel, linked, plain, STATES, visitorName } from "../base/words.js";

const PEEK = 10;
const SAYS = {
  request: "The visitor reads this in the conversation, under your name. It ends the ticket.",
  question: "The visitor reads this in the conversation, under your name. It ends the ticket.",
  action: "The caller receives this text as the result of the call. It ends the ticket.",
  unknown: "Describe the outcome of the call; the caller receives it. It ends the ticket.",
};

/** Where the visitor wants the answer too. */
function contact({ contact: address }) {
  const write = el("a", { href: `mailto:${address}`, dir: "ltr" }, address);
  return el("p", { class: "soft" }, "Waits for an answer by email too: ", write);
}

/** The view of a ticket. */
export class TicketView {
  #context;
  #id;
  #said = "";
  #closed = false;
  #talk = null;
  #head = el("div", {});
  #facts = el("div", { class: "sheet" });
  #answer = el("div", {});
  #error = el("p", { class: "alarm", role: "alert", hidden: true });
  #similar = el("div", {});
  #below = el("div", {});

  /** @param {{session: object, live: object, back: () => Node}} context */
  constructor(context, id) {
    this.#context = context;
    this.#id = id;
    this.element = el(
      "div",
      { class: "view" },
      this.#head,
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "group", "aria-label": "Subject" },
        this.#facts,
        this.#answer,
        this.#error,
        this.#similar,
        this.#below,
      ),
    );
    this.unsubscribe = context.live.each(() => this.refresh());
  }

  async refresh() {
    try {
      this.#show(await get(path("tickets", this.#id)));
    } catch (reason) {
      this.#fail(reason);
    }
  }

  close() {
    this.#closed = true;
    this.unsubscribe();
    this.#talk?.close();
  }

  #fail(reason) {
    this.#error.textContent = reason.message;
    this.#error.hidden = false;
    if (!this.#said) fill(this.#head, el("header", { class: "view-head" }, this.#context.back()));
  }

  #show(ticket) {
    const said = JSON.stringify(ticket);
    if (this.#closed || said === this.#said) return;
    const first = !this.#said;
    this.#said = said;
    const { session } = this.#context;
    const buttons = ticketButtons(
      ticket,
      session,
      (now) => this.#show(now),
      (error) => this.#fail(error),
    );
    this.#error.hidden = true;
    refill(
      this.#head,
      el(
        "header",
        { class: "view-head" },
        el(
          "div",
          { class: "heading" },
          this.#context.back(),
          kindLabel(ticket.kind),
          agentLabel(ticket.agent),
        ),
        el("div", { class: "buttons" }, ...buttons),
      ),
    );
    refill(this.#facts, ...this.#sheet(ticket));
    this.#showAnswer(ticket, first);
    if (first) this.#showSimilar();
    if (first && ticket.thread) this.#peek(ticket.thread);
  }

  #sheet(ticket) {
    const { session } = this.#context;
    return [
      el("h2", { class: "about", tabindex: "-1", dir: "auto" }, plain(ticket.about)),
      el(
        "p",
        { class: "soft" },
        ...(isOver(ticket) ? ["Asked "] : [...standing(ticket, session), " · asked "]),
        time(ticket.created_at),
        " by ",
        ticket.asked_by
          ? el(
              "span",
              { title: ticket.asked_by, dir: "auto" },
              visitorName(ticket.asked_by, ticket.asked_by_name),
            )
          : "an anonymous visitor",
      ),
      ticket.contact && contact(ticket),
      ticket.note && ticket.kind !== "approval" && note(ticket),
      ticket.call && callCard(ticket.call, ticket, session),
      ticket.note &&
        ticket.kind === "approval" &&
        el("details", { class: "soft" }, el("summary", {}, "As written by the desk"), note(ticket)),
    ];
  }

  #showAnswer(ticket, first) {
    if (isOver(ticket)) {
      const words =
        ticket.answer && el("blockquote", { class: "said", dir: "auto" }, ...linked(ticket.answer));
      refill(
        this.#answer,
        el(
          "section",
          { class: "outcome", "aria-label": "How it ended" },
          el(
            "p",
            {},
            el("strong", {}, STATES[ticket.state]),
            ticket.ended_by && ` by ${ticket.ended_by}`,
            " ",
            time(ticket.ended_at),
          ),
          words,
        ),
      );
    } else if (ticket.taken_by && ticket.taken_by !== this.#context.session.operator) {
      refill(this.#answer, el("p", { class: "plea" }, `${ticket.taken_by} has this ticket.`));
    } else if (ticket.kind !== "approval" && (first || !this.#answer.querySelector("form"))) {
      refill(this.#answer, this.#form(ticket));
    } else if (ticket.kind === "approval") {
      refill(this.#answer);
    }
  }

  #form(ticket) {
    const draftKey = `${this.#context.session.operator}.answer.${ticket.id}`;
    const box = el("textarea", {
      rows: "3",
      id: "answer",
      dir: "auto",
      "data-key": "r",
      "aria-keyshortcuts": "r",
      "aria-describedby": "answer-hint",
    });
    drafting(box, draftKey);
    sendOnEnter(box, () => form.requestSubmit());
    if (ticket.thread) tellTyping(box, ticket.thread);
    const send = button("Answer", "button", null, { type: "submit" });
    const form = el(
      "form",
      { class: "answer" },
      el("label", { for: "answer" }, "Answer"),
      box,
      el(
        "div",
        { class: "answer-foot" },
        el(
          "p",
          { id: "answer-hint", class: "hint" },
          `${SAYS[ticket.kind] ?? ""} Enter sends, Shift+Enter starts a new line.`,
        ),
        send,
      ),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const words = box.value.trim();
      if (!words || box.readOnly) return;
      box.readOnly = true;
      try {
        const now = await post(path("tickets", ticket.id, "answer"), { words });
        keepDraft(draftKey, "");
        this.#show(now);
      } catch (reason) {
        this.#fail(reason);
      } finally {
        box.readOnly = false;
      }
    });
    return form;
  }

  // Optional: without it the ticket is shown all the same.
  async #showSimilar() {
    const { data } = await get(path("tickets", this.#id, "similar")).catch(() => ({ data: [] }));
    if (this.#closed || !data.length) return;
    const rows = data.map((ticket) =>
      el(
        "li",
        {},
        el(
          "a",
          { class: "card-link", href: link("tickets", ticket.id), dir: "auto" },
          plain(ticket.about),
        ),
        " ",
        el(
          "span",
          { class: "soft small" },
          ...standing(ticket, this.#context.session),
          " · ",
          time(ticket.created_at),
        ),
        ticket.answer && el("p", { class: "soft small", dir: "auto" }, plain(ticket.answer)),
      ),
    );
    fill(
      this.#similar,
      el(
        "section",
        { class: "similar", "aria-label": "Similar earlier tickets" },
        el("h3", {}, "Similar earlier tickets"),
        el("ul", {}, ...rows),
      ),
    );
  }

  async #peek(threadId) {
    const failed = (error) => this.#fail(error);
    const gone = () =>
      fill(this.#below, el("p", { class: "plea" }, "The conversation was deleted."));
    const talk = new Conversation(this.#context.session, threadId, { lost: failed, gone }, PEEK);
    this.#talk = talk;
    fill(
      this.#below,
      el(
        "section",
        { class: "peek", "aria-label": "The conversation" },
        el(
          "div",
          { class: "peek-head" },
          el("h3", {}, "The conversation"),
          el(
            "a",
            {
              href: link("threads", threadId),
              class: "button quiet",
              "data-key": "o",
              "aria-keyshortcuts": "o",
            },
            "Open",
          ),
        ),
        talk.element,
      ),
    );
    try {
      await talk.begin();
    } catch (reason) {
      this.#fail(reason);
    }
  }
}

function note(ticket) {
  return el("p", { class: "said ticket-note", dir: "auto" }, ...linked(plain(ticket.note)));
}

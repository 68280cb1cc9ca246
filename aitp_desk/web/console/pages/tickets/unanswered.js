// Visitors' questions that the content did not answer, the most frequent first.

import { get } from "../base/api.js";
import { el, fill } from "../base/dom.js";
import { link } from "../base/route.js";
import { time } from "../base/when.js";
import { agentLabel, counted, plain } from "../base/words.js";

const EMPTY = "The content has answered all recent questions.";

/** The view of the questions. */
export class UnansweredView {
  #closed = false;
  #error = el("p", { class: "alarm", role: "alert", hidden: true });
  #questions = el("div", {});

  constructor() {
    this.element = el(
      "section",
      { class: "pane wide", "aria-label": "Unanswered questions" },
      el(
        "div",
        { class: "load" },
        el("h2", { class: "title", tabindex: "-1" }, "Unanswered questions"),
        this.#error,
        this.#questions,
      ),
    );
  }

  async show() {
    try {
      const { data } = await get("unanswered");
      if (this.#closed) return;
      this.#error.hidden = true;
      fill(
        this.#questions,
        data.length
          ? el("ul", { class: "unanswered" }, ...data.map(row))
          : el("p", { class: "soft" }, EMPTY),
      );
    } catch (reason) {
      this.#error.textContent = reason.message;
      this.#error.hidden = false;
    }
  }

  close() {
    this.#closed = true;
  }
}

function row({ question, others, times, last_at: at, thread, agent }) {
  return el(
    "li",
    {},
    el("a", { class: "card-link", href: link("threads", thread), dir: "auto" }, plain(question)),
    " ",
    agentLabel(agent),
    el("p", { class: "soft small" }, counted(times, "time", "times"), ", last ", time(at)),
    others.length > 0 &&
      el("ul", { class: "soft small" }, ...others.map((one) => el("li", { dir: "auto" }, plain(one)))),
  );
}

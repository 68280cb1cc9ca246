// Questions that wait for a page: each group with a starter file, and a mark as answered.

import { announce } from "../base/announce.js";
import { post } from "../base/api.js";
import { button, el, fill } from "../base/dom.js";
import { link } from "../base/route.js";
import { time } from "../base/when.js";
import { agentLabel, counted, plain } from "../base/words.js";
import { downloadPage } from "./starter.js";

const EMPTY = "No question waits for a page.";
const UNKNOWN = "Choose a page of the site.";

/** The list of groups. */
export class QuestionList {
  #list = el("div", {});
  #pages = el("datalist", { id: "insight-pages" });
  #reload;

  /** @param {() => Promise<void>} reload reads all again, after something was marked. */
  constructor(reload) {
    this.#reload = reload;
    this.element = el(
      "section",
      { class: "open-questions", "aria-labelledby": "open-questions" },
      el("h3", { id: "open-questions", tabindex: "-1" }, "Questions that wait for a page"),
      this.#pages,
      this.#list,
    );
  }

  show({ data, pages }) {
    fill(this.#pages, ...pages.map(({ path, title }) => el("option", { value: path }, title)));
    if (this.#list.contains(document.activeElement)) this.#focusHeading();
    fill(
      this.#list,
      data.length
        ? el("ul", { class: "unanswered" }, ...data.map((group) => this.#row(group)))
        : el("p", { class: "soft" }, EMPTY),
    );
  }

  #focusHeading() {
    this.element.querySelector("h3").focus();
  }

  #row(group) {
    const { question, others, reasons, last_at: at, thread, agent } = group;
    const form = this.#form(group);
    const write = button("Write a page", "button quiet", () => downloadPage(group));
    const mark = button("Mark as answered by…", "button quiet", () => {
      form.hidden = !form.hidden;
      mark.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) form.querySelector("input").focus();
    });
    mark.setAttribute("aria-expanded", "false");
    return el(
      "li",
      {},
      el("a", { class: "card-link", href: link("threads", thread), dir: "auto" }, plain(question)),
      " ",
      agentLabel(agent),
      el("p", { class: "soft small" }, ...told(group), ", last ", time(at)),
      others.length > 0 &&
        el(
          "details",
          { class: "small" },
          el("summary", { class: "soft" }, counted(others.length, "other wording", "other wordings")),
          words("soft small", others),
        ),
      reasons.length > 0 && words("reasons small", reasons),
      el("div", { class: "buttons" }, write, mark),
      form,
    );
  }

  #form(group) {
    const box = el("input", {
      list: "insight-pages",
      "aria-label": "Page that answers it",
      placeholder: "/page",
      autocomplete: "off",
    });
    const error = el("p", { class: "alarm", role: "alert", hidden: true });
    const form = el(
      "form",
      { class: "answered-by", hidden: true },
      box,
      el("button", { type: "submit", class: "button" }, "Mark"),
      error,
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const page = box.value.trim();
      try {
        if (!page) throw new Error(UNKNOWN);
        await this.#mark(group, page);
      } catch (reason) {
        error.textContent = reason.message;
        error.hidden = false;
        box.focus();
      }
    });
    return form;
  }

  /** Mark a group, and offer to take that back. */
  async #mark({ question, others, agent }, page) {
    const asked = { questions: [question, ...others], agent };
    await post("insights/answered", { ...asked, page });
    await this.#reload();
    const undo = button("Undo", "button quiet", async () => {
      await post("insights/answered", { ...asked, page: null });
      await this.#reload();
      announce("It is open again.");
      this.#focusHeading();
    });
    this.#list.prepend(
      el("p", { class: "plea marked" }, `Answered by ${page}: `, el("q", {}, plain(question)), " ", undo),
    );
    announce("Marked as answered.");
    undo.focus();
  }
}

function told({ refused, down }) {
  const said = [];
  if (refused) said.push(`${refused} × refused`);
  if (down) said.push(`${down} × not helpful`);
  return [said.join(", ")];
}

function words(className, lines) {
  return el("ul", { class: className }, ...lines.map((one) => el("li", { dir: "auto" }, plain(one))));
}

// What was said, top to bottom: one article for each entry of the conversation.

import { blocks } from "../markdown/blocks.js";
import { addFeedback } from "./feedback.js";
import { text } from "../texts.js";
import { Deck } from "./deck.js";
import { button, el, link } from "../dom.js";
import { citation, closePreviews } from "./preview.js";

const NEAR_PX = 80;
const MARGIN_PX = 16;

export class Transcript {
  /** @param {Panel} panel */
  constructor(panel) {
    const { log, chat } = panel;
    this.panel = panel;
    this.log = log;
    this.articles = new Map();
    this.deck = new Deck((...answer) => chat.conversation.outbox.answer(...answer));
    this.typing = el("div", { class: "typing", hidden: true, "aria-hidden": "true" }, "●●●");
    log.append(this.typing);
    closePreviews(log);
  }

  clear() {
    this.articles.forEach((article) => article.remove());
    this.articles.clear();
    this.panel.attached.shown.clear();
    this.deck.clear();
  }

  remove(id) {
    this.articles.get(id)?.remove();
    this.articles.delete(id);
  }

  /** Show an entry: in its place, or after all others. */
  show(entry) {
    const old = this.articles.get(entry.id);
    if (old?.querySelector(".card")) return; // what is filled in stays
    const isNear = this.isNearEnd;
    const article = this.makeArticle(entry);
    if (old) old.replaceWith(article);
    else this.typing.before(article);
    this.articles.set(entry.id, article);
    if (!old && entry.party !== "note") this.dropChoices(article);
    if (entry.state === "writing") {
      if (isNear) this.scrollToEnd();
    } else if (isNear || (entry.party === "visitor" && !old)) this.scroll(article);
  }

  showTyping(isTyping) {
    this.typing.hidden = !isTyping || Boolean(this.log.querySelector(".writing"));
    if (isTyping && this.isNearEnd) this.typing.scrollIntoView({ block: "nearest" });
  }

  get isNearEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  /** Show an entry to its end, but first of all its beginning, and that of its question. */
  scroll(article) {
    const { log } = this;
    const before = article.previousElementSibling;
    const first = before?.matches(".visitor") ? before : article;
    const top = first.offsetTop - log.offsetTop - MARGIN_PX;
    const end = article.offsetTop + article.offsetHeight - log.offsetTop - log.clientHeight;
    log.scrollTop = Math.min(top, end + MARGIN_PX);
  }

  scrollToEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  makeArticle(entry) {
    const { party, name, state } = entry;
    if (party === "note") return el("p", { class: "note" }, entry.text);
    const unnamed = party === "visitor" ? text("you") : text("assistant");
    const heading = el("h3", { class: name ? "name" : "unseen" }, name || unnamed);
    const article = el("article", { class: `entry ${party} ${state}` }, heading);
    const said =
      party === "visitor"
        ? [el("p", { class: "plain" }, entry.text)]
        : blocks(entry.text, (number) => this.cite(entry, number));
    if (entry.text) article.append(el("div", { class: "words", dir: "auto" }, ...said));
    if (entry.files?.length) article.append(this.panel.attached.show(entry.files));
    article.append(...this.deck.lay(entry));
    if (entry.sources?.length) this.addSources(article, entry);
    if (party === "desk" && state === "said") addFeedback(article, this.panel.chat, entry.id);
    if (entry.followUps) article.append(this.makeChoices(entry.followUps));
    if (state === "failed") article.append(this.makeFailure(entry));
    return article;
  }

  /** The numbers of the sources end the answer, unless they stand within it; a list has the titles. */
  addSources(article, entry) {
    const words = article.querySelector(".words");
    if (!words.querySelector(".cite")) {
      const last = words.lastElementChild?.matches("p") ? words.lastElementChild : words;
      last.append(" ", ...entry.sources.map((_, at) => this.cite(entry, at + 1)));
    }
    const items = entry.sources.map(({ title, url }, at) => {
      const number = el("span", { class: "number", "aria-hidden": "true" }, at + 1);
      return el("li", {}, number, el("span", { dir: "auto" }, link(url, title)));
    });
    const list = el("ol", { class: "sources", "aria-label": text("sources") }, ...items);
    article.append(list);
  }

  cite({ sources = [] }, number) {
    const source = sources[number - 1];
    return source ? citation(source, number) : null;
  }

  /** Show the rating of a message: nobody but the visitor rates in a conversation. */
  rate({ id, up, down }) {
    this.articles.get(id)?.rate?.(up ? "up" : down ? "down" : null);
  }

  makeChoices(questions) {
    const buttons = questions.map((question) => {
      const ask = () => this.panel.ask(question);
      return el("li", {}, button(question, ask, { class: "chip" }));
    });
    return el("ul", { class: "choices", "aria-label": text("followUps") }, ...buttons);
  }

  /** Offer the questions of the newest answer only. */
  dropChoices(newest) {
    for (const offered of this.log.querySelectorAll(".choices")) {
      if (!newest.contains(offered)) offered.remove();
    }
  }

  makeFailure(entry) {
    const { text: why, again } = entry.failure;
    const retry = () => this.panel.chat.conversation.outbox.retry(entry);
    const offer = again && button(text("tryAgain"), retry, { class: "again" });
    return el("p", { class: "failure" }, why, " ", offer);
  }
}

// The operator's text box: a reply where they have the conversation, a note always.

import { path, post } from "../base/api.js";
import { Attempt } from "../base/attempt.js";
import { askVisitor, canAsk } from "../tickets/asking.js";
import { button, el, fill } from "../base/dom.js";
import { draft, drafting, keepDraft } from "../base/drafts.js";
import { sendOnEnter } from "../base/enter.js";
import { tellTyping } from "../base/presence.js";

const ANSWER = { label: "Your answer", send: "Send", verb: "say" };
const NOTE = { label: "Your note", send: "Keep note", verb: "notes" };

/** The box below a conversation. */
export class Composer {
  #session;
  #id;
  #done;
  #mode = ANSWER;
  #thread = null;
  #box = null;
  #busy = false;
  #attempt = new Attempt();
  #modes = el("div", { class: "modes", role: "group", "aria-label": "Kind of message" });
  #take = button("Take over", "button", () => this.take(), {
    "data-key": "t",
    "aria-keyshortcuts": "t",
  });
  #body = el("div", {});
  #error = el("p", { class: "alarm", role: "alert", hidden: true });

  /**
   * @param {object} session
   * @param {string} id of the thread.
   * @param {(verb: string, outcome: object) => void} done receives the desk's new state.
   */
  constructor(session, id, done) {
    this.#session = session;
    this.#id = id;
    this.#done = done;
    const head = el("div", { class: "composer-head" }, this.#modes, this.#take);
    this.element = el("div", { class: "composer" }, head, this.#body, this.#error);
    const keys = [
      [ANSWER, "Answer", "r"],
      [NOTE, "Internal note", "n"],
    ];
    for (const [mode, words, key] of keys) {
      const attributes = { "data-key": key, "aria-keyshortcuts": key, "aria-pressed": "false" };
      this.#modes.append(button(words, "mode", () => this.#choose(mode), attributes));
    }
    if (!draft(this.#key(ANSWER)) && draft(this.#key(NOTE))) this.#mode = NOTE;
  }

  /** Show the modes that the thread's state allows. */
  show(thread) {
    const same = this.#thread && this.#thread.operator === thread.operator;
    this.#thread = thread;
    this.#take.hidden = Boolean(thread.operator);
    const noting = this.#mode === NOTE && this.#box; // allowed for any owner of the thread
    if (!same && !noting) this.#render();
  }

  #key(mode) {
    return `${this.#session.operator}.${mode.verb}.${this.#id}`;
  }

  #choose(mode) {
    this.#mode = mode;
    this.#error.hidden = true;
    this.#render();
    this.#box?.focus();
  }

  #render() {
    const typing = this.#box && this.#box === document.activeElement;
    const isNote = this.#mode === NOTE;
    this.element.classList.toggle("noting", isNote);
    [...this.#modes.children].forEach((each, at) =>
      each.setAttribute("aria-pressed", String((at === 1) === isNote)),
    );
    if (!isNote && this.#thread.operator !== this.#session.operator) return this.#notMine();
    this.#box = el("textarea", {
      rows: "2",
      dir: "auto",
      "aria-label": this.#mode.label,
      placeholder: isNote ? "Visitors never see this." : `Answer as ${this.#session.operator}`,
    });
    drafting(this.#box, this.#key(this.#mode));
    this.#box.addEventListener("input", () => this.#attempt.over());
    if (!isNote) tellTyping(this.#box, this.#id);
    sendOnEnter(this.#box, () => this.#send());
    fill(
      this.#body,
      el(
        "div",
        { class: "field" },
        this.#box,
        button(this.#mode.send, "button", () => this.#send()),
      ),
      !isNote && canAsk(this.#session) && this.#asking(),
      el("p", { class: "hint" }, "Enter sends, Shift+Enter starts a new line."),
    );
    if (typing) this.#box.focus();
  }

  #asking() {
    const send = async (what, attempt) => {
      const at = path("threads", this.#id, "messages");
      this.#done("messages", await post(at, what, attempt.keyOf(what)));
    };
    const keys = { "data-key": "a", "aria-keyshortcuts": "a" };
    return button("Ask…", "button quiet asks", () => askVisitor(this.#session, send), keys);
  }

  #notMine() {
    this.#box = null;
    const { operator } = this.#thread;
    const words = operator
      ? `${operator} answers this conversation. It must be handed back before you can take over.`
      : "The agent answers this conversation. Take over to answer yourself.";
    const kept = draft(this.#key(ANSWER)) && " Your draft is kept.";
    fill(this.#body, el("p", { class: "not-mine" }, words, kept));
  }

  /** Take the conversation over, and focus the text box, unless a note was begun meanwhile. */
  async take() {
    const before = this.#mode;
    if (!(await this.#ask("take", {}))) return;
    if (this.#mode !== before || this.#box?.matches(":focus")) return;
    this.#mode = ANSWER;
    this.#render();
    this.#box?.focus();
  }

  async #send() {
    const words = this.#box.value.trim();
    if (!words) return;
    const mode = this.#mode;
    this.#box.readOnly = true;
    const done = await this.#ask(mode.verb, { words });
    if (done) keepDraft(this.#key(mode), "");
    this.#box.readOnly = false;
    if (done && this.#mode === mode) this.#box.value = "";
  }

  /** @returns {Promise<boolean>} whether the desk accepted it; its refusal is shown. */
  async #ask(verb, body) {
    if (this.#busy) return false;
    this.#busy = true;
    this.element.setAttribute("aria-busy", "true");
    this.#error.hidden = true;
    try {
      const key = verb === ANSWER.verb ? this.#attempt.keyOf(body) : "";
      this.#done(verb, await post(path("threads", this.#id, verb), body, key));
      this.#attempt.over();
      return true;
    } catch (reason) {
      const unsure =
        verb === NOTE.verb
          ? "Check whether it arrived before you send it again."
          : "Try again: a message that arrived is not sent twice.";
      this.#error.textContent = `${reason.message} ${reason.status ? "Nothing was sent." : unsure}`;
      this.#error.hidden = false;
      return false;
    } finally {
      this.#busy = false;
      this.element.removeAttribute("aria-busy");
    }
  }
}

// The window of the chat: heading, what was said, text box. In a corner it is a dialog that the
// launcher opens; on a phone it fills the screen and the page behind it rests. Inline it is a region.

import { makeMenu } from "./menu.js";
import { AddressForm } from "./address.js";
import { Composer } from "./composer.js";
import { Transcript } from "./transcript.js";
import { counted, text } from "../texts.js";
import { el, safeAddress, tool } from "../dom.js";
import { Attachments } from "./attachments.js";

const PHONE = "(max-width:30rem),(max-height:26rem)";
/** What Markdown adds to words: not to be read out. */
const SIGNS = /!?\[([^\]]+)\]\(\S+\)|[*`|#]+/g;
/** How long a connection may be lost before the panel says so. */
const LOST_MS = 1200;

/** Whether this page has a path, or with a `*` at its end one that begins so. */
function isAt(path) {
  const { pathname } = location;
  return path.endsWith("*") ? pathname.startsWith(path.slice(0, -1)) : pathname === path;
}

export class Panel {
  /**
   * @param {HTMLElement} host the <aitp-chat> element.
   * @param {object} settings of the owner.
   * @param {HTMLButtonElement} button the launcher.
   * @param {Chat} chat
   */
  constructor(host, settings, button, chat) {
    this.host = host;
    this.settings = settings;
    this.button = button;
    this.chat = chat;
    this.isInline = host.hasAttribute("inline");
    this.status = el("p", { class: "state" });
    this.banner = el("p", { class: "banner", role: "status", hidden: true });
    this.live = el("div", { class: "unseen", role: "status" });
    const named = { class: "log", role: "log", "aria-label": text("log") };
    this.log = el("div", { ...named, "aria-live": "off", tabindex: "0" });
    this.menu = makeMenu({
      onbegin: () => this.begin(),
      onerase: () => this.erase(),
      onperson: settings.people ? () => this.ask(text("person")) : null,
    });
    this.address = new AddressForm(this);
    this.attached = new Attachments(settings.files, chat.client);
    this.transcript = new Transcript(this);
    this.composer = new Composer(this);
    this.element = this.build();
    this.attached.listen(this.element);
    host.shadowRoot.append(this.element);
    document.addEventListener("visibilitychange", () => this.markSeen());
    window.visualViewport?.addEventListener("resize", () => this.fit());
  }

  /** On a phone leave room for the keyboard, which covers the lower part of the page. */
  fit() {
    const isFull = this.element.matches(":modal");
    this.element.style.height = isFull ? `${window.visualViewport.height}px` : "";
  }

  build() {
    const onkeydown = (event) => {
      if (event.key === "Escape" && !(event.isComposing || event.defaultPrevented)) this.close();
    };
    const oncancel = (event) => {
      event.preventDefault();
      this.close();
    };
    const { attached } = this;
    const named = { class: "panel", lang: this.host.language, "aria-labelledby": "title" };
    return el(
      this.isInline ? "section" : "dialog",
      { ...named, onkeydown, oncancel },
      this.makeHeader(),
      this.banner,
      this.log,
      this.menu.question,
      this.address.element,
      el("footer", {}, attached.list, this.composer.element, attached.note, this.makeSmallPrint()),
      this.live,
    );
  }

  makeHeader() {
    const { title, logo, logo_alt: alt } = this.settings;
    const titles = el("div", { class: "titles" }, el("h2", { id: "title" }, title), this.status);
    const picture = logo && el("img", { src: safeAddress(logo), alt });
    return el("header", {}, picture, titles, this.menu.element, !this.isInline && this.makeClose());
  }

  makeClose() {
    return tool("collapse", text("close"), { onclick: () => this.close() });
  }

  makeSmallPrint() {
    const { consent, privacy, kept_days: days, sign_in: sign } = this.settings;
    const kept = days > 0 && counted("kept", days);
    const more = privacy && el("a", { href: privacy, target: "_blank", rel: "noopener" }, text("privacy"));
    this.signIn = sign && el("a", { href: sign, target: "_top" }, text("signIn"));
    const parts = [consent, kept, this.signIn, more].filter(Boolean);
    return parts.length > 0 && el("p", { class: "small" }, ...parts.flatMap((one) => [one, " "]));
  }

  get isOpen() {
    return this.isInline || this.element.open;
  }

  /** Open the dialog; return whether it was closed. */
  open() {
    if (this.isOpen) return false;
    if (matchMedia(PHONE).matches) this.element.showModal();
    else this.element.show();
    this.fit();
    this.button.ariaExpanded = "true";
    this.transcript.scrollToEnd();
    this.composer.focus();
    this.markSeen();
    return true;
  }

  /** Close the dialog; the focus returns to the launcher. */
  close() {
    if (this.isInline || !this.element.open) return;
    this.element.close();
    this.button.ariaExpanded = "false";
    this.button.focus();
    this.chat.tell("close");
  }

  ask(...asked) {
    this.composer.focus();
    return this.chat.conversation.ask(...asked);
  }

  begin() {
    this.chat.begin();
    this.composer.focus();
  }

  async erase() {
    const files = [...this.attached.shown.keys()];
    const failure = await this.chat.conversation.erase();
    if (!failure) {
      files.forEach((id) => this.attached.delete(id));
      this.say(text("deleted"));
      this.composer.focus();
    }
    return failure;
  }

  /** Say something to screen readers, once. */
  say(words) {
    this.live.replaceChildren(el("p", {}, words));
  }

  /** Ask for an email address, or with null no longer. */
  askAddress(opens, onsettle) {
    if (onsettle) this.address.ask(opens, onsettle);
    else this.address.close();
  }

  /** Note something in the conversation, and read it out. */
  tell(words) {
    this.show({ id: words, party: "note", text: words, state: "said" }, true);
  }

  /** Greet the visitor of an empty conversation, and offer questions. */
  showWelcome() {
    const { greeting, site } = this.settings;
    const suggestions = this.listSuggestions();
    this.welcome = el("div", { class: "welcome" }, el("p", {}, greeting || text("greeting", { site })));
    if (suggestions.length) this.welcome.append(this.transcript.makeChoices(suggestions));
    this.log.prepend(this.welcome);
  }

  /** The questions of this page (`data-suggestions="One?|Two?"`, or by its path), or of all. */
  listSuggestions() {
    const own = this.host.dataset.suggestions?.split("|").map((one) => one.trim()).filter(Boolean);
    if (own?.length) return own;
    const { paths, suggestions } = this.settings;
    return paths.find(({ path }) => isAt(path))?.suggestions ?? suggestions;
  }

  /** Leave nothing of a person who signs out. */
  forget() {
    this.composer.clear();
    this.live.replaceChildren();
  }

  /** Change the transcript; where what has the focus goes, the log has it. */
  change(act) {
    const isWithin = this.log.matches(":focus-within");
    act(this.transcript);
    if (isWithin && !this.log.matches(":focus-within")) this.log.focus({ preventScroll: true });
  }

  clear() {
    this.change((transcript) => {
      transcript.clear();
      this.welcome?.remove();
      this.showWelcome();
    });
  }

  /** Show an entry; a new one of the desk or a person is also read out, once and whole. */
  show(entry, isNew) {
    this.change((transcript) => transcript.show(entry));
    const { party, name = "", spoken, text: words } = entry;
    if (isNew && party !== "visitor") this.say(`${name} ${spoken || words}`.replace(SIGNS, "$1"));
    if (entry.state === "failed") this.say(entry.failure.text);
    this.showTyping();
    this.markSeen();
  }

  rate(ratings) {
    this.transcript.rate(ratings);
  }

  remove(id) {
    this.change((transcript) => transcript.remove(id));
    this.showTyping();
  }

  markSeen() {
    if (this.isOpen && !document.hidden) this.chat.conversation.markSeen();
  }

  countUnseen(count) {
    this.host.showUnread(this.isOpen ? 0 : count, counted("unread", count));
  }

  update({ isLinked, isAnswering, person, isBegun, isKnown }) {
    this.isAnswering = isAnswering;
    this.attached.allow(isKnown);
    if (this.signIn) this.signIn.hidden = isKnown;
    this.status.textContent = person ? text("answers", { name: person }) : text("assistant");
    this.menu.button.hidden = !isBegun;
    this.transcript.deck.hold(person);
    this.showConnection(isLinked);
    this.showTyping();
  }

  /** Say that the connection is lost, once it is for a moment: many come back at once. */
  showConnection(isLinked) {
    const show = () => {
      const { isNearEnd } = this.transcript;
      const lost = navigator.onLine ? text("reconnecting") : text("offline");
      this.banner.textContent = isLinked ? "" : lost;
      this.banner.hidden = isLinked;
      if (isNearEnd) this.transcript.scrollToEnd();
    };
    if (isLinked) this.losing = clearTimeout(this.losing);
    if (!this.banner.hidden) show();
    else if (!isLinked) this.losing ??= setTimeout(show, LOST_MS);
  }

  showTyping() {
    this.transcript.showTyping(this.isAnswering);
  }
}

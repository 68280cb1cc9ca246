// The chat, loaded: brings together the conversation, its view and the page that includes it.

import { MODEL_CONTEXT, offerTools } from "./agents.js";
import { Conversation } from "./conversation/conversation.js";
import { Client } from "./conversation/client.js";
import { Memory } from "./conversation/memory.js";
import { loadTexts } from "./texts.js";
import { Notice } from "./view/notice.js";
import { Panel } from "./view/panel.js";

/** Fetch a file of the component, which no page's policy for styles covers. */
async function fetchFile(url) {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

async function loadStyle(url) {
  const sheet = new CSSStyleSheet();
  return sheet.replace(await (await fetchFile(url)).text());
}

/**
 * Make the chat of an element.
 *
 * @param {HTMLElement} host the <aitp-chat> element.
 * @param {{base: URL, kept: string, version: string, button: HTMLButtonElement,
 *   held: Record<string, unknown>}} desk the desk's address, the name under which the browser stores
 *   the conversation, the version of the files, the launcher, and what the page has said before.
 */
export async function makeChat(host, { base, kept, version, button, held }) {
  const at = (name) => new URL(`widget/${version}/${name}`, base);
  const [settings, style] = await Promise.all([
    fetchFile(new URL("widget/settings.json", base)).then((response) => response.json()),
    loadStyle(at("chat.css")),
    loadTexts(at(`texts/${host.language}.json`), host.language),
  ]);
  host.shadowRoot.adoptedStyleSheets.push(style);
  const chat = new Chat(host, settings, { base, kept, button });
  for (const [name, value] of Object.entries(held)) chat[name](value);
  return chat;
}

class Chat {
  constructor(host, settings, { base, kept, button }) {
    const client = new Client(base, settings.desk);
    this.host = host;
    this.notice = new Notice(settings.sound);
    this.panel = new Panel(host, settings, button, {
      client,
      onask: (text, files) => this.conversation.ask(text, files),
      onreply: (card, answer) => this.conversation.outbox.answer(card, answer),
      onretry: (entry) => this.conversation.retry(entry),
      onrate: (...said) => client.rate(this.conversation.thread, ...said),
      onbegin: () => this.begin(),
      onerase: () => this.conversation.erase(),
      onseen: () => this.conversation.markSeen(),
      onclosed: () => this.tell("close"),
    });
    this.conversation = new Conversation(
      client,
      new Memory(kept),
      settings.desk,
      this.panel,
      (name, detail) => this.tell(name, detail),
      settings.answer_minutes,
    );
    this.offer = () => {
      this.offered?.abort();
      this.offered = new AbortController();
      if (MODEL_CONTEXT) offerTools(host, client, settings.site, this.offered.signal);
    };
    this.offer();
    this.conversation.restore();
    this.tell("ready");
  }

  /** Tell the page, as an event of the element. */
  tell(name, detail = null) {
    if (name === "answer") this.notice.give();
    this.host.dispatchEvent(new CustomEvent(name, { detail }));
  }

  open() {
    if (this.panel.open()) this.tell("open");
  }

  close() {
    this.panel.close();
  }

  ask(text) {
    return this.conversation.ask(text);
  }

  setContext(context) {
    this.conversation.setContext(context);
  }

  begin() {
    this.conversation.leave();
  }

  identify(token) {
    const done = this.conversation.visitor.identify(token);
    done.then(this.offer);
    return done;
  }
}

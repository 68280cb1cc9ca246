// The chat, loaded: brings together the conversation, its view and the page that includes it.
// `STYLE`, its style sheet, is set by the server in front of the modules. Imports are in the order in
// which the bundle of all modules compresses best.

import { Panel } from "./view/panel.js";
import { Client } from "./conversation/client.js";
import { Conversation } from "./conversation/conversation.js";
import { setIcons } from "./dom.js";
import { MODEL_CONTEXT, offerTools } from "./agents.js";
import { setTexts } from "./texts.js";
import { Memory } from "./conversation/memory.js";
import { Notice } from "./view/notice.js";

/**
 * Make the chat of an element.
 *
 * @param {HTMLElement} host the <aitp-chat> element.
 * @param {string} kept the name under which the browser stores the conversation.
 * @param {HTMLButtonElement} button the launcher.
 * @param {Record<string, unknown>} held what the page has said before.
 * @param {(drawing: string) => SVGElement} makeIcon draws the launcher's icon.
 */
export async function makeChat(host, kept, button, held, makeIcon) {
  const { language } = host;
  const read = async (name) => {
    const response = await fetch(new URL(name, import.meta.url));
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return response.text();
  };
  const [said, texts] = await Promise.all([
    read(`../settings.json?lang=${language}`),
    read(`texts/${language}.txt`),
  ]);
  const settings = JSON.parse(said);
  setTexts(texts.split("\n"), language);
  setIcons(makeIcon);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  host.shadowRoot.adoptedStyleSheets.push(sheet);
  const chat = new Chat(host, settings, kept, button);
  for (const [name, value] of Object.entries(held)) chat[name](value);
  return chat;
}

class Chat {
  constructor(host, settings, kept, button) {
    const client = new Client(settings.capabilities, host.lang);
    this.host = host;
    this.client = client;
    this.notice = new Notice(settings.sound);
    this.panel = new Panel(host, settings, button, this);
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
      if (MODEL_CONTEXT) offerTools(host, this.conversation, settings.site, this.offered.signal);
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

  ask(text, action) {
    return this.panel.ask(text, [], action);
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

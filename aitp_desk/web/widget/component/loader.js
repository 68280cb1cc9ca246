// Defines <aitp-chat>: a button in a corner of the page that opens the chat, or with `inline` the
// chat itself. All other modules are imported when the chat is first opened, or at once where the
// visitor has a conversation from before. `DESK` is set by the server in front of this module.

const BASE = new URL("./", import.meta.url);
const KEPT = `aitp-chat ${BASE.href}`;
const BUBBLE =
  "M9 18l-5 3 1-5a9 7.7 0 1 1 4 2z";

const PAUSE_MS = 5000;

/** Return the language of the chat: of `lang`, of the visitor, or of the site. */
function chooseLanguage(lang) {
  const [wanted, offered] = lang ? [[lang], DESK.languages] : [navigator.languages, DESK.greeted];
  const known = wanted.map((tag) => tag.toLowerCase().split("-")[0]);
  return known.find((tag) => offered.includes(tag)) ?? DESK.language;
}

function makeIcon(drawing) {
  const [svg, path] = ["svg", "path"].map((name) =>
    document.createElementNS("http://www.w3.org/2000/svg", name),
  );
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.ariaHidden = "true";
  path.setAttribute("d", drawing);
  svg.append(path);
  return svg;
}

function hasConversation() {
  try {
    return localStorage.getItem(KEPT) !== null;
  } catch {
    return false;
  }
}

class AitpChat extends HTMLElement {
  #chat = null;
  #held = {};
  #badge = document.createElement("span");
  #button = document.createElement("button");
  /** The button's label, and what it says where the chat cannot be loaded. */
  #texts = DESK.texts[DESK.language];
  #said = "";

  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(DESK.style);
    root.adoptedStyleSheets = [sheet];
    this.language = chooseLanguage(this.lang);
    if (!this.hasAttribute("corner")) this.setAttribute("corner", DESK.corner);
    if (this.hasAttribute("inline")) {
      this.#begin();
      return;
    }
    this.#badge.className = "badge";
    this.#badge.ariaHidden = "true";
    this.#button.className = "launcher";
    this.#button.type = "button";
    this.#button.ariaHasPopup = "dialog";
    this.#button.append(makeIcon(BUBBLE), this.#badge);
    this.#button.ariaExpanded = "false";
    this.#button.onclick = () => this.#toggle().catch(() => {});
    this.#speak().catch(() => {});
    root.append(this.#button);
    const agents = document.modelContext ?? navigator.modelContext;
    if (hasConversation() || agents) this.#load().catch(() => {});
  }

  /** Open the chat. */
  async open() {
    (await this.#load()).open();
  }

  /** Close the chat; an inline one stays. */
  close() {
    this.#chat?.then((chat) => chat.close());
  }

  /** Open the chat and ask a question, or for an action of the site by its name. */
  async ask(text, action) {
    await this.open();
    return (await this.#chat).ask(text, action);
  }

  /** Leave the conversation and begin another. */
  async newConversation() {
    return (await this.#load()).begin();
  }

  /** Go on as the person that a token of the site's server names; with null as nobody. */
  identify(token) {
    return this.#hold("identify", token);
  }

  /** Say where the visitor is, such as `{ product: "Stove" }`: data that goes with each question. */
  setContext(context) {
    return this.#hold("setContext", context);
  }

  /** Show on the button how many messages wait, or what is wrong, and say so; the chat calls this. */
  showUnread(count, said) {
    this.#badge.textContent = count > 9 ? "9+" : count || "";
    this.#said = count ? `. ${said}` : "";
    this.#label();
  }

  #label() {
    this.#button.ariaLabel = this.#texts[0] + this.#said;
  }

  /** Label the button in the site's language until that of the visitor is there. */
  async #speak() {
    this.#label();
    const known = DESK.texts[this.language];
    const read = async (path) => (await (await fetch(this.#at(path))).text()).split("\n");
    this.#texts = known ?? (await read(`texts/${this.language}.txt`));
    this.#label();
  }

  #at(name) {
    return new URL(`widget/${DESK.version}/${name}`, BASE);
  }

  async #toggle() {
    if (this.#button.ariaExpanded === "true") this.close();
    else await this.open();
  }

  /** Call a method of the chat; one that is not loaded calls it later. */
  #hold(name, value) {
    if (this.#chat) return this.#chat.then((chat) => chat[name](value));
    this.#held[name] = value;
  }

  /** Show the chat within the page, as soon as it can be loaded. */
  #begin() {
    this.#load().catch(() => setTimeout(() => this.#begin(), PAUSE_MS));
  }

  #load() {
    if (this.#chat) return this.#chat;
    this.#button.ariaBusy = "true";
    this.#chat = import(this.#at("chat.js"))
      .then(({ makeChat }) =>
        makeChat(this, KEPT, this.#button, this.#held, makeIcon),
      )
      .catch((reason) => {
        this.#chat = null;
        this.showUnread("!", this.#texts[1]);
        throw reason;
      })
      .finally(() => {
        this.#button.ariaBusy = null;
      });
    return this.#chat;
  }
}

customElements.define("aitp-chat", AitpChat);

// Search as you type over the titles and headings of the pages: a combobox with a list below it.

import { el, newId, safeAddress } from "./dom.js";
import { counted, text } from "./texts.js";

const PAUSE_MILLISECONDS = 160;
const SHORTEST = 2;
const WITHOUT_SPACES = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/u;
const MOST_KEPT = 50;

class PageSearch {
  constructor(form) {
    this.form = form;
    this.box = form.querySelector("input");
    this.language = document.documentElement.lang;
    this.kept = new Map();
    this.hits = [];
    this.active = -1;
    this.timer = null;
    this.request = null;
    this.list = el("ul", {
      id: newId(),
      role: "listbox",
      "aria-label": text("searchResults"),
      hidden: true,
    });
    this.status = el("p", { class: "unseen", role: "status" });
    form.append(this.list, this.status);
    for (const [name, value] of Object.entries({
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-controls": this.list.id,
      "aria-expanded": "false",
    })) {
      this.box.setAttribute(name, value);
    }
    this.listen();
  }

  listen() {
    this.box.addEventListener("input", () => this.type());
    this.box.addEventListener("focus", () => this.box.value && this.type());
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.form.addEventListener("submit", (event) => {
      if (!this.box.value.trim()) event.preventDefault();
    });
    this.form.addEventListener("focusout", (event) => {
      if (!this.form.contains(event.relatedTarget)) this.close();
    });
    // the box keeps the focus, so that the list stays open until a click has ended
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.follow([...this.list.children].indexOf(option), event);
    });
  }

  press(event) {
    if (event.isComposing || event.keyCode === 229) return;
    const isOpen = !this.list.hidden;
    if (event.key === "Escape" && isOpen) this.close();
    else if (event.key === "Enter" && isOpen && this.active >= 0) this.follow(this.active, event);
    else if (event.key === "ArrowDown" && isOpen) this.mark(this.active + 1);
    else if (event.key === "ArrowUp" && isOpen) this.mark(this.active - 1);
    else if (event.key === "ArrowDown") this.search();
    else return;
    event.preventDefault();
  }

  type() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), PAUSE_MILLISECONDS);
  }

  async search() {
    clearTimeout(this.timer);
    this.request?.abort();
    const query = this.box.value.trim();
    const shortest = WITHOUT_SPACES.test(query) ? 1 : SHORTEST;
    if (query.length < shortest) {
      this.close();
      return;
    }
    const hits = this.kept.get(query) ?? (await this.fetch(query));
    if (hits && query === this.box.value.trim() && document.activeElement === this.box) {
      this.show(hits);
    }
  }

  /** Return what is found; null where the desk does not answer, or another request began. */
  async fetch(query) {
    this.request = new AbortController();
    const { signal } = this.request;
    const address = `/search?${new URLSearchParams({ q: query, lang: this.language })}`;
    try {
      const reply = await fetch(address, { headers: { Accept: "application/json" }, signal });
      if (!reply.ok) return null;
      const { data } = await reply.json();
      if (this.kept.size >= MOST_KEPT) this.kept.clear();
      this.kept.set(query, data);
      return data;
    } catch {
      return null;
    }
  }

  /** Show what is found; an option that stays keeps its mark. */
  show(hits) {
    const marked = this.hits[this.active]?.url;
    this.hits = hits.filter((hit) => safeAddress(hit.url));
    this.list.replaceChildren(
      ...this.hits.map((hit) =>
        el(
          "li",
          { id: newId(), role: "option", "aria-selected": "false" },
          hit.heading || hit.title,
          hit.heading && " ",
          hit.heading && el("span", {}, hit.title),
        ),
      ),
    );
    this.mark(this.hits.findIndex((hit) => hit.url === marked));
    const { length } = this.hits;
    this.status.textContent = length ? counted("searchFound", length) : text("searchNone");
    this.open(length > 0);
  }

  /** Mark an option; before the first and after the last none is marked. */
  mark(place) {
    const { length } = this.hits;
    this.active = place < -1 ? length - 1 : place >= length ? -1 : place;
    [...this.list.children].forEach((option, at) => {
      option.setAttribute("aria-selected", String(at === this.active));
    });
    const option = this.list.children[this.active];
    if (option) this.box.setAttribute("aria-activedescendant", option.id);
    else this.box.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  follow(place, event) {
    const address = safeAddress(this.hits[place].url);
    if (event.ctrlKey || event.metaKey) {
      window.open(address, "_blank", "noopener");
      return;
    }
    this.close();
    location.assign(address);
  }

  close() {
    clearTimeout(this.timer);
    this.request?.abort();
    this.mark(-1);
    this.status.textContent = "";
    this.open(false);
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    this.box.setAttribute("aria-expanded", String(isOpen));
  }
}

export function startSearch() {
  for (const form of document.querySelectorAll("[data-search]")) new PageSearch(form);
}

// A list with live updates: rows keep their place in the document, so that the focus stays.

import { announce } from "../base/announce.js";
import { arrange, button, el, fill } from "../base/dom.js";
import { Filters } from "./filters.js";
import { link } from "../base/route.js";
import { counted } from "../base/words.js";

const PAGE = 50;
const ROUNDS = 8;

/**
 * @typedef {object} Plan the definition of a list.
 * @property {string} view as in the address.
 * @property {string} title
 * @property {[string, string]} nouns singular and plural.
 * @property {string} search what the search covers.
 * @property {import("./filters.js").Filter[]} filters
 * @property {[string, string]} empty heading and text of an empty list.
 * @property {(params: URLSearchParams, after: string | null, limit: number, signal: AbortSignal)
 *   => Promise<{data: object[], next: string | null}>} page
 * @property {(item: object) => (Node | null)[]} row
 */

/** One list. */
export class Listing {
  #plan;
  #filters;
  #list = el("ul", { class: "rows" });
  #state = el("div", { class: "state", hidden: true });
  #more = button("Show more", "button quiet", () => this.#loadMore());
  #rows = new Map();
  #params = new URLSearchParams();
  #asked = null;
  #id = null;
  #wanted = PAGE;
  #stop = null;

  /** @param {Plan} plan */
  constructor(plan) {
    this.#plan = plan;
    this.#filters = new Filters(plan.view, plan.search, plan.filters);
    this.element = el(
      "section",
      { class: "pane list", "aria-label": plan.title },
      el(
        "div",
        { class: "list-head" },
        el("h2", { class: "title", tabindex: "-1" }, plan.title),
        this.#filters.element,
      ),
      el("div", { class: "scroll" }, this.#list, this.#state, this.#more),
    );
    this.#more.hidden = true;
  }

  /** Show the items that match these filters, with this one selected; refetch on request. */
  show(params, id, again) {
    this.#params = params;
    this.#id = id;
    this.#filters.show(params);
    for (const [key, row] of this.#rows) this.#point(row.link, key);
    const asked = params.toString();
    if (asked === this.#asked) return again && this.refresh();
    const filtered = this.#asked !== null;
    this.#asked = asked;
    return this.#load(PAGE, filtered);
  }

  /** Refetch as many items as are shown. */
  refresh() {
    return this.#load(this.#wanted);
  }

  /** Move the focus by this many rows, from the focused row or the selected one. */
  step(by) {
    const links = [...this.#list.querySelectorAll("a.row")];
    let at = links.indexOf(document.activeElement.closest?.("a.row"));
    if (at < 0) at = links.findIndex((row) => row.hasAttribute("aria-current"));
    const next = at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by));
    links[next]?.focus();
  }

  /** Whether a row of this list has the focus. */
  get hasFocus() {
    return this.#list.contains(document.activeElement);
  }

  /** Load another page; its first row gets the focus, for the button may be gone. */
  async #loadMore() {
    const shown = this.#rows.size;
    await this.#load(this.#wanted + PAGE, true);
    if (this.#more.hidden || this.#rows.size > shown) [...this.#rows.values()][shown]?.link.focus();
    if (document.activeElement === document.body) this.#focusTitle();
  }

  #focusTitle() {
    this.element.querySelector(".title").focus({ preventScroll: true });
  }

  async #load(wanted, tell = false) {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.#wanted = wanted;
    const items = [];
    let next = null;
    try {
      let rounds = 0; // a page may be empty and yet have a next one, further back
      do {
        rounds += 1;
        const limit = Math.min(PAGE, wanted - items.length);
        const page = await this.#plan.page(this.#params, next, limit, stop.signal);
        items.push(...page.data);
        next = page.next;
      } while (next && items.length < wanted && rounds < ROUNDS);
    } catch (reason) {
      if (!stop.signal.aborted) this.#failed(reason);
      return;
    }
    if (stop.signal.aborted) return;
    this.#show(items, next);
    if (tell) announce(counted(items.length, ...this.#plan.nouns) + (next ? " and more" : ""));
  }

  #show(items, next) {
    const rows = new Map();
    for (const item of items) rows.set(item.id, this.#row(item));
    const before = [...this.#rows.values()];
    const focused = before.findIndex((row) => row.link === document.activeElement);
    const isWithin = this.element.contains(document.activeElement);
    this.#rows = rows;
    arrange(
      this.#list,
      [...rows.values()].map((row) => row.element),
    );
    // a row that is gone hands the focus to the one in its place
    const left = [...rows.values()];
    if (focused >= 0 && !left.includes(before[focused])) {
      (left[Math.min(focused, left.length - 1)]?.link ?? this.#more).focus({ preventScroll: true });
    }
    this.#more.hidden = !next;
    this.#more.textContent = items.length ? "Show more" : "Search further back";
    this.#state.hidden = items.length > 0;
    if (isWithin && !isShown(document.activeElement)) this.#focusTitle();
    if (items.length > 0) return;
    const [words, below] = this.#params.size ? ["No matches.", ""] : this.#plan.empty;
    fill(
      this.#state,
      el("p", { class: "empty" }, words),
      below && el("p", { class: "soft" }, below),
      this.#params.size > 0 && this.#filters.clear,
    );
  }

  #row(item) {
    const said = JSON.stringify(item);
    const row = this.#rows.get(item.id) ?? fresh();
    if (row.said !== said) fill(row.link, ...this.#plan.row(item));
    row.said = said;
    this.#point(row.link, item.id);
    return row;
  }

  #point(anchor, id) {
    anchor.setAttribute("href", link(this.#plan.view, id, this.#params));
    if (id === this.#id) anchor.setAttribute("aria-current", "true");
    else anchor.removeAttribute("aria-current");
  }

  #failed(reason) {
    if (reason.status === 0 && this.#rows.size) return; // the bar reports it; the rows stay
    this.#state.hidden = false;
    fill(
      this.#state,
      el("p", { class: "alarm", role: "alert" }, reason.message),
      button("Try again", "button quiet", () => this.refresh()),
    );
  }
}

function isShown(element) {
  return element !== document.body && element.checkVisibility();
}

function fresh() {
  const anchor = el("a", { class: "row" });
  return { element: el("li", {}, anchor), link: anchor, said: null };
}

// The search and the filters above a list; the address holds their values.

import { button, el } from "../base/dom.js";
import { here, link, replace } from "../base/route.js";

const PAUSE_MS = 250;

/**
 * @typedef {{name: string, label: string, options?: [string, string][]}} Filter a choice, or
 *   without options a checkbox.
 */

/** The search and filters of a view. */
export class Filters {
  #view;
  #inputs = new Map();
  #timer = 0;

  /**
   * @param {string} view
   * @param {string} search what the search covers.
   * @param {Filter[]} filters
   */
  constructor(view, search, filters) {
    this.#view = view;
    const box = el("input", {
      type: "search",
      maxlength: "200",
      placeholder: search,
      "aria-label": search,
      "data-key": "/",
      "aria-keyshortcuts": "/",
    });
    box.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#chosen(), PAUSE_MS);
    });
    this.#inputs.set("q", box);
    this.element = el(
      "form",
      { class: "filters", role: "search" },
      box,
      el("div", { class: "choices" }, ...filters.map((filter) => this.#filter(filter))),
    );
    this.element.addEventListener("change", (event) => event.target !== box && this.#chosen());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#chosen();
    });
    this.clear = button("Clear filters", "button quiet", () => this.#cleared());
  }

  #filter({ name, label, options }) {
    if (options) {
      const choices = options.map(([value, words]) => el("option", { value }, words));
      const select = el("select", { "aria-label": label }, ...choices);
      this.#inputs.set(name, select);
      return select;
    }
    const box = el("input", { type: "checkbox" });
    this.#inputs.set(name, box);
    return el("label", { class: "tick" }, box, label);
  }

  /** Show the values of the address, except in the field being edited. */
  show(params) {
    for (const [name, input] of this.#inputs) {
      const value = params.get(name) ?? "";
      if (input.type === "checkbox") input.checked = value === "true";
      else if (input !== document.activeElement || input.type !== "search") input.value = value;
    }
  }

  #chosen() {
    clearTimeout(this.#timer);
    const params = new URLSearchParams();
    for (const [name, input] of this.#inputs) {
      const value = input.type === "checkbox" ? input.checked && "true" : input.value.trim();
      if (value) params.set(name, value);
    }
    const { id } = here();
    replace(link(this.#view, id, params));
  }

  #cleared() {
    this.#inputs.get("q").value = "";
    replace(link(this.#view, here().id));
    this.#inputs.get("q").focus();
  }
}

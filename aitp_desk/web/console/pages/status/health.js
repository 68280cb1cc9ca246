// The desk's health: polled while the page is visible, shown in the bar where it is degraded, and
// by component in a view.

import { announce } from "../base/announce.js";
import { get } from "../base/api.js";
import { el, fill } from "../base/dom.js";
import { time } from "../base/when.js";
import { plain } from "../base/words.js";

const EVERY_MS = 30_000;
export const STATES = { up: "Up", degraded: "Degraded", down: "Down" };
const ON_THE_WHOLE = {
  up: "Everything works.",
  degraded: "The desk works, but with problems.",
  down: "The desk does not work.",
};

/** Emits `changed` after each poll; `lost` where it failed. */
export class Health extends EventTarget {
  told = null;
  error = null;
  #timer = 0;

  begin() {
    this.look();
    this.#timer = setInterval(() => document.hidden || this.look(), EVERY_MS);
    document.addEventListener("visibilitychange", this.#seen);
  }

  #seen = () => document.hidden || this.look();

  look = async () => {
    try {
      const before = this.told?.status;
      this.told = await get("health");
      this.error = null;
      const { status } = this.told;
      if (status !== (before ?? "up")) announce(ON_THE_WHOLE[status]);
    } catch (reason) {
      this.error = reason;
    }
    this.dispatchEvent(new Event("changed"));
  };

  close() {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#seen);
  }
}

/** The view of the components. */
export class HealthView {
  #health;
  #said = "";
  #error = el("p", { class: "alarm", role: "alert", hidden: true });
  #whole = el("p", { class: "whole" });
  #parts = el("div", { class: "components" });

  /** @param {{health: Health}} context */
  constructor({ health }) {
    this.#health = health;
    this.element = el(
      "section",
      { class: "pane wide", "aria-label": "Health" },
      el(
        "div",
        { class: "load" },
        el("h2", { class: "title", tabindex: "-1" }, "Health"),
        this.#error,
        this.#whole,
        this.#parts,
      ),
    );
    health.addEventListener("changed", this.#changed);
    this.#changed();
  }

  show() {
    return this.#health.look();
  }

  close() {
    this.#health.removeEventListener("changed", this.#changed);
  }

  #changed = () => {
    const { told, error } = this.#health;
    this.#error.hidden = !error;
    this.#error.textContent = error?.message ?? "";
    const said = JSON.stringify(told);
    if (!told || said === this.#said) return;
    this.#said = said;
    const own = told.data.filter((part) => !part.elsewhere);
    const others = told.data.filter((part) => part.elsewhere);
    this.#whole.textContent = ON_THE_WHOLE[told.status];
    this.#whole.dataset.state = told.status;
    fill(
      this.#parts,
      ...table("Components of the desk", own),
      ...(others.length ? table("Other desks that this one watches", others) : []),
    );
  };
}

// Explicit roles, because a phone shows each row as a block, which drops the table's own.
function table(words, parts) {
  const rows = parts.map(({ name, status, since, reason }) =>
    el(
      "tr",
      { role: "row", "data-state": status },
      el("th", { role: "rowheader", scope: "row", dir: "auto" }, plain(name)),
      el("td", { role: "cell" }, el("span", { class: "how-it-is" }, STATES[status] ?? status)),
      el("td", { role: "cell", class: "soft" }, time(since, "for")),
      el("td", { role: "cell", dir: "auto" }, plain(reason)),
    ),
  );
  const head = ["Part", "State", "For", "Details"];
  return [
    el("h3", {}, words),
    el(
      "div",
      { class: "table", tabindex: "0", role: "region", "aria-label": words },
      el(
        "table",
        { role: "table", class: "parts-of" },
        el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head.map(column))),
        el("tbody", { role: "rowgroup" }, ...rows),
      ),
    ),
  ];
}

function column(words) {
  return el("th", { role: "columnheader", scope: "col" }, words);
}

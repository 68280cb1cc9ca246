// Insights: how visitors' questions end by the day, what waits for a page, and what is used most.

import { API, get } from "../base/api.js";
import { el, fill } from "../base/dom.js";
import { here, link, replace } from "../base/route.js";
import { plain } from "../base/words.js";
import { bars } from "../status/chart.js";
import { QuestionList } from "./questions.js";

const PERIODS = [
  ["7", "7 days"],
  ["", "30 days"],
  ["90", "90 days"],
];
const DEFAULT_DAYS = "30";
const EXPORTS = [
  ["days", "Days"],
  ["questions", "Questions"],
  ["pages", "Pages"],
  ["actions", "Actions"],
];
const COLUMNS = [
  ["questions", "Questions"],
  ["answered", "Answered"],
  ["refused", "Refused"],
  ["asked_back", "Asked back"],
  ["handed", "To people"],
  ["up", "Helpful"],
  ["down", "Not helpful"],
];
const SHARES = new Set(["answered", "refused", "asked_back", "handed"]);
const PERCENT = new Intl.NumberFormat(undefined, { style: "percent" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
/** How many days apart the labels of the chart are. */
const TICKS = { 7: 1, 30: 5, 90: 15 };

/** The view of the insights. */
export class InsightsView {
  #closed = false;
  #select = el(
    "select",
    { "aria-label": "Period" },
    ...PERIODS.map(([value, words]) => el("option", { value }, words)),
  );
  #exports = el("p", { class: "soft small exports" });
  #error = el("p", { class: "alarm", role: "alert", hidden: true });
  #figures = el("dl", { class: "figures" });
  #charts = el("div", { class: "charts" });
  #table = el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "The numbers" });
  #questions = new QuestionList(() => this.#load());
  #uses = el("div", { class: "uses" });

  constructor() {
    this.#select.addEventListener("change", () => {
      const { value } = this.#select;
      replace(link("insights", null, new URLSearchParams(value ? { days: value } : {})));
    });
    this.element = el(
      "section",
      { class: "pane wide", "aria-label": "Insights" },
      el(
        "div",
        { class: "load" },
        el(
          "div",
          { class: "load-head" },
          el("h2", { class: "title", tabindex: "-1" }, "Insights"),
          this.#select,
        ),
        this.#error,
        this.#figures,
        this.#charts,
        el("details", { class: "numbers" }, el("summary", {}, "The numbers as a table"), this.#table),
        this.#questions.element,
        this.#uses,
        this.#exports,
      ),
    );
  }

  async show(params) {
    this.#select.value = params.get("days") ?? "";
    await this.#load();
  }

  close() {
    this.#closed = true;
  }

  async #load() {
    const days = chosenDays();
    fill(
      this.#exports,
      "Export as CSV: ",
      ...EXPORTS.flatMap(([table, words], at) => [
        at > 0 && ", ",
        el("a", { href: `${API}insights/export?days=${days}&table=${table}`, download: "" }, words),
      ]),
    );
    this.#error.hidden = true;
    await Promise.all([
      this.#read("insights", days, (told) => this.#draw(told)),
      this.#read("insights/questions", days, (open) => this.#questions.show(open)),
    ]);
  }

  /** Read a part and show it: comparing questions may take longer than counting. */
  async #read(path, days, show) {
    try {
      const told = await get(path, { days });
      if (!this.#closed && days === chosenDays()) show(told);
    } catch (reason) {
      this.#error.textContent = reason.message;
      this.#error.hidden = false;
    }
  }

  #draw({ days, pages, actions }) {
    const sum = (name) => days.reduce((total, day) => total + day[name], 0);
    const asked = sum("questions");
    fill(
      this.#figures,
      ...COLUMNS.map(([name, words]) => {
        const count = sum(name);
        const isShare = SHARES.has(name);
        const said = isShare ? PERCENT.format(asked ? count / asked : 0) : String(count);
        const title = isShare ? `${count} of ${asked}` : null;
        return el("div", { title }, el("dt", {}, words), el("dd", {}, said));
      }),
    );
    const labels = days.map(({ date }) => DATE.format(new Date(date)));
    const every = TICKS[days.length] ?? 1;
    fill(
      this.#charts,
      bars({
        title: "Questions per day",
        series: [
          { name: "questions", values: days.map((day) => day.questions) },
          { name: "refused", values: days.map((day) => day.refused) },
        ],
        labels,
        tick: (at) => ((days.length - 1 - at) % every === 0 ? labels[at] : null),
      }),
    );
    fill(this.#table, table(days, labels));
    fill(this.#uses, used("Pages quoted most", pages), used("Actions called most", actions));
  }
}

function chosenDays() {
  return here().params.get("days") || DEFAULT_DAYS;
}

function used(title, uses) {
  const rows = uses.map(({ name, title: words, times }) => {
    const shown = plain(words);
    const named = name.startsWith("/") ? el("a", { href: name, target: "_blank" }, shown) : shown;
    return el("li", { dir: "auto" }, named, " ", el("span", { class: "soft" }, `${times} ×`));
  });
  return el(
    "section",
    { "aria-label": title },
    el("h3", {}, title),
    rows.length ? el("ol", {}, ...rows) : el("p", { class: "soft" }, "None in this period."),
  );
}

function table(days, labels) {
  const rows = days.map((day, at) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, labels[at]),
      ...COLUMNS.map(([name]) => el("td", {}, String(day[name]))),
    ),
  );
  const head = ["Day (UTC)", ...COLUMNS.map(([, words]) => words)];
  return el(
    "table",
    {},
    el("caption", { class: "unseen" }, "Questions and their outcomes by day, newest first"),
    el("thead", {}, el("tr", {}, ...head.map((words) => el("th", { scope: "col" }, words)))),
    el("tbody", {}, ...rows.reverse()),
  );
}

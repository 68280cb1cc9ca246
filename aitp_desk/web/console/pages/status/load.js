// The load, and how long people wait.

import { get } from "../base/api.js";
import { bars } from "./chart.js";
import { el, fill } from "../base/dom.js";
import { here, link, replace } from "../base/route.js";
import { duration, roughly } from "../base/when.js";

const SPANS = [
  ["", "24 hours"],
  ["72", "3 days"],
  ["168", "7 days"],
];
const EVERY_MS = 60_000;
const MINUTES = 60;
const HOUR = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const BOTH = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** The view of the load. */
export class LoadView {
  #said = "";
  #closed = false;
  #select = el(
    "select",
    { "aria-label": "Period" },
    ...SPANS.map(([value, words]) => el("option", { value }, words)),
  );
  #error = el("p", { class: "alarm", role: "alert", hidden: true });
  #now = el("dl", { class: "figures" });
  #charts = el("div", { class: "charts" });
  #table = el("div", {
    class: "table",
    tabindex: "0",
    role: "region",
    "aria-label": "The numbers",
  });

  constructor(context) {
    this.#select.addEventListener("change", () => {
      const { value } = this.#select;
      replace(link("load", null, new URLSearchParams(value ? { hours: value } : {})));
    });
    this.element = el(
      "section",
      { class: "pane wide", "aria-label": "Load" },
      el(
        "div",
        { class: "load" },
        el(
          "div",
          { class: "load-head" },
          el("h2", { class: "title", tabindex: "-1" }, "Load"),
          this.#select,
        ),
        this.#error,
        this.#now,
        this.#charts,
        el(
          "details",
          { class: "numbers" },
          el("summary", {}, "The numbers as a table"),
          this.#table,
        ),
      ),
    );
    this.unsubscribe = context.live.each(() => this.refresh());
    this.timer = setInterval(() => this.refresh(), EVERY_MS);
  }

  show(params) {
    this.#select.value = params.get("hours") ?? "";
    return this.refresh();
  }

  async refresh() {
    try {
      this.#show(await get("load", { hours: here().params.get("hours") || 24 }));
    } catch (reason) {
      this.#error.textContent = reason.message;
      this.#error.hidden = false;
    }
  }

  close() {
    this.#closed = true;
    this.unsubscribe();
    clearInterval(this.timer);
  }

  #show(load) {
    this.#error.hidden = true;
    const said = JSON.stringify(load);
    if (this.#closed || said === this.#said) return;
    this.#said = said;
    const { open, taken, oldest_open_seconds: oldest } = load.now;
    const longest = oldest === null ? "nobody" : roughly(oldest);
    fill(
      this.#now,
      ...figure("Waiting", open),
      ...figure("Taken", taken),
      ...figure("Longest wait", longest),
    );
    this.#draw(load);
    fill(this.#table, table(load.data));
  }

  #draw({ data }) {
    const all = (name) => data.map((each) => each[name]);
    const labels = data.map(({ at }) => BOTH.format(new Date(at)));
    const days = data.length > 48;
    const tick = (at) => {
      const date = new Date(data[at].at);
      if (days) return date.getHours() === 12 ? DAY.format(date) : null;
      return date.getHours() % 4 === 0 ? HOUR.format(date) : null;
    };
    const waited = data.map(({ waited_seconds: seconds }) =>
      seconds === null ? null : seconds / MINUTES,
    );
    fill(
      this.#charts,
      bars({
        title: "Messages from visitors",
        series: [{ name: "messages", values: all("visitors_messages") }],
        labels,
        tick,
      }),
      bars({
        title: "Tickets",
        series: [
          { name: "new", values: all("tickets") },
          { name: "ended", values: all("ended") },
        ],
        labels,
        tick,
      }),
      bars({
        title: "Waiting time in minutes (median of ended tickets)",
        series: [{ name: "minutes", values: waited }],
        labels,
        tick,
        unit: plain,
      }),
    );
  }
}

function plain(value) {
  return value >= 10 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);
}

function figure(name, value) {
  return [el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))];
}

function table(data) {
  const head = ["Hour from", "Messages", "From visitors", "New tickets", "Ended", "Median wait"];
  const rows = [...data]
    .reverse()
    .map((each) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, BOTH.format(new Date(each.at))),
        ...[each.messages, each.visitors_messages, each.tickets, each.ended].map((count) =>
          el("td", {}, String(count)),
        ),
        el("td", {}, each.waited_seconds === null ? "–" : duration(each.waited_seconds)),
      ),
    );
  return el(
    "table",
    {},
    el("caption", { class: "unseen" }, "Messages, tickets and waiting times by hour, newest first"),
    el("thead", {}, el("tr", {}, ...head.map((words) => el("th", { scope: "col" }, words)))),
    el("tbody", {}, ...rows),
  );
}

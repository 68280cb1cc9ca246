// Times for people, with the exact one in the title, updated while they are shown.

import { el } from "./dom.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const EVERY_MS = 15_000;

let ahead = 0;

/** Set the clock from the desk's: a browser's clock may be wrong. */
export function setClock(date) {
  const difference = Date.parse(date) - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) < 2_000 ? 0 : difference;
}

/** Return milliseconds since 1970 by the desk's clock. */
export function now() {
  return Date.now() + ahead;
}

/** Write seconds as a rough duration: "4 min", "1 h 20 min", "3 d". */
export function duration(seconds) {
  if (seconds < MINUTE) return "< 1 min";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h${minutes ? ` ${minutes} min` : ""}`;
  return `${Math.floor(seconds / DAY)} d`;
}

/** Write a duration in one unit: "4 min", "2 h", "3 d". */
export function roughly(seconds) {
  return duration(seconds).replace(/ h .*/, " h");
}

const STYLES = {
  ago(seconds, at) {
    if (seconds < MINUTE) return "just now";
    return seconds < 14 * DAY ? `${roughly(seconds)} ago` : DATE.format(at);
  },
  for: (seconds) => roughly(Math.max(0, seconds)),
  due: (seconds) =>
    seconds < 0 ? `due in ${duration(-seconds)}` : `was due ${duration(seconds)} ago`,
};

/**
 * Write a time for people.
 *
 * @param {string} at RFC 3339.
 * @param {"ago" | "for" | "due"} style "4 min ago"; how long since: "4 min"; "due in 4 min".
 */
export function time(at, style = "ago") {
  const element = el("time", {
    datetime: at,
    "data-style": style,
    title: EXACT.format(new Date(at)),
  });
  tell(element);
  return element;
}

function tell(element) {
  const at = new Date(element.dateTime);
  const words = STYLES[element.dataset.style]((now() - at) / 1000, at);
  if (element.textContent !== words) element.textContent = words;
}

setInterval(() => document.querySelectorAll("time[data-style]").forEach(tell), EVERY_MS);

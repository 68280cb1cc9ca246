// A call: action, arguments, price, caller and safety.

import { el } from "../base/dom.js";
import { sealed } from "./sealed.js";
import { time } from "../base/when.js";
import { callerOf, linked, money, plain } from "../base/words.js";

const CHANGES = {
  read_only: "Changes nothing",
  reversible: "Can be undone",
  irreversible: "Cannot be undone",
};
const REACH = {
  self: "only the caller",
  self_and_associated: "the caller and its data",
  many: "many",
  all: "everybody",
};
const PERIODS = { Y: "year", M: "month", W: "week", D: "day", H: "hour", m: "minute", S: "second" };
const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Whether it needs a second confirmation before approval (as `Safety.is_grave` of the desk). */
export function isGrave({ safety }) {
  return (
    !safety || safety.mutability === "irreversible" || ["many", "all"].includes(safety.blast_radius)
  );
}

/** A call as a card; depending on the session, sealed values can be revealed. */
export function callCard(call, ticket, session) {
  const value = (what) => valueOf(what, session);
  return el(
    "section",
    { class: "call", "aria-label": "What it would do" },
    el("h3", {}, call.summary || call.action, " ", el("code", {}, call.action)),
    call.description &&
      call.description !== call.summary &&
      el("p", { class: "soft" }, call.description),
    el(
      "dl",
      { class: "facts" },
      ...fact("Arguments", value(call.arguments)),
      ...fact("Cost", call.price ? el("strong", { class: "price" }, money(call.price)) : "Nothing"),
      ...fact("Possible harm", gravity(call)),
      ...fact("For", callerOf(ticket)),
      ...(call.intent ? fact("Because", el("q", { dir: "auto" }, plain(call.intent))) : []),
      ...(call.progress ? fact("Progress", call.progress) : []),
      ...(call.error ? fact("Failed", call.error.message) : []),
      ...(call.result !== null && call.result !== undefined
        ? fact("Result", value(call.result))
        : []),
      ...(call.state === "waiting_approval" && call.expires_at
        ? fact("Waits", time(call.expires_at, "due"))
        : []),
    ),
  );
}

function fact(name, what) {
  return [el("dt", {}, name), el("dd", {}, what)];
}

/** Describe the safety of a call. */
function gravity(call) {
  if (!call.safety)
    return el("span", { class: "gravity grave" }, "Unknown: the action is no longer declared.");
  const { mutability, blast_radius: radius, reversible_within: within } = call.safety;
  const undone = CHANGES[mutability] ?? mutability;
  const how = within && mutability === "reversible" ? `${undone} within ${period(within)}` : undone;
  const reach = mutability === "read_only" ? "" : `; it concerns ${REACH[radius] ?? radius}`;
  return el("span", { class: isGrave(call) ? "gravity grave" : "gravity" }, `${how}${reach}.`);
}

function period(iso) {
  const found = DURATION.exec(iso);
  if (!found) return iso;
  const parts = Object.values(PERIODS).map((unit, at) => {
    const count = Number(found[at + 1] ?? 0);
    return count && `${count} ${unit}${count === 1 ? "" : "s"}`;
  });
  return parts.filter(Boolean).join(" ") || iso;
}

/** A JSON value for people: names and values, lists, texts; sealed values masked. */
function valueOf(what, session, name = "it") {
  if (what === null) return el("span", { class: "soft" }, "none");
  if (typeof what === "boolean") return what ? "yes" : "no";
  if (typeof what !== "object") return el("span", { dir: "auto" }, ...linked(plain(String(what))));
  if (Array.isArray(what)) {
    if (!what.length) return el("span", { class: "soft" }, "none");
    return el("ul", { class: "values" }, ...what.map((item) => el("li", {}, valueOf(item, session, name))));
  }
  const pairs = Object.entries(what);
  if (pairs.length === 1 && pairs[0][0] === "sealed" && typeof pairs[0][1] === "string")
    return sealed(pairs[0][1], name, session);
  if (!pairs.length) return el("span", { class: "soft" }, "nothing");
  return el(
    "dl",
    { class: "values" },
    ...pairs.map(([name, inner]) =>
      el(
        "div",
        {},
        el("dt", {}, plain(name)),
        el("dd", {}, valueOf(inner, session, plain(name))),
      ),
    ),
  );
}

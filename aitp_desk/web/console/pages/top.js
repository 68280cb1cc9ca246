// The top bar: the views, the number of waiting tickets, the connection, the operator.

import { announce } from "./base/announce.js";
import { path, post } from "./base/api.js";
import { button, el } from "./base/dom.js";
import { STATES } from "./status/health.js";
import { link } from "./base/route.js";

const SVG = "http://www.w3.org/2000/svg";
const NAMES = [
  ["tickets", "Tickets", "1"],
  ["threads", "Threads", "2"],
  ["load", "Load", "3"],
  ["health", "Health", "4"],
  ["unanswered", "Unanswered", "5"],
  ["insights", "Insights", "6"],
];
// On a phone these are in the menu.
const IN_MENU = new Set(["health", "unanswered", "insights"]);

/**
 * @param {object} session
 * @param {EventTarget} live
 * @param {EventTarget} health
 * @param {{leave: () => void, keys: () => void}} acts
 */
export function topBar(session, live, health, acts) {
  const badge = el("span", { class: "badge", hidden: true });
  const links = new Map(
    NAMES.map(([view, words, key]) => [
      view,
      el(
        "a",
        {
          href: link(view),
          class: IN_MENU.has(view) && "only-wide",
          "data-key": key,
          "aria-keyshortcuts": key,
        },
        words,
        view === "tickets" && " ",
        view === "tickets" && badge,
      ),
    ]),
  );
  const state = el("p", { class: "connection", hidden: true }, "");
  live.addEventListener("changed", () => {
    const { open } = live.counts;
    badge.hidden = !open;
    badge.textContent = String(open);
    badge.setAttribute("title", `${open} waiting`);
  });
  live.addEventListener("down", () => {
    if (state.hidden) announce("The connection is lost.");
    state.textContent = "The connection is lost; trying again…";
    state.hidden = false;
  });
  live.addEventListener("up", () => {
    if (!state.hidden) announce("Connected again.");
    state.textContent = "";
    state.hidden = true;
  });
  const unwell = el("a", { class: "health", href: link("health"), hidden: true });
  health.addEventListener("changed", () => {
    const status = health.told?.status ?? "up";
    unwell.hidden = status === "up";
    unwell.dataset.state = status;
    unwell.textContent = STATES[status];
  });
  const account = el(
    "details",
    { class: "account" },
    el("summary", {}, el("span", { class: "operator" }, session.operator)),
    el(
      "div",
      { class: "menu" },
      el("p", { class: "soft small" }, `Visitors see you as ${session.operator}.`),
      el(
        "a",
        {
          class: "menu-item",
          href: session.site.url,
          target: "_blank",
          rel: "noopener noreferrer",
        },
        session.site.name,
      ),
      el("a", { class: "menu-item only-narrow", href: link("health") }, "Health"),
      el("a", { class: "menu-item only-narrow", href: link("unanswered") }, "Unanswered"),
      el("a", { class: "menu-item only-narrow", href: link("insights") }, "Insights"),
      ...(session.platforms ?? []).flatMap(platformCode),
      button("Keys", "menu-item", acts.keys, { "aria-keyshortcuts": "?" }),
      button("Sign out", "menu-item", acts.leave),
    ),
  );
  closeWhenLeft(account);
  const title = el("h1", { class: "unseen" });
  const element = el(
    "header",
    { class: "top" },
    title,
    el("p", { class: "brand" }, mark(), el("span", {}, session.site.name)),
    el("nav", { "aria-label": "Console" }, ...links.values()),
    state,
    unwell,
    account,
  );
  const show = (view, words) => {
    title.textContent = `${words} of ${session.site.name}`;
    for (const [name, anchor] of links) {
      if (name === view) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
  };
  return { element, show };
}

/** A button that shows what to write to the desk on a platform, to work from there. */
function platformCode(name) {
  const shown = el("p", { class: "soft small", role: "status" });
  const ask = async () => {
    try {
      const { message } = await post(path("platforms", name, "code"));
      const how = `Within ten minutes, write to the desk on ${name}, in private: `;
      shown.replaceChildren(how, el("code", {}, message));
    } catch (error) {
      shown.textContent = error.message;
    }
  };
  return [button(`Work from ${name}`, "menu-item stays", ask), shown];
}

function closeWhenLeft(details) {
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    event.stopPropagation();
    details.open = false;
    details.querySelector("summary").focus();
  });
  details.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !details.contains(event.relatedTarget)) details.open = false;
  });
  details.addEventListener(
    "click",
    (event) => event.target.matches(".menu-item:not(.stays)") && (details.open = false),
  );
  document.addEventListener(
    "click",
    (event) => details.contains(event.target) || (details.open = false),
  );
}

/** The desk's bell. */
export function mark() {
  const bell = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  bell.setAttribute("viewBox", "0 0 32 32");
  bell.setAttribute("class", "mark");
  bell.setAttribute("aria-hidden", "true");
  path.setAttribute(
    "d",
    "M3 24h26v3.5H3zM6 22a10 10 0 0 1 20 0zM16 6.3a2.3 2.3 0 1 1 0 4.6 2.3 2.3 0 0 1 0-4.6z",
  );
  bell.append(path);
  return bell;
}

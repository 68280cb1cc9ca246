// The console: sign-in, the current view, and the frame around it.

import { announce } from "./base/announce.js";
import { onSessionOver, readSession, signOut } from "./base/api.js";
import { closeDialogs } from "./base/dialogs.js";
import { button, el, fill } from "./base/dom.js";
import { dropDrafts } from "./base/drafts.js";
import { InsightsView } from "./insights/insights.js";
import { Health, HealthView } from "./status/health.js";
import { listenForKeys, showKeys } from "./base/keys.js";
import { Live } from "./base/live.js";
import { LoadView } from "./status/load.js";
import { here, link } from "./base/route.js";
import { signInPage } from "./signin.js";
import { threadList } from "./threads/threads.js";
import { ThreadView } from "./threads/thread.js";
import { ticketList } from "./tickets/tickets.js";
import { TicketView } from "./tickets/ticket.js";
import { topBar } from "./top.js";
import { UnansweredView } from "./tickets/unanswered.js";

const root = document.getElementById("console");
const THREADS_EVERY_MS = 4_000;
const LISTS = { tickets: ticketList, threads: threadList };
const DETAILS = { tickets: TicketView, threads: ThreadView };
const SHEETS = {
  load: LoadView,
  health: HealthView,
  unanswered: UnansweredView,
  insights: InsightsView,
};
const TITLES = {
  tickets: "Tickets",
  threads: "Threads",
  load: "Load",
  health: "Health",
  unanswered: "Unanswered questions",
  insights: "Insights",
};

/** The page of a signed-in operator. */
class Console {
  #session;
  #live = new Live();
  #health = new Health();
  #lists = {};
  #view = null;
  #detail = null;
  #id = null;
  #main = el("main", { id: "main", tabindex: "-1" });
  #top;

  constructor(session) {
    this.#session = session;
    this.#top = topBar(session, this.#live, this.#health, { leave: () => leave(), keys: showKeys });
    fill(root, skipLink(this.#main), this.#top.element, this.#main);
    this.#live.addEventListener("changed", (event) => this.#changed(event.detail));
    this.unlisten = listenForKeys({
      step: (by) => this.#lists[this.#view]?.step(by),
      inList: () => Boolean(this.#lists[this.#view]?.hasFocus),
      leave: (typing) => this.#leave(typing),
    });
    this.timer = setInterval(() => this.#tick(), THREADS_EVERY_MS);
    addEventListener("hashchange", this.#route);
    this.#route();
    this.#live.begin();
    this.#health.begin();
  }

  close() {
    this.#live.close();
    this.#health.close();
    this.#detail?.close();
    this.unlisten();
    clearInterval(this.timer);
    removeEventListener("hashchange", this.#route);
    closeDialogs();
  }

  #route = () => {
    const { view, id, params } = here();
    const moved = view !== this.#view;
    if (moved || id !== this.#id) closeDialogs();
    if (moved) this.#enter(view);
    this.#view = view;
    if (SHEETS[view]) this.#detail.show(params);
    else {
      this.#lists[view].show(params, id, moved);
      if (moved || id !== this.#id) this.#open(view, id, moved);
    }
    this.#id = id;
    this.#top.show(view, TITLES[view]);
    this.#entitle();
  };

  #enter(view) {
    this.#detail?.close();
    this.#detail = null;
    if (SHEETS[view]) {
      this.#detail = new SHEETS[view]({ live: this.#live, health: this.#health });
      fill(this.#main, this.#detail.element);
      if (this.#view) this.#main.querySelector(".title").focus();
      return;
    }
    this.#lists[view] ??= LISTS[view](this.#session);
    fill(this.#main, this.#lists[view].element);
  }

  #open(view, id, moved) {
    this.#detail?.close();
    this.#main.querySelector(".detail")?.remove();
    this.#main.dataset.pane = id ? "detail" : "list";
    const pane = el("section", {
      class: "pane detail",
      "aria-label": view === "tickets" ? "Ticket" : "Conversation",
    });
    this.#main.append(pane);
    this.#detail = null;
    if (!id) {
      pane.append(
        el(
          "p",
          { class: "nothing soft" },
          view === "tickets" ? "Choose a ticket." : "Choose a conversation.",
        ),
      );
      if (this.#view && (moved || this.#id)) this.#main.querySelector(".title").focus();
      return;
    }
    this.#detail = new DETAILS[view](
      { session: this.#session, live: this.#live, back: () => back(view) },
      id,
    );
    pane.append(this.#detail.element);
    this.#detail.refresh().then(() => this.#id === id && focusHeading(pane));
  }

  #leave(typing) {
    const list = this.#lists[this.#view];
    if (typing) document.activeElement.blur();
    else if (this.#id) location.hash = link(this.#view, null, here().params);
    if (!this.#id || typing) list?.step(0);
  }

  #changed({ before, counts }) {
    this.#lists[this.#view]?.refresh();
    this.#entitle();
    if (before && counts.open > before.open) announce("A new ticket is waiting.");
  }

  // Messages of visitors raise no change event: the list of threads polls.
  #tick() {
    if (this.#view === "threads" && !document.hidden) this.#lists.threads.refresh();
  }

  #entitle() {
    const open = this.#live.counts?.open;
    const waiting = open ? `(${open}) ` : "";
    document.title = `${waiting}${TITLES[this.#view]} – ${this.#session.site.name}`;
  }
}

/** The way back to the list, where the page is too narrow for both. */
function back(view) {
  const words = `Back to ${TITLES[view].toLowerCase()}`;
  return el(
    "a",
    { class: "back", href: link(view, null, here().params), "aria-label": words },
    "‹",
  );
}

function focusHeading(pane) {
  const { activeElement } = document;
  const free =
    !activeElement ||
    activeElement === document.body ||
    activeElement.matches("a.row, main, a.card-link");
  if (free) pane.querySelector("h2")?.focus({ preventScroll: true });
}

function skipLink(main) {
  const skip = (event) => {
    event.preventDefault();
    main.focus();
  };
  return el("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the content");
}

// --- Sign-in -------------------------------------------------------------------------------------

let shown = null;

function begin(session) {
  shown?.close();
  shown = new Console(session);
}

function askForToken(why = "") {
  shown?.close();
  shown = null;
  document.title = "Sign in – Console";
  fill(root, signInPage(why, begin));
  root.querySelector("input").focus();
}

async function leave() {
  try {
    await signOut();
  } catch (reason) {
    if (reason.status !== 401) return announce(reason.message);
  }
  dropDrafts();
  askForToken("You are signed out.");
}

async function start() {
  try {
    const session = await readSession();
    if (session) begin(session);
    else askForToken();
  } catch (reason) {
    document.title = "Console";
    const again = button("Try again", "button", start);
    fill(
      root,
      el(
        "main",
        { class: "door" },
        el("h1", {}, "Console"),
        el("p", { class: "alarm", role: "alert" }, reason.message),
        again,
      ),
    );
  }
}

onSessionOver(
  () => shown && askForToken("Your session has ended. Sign in again; your drafts are kept."),
);
start();

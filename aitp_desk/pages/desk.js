// The box to ask: posts what is typed to /agent/converse (AHP 0.1, section 6) and shows the outcome.
//
// What comes back is somebody's text. It becomes elements by createElement and textContent alone,
// and a link only where it leads to http(s), so nothing in an answer can act on the page.

const ADDRESS = "/agent/converse";
const PATIENCE_MS = 60_000;
const FRESH = "The conversation before had ended; this begins a new one.";

// --- Elements -----------------------------------------------------------------------------------

function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The address if a visitor may be led there, else null. */
function safeAddress(address) {
  let url;
  try {
    url = new URL(address, location.origin);
  } catch {
    return null;
  }
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}

function link(address, text) {
  const href = safeAddress(address);
  return href ? el("a", { href, rel: "noreferrer" }, text) : document.createTextNode(text);
}

// --- Text of an answer: paragraphs, lists, code, and within them code, bold, links ---------------

const INLINE =
  /`(?<code>[^`]+)`|\*\*(?<bold>[^*]+)\*\*|\[(?<label>[^\]]+)\]\((?<target>[^)\s]+)\)|(?<bare>https?:\/\/[^\s<>()"']*[^\s<>()"'.,;:!?])/g;

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const { code, bold, label, target, bare } = match.groups;
    if (code) nodes.push(el("code", {}, code));
    else if (bold) nodes.push(el("strong", {}, bold));
    else nodes.push(link(target ?? bare, label ?? bare));
  }
  nodes.push(text.slice(end));
  return nodes;
}

/** A paragraph for each line: table rows and items come a line each, and long ones wrap. */
function paragraphs(lines) {
  const words = lines.map((line) => line.replace(/^#{1,6}\s+/, ""));
  return words.map((line) => el("p", lines.length > 1 ? { class: "line" } : {}, ...inline(line)));
}

const FENCE = /^\s*```/;
const BULLET = /^\s*[-*•]\s+/;
const NUMBER = /^\s*\d{1,3}[.)]\s+/;

/** The blocks of an answer's text, top to bottom. */
function blocks(text) {
  const found = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; ) {
    const take = (wanted) => {
      const start = at;
      while (at < lines.length && wanted(lines[at])) at += 1;
      return lines.slice(start, at);
    };
    if (FENCE.test(lines[at])) {
      at += 1;
      const code = take((line) => !FENCE.test(line));
      at += 1;
      found.push(el("pre", { tabindex: "0" }, el("code", {}, code.join("\n"))));
    } else if (BULLET.test(lines[at]) || NUMBER.test(lines[at])) {
      const mark = BULLET.test(lines[at]) ? BULLET : NUMBER;
      const list = el(mark === BULLET ? "ul" : "ol");
      if (mark === NUMBER) list.setAttribute("start", String(parseInt(lines[at], 10)));
      const items = take((line) => mark.test(line));
      list.append(...items.map((line) => el("li", {}, ...inline(line.replace(mark, "")))));
      found.push(list);
    } else if (lines[at].trim() === "") {
      at += 1;
    } else {
      const starts = (line) => FENCE.test(line) || BULLET.test(line) || NUMBER.test(line);
      found.push(...paragraphs(take((line) => line.trim() !== "" && !starts(line))));
    }
  }
  return found;
}

// --- What the desk says, in words ----------------------------------------------------------------

function seconds(count) {
  return count === 1 ? "1 second" : `${count} seconds`;
}

/** One sentence for a person, whether asking again may help, and whether the session is over. */
function explain(status, said) {
  const detail = said?.detail ?? said?.code;
  if (detail === "unknown_session" || detail === "session_limit") {
    return { text: "That conversation has ended.", again: true, ended: true };
  }
  if (status === 429) {
    const wait = Number.isInteger(said?.retry_after) ? ` in ${seconds(said.retry_after)}` : " later";
    return { text: `That was a lot of questions at once. Please try again${wait}.`, again: true };
  }
  if (status === 413) return { text: "That is too long. Please ask in fewer words.", again: false };
  if (status === 503) return { text: "The desk is busy. Please try again shortly.", again: true };
  if (status >= 500) return { text: "Something went wrong at the desk, not with you.", again: true };
  return { text: said?.message ?? "The desk could not read that question.", again: false };
}

async function converse(body) {
  let response;
  try {
    response = await fetch(ADDRESS, {
      method: "POST",
      credentials: "omit",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch (reason) {
    const late = reason.name === "TimeoutError";
    const text = late ? "The answer took too long." : "The desk cannot be reached just now.";
    return { failure: { text, again: true } };
  }
  const said = await response.json().catch(() => null);
  if (response.ok && (said?.response || said?.clarification)) return { said };
  return { failure: explain(response.ok ? 500 : response.status, said) };
}

// --- The conversation ----------------------------------------------------------------------------

class Desk {
  constructor(root) {
    this.log = root.querySelector("[data-log]");
    this.form = root.querySelector("[data-form]");
    this.box = this.form.querySelector("textarea");
    this.send = this.form.querySelector("button[type=submit]");
    this.label = root.querySelector("[data-label]");
    this.hint = root.querySelector("[data-hint]");
    this.restart = root.querySelector("[data-restart]");
    this.examples = root.querySelector("[data-examples]");
    this.status = root.querySelector("[data-status]");
    this.placeholder = this.box.placeholder;
    this.promise = this.hint.textContent;
    this.locale = root.dataset.locale;
    this.session = null;
    this.unclear = null;
    this.busy = false;
    this.round = 0;

    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.say(this.box.value);
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.examples.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (chosen) this.ask({ query: chosen.dataset.query }, { focus: true });
    });
    this.restart.addEventListener("click", () => this.begin());
  }

  /** Begin a new conversation; what is still on its way belongs to the old one. */
  begin() {
    this.session = null;
    this.round += 1;
    this.expect(null);
    this.wait(false);
    this.hint.textContent = this.promise;
    this.log.replaceChildren();
    this.examples.hidden = false;
    this.restart.hidden = true;
    this.box.focus();
  }

  /** Wait for the answer to a question that the desk asked back about `query`; null for none. */
  expect(query) {
    this.unclear = query;
    this.label.textContent = query ? "Your answer" : "Your question";
    this.hint.textContent = query ? "Choose one above, or answer in your own words." : "";
    this.box.placeholder = query ? "Your answer" : this.placeholder;
  }

  say(text) {
    const words = text.trim();
    if (!words || this.busy) return;
    this.box.value = "";
    this.ask(this.unclear ? { query: this.unclear, clarification: words } : { query: words });
  }

  async ask(asked, { focus = false } = {}) {
    if (this.busy) return;
    this.wait(true);
    for (const offered of this.log.querySelectorAll(".choices")) offered.remove();
    const turn = el("section", { class: "turn", tabindex: "-1" });
    turn.append(el("h2", { class: "question" }, asked.clarification ?? asked.query));
    const waiting = el("p", { class: "waiting", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
    turn.append(waiting);
    this.log.append(turn);
    this.examples.hidden = true;
    this.restart.hidden = false;
    if (focus) turn.focus({ preventScroll: true });
    this.show(turn);

    const round = this.round;
    const { said, failure, fresh } = await this.post(asked);
    if (round !== this.round) return;
    waiting.remove();
    if (fresh) turn.append(el("p", { class: "note" }, FRESH));
    if (said) this.session = said.session_id ?? null;
    if (said || fresh) this.expect(null);
    if (failure) this.fail(turn, failure, asked);
    else if (said.clarification) this.clarify(turn, said.clarification, asked);
    else this.answer(turn, said.response);
    this.wait(false);
    this.show(turn);
  }

  /** Post a question in the present session, or, where that has ended, in a new one. */
  async post(asked) {
    const body = { ahp: "0.1", capability: "content_search", ...asked };
    if (this.locale) body.context = { locale: this.locale };
    if (!this.session) return converse(body);
    const outcome = await converse({ ...body, session_id: this.session });
    if (!outcome.failure?.ended) return outcome;
    delete body.clarification;
    return { ...(await converse(body)), fresh: true };
  }

  answer(turn, response) {
    turn.append(el("div", { class: "answer" }, ...blocks(response.answer ?? "")));
    const sources = response.sources ?? [];
    if (sources.length) {
      const items = sources.map((source) => {
        const item = el("li", {}, link(source.url, source.title));
        if (source.relevance !== "direct") item.append(" ", el("span", { class: "tag" }, "related"));
        return item;
      });
      turn.append(el("div", { class: "sources" }, el("h3", {}, "Sources"), el("ol", {}, ...items)));
    }
    this.choices(turn, "Ask next", response.follow_up?.suggested_queries ?? [], (query) => ({ query }));
  }

  clarify(turn, clarification, asked) {
    this.expect(asked.query);
    turn.append(el("div", { class: "answer" }, ...blocks(clarification.question)));
    this.choices(turn, "Choose one", clarification.options ?? [], (option) => ({
      query: asked.query,
      clarification: option,
    }));
  }

  fail(turn, failure, asked) {
    turn.append(el("p", { class: "failure" }, failure.text));
    if (failure.again) this.choices(turn, null, ["Try again"], () => asked);
    else if (!this.box.value) this.box.value = asked.clarification ?? asked.query;
  }

  choices(turn, title, words, asked) {
    if (!words.length) return;
    const buttons = words.map((word) => {
      const button = el("button", { type: "button", class: "chip" }, word);
      button.addEventListener("click", () => this.ask(asked(word), { focus: true }));
      return el("li", {}, button);
    });
    const list = el("ul", {}, ...buttons);
    turn.append(el("div", { class: "choices" }, ...(title ? [el("h3", {}, title)] : []), list));
  }

  wait(busy) {
    this.busy = busy;
    this.send.setAttribute("aria-disabled", String(busy));
    this.log.setAttribute("aria-busy", String(busy));
    this.status.textContent = busy ? "Looking for an answer" : "";
  }

  show(turn) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    turn.scrollIntoView({ block: "start", behavior: still ? "instant" : "smooth" });
  }
}

for (const root of document.querySelectorAll("[data-ask]")) new Desk(root);

// For each question asked on this page: which sections were found, and why. Titles, questions and
// file names are data: they become text nodes.

import { el, safeAddress } from "./dom.js";

const ANSWERS = "/assets/desk/answers.json";
const SHOWN = 3;
const LEVELS = { words: "Level 0: words", meaning: "Level 1: meaning", questions: "Level 2: questions" };
const OUTCOMES = { answered: "Answered", refused: "Refused", asked_back: "Asked back" };
const PARTS = { words: "words", meaning: "meaning", reranker: "meaning" };
const NO_RECORD =
  "Nothing was searched: an action or a person answered, or the desk has started again since.";
const NO_REPLY = "The desk did not respond. The next answer tries again.";

class Inspector {
  constructor(panel) {
    this.list = panel.querySelector(".findings");
    this.waiting = [];
    this.taken = new Set();
    // what was asked before this page was loaded is not of this page, though the words be the same
    this.work = read().then((answers) => {
      this.earlier = new Set(answers?.map(({ id }) => id));
    });
  }

  /** Begin a finding; the earlier ones are folded. */
  add(question) {
    this.list.querySelector(".nothing")?.remove();
    for (const earlier of this.list.children) earlier.open = false;
    const state = el("p", { class: "state" }, "Waits for the answer…");
    const body = el("div", {}, state);
    const finding = el("details", { open: true }, el("summary", {}, question || "(no words)"), body);
    this.list.prepend(finding);
    this.list.scrollTop = 0;
    this.waiting.push({ question: squeeze(question), state, body });
  }

  /** Show what is known by now; one request at a time. */
  refresh() {
    const load = () => this.load();
    this.work = this.work.then(load, load);
  }

  async load() {
    if (!this.waiting.length) return;
    const answers = await read();
    if (answers) {
      this.waiting = this.waiting.filter((one) => !this.settle(one, answers));
    }
    const [first] = this.waiting;
    if (first) first.state.textContent = answers ? NO_RECORD : NO_REPLY;
  }

  /** Show the answer to a question; return whether it is there. */
  settle({ question, body }, answers) {
    const answer = answers.find(
      (one) =>
        !this.earlier.has(one.id) &&
        !this.taken.has(one.id + question) &&
        asks(one.question, question),
    );
    if (!answer) return false;
    this.taken.add(answer.id + question);
    body.replaceChildren(...show(answer));
    return true;
  }
}

/** Return the explained answers, oldest first; null where the desk does not respond. */
async function read() {
  try {
    const reply = await fetch(ANSWERS, { headers: { Accept: "application/json" } });
    return reply.ok ? (await reply.json()).data : null;
  } catch {
    return null;
  }
}

function squeeze(words) {
  return words.split(/\s+/u).filter(Boolean).join(" ");
}

/** Several messages that wait together are answered as one question, a line each. */
function asks(asked, question) {
  return squeeze(asked) === question || asked.split("\n").some((line) => squeeze(line) === question);
}

function show(answer) {
  const { candidates, words } = answer;
  const best = Math.max(...candidates.map(({ score }) => score));
  const items = candidates.map((one) => candidate(one, best));
  return [
    el(
      "p",
      { class: "facts" },
      el("span", { class: `outcome ${answer.outcome}` }, OUTCOMES[answer.outcome]),
      level(answer),
      el("span", {}, `${answer.milliseconds} ms`),
    ),
    el("p", { class: "reason" }, answer.model && "Without the model: ", answer.reason),
    items.length > 0 && el("ol", {}, ...items.slice(0, SHOWN)),
    items.length > SHOWN &&
      more(
        `${items.length - SHOWN} more sections`,
        el("ol", { start: SHOWN + 1 }, ...items.slice(SHOWN)),
      ),
    words.length > 0 && more("Search words", el("ul", { class: "terms" }, ...sorted(words).map(word))),
  ].filter(Boolean);
}

function level({ model, level: name }) {
  if (model) return el("span", {}, `Level 3: ${model}`);
  return name && el("span", {}, LEVELS[name]);
}

function more(title, ...inside) {
  return el("details", {}, el("summary", {}, title), ...inside);
}

function candidate(one, best) {
  const path = one.headings.filter((heading, place) => place > 0 || heading !== one.page);
  const parts = Object.entries(one.scores);
  const sum = parts.map(([name, score]) => `${name} ${digits(score)}`).join(" + ");
  const facts = [
    `covers ${Math.round(one.coverage * 100)} %`,
    `best sentence ${digits(one.fit)}`,
    one.lacks.length > 0 && `lacks ${one.lacks.join(", ")}`,
    one.like && `like “${one.like}”`,
  ];
  return el(
    "li",
    { class: one.is_used ? "taken" : null },
    el(
      "a",
      { href: safeAddress(one.url), target: "_blank", rel: "noopener" },
      [one.page, ...path].join(" › "),
    ),
    bar(parts, best),
    el("p", { class: "verdict" }, one.verdict),
    el("p", { class: "score" }, parts.length > 1 ? `${digits(one.score)} = ${sum}` : sum),
    el("p", { class: "score" }, facts.filter(Boolean).join(" · ")),
    one.file && el("code", {}, one.line ? `${one.file}:${one.line}` : one.file),
  );
}

/** The score as a bar of its parts, next to that of the best; a script may set lengths. */
function bar(parts, best) {
  const pieces = parts.map(([name, score]) => {
    const piece = el("span", { class: PARTS[name] ?? "questions" });
    piece.style.width = `${best > 0 ? Math.max(0, (100 * score) / best) : 0}%`;
    return piece;
  });
  return el("div", { class: "bar", "aria-hidden": "true" }, ...pieces);
}

function sorted(words) {
  return [...words].sort((one, other) => other.weight - one.weight);
}

function word({ word: name, weight, known, earlier, also }) {
  const notes = [
    ...Object.keys(also),
    earlier && "from an earlier question",
    !known && "on no page",
  ].filter(Boolean);
  return el(
    "li",
    { class: known ? null : "unknown" },
    el("b", {}, name),
    ` ${digits(weight)}`,
    notes.length > 0 && el("span", {}, ` ${notes.join(", ")}`),
  );
}

function digits(score) {
  return (Math.round(score * 100) / 100 + 0).toFixed(2);
}

for (const panel of document.querySelectorAll("[data-inspector]")) {
  const inspector = new Inspector(panel);
  const chat = document.querySelector("aitp-chat");
  chat.addEventListener("message", ({ detail }) => inspector.add(detail.text));
  chat.addEventListener("answer", () => inspector.refresh());
}

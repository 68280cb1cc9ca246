// Markdown as nodes: paragraphs, headings, lists, tables, quotations, code. Nothing becomes markup.

import { inline } from "./inline.js";
import { el, tool } from "../dom.js";
import { text } from "../texts.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^#{1,6}\s+(.*)$/;
const ITEM = /^(\s*)(?:[-*•+]|(\d{1,4})[.)])\s+(.*)$/;
const PROMPT = /^(?:\$|>>>|\.\.\.) /gm;
const QUOTE = /^\s*>\s?/;
const RULE = /^\s*([-*_])(?:\s*\1){2,}\s*$/;
const ROW = /^\s*\|.*\|\s*$/;
const DIVIDER = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
/** A short paragraph of one sentence that ends in a colon announces what follows. */
const TITLE = /^(?!.*(\. |。)).{1,60}:\s*$/;
const COPIED_MS = 2000;

/**
 * Return the blocks of a text, top to bottom.
 *
 * @param {(number: number) => Node | null} cite as `inline` takes it.
 */
export function blocks(said, cite = () => null) {
  return new Blocks(said.split(/\r?\n/), cite).read();
}

class Blocks {
  constructor(lines, cite) {
    this.lines = lines;
    this.cite = cite;
    this.at = 0;
  }

  get line() {
    return this.lines[this.at];
  }

  read() {
    const found = [];
    while (this.at < this.lines.length) {
      const block = this.block();
      if (block) found.push(block);
    }
    return found;
  }

  block() {
    const { line } = this;
    if (line.trim() === "") this.next();
    else if (FENCE.test(line)) return this.code();
    else if (HEADING.test(line)) return this.heading();
    else if (RULE.test(line)) return this.rule();
    else if (ROW.test(line) && DIVIDER.test(this.lines[this.at + 1] ?? "")) return this.table();
    else if (ITEM.test(line)) return this.list();
    else if (QUOTE.test(line)) return this.quote();
    else return this.paragraph();
    return null;
  }

  inline(words) {
    return inline(words, this.cite);
  }

  next() {
    this.at += 1;
    return this.lines[this.at - 1];
  }

  take(wanted) {
    const start = this.at;
    while (this.at < this.lines.length && wanted(this.line)) this.at += 1;
    return this.lines.slice(start, this.at);
  }

  code() {
    this.next();
    const code = this.take((line) => !FENCE.test(line)).join("\n");
    this.next();
    const shown = el("pre", { tabindex: "0" }, el("code", {}, code));
    return el("div", { class: "code" }, shown, makeCopyButton(code));
  }

  heading() {
    const [, words] = HEADING.exec(this.next());
    return el("p", { class: "heading" }, ...this.inline(words));
  }

  rule() {
    this.next();
    return el("hr");
  }

  table() {
    const [head, , ...rows] = this.take((line) => ROW.test(line)).map(cellsOf);
    const row = (cells, tag) => el("tr", {}, ...cells.map((cell) => el(tag, {}, ...this.inline(cell))));
    const body = el("tbody", {}, ...rows.map((cells) => row(cells, "td")));
    const table = el("table", {}, el("thead", {}, row(head, "th")), body);
    return el("div", { class: "wide", tabindex: "0", role: "group" }, table);
  }

  /** A list; deeper items are a list within an item. */
  list() {
    const [, indent, number] = ITEM.exec(this.line);
    const list = el(number === undefined ? "ul" : "ol", { start: number > 1 && number });
    while (this.at < this.lines.length) {
      const [, deep, other, words] = ITEM.exec(this.line) ?? [];
      if (words === undefined || deep.length < indent.length) break;
      if (deep.length > indent.length + 1) {
        (list.lastElementChild ?? list).append(this.list());
      } else {
        if ((other === undefined) !== (number === undefined)) break;
        this.next();
        list.append(el("li", {}, ...this.inline(words)));
      }
    }
    return list;
  }

  quote() {
    const lines = this.take((line) => QUOTE.test(line)).map((line) => line.replace(QUOTE, ""));
    return el("blockquote", {}, ...new Blocks(lines, this.cite).read());
  }

  /** A paragraph keeps its line breaks: facts often have a line each. */
  paragraph() {
    const isOther = (line) =>
      line.trim() === "" || [FENCE, HEADING, ITEM, QUOTE].some((form) => form.test(line));
    const start = this.at;
    const lines = this.take((line) => this.at === start || !isOther(line));
    const nodes = lines.flatMap((line, n) => [n > 0 && el("br"), ...this.inline(line)]);
    const isHeading = lines.length === 1 && TITLE.test(lines[0]);
    return el("p", { class: isHeading && "heading" }, ...nodes);
  }
}

function cellsOf(row) {
  return row.trim().slice(1, -1).split("|").map((cell) => cell.trim());
}

function makeCopyButton(code) {
  const say = (words, isDone) => {
    button.ariaLabel = words;
    button.classList.toggle("done", isDone);
  };
  const onclick = async () => {
    try {
      await navigator.clipboard.writeText(code.replace(PROMPT, ""));
    } catch {
      return;
    }
    say(text("copied"), true);
    setTimeout(say, COPIED_MS, text("copy"), false);
  };
  const button = tool("copy", text("copy"), { class: "copy", onclick });
  return button;
}

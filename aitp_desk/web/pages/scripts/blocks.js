// Renders an answer's text as elements: paragraphs, lists, code, bold, links.

import { el, link } from "./dom.js";

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

/** A paragraph for each line: table rows and items have a line each, and long ones wrap. */
function paragraphs(lines) {
  const words = lines.map((line) => line.replace(/^#{1,6}\s+/, ""));
  return words.map((line) => el("p", lines.length > 1 ? { class: "line" } : {}, ...inline(line)));
}

const FENCE = /^\s*```/;
const BULLET = /^\s*[-*•]\s+/;
const NUMBER = /^\s*\d{1,3}[.)]\s+/;

/** The blocks of an answer's text, top to bottom. */
export function blocks(text) {
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

// Markdown within a line as nodes: code, emphasis, pictures, links, addresses, numbers of sources.

import { el, link, picture } from "../dom.js";

/** In the order of the values in `nodeOf`. */
const INLINE = new RegExp(
  [
    /`([^`]+)`/,
    /\*\*((?!\s).+?)\*\*/,
    /(?<![\w*])\*((?!\s)[^*]+)\*(?!\*)/,
    /(?<!\w)_((?!\s)[^_]+)_(?!\w)/,
    /~~([^~]+)~~/,
    /(!?)\[([^\]]+)\]\(((?:\([^()\s]*\)|[^()\s])+)(?:\s+"[^"]*")?\)/,
    /\[(\d{1,2})\]/,
    /(https?:\/\/[^\s<>()"']*[^\s<>()"'.,;:!?])/,
    /([\w.+-]+@[\w-]+(?:\.[\w-]+)+)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/**
 * Return the nodes of a line.
 *
 * @param {(number: number) => Node | null} cite makes the link of a numbered source.
 */
export function inline(text, cite) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    nodes.push(nodeOf(match, cite));
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}

function nodeOf([whole, code, bold, italic, slanted, struck, mark, label, target, number, bare, mail], cite) {
  if (code) return el("code", {}, code);
  if (bold) return el("strong", {}, ...inline(bold, cite));
  if (italic ?? slanted) return el("em", {}, ...inline(italic ?? slanted, cite));
  if (struck) return el("s", {}, struck);
  if (number) return cite(Number(number)) ?? whole;
  if (mail) return link(`mailto:${mail}`, mail);
  return (mark && picture(target, label)) || link(target ?? bare, label ?? bare);
}

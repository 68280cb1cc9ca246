// The menu of the chat: begin another conversation, or delete this one after a question.

import { text } from "../texts.js";
import { el, tool } from "../dom.js";

/**
 * Make the menu: its button, the place of both, and the question, which stands above the text box.
 *
 * @param {{onbegin: () => void, onerase: () => Promise<Failure | undefined>,
 *   onperson: (() => void) | null}} on `onperson` is null where nobody can be asked for.
 */
export function makeMenu({ onbegin, onerase, onperson }) {
  const makeItem = (words, onclick, kind = "") =>
    el("button", { type: "button", class: kind, onclick }, words);
  const toggle = (isOpen) => {
    list.hidden = !isOpen;
    button.ariaExpanded = isOpen;
    if (isOpen) list.firstElementChild.focus();
  };
  const choose = (act) => () => {
    toggle(false);
    act();
  };
  const begin = () => {
    question.hidden = true;
    onbegin();
  };
  const keep = () => {
    question.hidden = true;
    button.focus();
  };
  const confirm = () => {
    const words = el("p", {}, text("deleteQuestion"));
    const erase = async () => {
      const failure = await onerase();
      if (failure) words.textContent = failure.text;
      else question.hidden = true;
    };
    const no = makeItem(text("deleteNo"), keep);
    const yes = makeItem(text("deleteYes"), erase, "danger");
    question.replaceChildren(words, el("div", {}, no, yes));
    question.hidden = false;
    no.focus();
  };
  const onclick = () => toggle(list.hidden);
  const button = tool("more", text("more"), { "aria-expanded": "false", hidden: true, onclick });
  const list = el(
    "div",
    { class: "menu", hidden: true },
    makeItem(text("newConversation"), choose(begin)),
    makeItem(text("deleteConversation"), choose(confirm), "danger"),
    onperson && makeItem(text("person"), choose(onperson)),
  );
  const title = { role: "group", "aria-label": text("deleteConversation"), hidden: true };
  const question = el("div", { class: "confirm", ...title });
  const onkeydown = (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    event.preventDefault();
    toggle(false);
    button.focus();
  };
  const onfocusout = ({ relatedTarget }) => {
    if (relatedTarget && !element.contains(relatedTarget)) toggle(false);
  };
  const element = el("div", { class: "menu-place", onkeydown, onfocusout }, button, list);
  return { button, question, element };
}

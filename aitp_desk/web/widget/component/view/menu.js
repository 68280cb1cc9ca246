// The menu of the chat: begin another conversation, or delete this one after a question.

import { text } from "../texts.js";
import { button, el, tool } from "../dom.js";

const DANGER = { class: "danger" };

/**
 * Make the menu: its button, the place of both, and the question, which stands above the text box.
 *
 * @param {{onbegin: () => void, onerase: () => Promise<Failure | undefined>,
 *   onperson: (() => void) | null}} on `onperson` is null where nobody can be asked for.
 */
export function makeMenu({ onbegin, onerase, onperson }) {
  const toggle = (isOpen) => {
    list.hidden = !isOpen;
    opener.ariaExpanded = isOpen;
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
    opener.focus();
  };
  const confirm = () => {
    const words = el("p", {}, text("deleteQuestion"));
    const erase = async () => {
      const failure = await onerase();
      if (failure) words.textContent = failure.text;
      else question.hidden = true;
    };
    const no = button(text("deleteNo"), keep);
    const yes = button(text("deleteYes"), erase, DANGER);
    question.replaceChildren(words, el("div", {}, no, yes));
    question.hidden = false;
    no.focus();
  };
  const onclick = () => toggle(list.hidden);
  const opener = tool("more", text("more"), { "aria-expanded": "false", hidden: true, onclick });
  const list = el(
    "div",
    { class: "menu", hidden: true },
    button(text("newConversation"), choose(begin)),
    onperson && button(text("person"), choose(onperson)),
    button(text("deleteConversation"), choose(confirm), DANGER),
  );
  const title = { role: "group", "aria-label": text("deleteConversation"), hidden: true };
  const question = el("div", { class: "confirm", ...title });
  const onkeydown = (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    event.preventDefault();
    toggle(false);
    opener.focus();
  };
  const onfocusout = ({ relatedTarget }) => {
    if (relatedTarget && !element.contains(relatedTarget)) toggle(false);
  };
  const element = el("div", { class: "menu-place", onkeydown, onfocusout }, opener, list);
  return { button: opener, question, element };
}

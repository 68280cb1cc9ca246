// Whether an answer helped: two buttons under it, and a line for the reason. The style sheet shows
// them under the newest answer; an earlier one keeps only its rating.

import { el, form, tool } from "../dom.js";
import { text } from "../texts.js";

/**
 * Add the buttons to an answer; `article.rate(rating)` presses "up" or "down", or none.
 *
 * @param {HTMLElement} article
 * @param {Chat} chat
 * @param {string} id of the message.
 */
export function addFeedback(article, chat, id) {
  const send = (...said) => chat.client.rate(chat.conversation.thread, id, ...said);
  const labels = { up: text("up"), down: text("down") };
  const buttons = Object.entries(labels).map(([name, label]) => {
    const onclick = async () => {
      const before = article.rated;
      const rating = before === name ? null : name;
      article.rate(rating);
      line.hidden = rating !== "down";
      box.focus();
      if (!(await send(rating))) article.rate(before);
    };
    return tool("thumb", label, { name, onclick });
  });
  const explain = () => {
    send("down", box.value);
    line.hidden = true;
    buttons[1].focus();
  };
  const box = el("input", { maxlength: 500, placeholder: text("reason") });
  const line = form(explain, { hidden: true }, box);
  article.rate = (rating) => {
    article.rated = rating;
    for (const button of buttons) button.ariaPressed = button.name === rating;
    line.hidden ||= rating !== "down";
  };
  article.rate(null);
  article.append(el("div", { class: "rate" }, ...buttons, line));
}

// Whether an answer helped: two buttons under it, and a line for the reason. The style sheet shows
// them under the newest answer; an earlier one keeps only its rating.

import { el, icon } from "../dom.js";
import { text } from "../texts.js";

/**
 * Add the buttons to an answer; `article.rate(rating)` presses "up" or "down", or none.
 *
 * @param {(id: string, rating: "up" | "down" | null, reason?: string) => Promise<object>} onrate
 *   sends the rating of a message; returns nothing where the desk does not have it.
 */
export function addFeedback(article, onrate, id) {
  const labels = { up: text("up"), down: text("down") };
  const buttons = Object.entries(labels).map(([name, label]) => {
    const onclick = async () => {
      const before = article.rated;
      const rating = before === name ? null : name;
      article.rate(rating);
      form.hidden = rating !== "down";
      box.focus();
      if (!(await onrate(id, rating))) article.rate(before);
    };
    const named = { name, "aria-label": label };
    return el("button", { type: "button", class: "tool", ...named, onclick }, icon("thumb"));
  });
  const onsubmit = (event) => {
    event.preventDefault();
    onrate(id, "down", box.value);
    form.hidden = true;
    buttons[1].focus();
  };
  const box = el("input", { maxlength: 500, placeholder: text("reason") });
  const form = el("form", { onsubmit, hidden: true }, box);
  article.rate = (rating) => {
    article.rated = rating;
    for (const button of buttons) button.ariaPressed = button.name === rating;
    form.hidden ||= rating !== "down";
  };
  article.rate(null);
  article.append(el("div", { class: "rate" }, ...buttons, form));
}

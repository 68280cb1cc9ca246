// Confirmation dialogs, with a text field where one is needed.

import { button, el } from "./dom.js";
import { drafting, keepDraft } from "./drafts.js";
import { sendOnEnter } from "./enter.js";

/**
 * Ask for confirmation, then act. The dialog stays open, with its text, where the desk refuses.
 *
 * @param {object} what
 * @param {string} what.title
 * @param {(Node | string)[]} [what.about] the content below the title.
 * @param {string} [what.label] of the text field; none is shown without it.
 * @param {boolean} [what.optional] whether the text may be empty.
 * @param {string} [what.draftKey]
 * @param {string} what.yes the label of the confirming button.
 * @param {boolean} [what.grave] whether the action cannot be undone.
 * @param {(words: string) => Promise<unknown>} what.act
 * @param {(error: Error) => HTMLElement | null} [what.at] the input at fault, if one is.
 */
export function ask({
  title,
  about = [],
  label,
  optional = false,
  draftKey,
  yes,
  grave = false,
  act,
  at = () => null,
}) {
  const box =
    label && el("textarea", { id: "ask-words", rows: "4", dir: "auto", required: !optional });
  if (box && draftKey) drafting(box, draftKey);
  const error = el("p", { id: "ask-error", class: "alarm", role: "alert", hidden: true });
  const no = button("Cancel", "button quiet", () => dialog.close());
  const form = el(
    "form",
    {},
    el("h2", { id: "ask-title" }, title),
    ...about,
    box && el("label", { for: "ask-words" }, label),
    box,
    error,
    el(
      "div",
      { class: "buttons" },
      button(yes, grave ? "button grave" : "button", null, { type: "submit" }),
      no,
    ),
  );
  const dialog = el("dialog", { "aria-labelledby": "ask-title" }, form);
  const submit = () => form.requestSubmit();
  if (box) sendOnEnter(box, submit);
  // in the other boxes, such as the text to sign, Enter alone is a new line
  sendOnEnter(form, submit, { onlyWithCtrl: true });
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    error.hidden = true;
    unmark(form);
    try {
      await act(box ? box.value.trim() : "");
      if (draftKey) keepDraft(draftKey, "");
      dialog.close();
    } catch (reason) {
      error.textContent = reason.message;
      error.hidden = false;
      mark(at(reason), error);
    } finally {
      busy = false;
    }
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    // the button that opened the dialog may have been removed
    if (document.activeElement === document.body) document.querySelector(".detail h2")?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  if (grave && !box) no.focus();
}

/** Mark an input as invalid, with the message below it. */
function mark(input, error) {
  if (!input) return;
  input.after(error);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-errormessage", "ask-error");
  input.focus();
}

function unmark(form) {
  for (const input of form.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-errormessage");
  }
}

/** Close the open dialog: the session has ended, or another view is open. */
export function closeDialogs() {
  document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
}

// Sign-in: exchanges a token for a session. The token is not stored.

import { signIn } from "./base/api.js";
import { button, el } from "./base/dom.js";
import { mark } from "./top.js";

/**
 * The sign-in page.
 *
 * @param {string} why shown above, such as that the session has ended; may be empty.
 * @param {(session: object) => void} done
 */
export function signInPage(why, done) {
  const box = el("input", {
    id: "token",
    type: "password",
    required: true,
    autocomplete: "current-password",
    spellcheck: "false",
    "aria-describedby": "token-hint token-error",
  });
  const error = el("p", { id: "token-error", class: "alarm", role: "alert", hidden: true });
  const send = button("Sign in", "button", null, { type: "submit" });
  const form = el(
    "form",
    { class: "sign-in" },
    mark(),
    el("h1", {}, "Console"),
    el("p", { class: "soft" }, "For operators of this desk."),
    why && el("p", { class: "plea", role: "status" }, why),
    el("label", { for: "token" }, "API key"),
    box,
    error,
    send,
    el(
      "p",
      { id: "token-hint", class: "soft small" },
      "The owner of this desk creates one with ",
      el("code", {}, "aitp-desk token create --data FOLDER/.desk --scope operator --name anna"),
      ". Visitors see this name.",
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.getAttribute("aria-disabled") === "true") return;
    send.setAttribute("aria-disabled", "true");
    error.hidden = true;
    try {
      done(await signIn(box.value.trim()));
    } catch (reason) {
      error.textContent = reason.message;
      error.hidden = false;
      box.focus();
    } finally {
      send.removeAttribute("aria-disabled");
    }
  });
  return el("main", { class: "door" }, form);
}

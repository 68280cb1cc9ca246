// The home page's buttons for actions of the site, and the form for a visitor's access key.

import { text } from "./texts.js";

/** A button begins its action in the chat, which alone holds the key until the page is left. */
export async function startActions() {
  const chat = document.querySelector("aitp-chat");
  if (!chat) return;
  await customElements.whenDefined("aitp-chat");
  for (const button of document.querySelectorAll("[data-action]")) {
    button.addEventListener("click", () => {
      chat.scrollIntoView({ block: "nearest" });
      chat.ask(button.textContent, button.dataset.action);
    });
  }
  const form = document.querySelector("[data-key]");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const isKnown = await chat.identify(form.querySelector("input").value.trim());
    const status = form.querySelector("[role=status]");
    status.textContent = isKnown ? text("keyTaken") : text("keyRefused");
  });
}

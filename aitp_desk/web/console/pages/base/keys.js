// Keyboard shortcuts. An element names the key that presses it: `data-key`.

import { button, el } from "./dom.js";

const OFF = "aitp-desk.keys-off";
const HELP = [
  ["j / k", "next and previous in the list (also ↓ ↑ within it)"],
  ["Enter", "open"],
  ["r", "write an answer"],
  ["n", "write an internal note"],
  ["a", "ask for a decision or data"],
  ["t", "take, take over"],
  ["b", "hand back"],
  ["e", "resolve"],
  ["o", "open the conversation of a ticket"],
  ["/", "search"],
  ["1 2 3 4 5 6", "tickets, threads, load, health, unanswered questions, insights"],
  ["Esc", "leave the box; back to the list"],
  ["?", "show these keys"],
];

/** @param {{step: (by: number) => void, inList: () => boolean, leave: (typing: boolean) => void}} page */
export function listenForKeys(page) {
  const listener = (event) => pressed(event, page);
  document.addEventListener("keydown", listener);
  return () => document.removeEventListener("keydown", listener);
}

/** The shortcut that is held down: its repeats are no text for the box that it has opened. */
let held = "";

function pressed(event, page) {
  if (event.repeat && event.key === held) return event.preventDefault();
  held = "";
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input:not([type=checkbox], [type=radio]), textarea, select");
  if (event.key === "Escape") page.leave(typing);
  else if (typing) return;
  else if (event.key === "ArrowDown" && page.inList()) page.step(1);
  else if (event.key === "ArrowUp" && page.inList()) page.step(-1);
  else if (localStorage.getItem(OFF)) return;
  else if (event.key === "j") page.step(1);
  else if (event.key === "k") page.step(-1);
  else if (event.key === "?") showKeys();
  else if (press(event.key)) held = event.key;
  else return;
  event.preventDefault();
}

/** @returns {boolean} whether a visible element has this key. */
function press(key) {
  const all = document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`);
  const found = [...all].find((element) => element.checkVisibility());
  if (!found) return false;
  if (found.matches("input, textarea")) found.focus();
  else found.click();
  return true;
}

/** List the shortcuts, and let the operator disable them. */
export function showKeys() {
  const off = el("input", { type: "checkbox", id: "keys-on" });
  off.checked = !localStorage.getItem(OFF);
  off.addEventListener("change", () => {
    if (off.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "true");
  });
  const rows = HELP.map(([key, words]) =>
    el("div", {}, el("dt", {}, ...key.split(" ").map(asKey)), el("dd", {}, words)),
  );
  const dialog = el(
    "dialog",
    { "aria-labelledby": "keys-title", class: "keys" },
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", {}, ...rows),
    el("label", { class: "tick", for: "keys-on" }, off, "Use single keys"),
    el(
      "div",
      { class: "buttons" },
      button("Close", "button", () => dialog.close()),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function asKey(key, _, keys) {
  return key === "/" && keys.length > 1 ? " / " : el("kbd", {}, key);
}

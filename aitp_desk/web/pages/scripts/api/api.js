// The page about the API: its filter, the copies of its examples, and requests sent from it.

import { addAttempt } from "./attempt.js";
import { addCopy } from "./copy.js";
import { startFilter } from "./filter.js";

/** What only an open operation needs is made when it is first opened. */
function prepare(line) {
  if (line.dataset.prepared) return;
  line.dataset.prepared = "true";
  for (const example of line.querySelectorAll("pre")) addCopy(example);
  if ("scheme" in line.dataset) addAttempt(line);
}

/** Open what the address names, and all around it. */
function openTarget(clearFilter) {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest(".groups")) return;
  clearFilter();
  for (let at = target; at; at = at.parentElement?.closest("details")) at.open = true;
  target.scrollIntoView();
}

const clearFilter = startFilter();
document.querySelector(".groups").addEventListener(
  "toggle",
  ({ target }) => {
    if (target.open && target.matches(".line")) prepare(target);
  },
  true,
);
for (const example of document.querySelectorAll(".body > pre")) addCopy(example);
for (const line of document.querySelectorAll(".line[open]")) prepare(line);
addEventListener("hashchange", () => openTarget(clearFilter));
// a link to where the address already leads changes no hash
document.addEventListener("click", (event) => {
  if (event.target.closest?.('a[href^="#"]')?.hash === location.hash) openTarget(clearFilter);
});
openTarget(clearFilter);
// a page that the browser keeps for the way back keeps no credential
addEventListener("pagehide", () => {
  document.getElementById("api.key").value = "";
});

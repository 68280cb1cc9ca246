// Announcements for screen readers: those within one second are joined into one.

const WAIT_MS = 1_000;
const LONGEST = 160;

let waiting = [];
let timer = 0;

/** Announce a text when nothing more important is being read. */
export function announce(words) {
  waiting.push(words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words);
  timer ||= setTimeout(tell, WAIT_MS);
}

function tell() {
  timer = 0;
  const [last] = waiting.slice(-1);
  const before = waiting.length - 1;
  const region = document.querySelector("[data-announcer]");
  region.textContent = before ? `${last} (and ${before} more before)` : last;
  waiting = [];
}

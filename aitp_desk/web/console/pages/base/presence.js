// What a visitor sees of an operator who has not sent anything yet.

import { path, post } from "./api.js";

/** The least time between two events that say that the operator is typing. */
const TELL_TYPING_MS = 3_000;

/** Show the visitor of a thread that an answer is being written; whether that works is of no concern. */
export function tellTyping(box, thread) {
  let told = 0;
  box.addEventListener("input", () => {
    if (Date.now() - told < TELL_TYPING_MS) return;
    told = Date.now();
    post(path("threads", thread, "typing"), {}).catch(() => {});
  });
}

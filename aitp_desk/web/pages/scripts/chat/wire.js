// The client of /agent/converse (AHP 0.1, section 6), with failures as text.

import { VISITOR } from "./messages.js";
import { counted, text } from "../texts.js";

/** Content types by which the page declares what it can show (the slugs of AITP-01 to AITP-03). */
export const DECLARED = ["x-aitp/requests", "x-aitp/data", "x-aitp/payments"];

const ADDRESS = "/agent/converse";
/** Schemas of messages that the page shows as cards, in addition to the desk's own. */
const PUBLISHED = ["aitp-02-decisions", "aitp-03-data-request"].map(
  (name) => `https://aitp.dev/capabilities/${name}/v1.0.0/schema.json`,
);
const PATIENCE_MS = 60_000;
const LONGEST_PAUSE_MS = 15_000;
const MOST_LOOKS = 60;

/**
 * A failure: a sentence for a person, whether a retry may help, whether the session has ended,
 * whether a key is required, and the part at fault where that is known.
 */
function explain(status, said, key) {
  const detail = said?.detail ?? said?.code;
  const param = said?.param ?? "";
  if (detail === "unknown_session" || detail === "session_limit") {
    return { text: text("ended"), again: true, ended: true };
  }
  if (status === 401) {
    return { text: text(key ? "keyRefused" : "keyNeeded"), again: false, needsKey: true };
  }
  if (status === 429) {
    const wait = said?.retry_after;
    const why = Number.isInteger(wait) ? counted("often", wait) : text("oftenLater");
    return { text: why, again: true };
  }
  if (status === 413) return { text: text("fewerWords"), again: false };
  if (status === 503) return { text: text("busy"), again: true };
  if (status >= 500) return { text: text("fault"), again: true };
  return { text: said?.message ?? text("unread"), again: false, param };
}

/** Return a pending payment as a question of its conversation, however it was started. */
function quoted({ message, thread_id: thread }) {
  const clarification = { question: "", messages: [message] };
  return { status: "clarification_needed", session_id: thread, clarification };
}

async function request(address, options, key) {
  const headers = { Accept: "application/json" };
  if (options.body) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(address, {
      ...options,
      credentials: "omit",
      headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch (reason) {
    const late = reason.name === "TimeoutError";
    return { failure: { text: text(late ? "slow" : "unreachable"), again: true } };
  }
  const said = await response.json().catch(() => null);
  if (response.ok && said) return { said };
  const asked = said?.payment ?? said?.error?.payment;
  if (response.status === 402 && asked?.message) return { said: quoted(asked) };
  return { failure: explain(response.ok ? 500 : response.status, said, key) };
}

/**
 * Ask one question.
 *
 * @returns {Promise<{said?: object, failure?: object}>} the desk's answer, or why there is none.
 */
export function converse(body, key) {
  return request(ADDRESS, { method: "POST", body: JSON.stringify(body) }, key);
}

/** Fetch a thread with its newest messages. */
export function readThread(id) {
  return request(threadAt(id), { method: "GET" }, "");
}

/**
 * Join a thread as the visitor, who receives messages of capabilities in structured form.
 *
 * @param {string} desk id of the desk's actor.
 */
export function join(id, desk, key) {
  const schemas = [...PUBLISHED, `${desk}/capabilities/payments/v1/schema.json`];
  const capabilities = schemas.map((schema) => ({ schema }));
  const body = JSON.stringify({ id: VISITOR, capabilities });
  return request(`${threadAt(id)}/actors`, { method: "POST", body }, key);
}

function threadAt(id) {
  return `/v1/threads/${encodeURIComponent(id)}`;
}

/** Poll an asynchronous call until it ends; `tell` receives each change of its progress. */
export async function follow(poll, key, tell) {
  for (let look = 0, pause = 1000; look < MOST_LOOKS; look += 1) {
    await new Promise((go) => setTimeout(go, pause));
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
    const { said, failure } = await request(poll, { method: "GET" }, key);
    if (failure && !failure.again) return { failure };
    if (said?.status === "pending") tell(said.progress);
    else if (said?.response) return { said };
    else if (said) return { failure: { text: said.progress || text("undone"), again: false } };
  }
  return { failure: { text: text("goesOn"), again: false } };
}

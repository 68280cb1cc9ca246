// The client of the console's API: JSON both ways, by the session's cookie.

import { setClock } from "./when.js";

export const API = "/console/api/";
const PATIENCE_MS = 30_000;
const UNREACHED = "The desk cannot be reached just now.";

/** The desk refused, or could not be reached (status 0); the message is for people. */
class Refused extends Error {
  constructor(status, code, message, waitMs = 0, param = "") {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param; // the part of the request that is wrong
    this.waitMs = waitMs; // how long the desk asks to wait before a retry
  }
}

let csrf = "";
let whenOver = () => {};

/** Set the callback for the end of the session. */
export function onSessionOver(listener) {
  whenOver = listener;
}

/** Return the message of a refused response. */
async function refusal(response) {
  const said = (await response.json().catch(() => null))?.error;
  const plain = `The desk answered with status ${response.status}.`;
  const wait = 1_000 * (Number(response.headers.get("Retry-After")) || 0);
  return new Refused(response.status, said?.code ?? "", said?.message ?? plain, wait, said?.param ?? "");
}

/** Return a failed response as an error; report the end of the session. */
export async function refused(response) {
  const error = await refusal(response);
  if (error.status === 401) whenOver();
  return error;
}

async function exchange(method, path, body, signal, key) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const limit = AbortSignal.timeout(PATIENCE_MS);
  let response;
  try {
    response = await fetch(API + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
  } catch (reason) {
    if (reason.name === "AbortError") throw reason;
    const late = reason.name === "TimeoutError";
    throw new Refused(0, "", late ? "The desk took too long to answer." : UNREACHED);
  }
  setClock(response.headers.get("Date"));
  return response;
}

async function json(response) {
  if (!response.ok) throw await refused(response);
  return response.status === 204 ? null : response.json();
}

/**
 * Read a resource; where the desk asks to wait, wait and retry.
 *
 * @param {string} path below the API.
 * @param {Record<string, unknown>} params null, undefined and false are left out.
 * @param {AbortSignal} [signal]
 */
export async function get(path, params = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== false) query.set(name, String(value));
  }
  const tail = query.size ? `?${query}` : "";
  for (;;) {
    const response = await exchange("GET", path + tail, undefined, signal);
    if (response.status !== 429) return json(response);
    const { waitMs } = await refusal(response);
    await new Promise((resolve) => setTimeout(resolve, Math.max(waitMs, 1_000)));
  }
}

/** Send a change; with a key it happens once, however often it is sent. */
export async function post(path, body = {}, key = "") {
  return json(await exchange("POST", path, body, undefined, key));
}

/** Return the session; null where no operator is signed in. */
export async function readSession() {
  const response = await exchange("GET", "session");
  if (response.status === 401) return null;
  return begun(await json(response));
}

/** Sign in with a token; the desk sets the cookie. */
export async function signIn(token) {
  const response = await exchange("POST", "session", { token });
  if (!response.ok) throw await refusal(response);
  return begun(await response.json());
}

export async function signOut() {
  await json(await exchange("DELETE", "session"));
}

function begun(session) {
  csrf = session.csrf;
  return session;
}

/** Return the path of a resource by its id. */
export function path(...parts) {
  return parts.map(encodeURIComponent).join("/");
}

// The client of the Threads API (AITP 0.1): requests, and their failures as texts for people.

import { counted, text } from "../texts.js";
import { VISITOR } from "./messages.js";

const PATIENCE_MS = 30_000;

/**
 * A failure.
 *
 * @typedef {{text: string, again?: boolean, wait?: number, gone?: boolean, code?: string,
 *   param?: string}} Failure a
 *   sentence, whether the same request may succeed later, after how many milliseconds the desk
 *   suggests, whether the thread does not exist any more, what is wrong with the token, and which
 *   part of the message is at fault.
 */

/** Return what the page is told of a token that the desk has refused. */
export function tokenFault(response) {
  const isOver = response.headers.get("WWW-Authenticate")?.includes("expired");
  return isOver ? "token_expired" : "token_refused";
}

/** @returns {Failure} */
function explain(response, said, token) {
  const { status } = response;
  const { code, message, param } = said?.error ?? {};
  const seconds = Number(response.headers.get("Retry-After"));
  const wait = seconds * 1000 || undefined;
  if (!status) return { text: text("unreachable"), again: true };
  if (status === 429 && wait) return { text: counted("often", Math.ceil(seconds)), again: true, wait };
  if (status === 429 || status >= 500 || code === "idempotency_in_flight") {
    return { text: text("busy"), again: true, wait };
  }
  if (token && status === 401) {
    return { text: text("signedOut"), code: tokenFault(response), rule: message };
  }
  if (status === 404 || status === 401) return { text: text("ended"), gone: true };
  if (status === 413) return { text: text("tooLong"), status };
  return { text: message ?? text("fault"), status, param };
}

/** Return what a response says, or why the request failed. */
async function settle(response, token) {
  const said = await response.json().catch(() => null);
  return response.ok && said ? { said } : { failure: explain(response, said, token) };
}

export class Client {
  /**
   * @param {{schema: string}[]} capabilities what the desk sends to the chat in structured form.
   * @param {string} locale the language that the page names; empty for the visitor's own.
   */
  constructor(capabilities, locale) {
    // its address, with a final slash
    this.base = new URL("../../", import.meta.url);
    this.capabilities = capabilities;
    this.locale = locale || undefined;
    this.token = null;
  }

  /** Return the headers of a request. The token stands here alone: in no address, in no storage. */
  headers(accept, token = this.token) {
    return { Accept: accept, ...(token && { Authorization: `Bearer ${token}` }) };
  }

  /** The address of what the desk has at a path. */
  at(...path) {
    return new URL(path.map(encodeURIComponent).join("/"), this.base);
  }

  /** The address of the files, or of one, or of its content. */
  files(...path) {
    return this.at("v1", "files", ...path);
  }

  /** The address of the threads, or of one, or of a part of it. */
  threads(...path) {
    return this.at("v1", "threads", ...path);
  }

  /**
   * Open a thread with a message, or post it to one.
   *
   * @param {string | null} thread
   * @param {Entry} entry its key makes a repeat find the first message.
   * @param {string} caller id of the visitor's, if they are signed in.
   * @returns {Promise<{thread?: string, failure?: Failure}>}
   */
  async post(thread, { text: words, content = words, key, page, files = [], action }, caller) {
    const attachments = files.map(({ id }) => ({ file_id: id }));
    const metadata = { draft: key, page, action, locale: this.locale };
    const message = { role: "user", content, attachments, metadata };
    const { said, failure } = await this.request(
      thread ? this.threads(thread, "messages") : this.threads(),
      {
        body: thread
          ? message
          : { messages: [message], metadata: { chat: "open" }, actors: [this.actor(caller)] },
        key,
      },
    );
    return failure ? { failure } : { thread: thread ?? said.id };
  }

  /** Return the visitor as an actor, who receives what is shown as cards in structured form. */
  actor(caller) {
    return { id: caller || VISITOR, capabilities: this.capabilities };
  }

  /** Take part in a thread that was begun without a token. */
  join(thread, caller) {
    return this.request(this.threads(thread, "actors"), { body: this.actor(caller) });
  }

  /** Return a thread with its newest messages. */
  read(thread) {
    return this.request(this.threads(thread));
  }

  /** Say whether a message helped; return nothing where the desk does not have it. */
  async rate(thread, message, rating, reason) {
    const address = this.threads(thread, "messages", message, "feedback");
    return (await this.request(address, { body: { rating, reason } })).said;
  }

  /** Delete a thread with all its messages. */
  delete(thread) {
    return this.request(this.threads(thread), { method: "DELETE" });
  }

  /** Return who the bearer of a token is to the desk. */
  readVisitor(token) {
    return this.request(this.at("widget", "visitor"), { token });
  }

  /** Make a thread that was begun without a token its bearer's. */
  claim(thread) {
    return this.request(this.threads(thread, "claim"), { body: {} });
  }

  /** Note that the visitor has begun another conversation: no other device goes on with this one. */
  leave(thread) {
    return this.request(this.threads(thread), { body: { metadata: { chat: "left" } } });
  }

  /** Send a request: with a body a POST, else a GET, unless it names another method. */
  async request(address, { body, key, token = this.token, method = body ? "POST" : "GET" } = {}) {
    const headers = this.headers("application/json", token);
    if (body) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    const response = await fetch(address, {
      method,
      headers,
      body: body && JSON.stringify(body),
      credentials: "omit",
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => Response.error());
    const settled = await settle(response, token);
    // what the desk refuses to this page it refuses again
    if (!response.status && (await this.isRefused())) settled.failure.again = false;
    return settled;
  }

  /** Whether the desk is there and refuses this page; then tell the owner how it lets the page in. */
  async isRefused() {
    const read = (...path) => fetch(this.at(...path)).catch(() => null);
    if (!(await read("widget.js")) || (await read("widget", "visitor"))) return false;
    console.error(`${this.base}: add "${location.origin}" to origins of [widget] in desk.toml`);
    return true;
  }

  /**
   * Upload a file; fetch tells no progress of what it sends.
   *
   * @param {File} file
   * @param {(share: number) => void} onprogress is told how much has been sent, from 0 to 1.
   * @returns {{done: Promise<{said?: object, failure?: Failure}>, cancel: () => void}}
   */
  upload(file, onprogress) {
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", file);
    const request = new XMLHttpRequest();
    request.open("POST", this.files());
    for (const header of Object.entries(this.headers("application/json"))) {
      request.setRequestHeader(...header);
    }
    request.upload.onprogress = ({ loaded, total }) => onprogress(loaded / total);
    const ended = new Promise((go) => {
      request.onloadend = go;
    });
    request.send(form);
    const read = () => (request.status ? new Response(request.response, request) : Response.error());
    return { done: ended.then(() => settle(read(), this.token)), cancel: () => request.abort() };
  }

  /** Return the pixels of a picture: what an element loads by its address would carry no token. */
  async readPicture(id) {
    const headers = this.headers("*/*");
    const response = await fetch(this.files(id, "content"), { headers, credentials: "omit" });
    return createImageBitmap(await response.blob());
  }
}

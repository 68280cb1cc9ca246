import { DeskError, mayPass } from "./errors.js";
import type { Action, Call, Message, Money, Operations, Run } from "./schema.js";
import { readEvents, type ThreadEvent } from "./stream.js";

export { DeskError, type ThreadEvent };
export type Settings = { key?: string; retries?: number; fetch?: typeof fetch };
export type Answer = { text: string; messages: Message[]; done: boolean };
type Options = { signal?: AbortSignal | undefined };
type From = Options & { after?: number };
type Confirm = (price: Money) => boolean | Promise<boolean>;
type Sent = Options & { path?: object; query?: object; header?: object; body?: unknown };

const ANSWERING = /^(answer\.delta|answer\.snapshot|run\.restarted)$/;
const FAILED = /^run\.(failed|cancelled|expired|capped)$/;
const DONE = /^run\.(completed|incomplete|requires_action)$/;
const LONGEST_WAIT = 30;

/** A desk, at its address. Without an API key, `key`, the caller is anonymous. */
export class Desk {
  constructor(readonly address: string, readonly settings: Settings = {}) {}

  /** Calls an operation of /openapi.json, with its `path`, `query`, `header` and `body`. */
  async request<Name extends keyof Operations>(
    name: Name,
    request: Operations[Name]["takes"] & Options,
  ): Promise<Operations[Name]["gives"]> {
    return (await this.#send(name, request)).json();
  }

  /** Posts a message and streams its answer: the text so far, and at the end its messages. */
  async *ask(thread_id: string, content: string, options: Options = {}): AsyncGenerator<Answer> {
    let run: string | null | undefined;
    let text = "";
    const messages: Message[] = [];
    // the stream is open before the message is sent, so nothing of its answer is missed
    for await (const { type, data } of this.events(thread_id, options)) {
      if (type === "following" && run === undefined) {
        const message = { path: { thread_id }, body: { content }, ...options };
        run = (await this.request("POST /v1/threads/{thread_id}/messages", message)).run_id;
        if (run === null) break; // a message of a capability, which no run answers
      } else if (data.run_id === run && type === "message.created" && data.role === "assistant") {
        messages.push(data as Message);
      } else if (data.run_id === run && ANSWERING.test(type)) {
        text = (type === "answer.delta" ? text : "") + (data.text ?? "");
        yield { text, messages: [], done: false };
      } else if (data.id === run && FAILED.test(type)) {
        const { last_error, status } = data as Run;
        throw new DeskError(200, { code: status, detail: `The run is ${status}.`, ...last_error });
      } else if (data.id === run && DONE.test(type)) break;
    }
    const parts = messages.flatMap((message) => message.content);
    text = parts.filter((part) => typeof part === "string").join("\n\n");
    yield { text, messages, done: true };
  }

  /**
   * Streams the events of a thread, and reconnects by `Last-Event-ID` when the connection is lost.
   * Ends when the thread is deleted; throws a `DeskError` when the caller may no longer read it.
   */
  async *events(thread_id: string, { after, signal }: From = {}): AsyncGenerator<ThreadEvent> {
    const header: Record<string, string> = { Accept: "text/event-stream" };
    if (after !== undefined) header["Last-Event-ID"] = String(after);
    const request = { path: { thread_id }, header, signal };
    for (let lost = 0, connected = false; ; lost += 1) {
      try {
        const { body } = await this.#send("GET /v1/threads/{thread_id}/events", request);
        connected = true;
        for await (const event of readEvents(body as ReadableStream<Uint8Array>)) {
          lost = 0;
          if (event.id !== undefined) header["Last-Event-ID"] = String(event.id);
          yield event;
          if (event.type === "thread.deleted") return;
        }
      } catch (error) {
        if (!connected || !mayPass(error)) throw error;
      }
      await pause(0.1 * 2 ** Math.min(lost, 6), signal);
    }
  }

  /** Calls an action, asks `confirm` about its price, and waits for a call that takes long. */
  async call<Name extends string>(
    name: Name,
    args: Action<Name>["takes"],
    options: Options & { confirm?: Confirm; idempotencyKey?: string } = {},
  ): Promise<Call<Name>> {
    const { confirm, idempotencyKey = crypto.randomUUID(), signal } = options;
    const request = { path: { name }, header: { "Idempotency-Key": idempotencyKey }, signal };
    const send = async (body: object) =>
      (await this.#send("POST /capabilities/{name}", { ...request, body })).json();
    let call: Call<Name> = await send(args).catch(async (error: unknown) => {
      const { price, param } = error instanceof DeskError ? error.fault : {};
      if (param !== "_confirm" || !price || !(await confirm?.(price))) throw error;
      return send({ ...args, _confirm: price });
    });
    while (call.status === "accepted" || call.status === "pending") {
      await pause(Math.min(call.eta_seconds ?? 1, LONGEST_WAIT), signal);
      const status = { path: { name, call_id: call.id }, signal };
      call = await this.request("GET /capabilities/{name}/calls/{call_id}", status) as Call<Name>;
    }
    if (call.error) throw new DeskError(200, call.error);
    return call;
  }

  async #send(name: string, { path, query, header, signal, body }: Sent): Promise<Response> {
    const { key, retries = 3, fetch: send = fetch } = this.settings;
    const [method, address] = name.split(" ") as [string, string];
    const place = address.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(Object(path)[name]));
    const url = `${this.address.replace(/\/$/, "")}${place}?${new URLSearchParams({ ...query })}`;
    const headers = {
      Accept: "application/json",
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(key && { Authorization: `Bearer ${key}` }),
      // the same key at every attempt: the desk does what is asked once
      ...(method === "POST" && { "Idempotency-Key": crypto.randomUUID() }),
      ...header,
    };
    const init = { method, headers, signal: signal ?? null, body: JSON.stringify(body) ?? null };
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await send(url, init);
        if (response.ok) return response;
        throw await DeskError.from(response);
      } catch (error) {
        const seconds = (error as Partial<DeskError>).retryAfter ?? 0.2 * 2 ** attempt;
        if (!mayPass(error) || attempt >= retries || seconds > LONGEST_WAIT) throw error;
        await pause(seconds, signal);
      }
    }
  }
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : seconds * 1000);
    signal?.addEventListener("abort", end);
  });
}

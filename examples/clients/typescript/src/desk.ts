import { DeskError, type Money } from "./errors.js";
import type { components, paths } from "./schema.js";
import { readEvents, type ThreadEvent } from "./stream.js";

export { DeskError, type Money, type ThreadEvent };

type Schemas = components["schemas"];
type Member<Name extends string, Otherwise> = Name extends keyof Schemas
  ? Schemas[Name]
  : Otherwise;
export type Thread = Schemas["Thread"];
export type Message = Schemas["Message"];
export type Run = Schemas["Run"];
export type OpenRequest = Schemas["OpenRequest"];
/** The arguments of an action. Those of actions that the types do not name are any. */
export type Arguments<Name extends string> = Omit<
  Member<`${Name}.arguments`, Record<string, unknown>>,
  "_confirm"
>;
export type Call<Name extends string> = Schemas["CallStatus"] & {
  result?: Member<`${Name}.result`, unknown>;
};

export interface Settings {
  /** An API key of the desk. Without one the caller is anonymous. */
  key?: string;
  /** How often a request is repeated after a lost connection or when the desk is busy. */
  retries?: number;
  fetch?: typeof fetch;
}
export interface Options {
  signal?: AbortSignal;
}
export interface PostOptions extends Options {
  /** Seconds to wait for the reply, which is then in `replies`. */
  wait?: number;
  /** Name a request that may be sent twice, also by another process. By default a new UUID. */
  idempotencyKey?: string;
}
export interface CallOptions extends PostOptions {
  /** Agrees to a price. Without it, or if it returns false, the call is refused. */
  confirm?: (price: Money) => boolean | Promise<boolean>;
}
/** An answer that is being written: its text so far, and at the end its messages. */
export interface Answer {
  text: string;
  messages: Message[];
  done: boolean;
}

interface Request extends PostOptions {
  parts?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
}

const FAILED = new Set(["run.failed", "run.cancelled", "run.expired", "run.capped"]);
const OVER = new Set([...FAILED, "run.completed", "run.incomplete", "run.requires_action"]);
const BUSY = new Set([429, 502, 503, 504]);
const LONGEST_WAIT = 30;

/** A desk, at its address. */
export class Desk {
  readonly #address: string;
  readonly #settings: Settings;

  constructor(address: string, settings: Settings = {}) {
    this.#address = address.replace(/\/$/, "");
    this.#settings = settings;
  }

  openThread(thread: Schemas["ThreadDraft"] = {}, options: PostOptions = {}): Promise<Thread> {
    return this.#json("POST", "/v1/threads", { body: thread, ...options });
  }

  thread(id: string, options: Options = {}): Promise<Thread> {
    return this.#json("GET", "/v1/threads/{thread_id}", { parts: { thread_id: id }, ...options });
  }

  deleteThread(id: string, options: Options = {}): Promise<Schemas["Deleted"]> {
    return this.#json("DELETE", "/v1/threads/{thread_id}", { parts: { thread_id: id }, ...options });
  }

  post(
    threadId: string,
    message: string | Schemas["MessageDraft"],
    options: PostOptions = {},
  ): Promise<Message> {
    const body = typeof message === "string" ? { content: message } : message;
    const parts = { thread_id: threadId };
    return this.#json("POST", "/v1/threads/{thread_id}/messages", { parts, body, ...options });
  }

  /** Lists all messages, oldest first, a page at a time. */
  async *messages(threadId: string, options: Options = {}): AsyncGenerator<Message> {
    const parts = { thread_id: threadId };
    let after: string | undefined;
    for (;;) {
      const query = { order: "asc", limit: 100, after };
      const page = await this.#json<{ data: Message[]; last_id: string; has_more: boolean }>(
        "GET",
        "/v1/threads/{thread_id}/messages",
        { parts, query, ...options },
      );
      yield* page.data;
      if (!page.has_more) return;
      after = page.last_id;
    }
  }

  /** Posts a message and streams its answer. Each value has the whole text so far. */
  async *ask(
    threadId: string,
    message: string | Schemas["MessageDraft"],
    options: Omit<PostOptions, "wait"> = {},
  ): AsyncGenerator<Answer> {
    let run: string | null | undefined;
    let text = "";
    const messages: Message[] = [];
    // the stream is open before the message is sent, so nothing of its answer is missed
    for await (const { type, data } of this.events(threadId, options)) {
      if (type === "following" && run === undefined) {
        run = (await this.post(threadId, message, options)).run_id ?? null;
        if (run === null) break; // a message of a capability, which no run answers
      } else if (type === "message.created" && data.run_id === run && data.role === "assistant") {
        messages.push(data as Message);
      } else if (OVER.has(type) && data.id === run) {
        if (FAILED.has(type)) throw failure(data as Run);
        break;
      } else if (data.run_id === run && ANSWERING[type]) {
        text = ANSWERING[type](text, data);
        yield { text, messages: [], done: false };
      }
    }
    const said = messages.map(({ content }) => content.filter((part) => typeof part === "string"));
    yield { text: said.flat().join("\n\n"), messages, done: true };
  }

  /**
   * Streams the events of a thread, and reconnects by `Last-Event-ID` when the connection is lost.
   * Ends when the thread is deleted; throws a `DeskError` when the caller may no longer read it.
   */
  async *events(
    threadId: string,
    { after, signal }: Options & { after?: number } = {},
  ): AsyncGenerator<ThreadEvent> {
    let last = after;
    let connected = false;
    const parts = { thread_id: threadId };
    for (let lost = 0; ; lost += 1) {
      const headers = {
        Accept: "text/event-stream",
        ...(last !== undefined && { "Last-Event-ID": String(last) }),
      };
      const request = { parts, headers, ...(signal && { signal }) };
      try {
        const response = await this.#send("GET", "/v1/threads/{thread_id}/events", request);
        connected = true;
        for await (const event of readEvents(response.body as ReadableStream<Uint8Array>)) {
          lost = 0;
          last = event.id ?? last;
          yield event;
          if (event.type === "thread.deleted") return;
        }
      } catch (error) {
        const mayPass = error instanceof DeskError ? BUSY.has(error.status) : isLost(error);
        if (!connected || signal?.aborted || !mayPass) throw error;
      }
      await pause(0.1 * 2 ** Math.min(lost, 6), signal);
    }
  }

  startRun(threadId: string, run: Partial<Schemas["RunDraft"]> = {}, options: PostOptions = {}) {
    const request = { parts: { thread_id: threadId }, body: { assistant_id: "desk", ...run } };
    return this.#json<Run>("POST", "/v1/threads/{thread_id}/runs", { ...request, ...options });
  }

  run(threadId: string, runId: string, options: Options = {}): Promise<Run> {
    const parts = { thread_id: threadId, run_id: runId };
    return this.#json("GET", "/v1/threads/{thread_id}/runs/{run_id}", { parts, ...options });
  }

  cancelRun(threadId: string, runId: string, options: Options = {}): Promise<Run> {
    const parts = { thread_id: threadId, run_id: runId };
    return this.#json("POST", "/v1/threads/{thread_id}/runs/{run_id}/cancel", { parts, ...options });
  }

  /** What the desk asks on a thread: a choice, a form, a confirmation. */
  async requests(threadId: string, options: Options = {}): Promise<OpenRequest[]> {
    const request = { parts: { thread_id: threadId }, ...options };
    const path = "/v1/threads/{thread_id}/requests";
    return (await this.#json<{ data: OpenRequest[] }>("GET", path, request)).data;
  }

  /** Answers a request with an object that fits its `form`. */
  answer(threadId: string, request: OpenRequest, form: object, options: PostOptions = {}) {
    const { capability, id } = request;
    const parts = { thread_id: threadId, capability, request_id: id };
    const path = "/v1/threads/{thread_id}/requests/{capability}/{request_id}";
    return this.#json<Message>("POST", path, { parts, body: form, ...options });
  }

  /** Calls an action, asks `confirm` about its price, and waits for a call that takes long. */
  async call<Name extends string>(
    name: Name,
    args: Arguments<Name>,
    { confirm, ...options }: CallOptions = {},
  ): Promise<Call<Name>> {
    const request = { parts: { name }, idempotencyKey: crypto.randomUUID(), ...options };
    const send = (body: object) =>
      this.#json<Call<Name>>("POST", "/capabilities/{name}", { ...request, body });
    let call = await send(args).catch(async (error: unknown) => {
      const price = error instanceof DeskError && error.param === "_confirm" && error.price;
      if (!price || !(await confirm?.(price))) throw error;
      return send({ ...args, _confirm: price });
    });
    const parts = { name, call_id: call.id };
    while (call.status === "accepted" || call.status === "pending") {
      await pause(Math.min(call.eta_seconds ?? 1, LONGEST_WAIT), options.signal);
      call = await this.#json("GET", "/capabilities/{name}/calls/{call_id}", { parts, ...options });
    }
    if (call.error) throw new DeskError(200, call.error);
    return call;
  }

  async #json<T>(method: string, path: keyof paths, request: Request): Promise<T> {
    return (await (await this.#send(method, path, request)).json()) as T;
  }

  async #send(method: string, path: keyof paths, request: Request): Promise<Response> {
    const { parts = {}, query = {}, body, signal, wait, idempotencyKey } = request;
    const named = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parts[name] ?? ""));
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const url = `${this.#address}${named}${asked.length ? `?${new URLSearchParams(asked)}` : ""}`;
    const headers: Record<string, string> = {
      Accept: "application/json",
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(this.#settings.key && { Authorization: `Bearer ${this.#settings.key}` }),
      ...(wait !== undefined && { Prefer: `wait=${wait}` }),
      // the same key at every attempt: the desk does what is asked once
      ...(method === "POST" && { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() }),
      ...request.headers,
    };
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    const { retries = 3, fetch: send = fetch } = this.#settings;
    for (let attempt = 0; ; attempt += 1) {
      let retryAfter: number | undefined;
      try {
        const response = await send(url, init);
        if (response.ok) return response;
        const error = await DeskError.from(response);
        retryAfter = error.retryAfter;
        const isEarly = response.status === 409 && retryAfter !== undefined;
        const helps = (BUSY.has(response.status) || isEarly) && (retryAfter ?? 0) <= LONGEST_WAIT;
        if (!helps || attempt >= retries) throw error;
      } catch (error) {
        if (!isLost(error) || attempt >= retries) throw error;
      }
      await pause(retryAfter ?? 0.2 * 2 ** attempt, signal);
    }
  }
}

const ANSWERING: Record<string, (text: string, data: Record<string, unknown>) => string> = {
  "answer.delta": (text, data) => text + String(data.text),
  "answer.snapshot": (_, data) => String(data.text),
  "run.restarted": () => "",
};

/** Whether the connection failed, for which `fetch` throws a TypeError. */
const isLost = (error: unknown): boolean => error instanceof TypeError;

function failure(run: Run): DeskError {
  const { code, message } = run.last_error ?? {};
  return new DeskError(200, {
    code: code ?? run.status,
    message: message ?? `The run is ${run.status}.`,
  });
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

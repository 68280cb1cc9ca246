// Of a running demo shop, at DESK_URL with the key DESK_KEY, and of a desk whose agent streams, at
// STREAMING_URL.

import assert from "node:assert/strict";
import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Desk, DeskError, type ThreadEvent } from "../src/desk.js";

const { DESK_URL = "http://127.0.0.1:8080", DESK_KEY = "", STREAMING_URL = "" } = process.env;
const desk = new Desk(DESK_URL, { key: DESK_KEY });
const QUESTION = "How long do I have to send boots back?";
const ORDER = {
  items: [{ sku: "TO-5103", quantity: 1 }],
  store: "Portland" as const,
  email: "kai@customer.example",
};

const THREAD = "/v1/threads/{thread_id}";
const WAIT = { Prefer: "wait=10" };
const open = (body = {}, header = {}) => desk.request("POST /v1/threads", { body, header });
const post = (thread_id: string, content: string, header = {}) =>
  desk.request(`POST ${THREAD}/messages`, { path: { thread_id }, body: { content }, header });

async function refused(call: Promise<unknown>): Promise<DeskError> {
  const error = await call.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof DeskError, String(error));
  return error;
}

test("a thread is opened, answered, listed and deleted", async () => {
  const thread = await open({ messages: [QUESTION] }, WAIT);
  assert.equal(thread.run?.status, "completed");
  assert.match(String(thread.replies?.[0]?.content[0]), /60 days/);
  await post(thread.id, "How much is overnight shipping?", WAIT);
  const path = { thread_id: thread.id };
  const query = { order: "asc", limit: 3 } as const;
  const page = await desk.request(`GET ${THREAD}/messages`, { path, query });
  assert.deepEqual(page.data.map(({ role }) => role), ["user", "assistant", "user"]);
  assert.ok(page.has_more);
  await desk.request(`DELETE ${THREAD}`, { path });
  const error = await refused(desk.request(`GET ${THREAD}`, { path }));
  assert.deepEqual([error.status, error.code], [404, "thread_not_found"]);
  assert.equal(error.fault.param, "thread_id");
  assert.match(error.message, /no thread with this id/);
});

test("a message whose answer was lost is sent again and counts once", async () => {
  const { id } = await open();
  let sent = 0;
  const lossy = new Desk(DESK_URL, {
    key: DESK_KEY,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if ((sent += 1) === 1) throw new TypeError("terminated");
      return response;
    },
  });
  const path = { thread_id: id };
  await lossy.request(`POST ${THREAD}/messages`, { path, body: { content: QUESTION } });
  assert.equal(sent, 2);
  const { data } = await desk.request(`GET ${THREAD}/messages`, { path });
  assert.equal(data.filter(({ role }) => role === "user").length, 1);
});

test("a key names a message that two programs send", async () => {
  const { id } = await open();
  const header = { "Idempotency-Key": crypto.randomUUID() };
  const first = await post(id, QUESTION, header);
  assert.equal((await post(id, QUESTION, header)).id, first.id);
  const error = await refused(post(id, "Another question", header));
  assert.equal(error.code, "idempotency_conflict");
});

test("an answer is streamed with its text so far, and its messages at the end", async () => {
  const streaming = new Desk(STREAMING_URL);
  const { id } = await streaming.request("POST /v1/threads", {});
  const texts: string[] = [];
  for await (const answer of streaming.ask(id, "Count to three.")) {
    texts.push(answer.text);
    assert.equal(answer.messages.length, answer.done ? 1 : 0);
  }
  assert.deepEqual(texts.at(-1), "One, two, three.");
  assert.ok(texts.length > 1, "it was shown before it was whole");
  for (const [at, text] of texts.entries()) assert.ok(at === 0 || text.startsWith(texts[at - 1]!));
});

test("an answer that is not streamed comes whole", async () => {
  const { id } = await open();
  const answers = [];
  for await (const answer of desk.ask(id, QUESTION)) answers.push(answer);
  assert.match(answers.at(-1)!.text, /60 days/);
});

test("a lost stream goes on after the last event, without a gap or a repeat", async () => {
  const thread = await open({ messages: [QUESTION] }, WAIT);
  const asked: (string | undefined)[] = [];
  const proxy = createServer((incoming, outgoing) => {
    asked.push(incoming.headers["last-event-id"] as string | undefined);
    const to = new URL(incoming.url ?? "/", DESK_URL);
    const onward = forward(to, { headers: { ...incoming.headers, host: to.host } }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.on("data", (chunk: Buffer) => {
        const isCut = asked.length === 1 && chunk.includes("run.queued");
        outgoing.write(chunk, () => isCut && outgoing.destroy());
      });
    });
    outgoing.on("close", () => onward.destroy());
    onward.on("error", () => outgoing.destroy());
    onward.end();
  });
  const url = await listen(proxy);
  const ids: (number | undefined)[] = [];
  for await (const event of new Desk(url, { key: DESK_KEY }).events(thread.id, { after: 0 })) {
    if (event.type !== "following") ids.push(event.id);
    if (event.type === "run.completed") {
      if (asked.length > 1) break;
      await post(thread.id, "And stoves?");
    }
  }
  proxy.closeAllConnections();
  proxy.close();
  assert.ok(asked.length > 1 && Number(asked[1]) > 0, JSON.stringify(asked));
  assert.deepEqual(ids, ids.map((_, at) => at + 1));
});

test("a stream ends with its thread, and says why a caller may not read one", async () => {
  const { id } = await open();
  const seen: string[] = [];
  for await (const { type } of desk.events(id)) {
    seen.push(type);
    if (type === "following") await desk.request(`DELETE ${THREAD}`, { path: { thread_id: id } });
  }
  assert.equal(seen.at(-1), "thread.deleted");
  assert.equal((await refused(first(desk.events("thread_nobody")))).code, "thread_not_found");
});

test("a run is started, waited for and read", async () => {
  const { id } = await open({ messages: [QUESTION] }, WAIT);
  const body = { assistant_id: "desk" };
  const path = { thread_id: id };
  const run = await desk.request(`POST ${THREAD}/runs`, { path, body, header: WAIT });
  assert.equal(run.status, "completed");
  const started = { path: { ...path, run_id: run.id } };
  assert.equal((await desk.request(`GET ${THREAD}/runs/{run_id}`, started)).id, run.id);
  const error = await refused(desk.request(`POST ${THREAD}/runs/{run_id}/cancel`, started));
  assert.equal(error.code, "invalid_request");
});

test("a call that costs is refused with its price until the caller agrees", async () => {
  const error = await refused(desk.call("place_order", ORDER));
  assert.deepEqual([error.status, error.fault.param], [409, "_confirm"]);
  assert.deepEqual(error.fault.price, { amount: "64.00", currency: "USD" });
  await refused(desk.call("place_order", ORDER, { confirm: () => false }));

  const idempotencyKey = crypto.randomUUID();
  const confirm = ({ amount }: { amount: string }) => Number(amount) <= 70;
  const call = await desk.call("place_order", ORDER, { confirm, idempotencyKey });
  assert.equal(call.status, "success");
  const again = await desk.call("place_order", ORDER, { confirm, idempotencyKey });
  assert.equal(again.result?.id, call.result?.id, "a repeat is the same order");
});

test("wrong arguments are refused with the one at fault", async () => {
  const error = await refused(desk.call("place_order", { ...ORDER, store: "Paris" as "Bend" }));
  assert.deepEqual([error.status, error.code], [400, "invalid_request"]);
  assert.equal(error.fault.param, "store");
});

test("a call for a person is waited for until the caller gives up", async () => {
  const given = new AbortController();
  let polled = 0;
  const patient = new Desk(DESK_URL, {
    key: DESK_KEY,
    fetch: async (url, init) => {
      if (String(url).includes("/calls/") && (polled += 1) === 1) given.abort(new Error("enough"));
      return fetch(url, init);
    },
  });
  const call = patient.call("contact_human", { question: "Will the blue tent come back?" }, { signal: given.signal });
  await assert.rejects(call, /enough/);
  assert.equal(polled, 1);
});

test("a question of the desk is answered with its form", async () => {
  const wish = { content: "I would like the Larkspur 2 tent", metadata: { action: "ship_order" } };
  const path = { thread_id: (await open({ messages: [wish] }, WAIT)).id };
  const requests = async () => (await desk.request(`GET ${THREAD}/requests`, { path })).data;
  const [asked] = await requests();
  assert.match(asked!.text, /Which Tarn Larkspur 2 Tent/);
  const request = { ...path, capability: asked!.capability, request_id: asked!.id };
  const answer = (body: object) =>
    desk.request(`POST ${THREAD}/requests/{capability}/{request_id}`, {
      path: request,
      body: { ...body },
      header: WAIT,
    });
  assert.equal((await refused(answer({ "TO-2201-SAGE": "many" }))).status, 400);
  await answer({ "TO-2201-SAGE": 1 });
  const [next] = await requests();
  assert.notEqual(next!.id, asked!.id);
});

async function first(events: AsyncIterable<ThreadEvent>): Promise<ThreadEvent | undefined> {
  for await (const event of events) return event;
  return undefined;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An event of a thread. One with an `id` is on disk; the others show an answer being written. */
export type ThreadEvent = { id?: number | undefined; type: string; data: Record<string, unknown> };

/** Reads server-sent events from a body, as the HTML standard has them. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ThreadEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // an event without its empty line is not complete, and is left out
      text += decoder.decode(value, { stream: true });
      const frames = text.split(/\r?\n\r?\n/);
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const lines = frame.split(/\r?\n/).map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
        const values = (field: string) => lines.flatMap((it) => (it[1] === field ? it[2] : []));
        const [id] = values("id");
        const data = values("data").join("\n"); // empty for a comment
        const type = values("event")[0] ?? "message";
        if (data) yield { id: id ? +id : undefined, type, data: JSON.parse(data) };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

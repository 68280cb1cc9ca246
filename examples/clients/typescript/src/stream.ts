/** An event of a thread. Events with an `id` are on disk; the others show an answer being written. */
export interface ThreadEvent {
  id: number | undefined;
  type: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events from a body, as the HTML standard has them. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ThreadEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // an event without its empty line is not complete, and is left out
      text += decoder.decode(value, { stream: true });
      const frames = text.split(/\r?\n\r?\n/);
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const event = readFrame(frame);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function readFrame(frame: string): ThreadEvent | undefined {
  let id: number | undefined;
  let type = "message";
  const data: string[] = [];
  for (const line of frame.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = Number(value);
    else if (field === "event") type = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? { id, type, data: JSON.parse(data.join("\n")) } : undefined;
}

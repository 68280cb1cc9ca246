// Offers the desk to agents in the browser (WebMCP, draft of September 2026): `ask`, and the actions.

/** The tools of the page; absent in browsers without agents. */
export const MODEL_CONTEXT = document.modelContext ?? navigator.modelContext;

/**
 * Register the tools that are open to the visitor, until the signal is aborted.
 *
 * @param {HTMLElement} host the <aitp-chat> element.
 * @param {Conversation} conversation
 * @param {string} site its name.
 * @param {AbortSignal} signal
 */
export async function offerTools(host, conversation, site, signal) {
  const { client } = conversation;
  const request = async (method, params) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const { said, failure } = await client.request(client.at("mcp"), { body });
    return said?.result ?? failure.text;
  };
  // what needs a yes gets it from the visitor alone, whatever the agent says
  const call = async (name, given) => {
    const input = { ...given, _confirm: undefined, _payment: undefined };
    const result = await request("tools/call", { name, arguments: input });
    const { send, message } = result.structuredContent?.error ?? {};
    if (!send || !confirm(`${name}: ${message}`)) return result;
    return request("tools/call", { name, arguments: { ...input, ...send } });
  };
  const ask = async ({ question }) => {
    const said = new Promise((go) => {
      for (const kind of ["answer", "error", "handover"]) host.addEventListener(kind, go, { once: true });
    });
    await host.ask(question);
    // a person may answer much later, or never
    const { text } = conversation.person ? {} : (await said).detail;
    return text ?? "A person was asked. Do not wait: the visitor sees the reply in the chat.";
  };
  const own = {
    name: "ask",
    description: `Ask ${site}. The visitor sees it.`,
    inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
    execute: ask,
  };
  const { tools = [] } = await request("tools/list", {});
  const actions = tools.filter(({ annotations }) => annotations.openWorldHint);
  for (const tool of [own, ...actions]) {
    const { name } = tool;
    const execute = (given) => call(name, given);
    if (!signal.aborted) MODEL_CONTEXT.registerTool({ execute, ...tool }, { signal });
  }
}

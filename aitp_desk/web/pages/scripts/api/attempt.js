// The form that sends an operation from the page. Its credential is in one box, and nowhere else.

import { el } from "../dom.js";

const LONGEST = 100_000;
const OF_THE_CONSOLE = "console";
const FORM_TYPE = "multipart/form-data";

/** The fields of the parameters in the operation's table. */
function makeFields(line) {
  return [...line.querySelectorAll("tr[data-in]")].map((row) => {
    const name = row.querySelector("code").textContent;
    const isRequired = row.cells[1].textContent.endsWith(", required");
    const place = row.dataset.in;
    const kind = place === "file" ? { type: "file" } : { autocomplete: "off", spellcheck: "false" };
    const box = el("input", { ...kind, required: isRequired });
    return { name, place, box, label: el("label", {}, el("span", {}, name), box) };
  });
}

/** The request of the form, as `fetch` takes it. */
function makeRequest(line, fields, body) {
  const { scheme, type } = line.dataset;
  const headers = new Headers({ Accept: "application/json, */*;q=0.8" });
  const query = new URLSearchParams();
  const form = type === FORM_TYPE ? new FormData() : null;
  let address = line.querySelector("summary code").textContent;
  for (const { name, place, box } of fields) {
    if (place === "path") {
      const value = box.value.split("/").map(encodeURIComponent).join("/");
      address = address.replace(`{${name}}`, () => value);
    } else if (box.value && place === "query") query.append(name, box.value);
    else if (box.value && place === "header") headers.set(name, box.value);
    else if (box.value && form) form.append(name, box.files?.[0] ?? box.value);
  }
  if (query.size) address += `?${query}`;
  const key = document.getElementById("api.key").value.trim();
  if (key && scheme !== OF_THE_CONSOLE) headers.set("Authorization", `Bearer ${key}`);
  if (body) headers.set("Content-Type", type);
  return new Request(address, {
    method: line.querySelector("summary b").textContent,
    headers,
    body: form ?? body?.value,
    // nobody else's session is used: what is sent is what the form says
    credentials: scheme === OF_THE_CONSOLE ? "same-origin" : "omit",
    cache: "no-store",
  });
}

/** Show the body as it arrives, to a limit; JSON that has arrived whole is laid out. */
async function showBody(response, shown) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!response.body || !/text|json|xml|javascript/.test(type)) return;
  const decoder = new TextDecoder();
  let text = "";
  for (const reader = response.body.getReader(); text.length <= LONGEST; ) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    shown.textContent = text.slice(0, LONGEST);
  }
  if (text.length > LONGEST) {
    shown.textContent += "\n…";
  } else if (/json/.test(type)) {
    try {
      shown.textContent = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // it stays as it came
    }
  }
}

/** Add the form to an operation. */
export function addAttempt(line) {
  const { type } = line.dataset;
  const fields = makeFields(line);
  const body = type && type !== FORM_TYPE ? el("textarea", { rows: "6", spellcheck: "false" }) : null;
  if (body) body.value = line.dataset.body;
  const send = el("button", { class: "button" }, "Send");
  const status = el("p", { role: "status" });
  const shown = el("code");
  const output = el("pre", { tabindex: "0", "aria-label": "Response", hidden: true }, shown);
  let running = null;

  async function attempt(event) {
    event.preventDefault();
    if (running) {
      running.abort();
      return;
    }
    running = new AbortController();
    send.textContent = "Stop";
    status.textContent = "Sent …";
    output.hidden = true;
    shown.textContent = "";
    const began = performance.now();
    try {
      const request = makeRequest(line, fields, body);
      const response = await fetch(request, { signal: running.signal });
      const taken = Math.round(performance.now() - began);
      status.textContent = `${response.status} ${response.statusText}, after ${taken} ms`;
      output.hidden = false;
      await showBody(response, shown);
    } catch (error) {
      status.textContent = error.name === "AbortError" ? "Stopped." : `Not sent: ${error.message}`;
    }
    output.hidden = !shown.textContent;
    running = null;
    send.textContent = "Send";
  }

  line.append(
    el(
      "form",
      { class: "attempt", onsubmit: attempt, "aria-label": `Try ${line.id}` },
      ...fields.map(({ label }) => label),
      body && el("label", {}, el("span", {}, `Body (${type})`), body),
      el("p", {}, send, "Sends a real request to this site."),
      status,
      output,
    ),
  );
}

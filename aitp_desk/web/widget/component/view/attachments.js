// Files: those that go with the next message, uploaded at once, and those of messages.

import { el, tool } from "../dom.js";
import { text } from "../texts.js";

const PICTURE = /\.(?:png|jpe?g|gif|webp)$/i;

/** Name a file with its size. */
function describe(name, bytes) {
  const megabytes = Math.round(bytes / 2 ** 20);
  return `${name} · ${megabytes ? `${megabytes} MB` : `${Math.ceil(bytes / 1024)} KB`}`;
}

export class Attachments {
  /**
   * @param {{anonymous: boolean, max_bytes: number, rules: {size: string, kinds: string},
   *   accept: string}} limits of the desk.
   * @param {Client} client
   */
  constructor(limits, client) {
    this.limits = limits;
    this.client = client;
    this.rules = text("filesRules", limits.rules);
    this.uploads = new Map();
    this.shown = new Map();
    const onchange = () => {
      this.add(input.files);
      input.value = "";
    };
    const input = el("input", { type: "file", multiple: true, accept: limits.accept, onchange });
    const onclick = () => input.click();
    this.button = tool("attach", text("attach"), { onclick });
    this.note = el("p", { class: "small" }, this.rules);
    this.list = el("ul", { class: "files" });
  }

  /** Offer files to callers of whom the desk accepts them, and say which. */
  allow(isKnown) {
    this.button.hidden = this.note.hidden = !isKnown && !this.limits.anonymous;
  }

  /** Take the files that are dropped on or pasted into an element. */
  listen(element) {
    for (const kind of ["dragover", "drop", "paste"]) {
      element.addEventListener(kind, (event) => {
        const { types, files } = event.dataTransfer ?? event.clipboardData;
        if (this.button.hidden || !types.includes("Files")) return;
        event.preventDefault();
        this.add(files);
      });
    }
  }

  add(files) {
    for (const file of files) this.upload(file);
  }

  async upload(file) {
    const { name, size } = file;
    const bar = el("progress", { value: 0, "aria-label": name });
    const upload =
      size > this.limits.max_bytes
        ? { done: { failure: { status: 413 } } }
        : this.client.upload(file, (share) => bar.setAttribute("value", share));
    const onclick = () => {
      this.cancel(item);
      item.remove();
      this.button.focus();
    };
    const remove = tool("close", text("removeFile", { name }), { onclick });
    const item = el("li", {}, describe(name, size), bar, remove);
    this.list.append(item);
    this.uploads.set(item, upload);
    const { said, failure } = await upload.done;
    upload.said = said;
    bar.remove();
    if (said) return;
    this.uploads.delete(item);
    const isRefused = [400, 413].includes(failure.status);
    item.append(el("p", { class: "failure", role: "alert" }, isRefused ? this.rules : failure.text));
  }

  /** Stop an upload, or delete what it has brought. */
  cancel(item) {
    const { cancel, said } = this.uploads.get(item) ?? {};
    this.uploads.delete(item);
    cancel?.();
    if (said) this.delete(said.id);
  }

  delete(id) {
    return this.client.request(this.client.files(id), { method: "DELETE" });
  }

  /** Return the files for a message, after which the next one begins without; null if some lack. */
  take() {
    const files = [...this.uploads.values()].map(({ said }) => said);
    if (files.includes(undefined)) return null;
    this.uploads.clear();
    this.list.replaceChildren();
    return files;
  }

  /** Forget all files. */
  clear() {
    for (const item of this.uploads.keys()) this.cancel(item);
    this.take();
  }

  /** Return the files of a message; each is read once. */
  show(files) {
    const items = files.map((file) => {
      if (!this.shown.has(file.id)) {
        const item = el("li");
        this.shown.set(file.id, item);
        this.fill(item, file).catch(() => item.classList.add("failed"));
      }
      return this.shown.get(file.id);
    });
    return el("ul", { class: "files" }, ...items);
  }

  async fill(item, { id, filename, bytes }) {
    if (!filename) ({ filename, bytes } = (await this.client.request(this.client.files(id))).said);
    item.append(describe(filename, bytes));
    if (!PICTURE.test(filename)) return;
    const picture = await this.client.readPicture(id);
    const { width, height } = picture;
    const canvas = el("canvas", { width, height, role: "img", "aria-label": filename });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    item.prepend(canvas);
  }
}

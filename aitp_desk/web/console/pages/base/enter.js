// Enter in a box of several lines: the same everywhere.

/**
 * Send with Enter and Ctrl+Enter; Shift+Enter starts a new line. While an input method composes
 * characters Enter belongs to it: Safari ends the composition first, and marks that Enter by 229.
 *
 * @param {HTMLElement} element the box, or a form that has some.
 * @param {() => void} send
 * @param {{onlyWithCtrl?: boolean}} [how] for texts that have several lines.
 */
export function sendOnEnter(element, send, { onlyWithCtrl = false } = {}) {
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    if (event.defaultPrevented) return;
    const withCtrl = event.ctrlKey || event.metaKey;
    if (event.shiftKey || event.altKey || (onlyWithCtrl && !withCtrl)) return;
    event.preventDefault();
    if (!event.repeat) send();
  });
}

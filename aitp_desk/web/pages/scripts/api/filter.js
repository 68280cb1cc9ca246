// The filter as you type: lines that have all its words, in groups that open for them.

/** Whether words have one that begins as a given one; what is no plain word may be anywhere. */
function hasWord(words, wanted) {
  const isPlain = /^[a-z0-9]+$/.test(wanted);
  return isPlain ? new RegExp(`(?:^|[^a-z0-9])${wanted}`).test(words) : words.includes(wanted);
}

/** Start the filter; the function that is returned clears it. */
export function startFilter() {
  const form = document.querySelector("[data-tools]");
  const status = form.querySelector("[role=status]");
  const total = status.textContent;
  const box = form.querySelector("input[type=search]");
  const groups = [...document.querySelectorAll(".group")].map((group) => ({
    group,
    wasOpen: false,
    lines: [...group.querySelectorAll(".line")].map((line) => ({
      line,
      words: [group, line]
        .map((one) => one.querySelector("summary").textContent.toLowerCase())
        .join(" "),
    })),
  }));
  let isOn = false;

  function filter() {
    const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wasOn = isOn;
    isOn = wanted.length > 0;
    if (!isOn && !wasOn) return;
    let found = 0;
    for (const kept of groups) {
      if (!wasOn) kept.wasOpen = kept.group.open;
      let here = 0;
      for (const { line, words } of kept.lines) {
        const fits = wanted.every((word) => hasWord(words, word));
        line.hidden = !fits;
        if (fits) here += 1;
      }
      found += here;
      kept.group.hidden = here === 0;
      kept.group.open = isOn ? here > 0 : kept.wasOpen;
    }
    if (!isOn) status.textContent = total;
    else status.textContent = found === 1 ? "1 is found." : `${found} are found.`;
  }

  function clear() {
    if (!box.value) return;
    box.value = "";
    filter();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  box.addEventListener("input", filter);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
  });
  return clear;
}

// A starter file for a page that answers questions: Markdown, with the questions as a comment.

const LONGEST_NAME = 60;

/** Let the browser download the starter file of a group of questions. */
export function downloadPage({ question, others, reasons }) {
  const url = URL.createObjectURL(
    new Blob([writePage(question, others, reasons)], { type: "text/markdown" }),
  );
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `${slug(question)}.md`;
  anchor.click();
  URL.revokeObjectURL(url);
}

function writePage(question, others, reasons) {
  const asked = [question, ...others].map((one) => `- ${oneLine(one)}`);
  const why = reasons.map((one) => `- ${oneLine(one)}`);
  return [
    "<!--",
    "Visitors asked:",
    ...asked,
    ...(why.length ? ["", "Not helpful, because:", ...why] : []),
    "-->",
    "",
    `# ${oneLine(question).replace(/[?？]+$/u, "")}`,
    "",
    "",
  ].join("\n");
}

/** Visitors' words on a line of their own; two hyphens could end the comment. */
function oneLine(words) {
  return words.replace(/\s+/g, " ").replaceAll("--", "- -").replace(/[<>]/g, "").trim();
}

function slug(words) {
  const plain = words.normalize("NFKD").toLowerCase();
  const name = plain.replace(/[^a-z0-9]+/g, "-").slice(0, LONGEST_NAME).replace(/^-+|-+$/g, "");
  return name || "new-page";
}

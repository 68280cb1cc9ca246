// Bars over time as SVG. A table holds the same numbers; assistive technology skips the picture.

import { el } from "../base/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;
const HEIGHT = 160;
const LEFT = 44;
const BOTTOM = 28;
const TOP = 16;

/**
 * Draw bars, one group for each span of time.
 *
 * @param {object} what
 * @param {string} what.title
 * @param {{name: string, values: (number | null)[]}[]} what.series
 * @param {string[]} what.labels of the spans, for their titles.
 * @param {(at: number) => string | null} what.tick the label below a span, if any.
 * @param {(value: number) => string} [what.unit] formats a value.
 */
export function bars({ title, series, labels, tick, unit = String }) {
  const top = rounded(
    Math.max(1, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))),
  );
  const step = (WIDTH - LEFT) / labels.length;
  const wide = Math.max(1, (step * 0.76) / series.length);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "chart",
    "aria-hidden": "true",
    focusable: "false",
  });
  for (const value of [0, top / 2, top]) {
    picture.append(
      svg("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
      svg(
        "text",
        { class: "axis", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" },
        unit(value),
      ),
    );
  }
  labels.forEach((label, at) => {
    const x = LEFT + at * step;
    const below = tick(at);
    if (below && x + step / 2 < WIDTH - LEFT / 2)
      picture.append(
        svg(
          "text",
          { class: "axis", x: x + step / 2, y: HEIGHT - 5, "text-anchor": "middle" },
          below,
        ),
      );
    series.forEach(({ name, values }, nth) => {
      const value = values[at];
      if (!value) return;
      const box = {
        x: x + step * 0.12 + nth * wide,
        y: y(value),
        width: wide,
        height: y(0) - y(value),
        rx: 1.5,
      };
      const bar = svg("rect", { class: `bar series-${nth}`, ...box });
      bar.append(svg("title", {}, `${label}: ${unit(value)} ${name}`));
      picture.append(bar);
    });
  });
  const names =
    series.length > 1 &&
    el(
      "p",
      { class: "legend soft small" },
      ...series.map(({ name }, nth) => el("span", { class: `key series-${nth}` }, name)),
    );
  return el("figure", { class: "figure" }, el("figcaption", {}, title, names), picture);
}

/** Return the least number at or above that divides well. */
function rounded(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 4, 6, 10].find((each) => each * power >= most);
  return Math.max(2, step * power);
}

function svg(tag, attributes, words) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (words !== undefined) element.textContent = words;
  return element;
}

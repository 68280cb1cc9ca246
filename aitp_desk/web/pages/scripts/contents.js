// Marks the section in view in the table of contents next to a page's text.

const BELOW_TOP = 96;

class SectionMarker {
  constructor(list) {
    this.list = list;
    this.links = new Map();
    for (const link of list.querySelectorAll("a")) {
      const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (heading) this.links.set(heading, link);
    }
    this.current = null;
    this.isWaiting = false;
    const mark = () => {
      if (this.isWaiting) return;
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.mark();
      });
    };
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark, { passive: true });
    this.mark();
  }

  mark() {
    const headings = [...this.links.keys()];
    const passed = headings.filter((one) => one.getBoundingClientRect().top <= BELOW_TOP);
    const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 2;
    const seen = headings.filter((one) => one.getBoundingClientRect().top < innerHeight);
    const link = this.links.get((isAtEnd && passed.length ? seen : passed).at(-1)) ?? null;
    if (link === this.current) return;
    this.current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "true");
    this.current = link;
    if (link) this.keepInView(link);
  }

  /** Scroll the list, never the page. */
  keepInView(link) {
    const { top, bottom } = link.getBoundingClientRect();
    const box = this.list.getBoundingClientRect();
    if (top < box.top) this.list.scrollTop -= box.top - top + 8;
    if (bottom > box.bottom) this.list.scrollTop += bottom - box.bottom + 8;
  }
}

export function markSections() {
  for (const list of document.querySelectorAll("[data-contents]")) new SectionMarker(list);
}

"""What answers cost at each level: time, memory, start and disk, at 250 and at 10,000 passages.

    python -m tests.bench.answers [--against COMMIT_OR_FOLDER] [--write]

The small site is the demo shop, the large one what Python says of itself. Each level runs in a
process of its own. The vectors of the large site are drawn by lot: real ones take minutes, and cost
a question the same. `--against` measures level 0 of another version as well, in turns with this
one, and prints ratios. `--write` writes the table into docs/run/content.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aitp_desk.knowledge.enrichment.file import FILE as ENRICHED
from aitp_desk.knowledge.enrichment.file import Line, Question, write_lines
from aitp_desk.knowledge.enrichment.text import is_enrichable, make_digest
from aitp_desk.knowledge.index.builder import FILE as INDEX
from aitp_desk.knowledge.snapshot import open_knowledge
from tests.bench.harness.corpus import questions, write_body
from tests.bench.large import of_checkout
from tests.support.desk.server import SHOP

ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "tests" / "answers" / "questions"
PAGE = ROOT / "docs/run/content.md"
BEGIN, END = "<!-- costs -->", "<!-- end of costs -->"
LEVELS = {
    "words": "0 words",
    "meaning": "1 with `semantic`",
    "enriched": "2 enriched",
    "both": "2 enriched, with `semantic`",
}
COLUMNS = (
    "ms a question: first, again",
    "memory, MiB",
    "start, s: index made, opened",
    "on disk, MiB: index, vectors, `enriched.jsonl`",
)
SITES = ("shop", "python")
ASKED = 200
"""So many questions a site is asked."""
WRITTEN = 5
"""So many questions enrich a passage of the large site."""
ROUNDS = 3
"""So often two versions are measured in turns; the least time of each is compared."""

Figures = dict[str, float]


def lay_out(scratch: Path) -> None:
    """Write both sites, plain and enriched, and their questions."""
    shutil.copytree(SHOP / "content", scratch / "shop-enriched")
    shutil.copytree(scratch / "shop-enriched", scratch / "shop")
    (scratch / "shop" / ENRICHED).unlink()
    said = [
        one["question"]
        for file in sorted(LABELLED.glob("shop_*.toml"))
        for one in tomllib.loads(file.read_text("utf-8"))["question"]
    ]
    (scratch / "shop.json").write_text(json.dumps(said[:ASKED]), "utf-8")
    write_body(scratch / "body")
    (scratch / "body" / "content").rename(scratch / "python")
    said = questions()
    said = said[:: len(said) // ASKED]
    (scratch / "python.json").write_text(json.dumps(said), "utf-8")
    shutil.copytree(scratch / "python", scratch / "python-enriched")
    write_lines(scratch / "python-enriched" / ENRICHED, asyncio.run(_enriched(scratch)))


async def _enriched(scratch: Path) -> list[Line]:
    """Questions for each passage of the large site, from its own sentences."""
    lines: list[Line] = []
    async with open_knowledge(scratch / "python", data=scratch / "python-data") as knowledge:
        for passage in filter(is_enrichable, knowledge.editions.library.passages):
            told = [unit.text for unit in passage.units][:WRITTEN]
            asked = tuple(Question(f"How do I {one.lower()[:80]}?", one) for one in told)
            place = (passage.document, passage.trail, passage.anchor, make_digest(passage))
            lines.append(Line(*place, told[0], asked))
    return lines


def measure(scratch: Path, site: str, level: str, checkout: Path | None = None) -> Figures:
    """Run one level of one site in a process of its own."""
    enriched = level in {"enriched", "both"}
    content = scratch / (f"{site}-enriched" if enriched else site)
    with (
        tempfile.TemporaryDirectory(dir=scratch) as data,
        of_checkout(ROOT if checkout is None else checkout),
    ):
        vectors = Path(data) / "vectors.sqlite"
        command = [sys.executable, str(ROOT / "tests" / "bench" / "harness" / "level.py")]
        command += [str(content), data, str(scratch / f"{site}.json")]
        if level in {"meaning", "both"}:
            command += ["--vectors", str(vectors)]
            command += ["--chance"] if site == "python" else []
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        figures: Figures = json.loads(done.stdout.splitlines()[-1])
        places = {"index": Path(data) / INDEX, "vectors": vectors, "file": content / ENRICHED}
        for name, place in places.items():
            figures[f"{name}_mib"] = place.stat().st_size / 2**20 if place.is_file() else 0.0
    return figures


def table(rows: Sequence[tuple[str, str, Figures]]) -> str:
    """The table of the documentation."""
    lines = [f"| {' | '.join(['', *COLUMNS])} |", "| --- " * (len(COLUMNS) + 1) + "|"]
    for _, level, found in rows:
        name = f"{found['passages']:,.0f} passages: {LEVELS[level]}" if level == "words" else ""
        cells = [
            name or LEVELS[level],
            f"{found['first_ms']:.2f}, {found['again_ms']:.2f}",
            f"{found['peak_mib']:.0f}",
            f"{found['made_seconds']:.1f}, {found['opened_seconds']:.2f}",
            ", ".join(f"{found[one]:.1f}" for one in ("index_mib", "vectors_mib", "file_mib")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    pace = next(
        found["embedded_seconds"] / found["vectors"]
        for site, level, found in rows
        if site == "shop" and level == "meaning"
    )
    for _, level, found in rows:
        if level == "meaning":
            took = pace * found["vectors"]
            lines += ["", f"{found['vectors']:,.0f} vectors take {took:.0f} s of one core."]
    return "\n".join(lines)


@contextmanager
def checkout_of(version: str, scratch: Path) -> Iterator[Path]:
    """The folder of a version: the folder itself, or a worktree for a commit."""
    if Path(version).is_dir():
        yield Path(version).resolve()
        return
    folder = scratch / "checkout"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "-q", "--detach", str(folder), version], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def compare(scratch: Path, version: str) -> None:
    """Print how many times as long a question takes at level 0 as in another version."""
    with checkout_of(version, scratch) as folder:
        for site in SITES:
            now: list[Figures] = []
            then: list[Figures] = []
            for _ in range(ROUNDS):
                then.append(measure(scratch, site, "words", folder))
                now.append(measure(scratch, site, "words"))
            for name in ("first_ms", "again_ms", "opened_seconds", "peak_mib"):
                here, there = (min(one[name] for one in figures) for figures in (now, then))
                print(f"{site} {name}: {here:.3f}, before {there:.3f}, ratio {here / there:.2f}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT_OR_FOLDER")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/run/content.md"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aitp-desk-answers-") as folder:
        scratch = Path(folder)
        lay_out(scratch)
        if given.against:
            compare(scratch, given.against)
            return
        rows = []
        for site in SITES:
            for level in LEVELS:
                rows.append((site, level, measure(scratch, site, level)))
                print(*rows[-1], file=sys.stderr, flush=True)
    told = table(rows)
    print(told)
    if given.write:
        text = PAGE.read_text("utf-8")
        between = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)
        PAGE.write_text(between.sub(lambda _: f"{told}\n", text), "utf-8")


if __name__ == "__main__":
    main()

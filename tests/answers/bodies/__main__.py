"""Answers over documentation that nobody here wrote, asked of a real desk over HTTP.

    python -m tests.answers.bodies [NAME] [--folder PATH] [--show none|missed|all]

serves each body that is installed (Debian's python3-doc, sqlite3-doc, postgresql-doc,
python-django-doc and git-doc), asks the labelled questions of ``NAME.toml`` once each, and prints
the verdicts, how long the first and the second start took, the size of the index, the memory held,
and the median time of an answer. Nothing of the bodies is kept here but what a right answer holds
in a few words, and where it stands.

A third of the questions is unseen: they are counted, and shown only with ``--split unseen``.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from aitp_desk.knowledge.index.builder import FILE
from tests.answers.judge import holds
from tests.support.desk.processes import Server, desk_command, free_port, serving_process

HERE = Path(__file__).parent
FOLDERS = {
    "python": Path("/usr/share/doc/python3.11/html"),
    "sqlite": Path("/usr/share/doc/sqlite3"),
    "postgresql": Path("/usr/share/doc/postgresql-doc-15/html"),
    "django": Path("/usr/share/doc/python-django-doc/html"),
    "git": Path("/usr/share/doc/git-doc"),
}
START_SECONDS = 300
"""How long a first start may take, in seconds, on a machine that is busy otherwise."""

Outcome = Literal["right", "partly", "wrong", "refused", "asked back"]


class Question(msgspec.Struct, frozen=True):
    """A labelled question.

    Parameters:
        kind: ``absent`` where the body does not answer; refusing is right then.
        holds: what a right answer holds: every entry, of a list any member.
        pages: where it stands: pages, or sections by their ids.
    """

    id: str
    kind: str
    split: Literal["tune", "unseen"]
    question: str
    holds: list[str | list[str]] = []
    pages: list[str] = []


class Verdict(msgspec.Struct, frozen=True):
    """What was answered, and how long it took in seconds."""

    question: Question
    text: str
    sources: list[str]
    found: bool
    clarified: bool
    seconds: float

    @property
    def outcome(self) -> Outcome:
        """``partly``: from the right page without the words, or with them from another one."""
        if self.question.kind == "absent":
            return "wrong" if self.found and not self.clarified else "right"
        if self.clarified:
            return "asked back"
        if not self.found:
            return "refused"
        said = all(holds(self.text, entry) for entry in self.question.holds)
        placed = any(_is_at(self.sources[0], page) for page in self.question.pages)
        return "right" if said and placed else "partly" if said or placed else "wrong"


def questions(name: str) -> list[Question]:
    """The questions on a body."""
    table = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))
    return msgspec.convert(table["question"], list[Question])


def ask(server: Server, question: Question) -> Verdict:
    """Ask as a visitor would, in a conversation of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = {"ahp": "0.1", "capability": "content_search", "query": question.question}
    began = time.perf_counter()
    connection.request(
        "POST", "/agent/converse", msgspec.json.encode(body), {"Content-Type": "application/json"}
    )
    reply: dict[str, Any] = msgspec.json.decode(connection.getresponse().read())
    seconds = time.perf_counter() - began
    connection.close()
    clarified = reply.get("status") == "clarification_needed"
    response = reply.get("response") or {}
    text = response.get("answer") or str(reply.get("clarification_question") or reply)
    sources = [source["url"] for source in response.get("sources", [])]
    return Verdict(question, text, sources, bool(sources), clarified, seconds)


def run(name: str, folder: Path) -> tuple[list[Verdict], dict[str, str]]:
    """Serve a body twice, ask its questions, and measure."""
    figures: dict[str, str] = {}
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory() as kept:
        data = Path(kept) / "data"
        for start in ("first start", "second start"):
            port = free_port()
            command = desk_command(data, port, folder=folder)
            with serving_process(
                command,
                port,
                log=Path(kept) / "log",
                bytecode=Path(kept) / "bytecode",
                within=START_SECONDS,
            ) as server:
                figures[start] = f"{server.start_seconds:.1f} s"
                if start == "second start":
                    figures["memory after it"] = f"{server.resident_mib():.0f} MiB"
                    verdicts = [ask(server, question) for question in questions(name)]
                    figures["memory after the questions"] = f"{server.resident_mib():.0f} MiB"
        figures["index"] = f"{(data / FILE).stat().st_size / 2**20:.0f} MiB"
        times = [verdict.seconds * 1000 for verdict in verdicts]
        figures["median answer, uncached"] = f"{statistics.median(times):.1f} ms"
    return verdicts, figures


def _is_at(url: str, page: str) -> bool:
    place = url.rpartition("://")[2].partition("/")[2]
    return place == page if "#" in page else place.partition("#")[0] == page


def _print(verdicts: Sequence[Verdict], show: str) -> None:
    for verdict in verdicts:
        if show == "none" or (show == "missed" and verdict.outcome == "right"):
            continue
        question = verdict.question
        print(f"\n{verdict.outcome.upper()} {question.id}: {question.question}")
        print(f"  {verdict.text!r}")
        print(f"  {verdict.sources[:3]}")


def _count(verdicts: Sequence[Verdict]) -> str:
    outcomes = [verdict.outcome for verdict in verdicts]
    counts = {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(sorted(outcomes))}
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(FOLDERS), help="one body alone")
    parser.add_argument("--folder", type=Path, help="where it is")
    parser.add_argument("--show", choices=["none", "missed", "all"], default="missed")
    parser.add_argument("--split", choices=["tune", "unseen", "all"], default="tune")
    asked = parser.parse_args()
    for name in [asked.name] if asked.name else FOLDERS:
        folder = asked.folder or FOLDERS[name]
        if not folder.is_dir():
            print(f"{name}: {folder} is not there")
            continue
        verdicts, figures = run(name, folder)
        print(f"\n== {name}, {folder}")
        shown = [v for v in verdicts if asked.split in {v.question.split, "all"}]
        _print(shown, asked.show)
        print()
        for split in ("tune", "unseen"):
            print(f"  {split:8}", _count([v for v in verdicts if v.question.split == split]))
        for title, figure in figures.items():
            print(f"  {title}: {figure}")


if __name__ == "__main__":
    main()

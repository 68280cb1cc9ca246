"""Takes what a model wrote about passages into ``enriched.jsonl``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aitp_desk.agent.generative.guard import OutputGuard, PromptLeak
from aitp_desk.knowledge.enrichment.coverage import Coverage
from aitp_desk.knowledge.enrichment.file import Line
from aitp_desk.knowledge.enrichment.prompt import INSTRUCTIONS
from aitp_desk.knowledge.enrichment.replies import DroppedItem, Reply, validate_reply
from aitp_desk.model.text import write_count


class EnrichmentWriter:
    """Validates replies and writes those that may be used.

    Parameters:
        coverages: of all content folders.
        site_url: the site's own address, to which texts may link.

    Attributes:
        dropped: what was not used.
    """

    def __init__(self, coverages: Sequence[Coverage], site_url: str) -> None:
        self.dropped: list[DroppedItem] = []
        self._site_url = site_url
        self._coverages = coverages
        self._lines: list[list[Line]] = [[] for _ in coverages]

    def add_replies(self, replies: Iterable[Reply]) -> None:
        """Validate replies; :meth:`save` writes them."""
        for reply in replies:
            is_known = False
            for coverage, lines in zip(self._coverages, self._lines, strict=True):
                passage = coverage.passage(reply.id)
                if passage is not None:
                    is_known = True
                    lines.append(validate_reply(reply, passage, self._is_shown, self.dropped))
            if not is_known:
                self.dropped.append(
                    DroppedItem(reply.id, "no passage has this id now", reply.summary)
                )

    def save(self) -> list[str]:
        """Write what was taken, and say where in a line for each file.

        Raises:
            OSError: a file cannot be written.
        """
        told = []
        for coverage, lines in zip(self._coverages, self._lines, strict=True):
            if not lines:
                continue
            removed = coverage.add(lines)
            questions = sum(len(line.questions) for line in lines)
            missing = len(coverage.missing())
            old = f", {write_count(removed, 'old line')} removed" if removed else ""
            told.append(
                f"Wrote {write_count(questions, 'question')} for"
                f" {write_count(len(lines), 'passage')} to {coverage.file};"
                f" {len(coverage) - missing} of {write_count(len(coverage), 'passage')} enriched"
                f"{old}."
            )
            lines.clear()
        return told

    def _is_shown(self, text: str) -> bool:
        """Whether the guard of answers lets a text pass as it is; an address elsewhere does not."""
        guard = OutputGuard(self._site_url, INSTRUCTIONS)
        try:
            return guard.feed(text) + guard.close() == text
        except PromptLeak:
            return False

"""HTML as sites write it, malformed or not."""

from __future__ import annotations

from html.parser import HTMLParser


class MarkupReader(HTMLParser):
    """Reads HTML; text that the standard library's parser gives up on is skipped."""

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Read a section such as ``<![if …]>``; one of no known form is a comment."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

"""Marks in a text for what the markup of its mail says.

Each stands on a line alone. They are control characters, which no text of a mail keeps.
"""

QUOTATION = "\x02"
"""Here begins what the program quotes, up to :data:`END` or the end of the text."""
SIGNATURE = "\x04"
"""Here begins a signature."""
END = "\x03"
"""Here ends what the last mark has begun."""
ALL = frozenset({QUOTATION, SIGNATURE, END})
SPACE = "&nbsp;"
"""Left by programs that make the text of a mail from its HTML."""


class MarkedText:
    """Lines without marks, and where the marks were.

    Attributes:
        lines: without trailing space.
        quotations: ranges that the markup calls quoted; without an end: up to the end of the text.
        signatures: ranges that the markup calls a signature.
    """

    def __init__(self, text: str) -> None:
        self.lines: list[str] = []
        self.quotations: list[tuple[int, int | None]] = []
        self.signatures: list[tuple[int, int]] = []
        waiting: list[tuple[str, int]] = []
        for line in text.split("\n"):
            if line not in ALL:
                self.lines.append("" if line.strip() == SPACE else line.rstrip())
            elif line != END:
                waiting.append((line, len(self.lines)))
            elif waiting:
                mark, begin = waiting.pop()
                self._add(mark, begin, len(self.lines))
        for mark, begin in waiting:
            self._add(mark, begin, len(self.lines))
        self.quotations.sort(key=lambda found: found[0])

    def _add(self, mark: str, begin: int, end: int) -> None:
        if mark == QUOTATION:
            self.quotations.append((begin, None if end == len(self.lines) else end))
        else:
            self.signatures.append((begin, end))

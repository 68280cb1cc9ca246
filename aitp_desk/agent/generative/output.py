"""Prepares a model's text for display, piece by piece: filtered and within its length. Pure."""

from __future__ import annotations

from aitp_desk.agent.generative.guard import OutputFilter
from aitp_desk.agent.generative.prompt import NOT_FOUND

_AFTER_SIGN = " \t\r\n:.,-–—"


class AnswerOutput:
    """The text of one answer as it arrives.

    Parameters:
        output: the filter for every piece.
        longest: the most characters that may be shown; None sets no limit.

    Attributes:
        shown: the text returned so far.
        found: False once the model has reported that the content does not answer.
    """

    def __init__(self, output: OutputFilter, longest: int | None) -> None:
        self._output = output
        self._longest = longest
        self._has_begun = False
        self._late = ""
        self.shown = ""
        self.found = True

    def feed(self, text: str) -> str:
        """Return the text that can be shown now."""
        if not self._has_begun:
            text = self._begin(text)
        return self._give(self._output.feed(text)) if text else ""

    def close(self) -> str:
        """Return the rest at the end of the text."""
        said = self._give(self._output.close())
        if not self._late:
            return said
        # one character was reserved: for the last one, or for the mark of a cut
        last = self._late if len(self._late) == 1 else "…"
        self._late = ""
        self.shown += last
        return said + last

    def _begin(self, text: str) -> str:
        """Return the text without leading white space and the not-found mark."""
        rest = text.lstrip()
        if self.found and rest.startswith(NOT_FOUND):
            self.found = False
            rest = rest[len(NOT_FOUND) :]
        if not self.found:
            rest = rest.lstrip(_AFTER_SIGN)
        self._has_begun = bool(rest)
        return rest

    def _give(self, said: str) -> str:
        if self._longest is None:
            self.shown += said
            return said
        said = self._late + said
        room = max(0, self._longest - 1 - len(self.shown))
        given, self._late = said[:room], said[room:]
        self.shown += given
        return given

"""What the readers of all formats share."""

from __future__ import annotations


class FormatError(Exception):
    """A file cannot be read in its format; the message says what is wrong and what would help."""

"""Defines the error of all format readers."""

from __future__ import annotations


class FormatError(Exception):
    """A file cannot be read in its format; the message says what is wrong and how to fix it."""

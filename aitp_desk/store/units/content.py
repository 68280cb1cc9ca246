"""Counts the changes of the content that processes have taken up."""

from __future__ import annotations

from aitp_desk.store.base import Work

CONTENT_EPOCH = "content"
"""The row of ``epochs`` that rises when a process has taken up changed content."""


def raise_content_epoch() -> Work[None]:
    """Raise the epoch of the content."""
    yield "raise_epoch", {"name": CONTENT_EPOCH}

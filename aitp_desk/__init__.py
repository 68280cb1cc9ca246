"""aitp-desk: answers agents and people on behalf of a website."""

from __future__ import annotations

from functools import cache


@cache
def own_version() -> str:
    """The version that is installed, such as ``0.1.0``."""
    from importlib.metadata import version  # no start needs to know, and it reads the disk

    return version("aitp-desk")

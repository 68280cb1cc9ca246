"""aitp-desk: a desk beside a website that agents and people can ask."""

from __future__ import annotations

from functools import cache


@cache
def own_version() -> str:
    """The version that is installed, such as ``0.1.0``."""
    from importlib.metadata import version  # no start needs to know, and it reads the disk

    return version("aitp-desk")

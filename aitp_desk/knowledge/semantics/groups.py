"""Groups texts with the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

ALIKE = 0.7
"""From this likeness on texts have the same meaning."""


def group_texts(
    texts: Sequence[str], rows: Any, likeness: Callable[[Any, Any], float]
) -> list[list[str]]:
    """Group texts by meaning: each joins the first group whose first text is similar.

    Parameters:
        rows: their vectors, of length 1.
        likeness: of two of these.
    """
    groups: list[list[str]] = []
    firsts: list[Any] = []
    for text, row in zip(texts, rows, strict=True):
        alike = [likeness(first, row) >= ALIKE for first in firsts]
        if any(alike):
            groups[alike.index(True)].append(text)
        else:
            groups.append([text])
            firsts.append(row)
    return groups

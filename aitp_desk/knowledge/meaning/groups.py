"""Groups of texts that say the same in other words."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.knowledge.meaning.base import Embedder

_ALIKE = 0.7
"""Questions whose cosine is so great ask for the same."""


async def group(texts: Sequence[str], embedder: Embedder) -> list[list[str]]:
    """Group texts by meaning: each joins the first group whose first text is like it.

    Raises:
        ModelUnusable: the model does not answer now.
    """
    import numpy as np

    groups: list[list[str]] = []
    firsts: list[object] = []
    for text in texts:
        (vector,) = await embedder.embed([text], query=True)
        unit = np.asarray(vector, dtype=np.float32)
        unit /= np.linalg.norm(unit) or 1.0
        alike = [float(np.dot(first, unit)) >= _ALIKE for first in firsts]
        if any(alike):
            groups[alike.index(True)].append(text)
        else:
            groups.append([text])
            firsts.append(unit)
    return groups

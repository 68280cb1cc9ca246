"""Finds the action that a text asks for by its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aitp_desk.knowledge.semantics.vectors import Vectors

_LEAST = 0.65
"""The least cosine of a text that asks for an action."""
_BEFORE_ACTIONS, _BEFORE_PASSAGES = 0.15, 0.12
"""The least distance above the cosines of all other actions, and of all passages."""


class IntentMatcher:
    """The example texts of actions, compared with visitors' messages.

    Parameters:
        texts: the texts of each action, by its name.
    """

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self._texts = texts

    async def find(self, text: str, vectors: Vectors) -> str | None:
        """Return the action that a text clearly asks for.

        It fits better than every other action and every passage.

        Raises:
            ModelUnusable: the model does not respond now.
        """
        rows = {name: await vectors.rows(texts) for name, texts in self._texts.items()}
        await vectors.learn(text)
        near = vectors.near(text)
        if near is None or not rows:
            return None
        scored = {
            name: max(vectors.likeness(row, near.vector) for row in some)
            for name, some in rows.items()
        }
        best, *others = sorted(scored, key=lambda name: -scored[name])
        least = max(_LEAST, float(max(near.cosines)) + _BEFORE_PASSAGES)
        if others:
            least = max(least, scored[others[0]] + _BEFORE_ACTIONS)
        if near.asked is not None:
            least = max(least, float(max(near.asked)))
        return best if scored[best] >= least else None

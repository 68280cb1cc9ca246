"""Compares a text with the texts of actions by meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.knowledge.semantics.vectors import Vectors


class IntentCosines(msgspec.Struct, frozen=True):
    """How near a text is in meaning.

    Parameters:
        actions: the cosine of the nearest text of each action, by its name.
        passage: the cosine of the nearest passage.
    """

    actions: Mapping[str, float]
    passage: float


class IntentTexts:
    """The example texts of actions, compared with visitors' messages.

    Parameters:
        texts: the texts of each action, by its name.
    """

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self._texts = texts

    async def compare(self, text: str, vectors: Vectors) -> IntentCosines | None:
        """Return how near a text is to each action and to the passages.

        Raises:
            ModelUnusable: the model does not respond now.
        """
        rows = {name: await vectors.rows(texts) for name, texts in self._texts.items()}
        await vectors.learn(text)
        near = vectors.near(text)
        if near is None or not rows:
            return None
        cosines = {
            name: max(vectors.likeness(row, near.vector) for row in some)
            for name, some in rows.items()
        }
        return IntentCosines(cosines, float(max(near.cosines)))

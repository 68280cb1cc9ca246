"""Brings the cosines of all models to one scale.

The cosine of two unrelated texts is about 0 with some models, and 0.8 with others such as E5. The
constants for cosines are chosen with the default model, so those of another are stretched until
unrelated texts are as far apart.
"""

from __future__ import annotations

from typing import Any

from aitp_desk.knowledge.semantics.base import Embedder

_UNRELATED = 0.0457
"""The median cosine of the texts below with the default model."""
_LEAST = 0.02
"""A model with a smaller distance between them does not distinguish them."""
_TEXTS = (
    "How do I bake bread?",
    "The train to the coast leaves at noon.",
    "Which file holds the password?",
    "Our cat sleeps on the roof.",
    "Taxes are due in April.",
    "A violin has four strings.",
    "Where can I return worn shoes?",
    "Glaciers move slowly downhill.",
    "The doctor prescribed an antibiotic.",
    "Who won the chess match yesterday?",
    "Install the printer driver first.",
    "The recipe needs two eggs.",
)
"""Unrelated texts."""


async def find_stretch(embedder: Embedder) -> float:
    """Return the factor for :func:`stretch_cosines`.

    Raises:
        ModelUnusable: the model does not respond now.
    """
    import numpy as np

    rows = np.asarray(await embedder.embed(_TEXTS, query=True), dtype=np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    apart = (rows @ rows.T)[np.triu_indices(len(_TEXTS), 1)]
    distance = 1 - float(np.median(apart))
    return (1 - _UNRELATED) / distance if distance >= _LEAST else 1.0


def stretch_cosines(cosines: Any, stretch: float) -> Any:
    """Return cosines on the scale of the default model; 1 stays 1."""
    return 1 - (1 - cosines) * stretch

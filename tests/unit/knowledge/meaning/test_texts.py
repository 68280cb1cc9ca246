"""What a model of meaning reads, and how the cosines of different models are compared."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from itertools import pairwise
from types import SimpleNamespace

import pytest

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.semantics.fastembed import FastEmbedder
from aitp_desk.knowledge.semantics.scale import find_stretch, stretch_cosines
from aitp_desk.knowledge.semantics.text import find_windows, make_windows

pytest.importorskip("numpy")


class ApartEmbedder:
    """Gives each text its own direction, and all of them a common one.

    Parameters:
        common: the length of what they have in common; 1 is the length of their own.
    """

    name = "apart"
    dimension = 0
    languages: Collection[str] = ()

    def __init__(self, common: float) -> None:
        self._common = common

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[list[float]]:
        return [[self._common, *(float(at == own) for at in range(len(texts)))]
                for own in range(len(texts))]  # fmt: skip


async def test_unrelated_texts_are_equally_far_apart_with_every_model() -> None:
    scaled = [
        stretch_cosines(common**2 / (common**2 + 1), await find_stretch(ApartEmbedder(common)))
        for common in (0.0, 1.0, 2.0)
    ]
    assert scaled == pytest.approx([scaled[0]] * 3, abs=0.001)
    assert stretch_cosines(1.0, await find_stretch(ApartEmbedder(2.0))) == 1.0


@pytest.mark.parametrize(
    "sentence", ["設定を変更するには、再起動してください。", "ตั้งค่าใหม่แล้วเริ่มระบบอีกครั้ง"]
)
def test_a_text_without_spaces_is_read_in_windows_that_overlap(sentence: str) -> None:
    text = "".join(f"{number}{sentence}" for number in range(40))
    passage = Passage(0, "page", "題", "", (), "", text, ())
    windows = [window.removeprefix("題\n") for window in make_windows(passage)]
    assert len(windows) > 5
    assert [text[start:end] for start, end in find_windows(passage)] == windows
    for before, after in pairwise(windows):
        assert 150 < len(before.encode()) <= 400
        assert any(before.endswith(after[:size]) for size in range(20, len(after)))


async def test_fastembed_is_given_the_prefixes_that_it_does_not_add(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[str] = []

    class TextEmbedding:
        def __init__(self, name: str, *, threads: int) -> None:
            given.append(name)

        def passage_embed(self, texts: Sequence[str]) -> list[list[float]]:
            given.extend(texts)
            return [[1.0] for _ in texts]

        query_embed = passage_embed

    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(TextEmbedding=TextEmbedding))
    embedder = FastEmbedder("e5", query_prefix="query: ", passage_prefix="passage: ")
    await embedder.embed(["one"])
    await embedder.embed(["two"], query=True)
    assert given == ["e5", "passage: one", "query: two"]
    assert "passage" in embedder.name

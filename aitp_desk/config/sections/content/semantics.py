"""Settings of semantic search."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url


class DefaultEmbeddings(msgspec.Struct, frozen=True):
    """The models of a site whose owner named none.

    Attributes:
        onnx, onnx_sha256: name and digest of the model that comes with the extra semantic.
        fastembed: the name of a model that fastembed knows.
    """

    onnx: str
    onnx_sha256: str
    fastembed: str


DEFAULT_EMBEDDINGS = msgspec.json.decode(
    files(__package__).joinpath("default_embeddings.json").read_bytes(), type=DefaultEmbeddings
)


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """Semantic search, which finds passages by meaning.

    It needs the extra semantic, or for a service embeddings.
    """

    enabled: Annotated[
        bool,
        Meta(
            description=(
                "Whether semantic search is used if it is installed, or if url names a service."
            )
        ),
    ] = True
    provider: Annotated[
        Literal["onnx", "fastembed", "endpoint"],
        Meta(
            description=(
                "What runs the model: this process, the package fastembed, or the service at url."
            ),
        ),
    ] = "onnx"
    model: Annotated[
        str,
        Meta(
            max_length=200,
            extra={"unit": "a path or a name"},
            description="Folder with model.onnx and tokenizer.json, relative to the site's folder; "
            "for the other providers, the model's name. By default the extra's model.",
        ),
    ] = ""
    query_prefix: Annotated[
        str,
        Meta(max_length=200, description="The prefix that the model expects before a question."),
    ] = ""
    passage_prefix: Annotated[
        str, Meta(max_length=200, description="The prefix that the model expects before a passage.")
    ] = ""
    actions: Annotated[
        bool,
        Meta(
            description="Whether a clear request for an action starts it, if no model answers: "
            "by words, and by meaning too. Changes need confirmation first.",
        ),
    ] = True
    url: Annotated[
        Url,
        Meta(
            description=(
                "Base URL of an OpenAI-compatible service, such as https://api.example.com/v1, to"
                " which passages and questions are sent."
            ),
        ),
    ] = ""
    rerank_url: Annotated[
        Url,
        Meta(
            description="Base URL of a service with /rerank, which reorders the best passages; "
            "empty for none.",
        ),
    ] = ""
    rerank_model: Annotated[
        str, Meta(max_length=200, description="Name of the reranking model.")
    ] = ""
    bearer_env: Annotated[
        Variable,
        Meta(description="The environment variable with the key that is sent to both services."),
    ] = ""

    @property
    def is_chosen(self) -> bool:
        """Whether the owner named a model, which is missed if it cannot be used."""
        return (self.provider, self.model) != ("onnx", "")

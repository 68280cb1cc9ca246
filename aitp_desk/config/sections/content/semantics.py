"""Settings of semantic search."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """Finding passages by their meaning, too, where the extra semantic is installed."""

    enabled: Annotated[
        bool,
        Meta(
            description=(
                "Whether semantic search is used where it is installed, or where url names a"
                " service."
            )
        ),
    ] = True
    provider: Annotated[
        Literal["onnx", "fastembed", "endpoint"],
        Meta(
            description=(
                "Where the model runs: in this process, in the package fastembed, or in the"
                " service at url."
            ),
        ),
    ] = "onnx"
    model: Annotated[
        str,
        Meta(
            max_length=200,
            extra={"unit": "a path or a name"},
            description="Folder with model.onnx and tokenizer.json, relative to the site's folder;"
            " of the other providers the model's name. Empty takes the model of the extra.",
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
            description="Whether words that clearly ask for an action begin it, where no model"
            " answers. What it changes is asked about first.",
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
            description="Base address of a service with /rerank, which orders the best passages"
            " again; empty for none.",
        ),
    ] = ""
    rerank_model: Annotated[
        str, Meta(max_length=200, description="Name of the reranking model.")
    ] = ""
    bearer_env: Annotated[
        Variable, Meta(description="What holds the key that is sent to both services.")
    ] = ""

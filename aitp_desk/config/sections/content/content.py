"""Settings of the content and of its permitted uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.content.semantics import Meaning
from aitp_desk.config.units import Bytes, Line, Seconds, Url


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """What visitors may do with the content (AHP 0.1, section 7)."""

    ai_train: Annotated[
        bool, Meta(description="Whether the content may be used to train models.")
    ] = False
    ai_input: Annotated[
        bool, Meta(description="Whether the content may be used as input of models.")
    ] = True
    search: Annotated[bool, Meta(description="Whether search engines may index the content.")] = (
        True
    )
    attribution_required: Annotated[
        bool, Meta(description="Whether use of the content requires a mention of the site.")
    ] = True


class Web(msgspec.Struct, frozen=True, kw_only=True):
    """Pages of other servers that the desk reads, in addition to its own content."""

    urls: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "URLs"},
            description="Addresses of pages, such as https://www.example.com/returns.",
        ),
    ] = ()
    sitemaps: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "URLs"},
            description="Addresses of sitemaps; their pages on the same server are read.",
        ),
    ] = ()
    every_minutes: Annotated[
        Annotated[int, Meta(ge=1, le=10_080)],
        Meta(
            extra={"unit": "minutes"},
            description="The time between two rounds of reading.",
        ),
    ] = 60
    max_pages: Annotated[
        Annotated[int, Meta(ge=1, le=20_000)],
        Meta(extra={"unit": "pages"}, description="The most pages that are read."),
    ] = 500
    max_bytes: Annotated[Bytes, Meta(description="The largest page or PDF, uncompressed.")] = (
        8 * 1024 * 1024
    )
    page_seconds: Annotated[Seconds, Meta(description="The time limit of one page.")] = 20

    @property
    def lists(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.urls or self.sitemaps)


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The content that the desk answers from."""

    folder: Annotated[
        Line,
        Meta(
            extra={"unit": "a path"},
            description="Folder of the content, relative to the site's folder.",
        ),
    ] = "."
    published_at: Annotated[
        Url,
        Meta(
            description="Where your website shows this folder's pages, such as"
            " https://www.example.com/docs/; answers link there. By default to the desk's own."
        ),
    ] = ""
    enriched: Annotated[
        bool,
        Meta(description="Whether enriched.jsonl in this folder is used; see `aitp-desk enrich`."),
    ] = True
    signals: Signals = Signals()
    web: Web = Web()
    meaning: Meaning = Meaning()
    synonyms: Annotated[
        Mapping[str, tuple[str, ...]],
        Meta(
            extra={"unit": "words"},
            description="Visitors' terms, each with the content's terms for the same.",
        ),
    ] = {}


class Enrich(msgspec.Struct, frozen=True, kw_only=True):
    """Keeping enriched.jsonl up to date while the desk serves, with the model of [model]."""

    every_hours: Annotated[
        int,
        Meta(
            ge=0,
            le=8_760,
            extra={"unit": "hours"},
            description="The time between two runs; 0 sends nothing.",
        ),
    ] = 0
    run_dollars: Annotated[
        float,
        Meta(
            ge=0,
            le=10_000,
            extra={"unit": "US dollars"},
            description="The approximate cost limit of one run; later runs send the rest.",
        ),
    ] = 1.0

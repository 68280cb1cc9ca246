"""Settings of cross-origin requests."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Cors(msgspec.Struct, frozen=True, kw_only=True):
    """What pages of other sites may do with the desk in a browser."""

    origins: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "origins"},
            description=(
                "Sites whose pages may use the API, such as https://www.example.com; the desk's"
                " own pages always may."
            ),
        ),
    ] = ()
    open_discovery: Annotated[
        bool,
        Meta(
            description="Whether pages of every site may read the content, the manifest and what"
            " else there is to be found; else those of the origins may.",
        ),
    ] = True

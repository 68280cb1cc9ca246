"""Settings of uploaded files."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Count

FileType = Literal[
    "application/gzip",
    "application/octet-stream",
    "application/pdf",
    "application/zip",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/html",
    "text/plain",
]
"""The types that the first bytes of a file can identify."""


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of uploads."""

    anonymous: Annotated[
        bool, Meta(description="Whether callers without a credential may upload files.")
    ] = False
    max_bytes: Annotated[
        Annotated[int, Meta(ge=1024, le=64 * 1024**2)],
        Meta(extra={"unit": "bytes"}, description="The largest size of a file."),
    ] = 10 * 1024**2
    max_files: Annotated[
        Count, Meta(extra={"unit": "files"}, description="The most files per caller.")
    ] = 100
    max_total_bytes: Annotated[
        Annotated[int, Meta(ge=1024, le=1024**4)],
        Meta(
            extra={"unit": "bytes"},
            description="The most bytes of all files of a caller together.",
        ),
    ] = 100 * 1024**2
    types: Annotated[
        tuple[FileType, ...],
        Meta(
            extra={"unit": "types"},
            description="The accepted types, which the desk detects from a file's bytes.",
        ),
    ] = (
        "text/plain",
        "text/html",
        "application/pdf",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
    )

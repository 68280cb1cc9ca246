"""Settings of uploaded files."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Count, Line, Seconds, Url

DATABASE = "database"
"""The value of ``files.store`` that keeps files in the desk's database."""

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


class S3(msgspec.Struct, frozen=True, kw_only=True):
    """The S3 service of the bucket that files.store names.

    Without an access key in the environment or in a file, the credentials of the machine's role are
    used.
    """

    endpoint: Annotated[
        Url,
        Meta(description="Address of the service; empty for that of Amazon S3 in the region."),
    ] = ""
    region: Annotated[Line, Meta(description="The bucket's region.")] = "us-east-1"
    path_style: Annotated[
        bool,
        Meta(
            description=(
                "The bucket is in the path of addresses; if false, in the host, and endpoint has it"
                " there."
            )
        ),
    ] = True
    allow_http: Annotated[
        bool,
        Meta(
            description=(
                "An endpoint on another machine may be without TLS; only for a private network."
            )
        ),
    ] = False
    ca_file: Annotated[
        str,
        Meta(
            extra={"unit": "a path"},
            description=(
                "PEM file of a private authority that the endpoint's certificate is from, relative"
                " to the site's folder."
            ),
        ),
    ] = ""
    access_key_env: Annotated[
        Variable, Meta(description="The environment variable with the id of the access key.")
    ] = "AWS_ACCESS_KEY_ID"
    secret_key_env: Annotated[
        Variable, Meta(description="The environment variable with the secret access key.")
    ] = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 -- a name
    session_token_env: Annotated[
        Variable,
        Meta(description="The environment variable with the token of a temporary access key."),
    ] = "AWS_SESSION_TOKEN"  # noqa: S105
    credentials_file: Annotated[
        str,
        Meta(
            extra={"unit": "a path"},
            description=(
                "The file with the access key instead, section default of the format of"
                " ~/.aws/credentials, relative to the site's folder."
            ),
        ),
    ] = ""
    encryption: Annotated[
        Literal["", "AES256", "aws:kms"],
        Meta(description="How the service encrypts objects; empty for the bucket's default."),
    ] = ""
    kms_key: Annotated[str, Meta(description="The id of the key for aws:kms.")] = ""
    connect_seconds: Annotated[
        Seconds, Meta(description="The longest time that a connection may take.")
    ] = 5
    seconds: Annotated[
        Seconds,
        Meta(
            description=(
                "The longest time that a request, or the next piece of a download, may take."
            )
        ),
    ] = 30


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """Where uploaded files are kept, and the limits of uploads."""

    store: Annotated[
        Line,
        Meta(
            description=(
                "Where new files are kept: database, or s3://BUCKET/PREFIX (extra s3; the prefix"
                " may be left out)."
            ),
        ),
    ] = DATABASE
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
    s3: S3 = S3()

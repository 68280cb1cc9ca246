"""Rules for where uploaded files are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.files import DATABASE, S3, Files
from aitp_desk.config.settings import real_path
from aitp_desk.model.web_address import is_loopback, web_address

_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[A-Za-z0-9!_.*'()-]+)*)/?")
"""A bucket's name by the rules of Amazon S3, and a prefix of characters safe in every key."""


def check_files(files: Files, folder: Path, published: Sequence[Path]) -> Iterator[Problem]:
    """Yield the faults of ``[files]``.

    Parameters:
        folder: the site's folder.
        published: folders whose files are published.
    """
    if files.store == DATABASE:
        return
    bucket = _BUCKET.fullmatch(files.store)
    if bucket is None or {".", ".."} & set(bucket[2].split("/")):
        yield Problem(
            "files.store",
            "is neither database nor a bucket; a bucket is named such as s3://my-bucket/desk,"
            " its server by files.s3.endpoint.",
        )
    yield from _check_service(files.s3)
    for key, name in (
        ("ca_file", files.s3.ca_file),
        ("credentials_file", files.s3.credentials_file),
    ):
        if name and (wrong := _wrong_file(folder / name, published)):
            yield Problem(f"files.s3.{key}", wrong)


def split_bucket(store: str) -> tuple[str, str]:
    """Return the bucket's name and the prefix of a checked URL."""
    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    return bucket, prefix.strip("/")


def _check_service(s3: S3) -> Iterator[Problem]:
    if s3.endpoint:
        address = web_address(s3.endpoint)
        if address is None or address.query or address.fragment:
            yield Problem(
                "files.s3.endpoint",
                "is not a web address; it takes one such as https://s3.example.com.",
            )
        elif address.username is not None or address.password is not None:
            yield Problem(
                "files.s3.endpoint",
                "contains a user name or password: put the access key in the environment or in"
                " files.s3.credentials_file.",
            )
        elif address.scheme == "http" and not (
            s3.allow_http or is_loopback(address.hostname or "")
        ):
            yield Problem(
                "files.s3.endpoint",
                "is not encrypted. Use an https:// address, or set files.s3.allow_http = true on a"
                " private network.",
            )
    if s3.kms_key and s3.encryption != "aws:kms":
        yield Problem("files.s3.kms_key", 'needs files.s3.encryption = "aws:kms".')


def _wrong_file(path: Path, published: Sequence[Path]) -> str | None:
    place = real_path(path)
    is_kept_back = place.name.startswith(".") or place.suffix == ".key"
    if any(content in place.parents for content in published) and not is_kept_back:
        return (
            "the file is in the content folder, where it would be published. Move it, or give it a"
            " name that begins with a dot."
        )
    if not place.is_file():
        return "there is no such file."
    return None

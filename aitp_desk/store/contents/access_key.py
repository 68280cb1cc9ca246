"""Reads the access key of an S3 service from the environment or a file."""

from __future__ import annotations

from collections.abc import Mapping
from configparser import ConfigParser, Error
from pathlib import Path

import msgspec

from aitp_desk.config.sections.files import S3
from aitp_desk.store.base import StoreError

SECTION = "default"
"""The section of the file that has the key."""


class AccessKey(msgspec.Struct, frozen=True):
    """An access key.

    Parameters:
        token: of a temporary key; empty for others.
    """

    id: str
    secret: str
    token: str = ""


def read_access_key(settings: S3, folder: Path, environment: Mapping[str, str]) -> AccessKey | None:
    """Return the configured access key; None if there is none.

    Parameters:
        folder: the site's folder.

    Raises:
        StoreError: the file cannot be read, or half of a key is missing. The message has no secret.
    """
    if settings.credentials_file:
        return _read_file(folder / settings.credentials_file)
    names = settings.access_key_env, settings.secret_key_env
    id_, secret = (environment.get(name, "").strip() for name in names)
    if not id_ and not secret:
        return None
    if not id_ or not secret:
        absent = names[bool(id_)]
        raise StoreError(f"The environment variable {absent} is empty; files.s3 needs both.")
    return AccessKey(id_, secret, environment.get(settings.session_token_env, "").strip())


def _read_file(path: Path) -> AccessKey:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(path.read_text())
        values = parser[SECTION]
        return AccessKey(
            values["aws_access_key_id"],
            values["aws_secret_access_key"],
            values.get("aws_session_token", ""),
        )
    except OSError as error:
        raise StoreError(f"files.s3.credentials_file cannot be read: {error.strerror}.") from error
    except (Error, KeyError, UnicodeError):  # their texts may hold a line of the file
        raise StoreError(
            f"files.s3.credentials_file has no section [{SECTION}] with aws_access_key_id and"
            " aws_secret_access_key."
        ) from None

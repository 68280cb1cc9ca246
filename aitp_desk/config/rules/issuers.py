"""Rules for the settings of issuers beyond their types, and their secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.access.issuers import SHARED_SECRET_ALGORITHMS, Issuer
from aitp_desk.model.access.scope import SCOPES_IN_WORDS, is_scope
from aitp_desk.model.web_address import wrong_address

MIN_SECRET_BYTES = 32
"""Minimum length of a secret for HS256: that of its output (RFC 7518, section 3.2)."""
MAX_SECRET_BYTES = 4096

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def check_issuers(
    issuers: Sequence[Issuer],
    folder: Path,
    site_url: str,
    *,
    published: Sequence[Path],
    allow_loopback: bool,
) -> Iterator[Problem]:
    """Yield the faults of issuers, without repeating a misplaced secret.

    Parameters:
        folder: the site's folder.
        site_url: the desk's own URL, with or without a final slash; empty if it is not known yet.
        published: folders with public files, absolute and without links.
        allow_loopback: whether URLs of this machine are allowed.
    """
    for number, issuer in enumerate(issuers, 1):
        if not issuer.name:
            yield Problem("issuers.name", f"table {number} of [[issuers]] has none.")
        elif any(issuer.name == other.name for other in issuers[: number - 1]):
            yield Problem("issuers.name", f"{issuer.name!r} is used twice.")
        if not issuer.url:
            yield Problem("issuers.url", f"table {number} of [[issuers]] has none.")
        elif any(issuer.url == other.url for other in issuers[: number - 1]):
            yield Problem("issuers.url", f"the value of {issuer.name!r} is used twice.")
        elif issuer.url.rstrip("/") == site_url.rstrip("/"):
            yield Problem("issuers.url", f"the value of {issuer.name!r} is the desk's own address.")
        yield from _check_keys(issuer, folder, published, allow_loopback=allow_loopback)
        yield from _check_scopes(issuer)


def read_secret(issuer: Issuer, folder: Path) -> bytes:
    """Read the shared secret of an issuer, without surrounding whitespace.

    Parameters:
        folder: the site's folder.

    Raises:
        ValueError: it is missing or too short. The message says where it should be.
    """
    if issuer.secret_env:
        place = f"the environment variable {issuer.secret_env}"
        secret = os.environb.get(os.fsencode(issuer.secret_env), b"").strip()
    else:
        place = f"the file {issuer.secret_file}"
        try:
            with (folder / issuer.secret_file).open("rb") as file:
                secret = file.read(MAX_SECRET_BYTES).strip()
        except (OSError, ValueError):
            raise ValueError(f"{place} cannot be read.") from None
    if len(secret) < MIN_SECRET_BYTES:
        held = "contains no secret" if not secret else "contains a secret that is too short"
        raise ValueError(
            f"{place} {held}: it takes at least {MIN_SECRET_BYTES} bytes, such as the output of"
            " 'openssl rand -hex 32'."
        )
    return secret


def _check_keys(
    issuer: Issuer, folder: Path, published: Sequence[Path], *, allow_loopback: bool
) -> Iterator[Problem]:
    shares = bool(issuer.secret_env or issuer.secret_file)
    if not issuer.algorithms or len(set(issuer.algorithms)) != len(issuer.algorithms):
        yield Problem(
            "issuers.algorithms", f"the values of {issuer.name!r} are empty or contain duplicates."
        )
    elif set(SHARED_SECRET_ALGORITHMS) & set(issuer.algorithms):
        if issuer.algorithms != SHARED_SECRET_ALGORITHMS:
            yield Problem(
                "issuers.algorithms",
                f"the values of {issuer.name!r} mix HS256 with other algorithms, so a public key"
                " could be used as the secret. Use two issuers.",
            )
        elif issuer.jwks:
            yield Problem(
                "issuers.jwks",
                f"{issuer.name!r} signs with a secret, so it has no keys to fetch. Remove jwks.",
            )
        elif bool(issuer.secret_env) == bool(issuer.secret_file):
            yield Problem(
                "issuers.secret_env",
                f"{issuer.name!r} signs with a secret. Set either secret_env or secret_file.",
            )
        else:
            yield from _check_secret(issuer, folder, published)
    elif shares:
        yield Problem(
            "issuers.secret_env",
            f"{issuer.name!r} has a secret, but its algorithms use public keys; remove the"
            ' secret, or set algorithms = ["HS256"].',
        )
    elif issuer.url:
        key = "issuers.jwks" if issuer.jwks else "issuers.url"
        if wrong := wrong_address(issuer.jwks or issuer.url, allow_loopback=allow_loopback):
            yield Problem(
                key,
                f"the value of {issuer.name!r} {wrong}; it takes one such as "
                "https://login.example.",
            )


def _check_secret(issuer: Issuer, folder: Path, published: Sequence[Path]) -> Iterator[Problem]:
    key = "issuers.secret_env" if issuer.secret_env else "issuers.secret_file"
    if issuer.secret_env and not _VARIABLE.fullmatch(issuer.secret_env):
        yield Problem(
            key,
            f"the value of {issuer.name!r} is not the name of an environment variable. "
            "Never write the secret itself in desk.toml.",
        )
        return
    if issuer.secret_file:
        place = Path(os.path.realpath(folder / issuer.secret_file))
        if any(content in place.parents for content in published) and not _is_kept_back(place):
            yield Problem(
                key,
                f"the file of {issuer.name!r} is in the content folder, where it would be "
                "published. Move it, or give it a name that ends in .key.",
            )
            return
    try:
        read_secret(issuer, folder)
    except ValueError as error:
        yield Problem(key, f"of {issuer.name!r}: {error}")


def _is_kept_back(file: Path) -> bool:
    """Return whether a file's name excludes it (``knowledge/sources/admission.py``)."""
    return file.name.startswith(".") or file.suffix == ".key"


def _check_scopes(issuer: Issuer) -> Iterator[Problem]:
    for scope in issuer.scopes:
        if not is_scope(scope):
            yield Problem(
                "issuers.scopes",
                f"there is no scope {scope!r}; the scopes are {SCOPES_IN_WORDS}.",
            )
    for scope in issuer.scope_names.values():
        if not is_scope(scope):
            yield Problem(
                "issuers.scope_names",
                f"there is no scope {scope!r}; the scopes are {SCOPES_IN_WORDS}.",
            )

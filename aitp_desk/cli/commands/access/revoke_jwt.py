"""``aitp-desk token revoke-jwt``: revokes tokens of other issuers, also while the desk serves."""

from __future__ import annotations

import time
from pathlib import Path

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    make_local_auditor,
    require_keys,
    run_in_store,
)


@click.command(name="revoke-jwt")
@desk_data
@desk_store
@click.option("--issuer", required=True, help="The issuer's name in desk.toml.")
@click.option("--jti", help="The id of the one token to revoke.")
@click.option("--sub", help="The subject; revokes all its tokens that were issued until now.")
def revoke_jwt(data: Path, url: str, issuer: str, jti: str | None, sub: str | None) -> None:
    """Revoke an issuer's signed tokens; a running desk refuses them within a second."""
    with mistakes_told():
        from aitp_desk.auth.jwt.claims import MAX_SUBJECT_CHARACTERS, MAX_TOKEN_ID_CHARACTERS
        from aitp_desk.store.reads.credentials.jwt_revocations import Revocation
        from aitp_desk.store.units.keys.jwts import revoke_jwts

        now = int(time.time())
        _check_length("--jti", jti, MAX_TOKEN_ID_CHARACTERS)
        _check_length("--sub", sub, MAX_SUBJECT_CHARACTERS)
        if jti and not sub:
            revocation = Revocation(issuer, "jti", jti, now)
            told = f"Revoked the token {jti} of {issuer}."
        elif sub and not jti:
            revocation = Revocation(issuer, "sub", sub, now)
            told = f"Revoked the tokens of {issuer} for {sub} that were issued until now."
        else:
            fail(["Give either --jti or --sub."])
        by = make_local_auditor(require_keys(data, url))
        run_in_store(data, url, lambda store: store.run(revoke_jwts, revocation=revocation, by=by))
        click.echo(told)


def _check_length(option: str, value: str | None, most: int) -> None:
    """Refuse what no accepted token can have."""
    if value is not None and len(value) > most:
        fail([f"`{option}` must have at most {most} characters, as in a token."])

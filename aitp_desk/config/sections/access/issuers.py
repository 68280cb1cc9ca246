"""Settings of issuers, whose tokens authenticate callers."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Url

Algorithm = Literal["EdDSA", "ES256", "RS256", "HS256"]
PUBLIC_KEY_ALGORITHMS: tuple[Algorithm, ...] = ("EdDSA", "ES256", "RS256")
SHARED_SECRET_ALGORITHMS: tuple[Algorithm, ...] = ("HS256",)

LONGEST_LEEWAY, LONGEST_LIFETIME = 300, 86_400
"""Maximum difference of an issuer's clock, and maximum lifetime of its tokens, in seconds."""


class Issuer(msgspec.Struct, frozen=True, kw_only=True):
    """An issuer whose signed tokens (JWTs) the desk accepts. Repeatable."""

    name: Annotated[
        str,
        Meta(
            max_length=32,
            pattern=r"\A(?:[a-z][a-z0-9_-]*)?\Z",
            extra={"unit": "a name of small letters, digits, - and _"},
            description="The issuer's name in the desk; its callers have the ids jwt:NAME:SUB.",
        ),
    ] = ""
    url: Annotated[
        Url, Meta(description="The issuer identifier, exactly as in the tokens (iss).")
    ] = ""
    audience: Annotated[
        str,
        Meta(
            max_length=2048,
            description="The required audience (aud) of its tokens; if empty, the desk's site.url.",
        ),
    ] = ""
    algorithms: Annotated[
        tuple[Algorithm, ...],
        Meta(
            extra={"unit": "algorithms"},
            description=(
                "The permitted signature algorithms; HS256 excludes the others and needs a secret."
            ),
        ),
    ] = PUBLIC_KEY_ALGORITHMS
    jwks: Annotated[
        Url,
        Meta(
            description="The URL of its published keys; if empty, the desk reads it from the "
            "metadata at url."
        ),
    ] = ""
    secret_env: Annotated[
        str,
        Meta(
            max_length=128,
            extra={"unit": "the name of an environment variable"},
            description="The environment variable with the secret for HS256, of 32 bytes or more.",
        ),
    ] = ""
    secret_file: Annotated[
        str,
        Meta(
            extra={"unit": "a path"},
            description="The file with the secret instead, relative to the site's folder.",
        ),
    ] = ""
    type: Annotated[
        str,
        Meta(
            max_length=64,
            description="The required type (typ) of its tokens, such as at+jwt; if empty, JWT, "
            "at+jwt or no type.",
        ),
    ] = ""
    scopes: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "scopes"},
            description=(
                "The scopes that its tokens may grant; operator and admin only if listed here."
            ),
        ),
    ] = ("threads", "actions")
    scope_names: Annotated[
        dict[str, str],
        Meta(description=("The desk's scope for each of the issuer's scopes.")),
    ] = {}
    callers: Annotated[
        Literal["told", "users", "agents"],
        Meta(
            description=(
                "The kind of caller that its tokens identify; told means an agent if "
                "client_id equals sub, else a user."
            ),
        ),
    ] = "told"
    replay: Annotated[
        Literal["until_expired", "once"],
        Meta(
            description=(
                "Whether a token may be used until it expires, or only once; then each needs a jti."
            ),
        ),
    ] = "until_expired"
    leeway_seconds: Annotated[
        Annotated[int, Meta(ge=0, le=LONGEST_LEEWAY)],
        Meta(
            extra={"unit": "seconds"},
            description="The permitted difference between the issuer's clock and the desk's.",
        ),
    ] = 30
    max_lifetime_seconds: Annotated[
        Annotated[int, Meta(ge=1, le=LONGEST_LIFETIME)],
        Meta(
            extra={"unit": "seconds"},
            description="The longest permitted lifetime of its tokens (exp after iat).",
        ),
    ] = LONGEST_LIFETIME
